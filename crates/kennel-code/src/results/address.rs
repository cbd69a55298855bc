//! The addresses of results.

/// What the addresses of results begin with.
pub const PREFIX: &str = "kennel://result/";

/// A part of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    pub(super) id: &'a str,
    pub(super) offset: u64,
    pub(super) limit: Option<u64>,
}

impl<'a> Address<'a> {
    pub(super) fn parse(uri: &'a str) -> Result<Self, &'static str> {
        let rest = uri.strip_prefix(PREFIX).ok_or("it begins otherwise")?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err("the id is not made of letters and digits");
        }
        let mut address = Self { id, offset: 0, limit: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let number = |text: &str| text.parse::<u64>().map_err(|_| "an offset or limit is a number of bytes");
            match pair.split_once('=') {
                Some(("offset", offset)) => address.offset = number(offset)?,
                Some(("limit", limit)) => address.limit = Some(number(limit)?),
                _ => return Err("there is nothing but offset and limit to be given"),
            }
        }
        Ok(address)
    }
}

/// An address as errors quote it.
pub(super) fn bounded(uri: &str) -> String {
    const MOST: usize = 200;
    match uri.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", uri.get(..end).unwrap_or_default()),
        None => uri.to_owned(),
    }
}
