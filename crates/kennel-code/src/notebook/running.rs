//! One cell in one interpreter, from its first message to its last byte of output.

use super::asks::Asks;
use super::handle::Cell;
use super::host::{CellContext, Host};
use super::live::{Live, news};
use super::loss::Loss;
use super::message::{self, End, FromBox};
use super::outcome::Stop;
use super::patience::Patience;
use crate::cell::CellRequest;
use crate::channel::{ChannelError, Known, Received, Receiver, Sender, Token};
use crate::engine::ProcessHandle;
use crate::output::Mark;
use crate::settings::{NotebookLimits, OutputLimits};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The signal that asks code to stop.
const SIGINT: i32 = 2;

/// How a cell has run.
pub(super) struct Ran {
    pub(super) end: Option<End>,
    pub(super) stop: Option<Stop>,
    /// Why the interpreter is of no more use.
    pub(super) loss: Option<Loss>,
    pub(super) calls: u64,
    /// Whether the cell before was interrupted.
    pub(super) interrupted_before: bool,
}

/// What a cell needs while it runs.
pub(super) struct Running<'a> {
    pub(super) cell: &'a Cell,
    pub(super) host: &'a Arc<dyn Host>,
    pub(super) limits: &'a Arc<NotebookLimits>,
    pub(super) output: &'a OutputLimits,
    pub(super) closing: &'a CancellationToken,
}

/// Which streams have not ended, or ended for the cell, yet.
struct Open {
    stdout: bool,
    stderr: bool,
}

/// Takes packets with a token for as long as it lives.
struct Admitted {
    known: Known,
    token: Token,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.known.forget(&self.token);
    }
}

/// When to do what about a cell that takes long.
struct Clock {
    /// When to interrupt it, for the first time or once more.
    interrupt: Instant,
    /// When to kill it, once it was interrupted.
    kill: Option<Instant>,
}

impl Running<'_> {
    /// Runs a cell to its end, or until it has to be given up.
    pub(super) async fn run(&self, live: &mut Live, request: &CellRequest) -> Ran {
        let Ok(token) = Token::random() else {
            // No cell can be begun without one.
            return Ran { end: None, stop: None, loss: Some(Loss::ChannelClosed), calls: 0, interrupted_before: false };
        };
        live.known.admit(token);
        let admitted = Admitted { known: live.known.clone(), token };
        let mark = Mark::of(&token);
        let context = CellContext {
            holder: self.cell.holder.clone(),
            session: Arc::clone(&self.cell.session),
            cell: Arc::clone(&self.cell.id),
            servers: request.servers.clone(),
            patience: Patience::default(),
        };
        let (host, limits) = (Arc::clone(self.host), Arc::clone(self.limits));
        let mut asks = Asks::new(host, Arc::new(context), live.sender.clone(), token, limits);
        let mut open = Open { stdout: true, stderr: true };
        let (ended, stop) = self.converse(live, request, token, &mark, &mut asks, &mut open).await;
        let calls = asks.calls();
        drop((asks, admitted));
        let (end, loss) = match ended {
            Ok(end) => (Some(end), None),
            Err(loss) => (None, Some(loss)),
        };
        if loss.is_some() {
            // Nothing of it may go on, and its pipes end with it.
            live.kill(self.limits.exit).await;
        }
        let (quiet, settle) = (self.output.quiet, self.output.settle);
        let stdout = async {
            if open.stdout {
                live.stdout.settle(&mark, &self.cell.stdout, quiet, settle).await;
            }
        };
        let stderr = async {
            if open.stderr {
                live.stderr.settle(&mark, &self.cell.stderr, quiet, settle).await;
            }
        };
        tokio::join!(stdout, stderr);
        let interrupted_before = std::mem::replace(&mut live.interrupted, stop.is_some());
        if stop.is_some() && loss.is_none() {
            tokio::time::sleep(self.limits.pause).await;
        }
        Ran { end, stop, loss, calls, interrupted_before }
    }

    /// Sends the cell, answers what it asks, reads what it prints, and stops it when it is time.
    async fn converse(
        &self,
        live: &mut Live,
        request: &CellRequest,
        token: Token,
        mark: &Mark,
        asks: &mut Asks,
        open: &mut Open,
    ) -> (Result<End, Loss>, Option<Stop>) {
        let timeout = request.timeout.unwrap_or(self.limits.timeout);
        let (deadline, patience) = (Instant::now() + timeout, asks.patience());
        let mut clock = Clock { interrupt: deadline, kill: None };
        let mut stop = None;
        let catalog = news(live.told.catalog, request.catalog.as_ref());
        let saved = news(live.told.saved, request.saved.as_ref());
        let mut told = false;
        let begin = begin(&live.sender, live.token, token, [catalog, saved], self.cell, request);
        tokio::pin!(begin);
        let alarm = tokio::time::sleep_until(clock.next());
        tokio::pin!(alarm);
        let mut exit = live.process.wait();
        let ended = loop {
            tokio::select! {
                received = live.receiver.next() => match received {
                    Ok(received) => if let Some(end) = self.hear(&received, token, asks) {
                        break Ok(end);
                    },
                    Err(_) => break Err(closed(&*live.process, self.limits.exit).await),
                },
                sent = &mut begin, if !told => match sent {
                    Ok(()) => told = true,
                    Err(_) => break Err(closed(&*live.process, self.limits.exit).await),
                },
                _ = live.stdout.read_to(mark, &self.cell.stdout), if open.stdout => open.stdout = false,
                _ = live.stderr.read_to(mark, &self.cell.stderr), if open.stderr => open.stderr = false,
                report = &mut exit => {
                    let last = last_words(&mut live.receiver, self.limits.exit, |received| self.hear(received, token, asks));
                    break match last.await {
                        Some(end) => Ok(end),
                        None => Err(Loss::Ended(report)),
                    };
                },
                () = self.closing.cancelled() => break Err(Loss::Closed),
                () = self.cell.cancel.cancelled(), if stop.is_none() => {
                    stop = Some(Stop::Cancelled);
                    self.interrupt(&*live.process, asks, &mut clock);
                    alarm.as_mut().reset(clock.next());
                },
                () = &mut alarm => {
                    if stop.is_none() && let Some(later) = patience.later(deadline) {
                        alarm.as_mut().reset(later);
                        continue;
                    }
                    if clock.kill.is_some_and(|kill| Instant::now() >= kill) {
                        break Err(Loss::DidNotStop { grace: self.limits.grace });
                    }
                    stop.get_or_insert(Stop::Timeout(timeout));
                    self.interrupt(&*live.process, asks, &mut clock);
                    alarm.as_mut().reset(clock.next());
                },
                () = asks.over() => {},
            }
        };
        drop(exit);
        if told {
            live.told.catalog = request.catalog.as_ref().map(|catalog| catalog.version).or(live.told.catalog);
            live.told.saved = request.saved.as_ref().map(|saved| saved.version).or(live.told.saved);
        }
        (ended, stop)
    }

    /// Takes a message; returns the end of the cell if it is that.
    fn hear(&self, received: &Received, token: Token, asks: &mut Asks) -> Option<End> {
        if received.token != token {
            return None;
        }
        match message::read(&received.body, &self.cell.label)? {
            FromBox::Ask { number, ask } => asks.take(number, ask, received.body.len()),
            FromBox::Cancel { number } => asks.cancel(number),
            FromBox::End(end) => return Some(end),
        }
        None
    }

    fn interrupt(&self, process: &dyn ProcessHandle, asks: &mut Asks, clock: &mut Clock) {
        asks.interrupt();
        // One that cannot be signalled has ended, which is heard of otherwise, or is killed when the grace is over.
        let _ = process.signal(SIGINT);
        let now = Instant::now();
        clock.kill.get_or_insert(now + self.limits.grace);
        clock.interrupt = now + self.limits.interrupt_every;
    }
}

impl Clock {
    fn next(&self) -> Instant {
        self.kill.map_or(self.interrupt, |kill| kill.min(self.interrupt))
    }
}

/// Tells the interpreter what it needs to know, and to begin.
async fn begin(
    sender: &Sender,
    interpreter: Token,
    token: Token,
    news: [Option<&crate::cell::Versioned>; 2],
    cell: &Cell,
    request: &CellRequest,
) -> Result<(), ChannelError> {
    for message in news.into_iter().flatten() {
        sender.send(interpreter, &message.message).await?;
    }
    sender.send(token, &message::cell(&cell.label, &request.code, request.servers.as_deref())).await
}

/// Why the channel is closed: the process has ended, or has closed it and runs on.
async fn closed(process: &dyn ProcessHandle, most: Duration) -> Loss {
    match tokio::time::timeout(most, process.wait()).await {
        Ok(report) => Loss::Ended(report),
        Err(_) => Loss::ChannelClosed,
    }
}

/// What a process that has ended had still said.
async fn last_words(
    receiver: &mut Receiver,
    most: Duration,
    mut hear: impl FnMut(&Received) -> Option<End>,
) -> Option<End> {
    let heard = async {
        while let Ok(received) = receiver.next().await {
            if let Some(end) = hear(&received) {
                return Some(end);
            }
        }
        None
    };
    tokio::time::timeout(most, heard).await.ok().flatten()
}
