//! Servers over TLS: whom they are believed.

use crate::peer::{Peer, Pipe};
use crate::support::{Talk, hurried, initialize, introduction, not_launched, result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kennel_upstream::Upstream;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// A certificate that nobody has vouched for, and its key.
pub(crate) struct Certificate {
    pub(crate) pem: String,
    der: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

pub(crate) fn certificate() -> Certificate {
    let names = vec!["localhost".to_owned()];
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let der = cert.der().clone();
    let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(&der));
    Certificate { pem, der, key: PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into() }
}

async fn peer(certificate: Certificate) -> Peer {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate.der], certificate.key);
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("a certificate")));
    Peer::over(move |stream| {
        let acceptor = acceptor.clone();
        async move { Some(Box::new(acceptor.accept(stream).await.ok()?) as Box<dyn Pipe>) }
    })
    .await
}

#[tokio::test]
async fn a_server_is_believed_by_a_certificate_that_was_given() {
    let certificate = certificate();
    let pem = certificate.pem.clone();
    let mut peer = peer(certificate).await;
    let url = format!("https://localhost:{}/mcp", peer.address.port());
    let mut talk = Talk::to(Upstream::new(&url).expect("an address").trusting(pem).limits(hurried())).await;
    talk.send(&initialize());
    let asked = peer.next().await;
    assert_eq!(asked.json(), initialize());
    asked.result(introduction()).await;
    assert_eq!(talk.heard().await, result(0, introduction()));
}

#[tokio::test]
async fn a_server_that_cannot_be_believed_gets_nothing() {
    let (own, other) = (certificate(), certificate());
    let pem = own.pem.clone();
    let peer = peer(own).await;
    let port = peer.address.port();
    for (host, trusted) in [("localhost", &other.pem), ("127.0.0.1", &pem)] {
        let url = format!("https://{host}:{port}/mcp");
        let upstream = Upstream::new(&url).expect("an address").trusting(trusted.clone()).limits(hurried());
        let text = not_launched(upstream).await.text;
        assert!(text.contains("cannot be reached") && text.contains("certificate"), "{text}");
        assert!(!peer.has_next(), "{host}");
    }
}
