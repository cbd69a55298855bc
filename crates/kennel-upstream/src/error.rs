//! What is wrong with a description of a server, before anything is sent.

/// Why there can be no conversation with a server as it is described.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The address is none.
    #[error("`url` is not an absolute address; write it as `https://host/path`")]
    NoAddress,
    /// The address is of something else.
    #[error("`url` must begin with `https://` or `http://`")]
    Scheme,
    /// The address holds a user and a password.
    #[error("`url` holds credentials before its host; put them into `headers`, as `Authorization`")]
    Credentials,
    /// A header cannot be called so.
    #[error("`headers`: `{0}` is not a name that a header can have")]
    HeaderName(String),
    /// A header belongs to the protocol.
    #[error("`headers`: `{0}` is set by Kennel itself; remove it")]
    Reserved(String),
    /// A header cannot have its value.
    #[error("`headers`: the value of `{0}` has a line end or another character that no header can have")]
    HeaderValue(String),
    /// A certificate cannot be read.
    #[error("a certificate to be trusted cannot be read: {0}; give certificates in the PEM format")]
    Certificate(String),
    /// The machine trusts nobody.
    #[error("no certificates of authorities were found on this machine{0}; install the package `ca-certificates`")]
    NoRoots(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}
