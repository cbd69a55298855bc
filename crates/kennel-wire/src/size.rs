//! Numbers of bytes as people write them in flags and files.

use std::fmt;

/// So many bytes, shown as `64M` where that is exact and with one decimal where it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

const UNITS: [(&str, u64); 4] = [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];

impl From<usize> for ByteSize {
    fn from(bytes: usize) -> Self {
        Self(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((unit, factor)) = UNITS.into_iter().find(|(_, factor)| self.0 >= *factor) else {
            return write!(formatter, "{} bytes", self.0);
        };
        let (whole, rest) = (self.0 / factor, self.0 % factor);
        match rest * 10 / factor {
            0 => write!(formatter, "{whole}{unit}"),
            tenth => write!(formatter, "{whole}.{tenth}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn bytes_are_shown_as_people_write_them() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1000, "1000 bytes"),
            (1 << 10, "1K"),
            (1536, "1.5K"),
            (64 << 20, "64M"),
            ((64 << 20) + 1, "64M"),
            (134_217_728, "128M"),
            (u64::MAX, "16777215.9T"),
        ] {
            assert_eq!(ByteSize(bytes).to_string(), shown);
        }
    }
}
