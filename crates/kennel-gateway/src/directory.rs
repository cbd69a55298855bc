//! Which endpoints a gateway has, and the addresses that lead to them.

use kennel_hub::{Endpoint, Hub};

/// What an address of the gateway leads to, without the name of the door at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address<'a> {
    /// `/`: everything there is.
    All,
    /// `/servers/<name>/`: one server.
    Server(&'a str),
    /// `/views/<name>/`: a selection.
    View(&'a str),
}

/// Knows the endpoints. They may come and go while the gateway runs.
pub trait Directory: Send + Sync + 'static {
    /// What is at this address. Asked for each request, so it must not take long.
    fn endpoint(&self, address: Address<'_>) -> Option<Endpoint>;

    /// Everything that is at any address.
    fn endpoints(&self) -> Vec<Endpoint>;

    /// The servers that are defined and served, without what Kennel itself offers beside them.
    fn servers(&self) -> Vec<Hub> {
        let server = |endpoint| match endpoint {
            Endpoint::Server(hub) => Some(hub),
            Endpoint::Union(_) => None,
        };
        self.endpoints().into_iter().filter_map(server).collect()
    }

    /// The servers that are defined and cannot be served as they are, by name, with the reason.
    fn unserved(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// One server, which is everything there is.
impl Directory for Hub {
    fn endpoint(&self, address: Address<'_>) -> Option<Endpoint> {
        (address == Address::All).then(|| Endpoint::Server(self.clone()))
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        vec![Endpoint::Server(self.clone())]
    }
}

impl<'a> Address<'a> {
    /// Takes the path of a request apart: what it leads to, how that is spelled, and the name of the door.
    pub(crate) fn split(path: &'a str) -> Option<(Self, &'a str, &'a str)> {
        let (before, door) = path.rsplit_once('/')?;
        let address = match before.strip_prefix('/').and_then(|before| before.split_once('/')) {
            None if before.is_empty() => Self::All,
            Some(("servers", name)) if !name.is_empty() => Self::Server(name),
            Some(("views", name)) if !name.is_empty() => Self::View(name),
            None | Some(_) => return None,
        };
        Some((address, before, door))
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
