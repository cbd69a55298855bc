//! Whom to trust: the authorities of this machine, and those that a description adds.

use crate::error::UpstreamError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, OnceLock};

/// The settings of TLS with the authorities of this machine, read once for all conversations: they take a megabyte.
static OF_THE_MACHINE: OnceLock<ClientConfig> = OnceLock::new();

/// The settings of TLS with the authorities of this machine and further ones (PEM). Reads files.
pub(crate) fn settings(roots: &[u8]) -> Result<ClientConfig, UpstreamError> {
    if roots.is_empty() {
        if let Some(settings) = OF_THE_MACHINE.get() {
            return Ok(settings.clone());
        }
        let settings = with_roots(of_the_machine(true)?)?;
        return Ok(OF_THE_MACHINE.get_or_init(|| settings).clone());
    }
    let unreadable = |text: String| UpstreamError::Certificate(text);
    let mut store = of_the_machine(false)?;
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(roots) {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        store.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        found += 1;
    }
    if found == 0 {
        return Err(unreadable("there is none in what was given".to_owned()));
    }
    with_roots(store)
}

/// The settings of TLS that trust nobody, for where it is not spoken.
pub(crate) fn of_nobody() -> Result<ClientConfig, UpstreamError> {
    with_roots(RootCertStore::empty())
}

fn of_the_machine(are_needed: bool) -> Result<RootCertStore, UpstreamError> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(loaded.certs);
    if are_needed && store.is_empty() {
        let why = loaded.errors.first().map(|error| format!(" ({error})"));
        return Err(UpstreamError::NoRoots(why.unwrap_or_default()));
    }
    Ok(store)
}

fn with_roots(store: RootCertStore) -> Result<ClientConfig, UpstreamError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| UpstreamError::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}
