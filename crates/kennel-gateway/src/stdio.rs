//! The stdio door: one client, whose messages are lines.

use crate::conversation::converse;
use crate::lines::{LineInlet, LineOutlet};
use crate::metrics::Tally;
use crate::settings::Limits;
use kennel_hub::{Endpoint, Principal};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Serves one client over a pair of byte streams until it closes its side, cannot be written to, or `shutdown` is
/// cancelled.
///
/// Requests that were sent before the client closed its side are still answered, for at most [`Limits::drain`], so that
/// a script may write all its messages, close the pipe and read the answers.
pub async fn serve_stdio(
    endpoint: Endpoint,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
    limits: &Limits,
    shutdown: &CancellationToken,
) {
    let inlet = LineInlet::new(input, limits.message_bytes);
    let mut outlet = LineOutlet::new(output);
    converse(endpoint, &Principal::local(), inlet, &mut outlet, limits, &Tally::default(), shutdown).await;
}
