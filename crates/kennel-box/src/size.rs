//! Sizes as people write them: `512M`, `1.5G`, `65536`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

const UNITS: [(char, u64); 4] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];

impl Size {
    /// So many kibibytes.
    #[must_use]
    pub const fn kibibytes(count: u64) -> Self {
        Self(count << 10)
    }

    /// So many mebibytes.
    #[must_use]
    pub const fn mebibytes(count: u64) -> Self {
        Self(count << 20)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// Text that is not a size.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a size; write a number with K, M, G or T, such as 512M")]
pub struct SizeError(String);

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let error = || SizeError(text.to_owned());
        let upper = text.trim().to_ascii_uppercase();
        let digits = upper.trim_end_matches('B').trim_end_matches('I');
        let (number, factor) =
            UNITS.iter().find_map(|(unit, factor)| Some((digits.strip_suffix(*unit)?, *factor))).unwrap_or((digits, 1));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.parse::<u64>().map_err(|_| error())?.checked_mul(factor).ok_or_else(error)?;
        if fraction.is_empty() && !number.contains('.') {
            return Ok(Self(whole));
        }
        // A fraction is exact in thousandths, and makes sense only of a larger unit.
        if factor == 1 || fraction.is_empty() || fraction.len() > 3 {
            return Err(error());
        }
        let thousandths = format!("{fraction:0<3}").parse::<u64>().map_err(|_| error())?;
        whole.checked_add(factor * thousandths / 1000).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().rev().find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
        match unit {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Bytes(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Bytes(bytes) => Ok(Self(bytes)),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in
            [("0", 0), ("65536", 65536), ("512M", 512 << 20), ("1.5g", 3 << 29), ("2KiB", 2048), ("1GB", 1 << 30)]
        {
            assert_eq!(text.parse(), Ok::<_, SizeError>(Size(bytes)), "{text}");
        }
        for text in ["", "M", "-1", "1.5", "1.2345G", "99999999T", "12X", "1 M G"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_reads_back_as_it_is_shown() {
        for bytes in [0, 1, 1023, 1024, 3 << 29, (1 << 30) + 1, 512 << 20] {
            assert_eq!(Size(bytes).to_string().parse(), Ok::<_, SizeError>(Size(bytes)));
        }
    }
}
