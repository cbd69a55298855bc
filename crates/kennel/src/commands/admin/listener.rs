//! Owns the gateway's side of the admin socket.

use super::place::{SocketPlace, Taken};
use super::{Reply, Request};
use crate::commands::console::{Console, Page};
use crate::commands::serve::Fleet;
use crate::failure::Failure;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many commands are served at once; further ones wait.
const MOST_CONNECTIONS: usize = 64;
/// The longest request, and how long it may take.
const LONGEST_REQUEST: u64 = 64 << 10;
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// How long nothing is accepted after the system could not give another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How often it is looked whether a server whose log is followed is still there.
const LOOK: Duration = Duration::from_millis(200);

/// Listens for the operator.
pub(crate) struct Listener {
    taken: Taken,
    socket: UnixListener,
    place: SocketPlace,
}

impl Listener {
    /// Takes the socket, unless another gateway has it. Must be called within a tokio runtime.
    pub(crate) fn bind(place: &SocketPlace) -> Result<Self, Failure> {
        let taken = place.take()?;
        let failed = |source| Failure::System { what: "listening on the admin socket", source };
        let socket = UnixListener::from_std(taken.listener.try_clone().map_err(failed)?).map_err(failed)?;
        Ok(Self { taken, socket, place: place.clone() })
    }

    /// Answers until it is told to stop.
    pub(crate) async fn serve(self, fleet: Arc<Fleet>, stop: CancellationToken) {
        let (tasks, slots) = (TaskTracker::new(), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
        let accepting = async {
            loop {
                let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
                let Ok((stream, _)) = self.socket.accept().await else {
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                };
                let desk = Desk { fleet: Arc::clone(&fleet), place: self.place.clone() };
                let stop = stop.clone();
                tasks.spawn(async move {
                    let _slot = slot;
                    // Whoever has gone does not want to know.
                    let _ = stop.run_until_cancelled(desk.serve(stream)).await;
                });
            }
        };
        stop.run_until_cancelled(accepting).await;
        tasks.close();
        tasks.wait().await;
        drop(self.taken);
    }
}

/// Serves one command.
struct Desk {
    fleet: Arc<Fleet>,
    place: SocketPlace,
}

impl Desk {
    async fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let (reading, mut writing) = stream.into_split();
        let mut reading = BufReader::new(reading);
        let mut line = Vec::new();
        let request = timeout(REQUEST_TIME, (&mut reading).take(LONGEST_REQUEST).read_until(b'\n', &mut line)).await;
        request??;
        let request = match Request::read(&line) {
            Ok(request) => request,
            Err(text) => return say(&mut writing, &Reply::Failed(text)).await,
        };
        let follows = matches!(request, Request::Logs { follow: true, .. } | Request::Events { follow: true });
        let serving = async {
            let last = match self.answer(request, &mut writing).await? {
                Ok(value) => Reply::Done(value),
                Err(text) => Reply::Failed(text),
            };
            say(&mut writing, &last).await
        };
        let mut rest = [0; 1];
        tokio::select! {
            served = serving => served,
            // Nothing more is said to us, so this is the end of who follows; others may only have closed their side.
            _ = reading.read(&mut rest), if follows => Ok(()),
        }
    }

    async fn answer(&self, request: Request, writing: &mut OwnedWriteHalf) -> io::Result<Result<Value, String>> {
        let fleet = &self.fleet;
        let answered = match request {
            Request::Status => Ok(self.status()),
            Request::Inspect { server } => match fleet.report(&server) {
                Some(report) => Ok(value(&report)),
                None => Err(fleet.unknown(&server)),
            },
            Request::Logs { server, follow } => match fleet.console(&server) {
                Some(console) => {
                    self.logs(&server, &console, follow, writing).await?;
                    Ok(Value::Null)
                }
                None => Err(fleet.unknown(&server)),
            },
            Request::Events { follow } => {
                let ring = fleet.ground().output.events();
                let mut last = send(ring.after(0), writing).await?;
                if follow {
                    loop {
                        ring.newer(last).await;
                        last = send(ring.after(last), writing).await?;
                    }
                }
                Ok(Value::Null)
            }
            Request::Stop { server } => fleet.stop(&server).map(|()| Value::Null),
            Request::Start { server } => fleet.start(&server).await.map(|()| Value::Null),
            Request::Restart { server } => fleet.restart(&server).await.map(|()| Value::Null),
            Request::Reload { accept: None } => fleet.reload().await.map(|reloaded| value(&reloaded)),
            Request::Reload { accept: Some(number) } => fleet.accept(number).map(|reloaded| value(&reloaded)),
        };
        Ok(answered.map_err(|error| error.to_string()))
    }

    /// Sends the log of a server, and what is added to it as long as the server is there.
    async fn logs(
        &self,
        server: &str,
        console: &Arc<Console>,
        follow: bool,
        writing: &mut OwnedWriteHalf,
    ) -> io::Result<()> {
        let mut last = send(console.log_after(0), writing).await?;
        let is_there = || self.fleet.console(server).is_some_and(|now| Arc::ptr_eq(&now, console));
        while follow && is_there() {
            if timeout(LOOK, console.log_newer(last)).await.is_ok() {
                last = send(console.log_after(last), writing).await?;
            }
        }
        Ok(())
    }

    fn status(&self) -> Value {
        let counted = self.fleet.ground().store.as_ref().map(kennel_state::Store::counters).unwrap_or_default();
        json!({
            "rows_lost": counted.dropped_audit + counted.dropped_changes + counted.failed,
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "url": self.fleet.url(),
            "file": self.fleet.file(),
            "data": self.fleet.ground().data,
            "socket": self.place.path(),
            "servers": self.fleet.reports(),
            "waiting": self.fleet.waiting(),
        })
    }
}

/// Sends what there is, and returns the number to go on with.
async fn send<T: Serialize>(page: Page<T>, writing: &mut OwnedWriteHalf) -> io::Result<u64> {
    let missed = (page.missed > 0).then(|| json!({ "missed": page.missed }));
    let items = missed.into_iter().chain(page.entries.iter().map(value)).collect::<Vec<_>>();
    for item in items {
        say(writing, &Reply::Item(item)).await?;
    }
    Ok(page.last)
}

async fn say(writing: &mut OwnedWriteHalf, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    writing.write_all(&line).await
}

fn value(entry: &impl Serialize) -> Value {
    serde_json::to_value(entry).unwrap_or_default()
}
