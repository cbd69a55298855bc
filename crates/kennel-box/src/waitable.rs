//! The jail's descriptors, made to wait for with `await`.

use kennel_jail::{Channel, JailError, JailEvent};
use std::os::fd::{AsFd, AsRawFd};
use tokio::io::unix::AsyncFd;

/// A descriptor of the jail in an event loop.
#[derive(Debug)]
pub struct Waitable<D: AsRawFd>(AsyncFd<D>);

impl<D: AsFd + AsRawFd> Waitable<D> {
    /// Registers a descriptor with the event loop that the caller runs in.
    #[expect(
        deprecated,
        reason = "the successor is unsafe because a type could close its descriptor early; the jail's types own theirs"
    )]
    pub fn new(descriptor: D) -> Result<Self, JailError> {
        rustix::io::ioctl_fionbio(&descriptor, true).map_err(std::io::Error::from)?;
        Ok(Self(AsyncFd::new(descriptor)?))
    }

    /// The descriptor itself.
    pub fn get_ref(&self) -> &D {
        self.0.get_ref()
    }

    /// Reads as soon as there is something to read. Safe to cancel.
    pub(crate) async fn read<T>(&self, read: impl Fn(&D) -> Result<T, JailError>) -> Result<T, JailError> {
        loop {
            let mut ready = self.0.readable().await?;
            if let Ok(outcome) = ready.try_io(|descriptor| would_block(read(descriptor.get_ref()))) {
                return outcome?;
            }
        }
    }
}

impl Waitable<Channel> {
    /// The next event of the box; an error where it was refused or has ended. Safe to cancel.
    pub async fn receive(&self) -> Result<JailEvent, JailError> {
        self.read(Channel::receive).await
    }
}

/// Lets "not yet" through as the error that a readiness guard waits for, and keeps every other outcome together.
fn would_block<T>(outcome: Result<T, JailError>) -> std::io::Result<Result<T, JailError>> {
    match outcome {
        Err(JailError::Channel(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Err(error),
        other => Ok(other),
    }
}
