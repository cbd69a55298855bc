//! A server that runs elsewhere, ready to be talked to.

use crate::client::Client;
use crate::error::UpstreamError;
use crate::target::Upstream;

/// What a conversation needs.
pub(crate) struct Prepared {
    pub(crate) upstream: Upstream,
    pub(crate) client: Client,
}

impl Prepared {
    /// Makes ready to talk to this server. Reads files if that is done over TLS.
    pub(crate) fn new(upstream: Upstream) -> Result<Self, UpstreamError> {
        let client = Client::new(&upstream)?;
        Ok(Self { upstream, client })
    }
}
