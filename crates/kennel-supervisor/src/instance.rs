//! The handle on an instance.

use crate::driver::Driver;
use crate::introduction::{EraPlan, Introduction};
use crate::launch::Launcher;
use crate::receiver::Receiver;
use crate::settings::Settings;
use crate::shared::{Shared, Wish};
use crate::stage::Stage;
use crate::status::Status;
use std::fmt;
use std::sync::Arc;

/// One instance: at most one process at a time, started when wanted and restarted as needed. Cheap to clone.
///
/// All requests but [`Instance::shutdown`] return at once; what becomes of them is told to the [`Receiver`]. When the
/// last handle is dropped, the instance shuts down in the background.
#[derive(Clone)]
pub struct Instance(Arc<Handle>);

struct Handle(Arc<Shared>);

impl Instance {
    /// An instance that is asleep. Must be called within a tokio runtime.
    #[must_use]
    pub fn new<R: Receiver>(
        settings: Settings,
        introduction: Introduction,
        plan: EraPlan,
        launcher: Arc<dyn Launcher>,
        receiver: Arc<R>,
        stage: Stage,
    ) -> Self {
        let (driver, shared) = Driver::new(settings, introduction, plan, launcher, receiver, stage);
        // Owned by the handle: it ends when the handle wishes for it, and cancels `ended` when it has.
        tokio::spawn(driver.run());
        Self(Arc::new(Handle(shared)))
    }

    /// Wants a process: starts one if the instance is asleep, or as soon as it has finished falling asleep. Nothing
    /// happens while one runs, starts or is waited for, or while the instance is parked or has failed.
    pub fn wake(&self) {
        self.shared().wake();
    }

    /// A call begins: like [`Instance::wake`], and the process is not idle until as many calls have ended.
    pub fn work_began(&self) {
        self.shared().work_began();
    }

    /// A call has ended.
    pub fn work_ended(&self) {
        self.shared().work_ended();
    }

    /// A call got no answer in time: asks the process at once whether it lives, although calls are in flight, and
    /// replaces it if it does not.
    pub fn suspect(&self) {
        self.shared().wish(Wish::Suspect);
    }

    /// Wants another process, with a fresh budget of restarts: stops the one there is, if any, and starts.
    pub fn restart(&self) {
        self.shared().wish(Wish::Restart);
    }

    /// How the instance is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared().status()
    }

    /// Stops the process in order, or the start of one, and returns when nothing of it is left. Nothing is started
    /// any more.
    pub async fn shutdown(&self) {
        self.shared().wish(Wish::Shutdown);
        self.shared().ended.cancelled().await;
    }

    fn shared(&self) -> &Shared {
        &self.0.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.wish(Wish::Shutdown);
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Instance").field(&self.status()).finish()
    }
}
