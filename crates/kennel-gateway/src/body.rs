//! Bodies: what is read from a client within bounds, and what is sent to it.

use crate::answer_feed::AnswerFeed;
use crate::feed::EventFeed;
use crate::intake::Share;
use crate::settings::Limits;
use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kennel_wire::ByteSize;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// What a client announces is believed up to here; beyond that, memory is taken as bytes come.
const BELIEVED: usize = 1024 * 1024;

/// The body of a response. Not boxed, because every answer has one.
#[derive(Debug)]
pub(crate) enum Body {
    /// Bytes that are sent as they are.
    Whole(Bytes),
    /// A stream of events in a session.
    Events(Box<EventFeed>),
    /// A stream of events about one request without a session.
    Answer(Box<AnswerFeed>),
}

impl Body {
    pub(crate) const EMPTY: Self = Self::Whole(Bytes::new());
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Self::Events(feed) => feed.poll_chunk(context),
            Self::Answer(feed) => feed.poll_chunk(context),
        };
        next.map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Events(_) | Self::Answer(_) => SizeHint::default(),
        }
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(
        "The body is longer than the {size} that a message may have. Raise the gateway's `max-message` if it should be taken.",
        size = ByteSize::from(*limit)
    )]
    TooLong { limit: usize },
    #[error("The body did not arrive within {0:?}.")]
    TooSlow(Duration),
    #[error("The body broke off before its end.")]
    Broken,
    #[error("The gateway holds as much of unfinished messages as it may. Try again in a moment.")]
    Exhausted,
}

/// Reads a body within its bounds. One that comes in one piece is not copied.
pub(crate) async fn read(body: Incoming, limits: &Limits, share: &mut Share) -> Result<Bytes, ReadError> {
    let limit = limits.message_bytes;
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Err(ReadError::TooLong { limit });
    }
    let announced = usize::try_from(announced).unwrap_or(limit);
    match tokio::time::timeout(limits.body_timeout, collect(body, limits, announced, share)).await {
        Ok(read) => read,
        Err(_) => Err(ReadError::TooSlow(limits.body_timeout)),
    }
}

async fn collect(mut body: Incoming, limits: &Limits, announced: usize, share: &mut Share) -> Result<Bytes, ReadError> {
    let (limit, pause) = (limits.message_bytes, limits.body_pause);
    let mut pace = Pace { pause, since: Instant::now(), length: 0 };
    let first = pace.wait(chunk(&mut body)).await?.unwrap_or_default();
    if first.len() > limit {
        return Err(ReadError::TooLong { limit });
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut collected = BytesMut::with_capacity(announced.min(BELIEVED).max(first.len()));
    collected.extend_from_slice(&first);
    drop(first);
    while let Some(chunk) = pace.wait(chunk(&mut body)).await? {
        if collected.len() + chunk.len() > limit {
            return Err(ReadError::TooLong { limit });
        }
        share.grow(collected.len() + chunk.len()).map_err(|_| ReadError::Exhausted)?;
        collected.extend_from_slice(&chunk);
        pace.reached(collected.len())?;
    }
    Ok(collected.freeze())
}

/// How much has to come of a body in each pause that it may make, so that nobody holds memory by a byte now and then.
const PROGRESS: usize = 16 * 1024;

/// Whether a body makes progress.
struct Pace {
    pause: Duration,
    since: Instant,
    length: usize,
}

impl Pace {
    async fn wait<T>(&self, next: impl Future<Output = Result<T, ReadError>>) -> Result<T, ReadError> {
        tokio::time::timeout(self.pause, next).await.map_err(|_| ReadError::TooSlow(self.pause))?
    }

    /// Says how much has come.
    fn reached(&mut self, length: usize) -> Result<(), ReadError> {
        if self.since.elapsed() < self.pause {
            return Ok(());
        }
        if length - self.length < PROGRESS {
            return Err(ReadError::TooSlow(self.pause));
        }
        (self.since, self.length) = (Instant::now(), length);
        Ok(())
    }
}

/// The next piece of data; trailers are passed over.
async fn chunk(body: &mut Incoming) -> Result<Option<Bytes>, ReadError> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| ReadError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
