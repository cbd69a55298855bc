//! The listening gateway: from binding to the end of the last connection.

use crate::access::Access;
use crate::budget::Budget;
use crate::connection::{self, Place, Slots};
use crate::directory::Directory;
use crate::dispatch::Doors;
use crate::intake::Intake;
use crate::kept::KeptSessions;
use crate::mcp::McpDoor;
use crate::metrics::{Counters, Door};
use crate::modern::ModernDoor;
use crate::peer::{Peers, Tuple};
use crate::rpc::RpcDoor;
use crate::session::Sessions;
use crate::settings::{Limits, Settings};
use crate::table::Table;
use crate::websocket::SocketDoor;
use kennel_hub::{Endpoint, Mailbox};
use kennel_state::Store;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long nothing is accepted after the system could not give another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long the last words of connections may take.
const FAREWELL: Duration = Duration::from_millis(500);
/// How often sessions and streams are looked through at most.
const SHORTEST_ROUND: Duration = Duration::from_millis(100);
const LONGEST_ROUND: Duration = Duration::from_secs(15);

/// Why the gateway cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else has the address.
    #[error(
        "cannot listen on {address}: another program, perhaps another Kennel, already does. Find it with `ss -ltnp 'sport \
         = :{port}'`, or choose another address with --listen",
        port = address.port()
    )]
    InUse {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The port is for privileged programs.
    #[error("cannot listen on {address}: ports below 1024 need a privilege. Choose a higher port with --listen")]
    Forbidden {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The address belongs to another machine.
    #[error(
        "cannot listen on {address}: this machine has no such address. Choose one of its own, or 127.0.0.1, with --listen"
    )]
    NotHere {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A bound that would let nobody in, or never rest.
    #[error("cannot listen on {address}: the limit `{name}` is zero. Set it to something greater, or leave it out")]
    Zero {
        /// The address.
        address: SocketAddr,
        /// The limit.
        name: &'static str,
    },
    /// Something else.
    #[error("cannot listen on {address}: {source}. Choose another address with --listen")]
    Other {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

impl BindError {
    fn new(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::InUse { address, source },
            io::ErrorKind::PermissionDenied => Self::Forbidden { address, source },
            io::ErrorKind::AddrNotAvailable => Self::NotHere { address, source },
            _ => Self::Other { address, source },
        }
    }
}

/// The HTTP doors on one address.
#[derive(Debug)]
pub struct Gateway {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
    store: Option<Store>,
}

impl Gateway {
    /// Takes the address. Connections wait from now on, and are served by [`Gateway::serve`].
    pub async fn bind(settings: Settings) -> Result<Self, BindError> {
        if let Some(name) = settings.limits.zero() {
            return Err(BindError::Zero { address: settings.listen, name });
        }
        let failed = |source| BindError::new(settings.listen, source);
        let listener = TcpListener::bind(settings.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, settings, store: None })
    }

    /// Has sessions over Streamable HTTP go on after a restart, by what is kept of them here.
    #[must_use]
    pub fn remembering(self, store: Store) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Where it listens, with the port that the system chose if it was 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients until `shutdown` is cancelled, then ends in order: nothing more is accepted, streams are told to
    /// come back later, requests in hand may finish within [`Limits::drain`], and what is left is dropped.
    pub async fn serve(self, directory: Arc<dyn Directory>, shutdown: CancellationToken) {
        let limits = Arc::new(self.settings.limits);
        let sessions: Arc<Sessions> = Table::new(limits.sessions, limits.idle_session_floor);
        let (tasks, closing, aborted) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let replay = Arc::new(Budget::new(limits.replay.total_bytes));
        let nowhere = Mailbox::new(limits.mailbox);
        nowhere.close();
        let counters = Counters::default();
        let kept = self.store.map(|store| Arc::new(KeptSessions::new(store, limits.idle_session)));
        let intake = Intake::new(limits.unfinished_bytes, limits.message_bytes);
        // A token says more than a user's number. Beyond loopback, there is none to ask for.
        let asks = self.settings.access.tokens.is_empty() && self.address.ip().is_loopback();
        let doors = Arc::new(Doors {
            access: Access::new(&self.settings.access, self.address),
            peers: asks.then(Peers::new),
            intake: Arc::clone(&intake),
            mcp: McpDoor {
                sessions: Arc::clone(&sessions),
                limits: Arc::clone(&limits),
                intake: Arc::clone(&intake),
                replay,
                nowhere,
                tally: counters.tally(Door::Mcp),
                kept: kept.clone(),
                modern: ModernDoor { limits: Arc::clone(&limits), tally: counters.tally(Door::Mcp) },
            },
            rpc: RpcDoor { limits: Arc::clone(&limits), intake, tally: counters.tally(Door::Rpc) },
            socket: SocketDoor {
                limits: Arc::clone(&limits),
                tally: counters.tally(Door::WebSocket),
                tasks: tasks.clone(),
                closing: closing.clone(),
                aborted: aborted.clone(),
            },
            directory,
            counters,
        });
        let slots = Slots::new(limits.connections);
        let accepting = async {
            loop {
                let Some((place, stream, client)) = accept(&self.listener, &slots).await else { return };
                doors.counters.connected();
                let (doors, limits, slots) = (Arc::clone(&doors), Arc::clone(&limits), slots.clone());
                let (closing, aborted) = (closing.clone(), aborted.clone());
                let tuple = Tuple { client, gateway: self.address };
                tasks.spawn(async move {
                    let slot = connection::welcome(&slots, place, &doors, tuple).await;
                    connection::serve(stream, doors, slot, &limits, &closing, &aborted).await;
                });
            }
        };
        tokio::select! {
            () = accepting => {}
            () = tend(&sessions, &limits, kept.as_deref()) => {}
            () = shutdown.cancelled() => {}
        }
        drop(self.listener);
        closing.cancel();
        doors.directory.endpoints().iter().for_each(Endpoint::end_streams);
        sessions.all().iter().for_each(|session| session.value.streams().recall());
        tasks.close();
        // A little longer than what they wait for themselves, so that they can say good-bye.
        if timeout(limits.drain + FAREWELL, tasks.wait()).await.is_err() {
            aborted.cancel();
            tasks.wait().await;
        }
        sessions.clear().iter().for_each(|session| session.value.end());
    }
}

/// The next connection, with a place for it. Errors of a single one are passed over; where the system has no more to give,
/// idle ones make room.
async fn accept(listener: &TcpListener, slots: &Slots) -> Option<(Place, TcpStream, SocketAddr)> {
    let place = slots.place().await?;
    loop {
        match listener.accept().await {
            Ok((stream, client)) => return Some((place, stream, client)),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                _ => {
                    slots.make_room();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

/// Ends sessions that nobody uses and forgets streams that nobody came back for, for ever.
async fn tend(sessions: &Sessions, limits: &Limits, kept: Option<&KeptSessions>) {
    let round = (limits.idle_session.min(limits.replay.kept) / 4).clamp(SHORTEST_ROUND, LONGEST_ROUND);
    let mut rounds = interval(round);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        for session in sessions.remove_idle(limits.idle_session) {
            session.value.end();
            if let (Some(kept), Some(record)) = (kept, session.value.record()) {
                kept.ended(&record);
            }
        }
        if let Some(kept) = kept {
            for session in sessions.all().iter().filter(|session| session.was_used_within(round)) {
                session.value.record().iter().for_each(|record| kept.used(record));
            }
        }
        if let Some(before) = Instant::now().checked_sub(limits.replay.kept) {
            sessions.all().iter().for_each(|session| session.value.streams().forget(before));
        }
    }
}
