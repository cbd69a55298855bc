//! How long a request has waited, told without a timer of its own for every request.

use crate::sync::lock;
use std::pin::Pin;
use std::sync::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

/// An alarm that nobody uses just now. To set it anew for a later time costs next to nothing, while a new one has to be
/// entered into the clock and taken out again.
#[derive(Debug, Default)]
pub(crate) struct SpareAlarm(Mutex<Option<Pin<Box<Sleep>>>>);

/// An alarm in use; it is spare again when this goes.
pub(crate) struct Alarm<'a> {
    spare: &'a SpareAlarm,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<'a> Alarm<'a> {
    /// Sets the spare alarm, or a new one if that is in use.
    pub(crate) fn set(spare: &'a SpareAlarm, deadline: Instant) -> Self {
        let mut alarm = lock(&spare.0).take().unwrap_or_else(|| Box::pin(sleep_until(deadline)));
        alarm.as_mut().reset(deadline);
        Self { spare, alarm: Some(alarm) }
    }

    /// Waits for the time that it is set to.
    pub(crate) async fn rings(&mut self) {
        match &mut self.alarm {
            Some(alarm) => alarm.as_mut().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        *lock(&self.spare.0) = self.alarm.take();
    }
}
