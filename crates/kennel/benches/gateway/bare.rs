//! The bare server: axum that answers every body with itself. What HTTP alone costs, without any process behind it.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::{Listener, ListenerExt};
use std::io;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

/// Serves on the port for ever.
pub(crate) async fn serve(port: u16) -> io::Result<()> {
    let echo = async |body: Bytes| ([(CONTENT_TYPE, "application/json")], body);
    axum::serve(listen(port).await?, Router::new().route("/", post(echo))).await
}

/// Listens on loopback; what is written goes out at once.
pub(crate) async fn listen(port: u16) -> io::Result<impl Listener<Addr: std::fmt::Debug>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    Ok(listener.tap_io(|stream| {
        // Only speed depends on it.
        let _ = stream.set_nodelay(true);
    }))
}
