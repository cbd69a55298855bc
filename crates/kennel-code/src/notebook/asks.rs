//! The requests of one cell: how many at once, how many in all, and their end.

use super::host::{Ask, AskError, AskErrorKind, CellContext, Host};
use super::message;
use super::patience::Patience;
use crate::channel::{ChannelError, Sender, Token};
use crate::settings::NotebookLimits;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, Id, JoinSet};

/// How many refusals may wait to be sent. A cell that asks on and does not listen hears no more of them.
const MOST_REFUSALS: usize = 16_384;

/// The requests of one cell. Dropping it calls all of them off.
pub(super) struct Asks {
    host: Arc<dyn Host>,
    context: Arc<CellContext>,
    answers: Answers,
    limits: Arc<NotebookLimits>,
    turn: Arc<Semaphore>,
    tasks: JoinSet<Option<u64>>,
    open: HashMap<u64, Open>,
    /// What sends refusals, once there is one.
    refusals: Option<mpsc::Sender<(u64, AskError)>>,
    bytes: usize,
    made: usize,
    calls: u64,
    interrupted: bool,
}

struct Open {
    task: AbortHandle,
    bytes: usize,
}

/// Where answers go.
#[derive(Clone)]
struct Answers {
    sender: Sender,
    token: Token,
}

impl Asks {
    pub(super) fn new(
        host: Arc<dyn Host>,
        context: Arc<CellContext>,
        sender: Sender,
        token: Token,
        limits: Arc<NotebookLimits>,
    ) -> Self {
        let answers = Answers { sender, token };
        Self {
            host,
            context,
            answers,
            turn: Arc::new(Semaphore::new(limits.asks_at_once)),
            limits,
            tasks: JoinSet::new(),
            open: HashMap::new(),
            refusals: None,
            bytes: 0,
            made: 0,
            calls: 0,
            interrupted: false,
        }
    }

    /// Takes a request that came as so many bytes.
    pub(super) fn take(&mut self, number: u64, ask: Result<Ask, AskError>, bytes: usize) {
        if self.open.contains_key(&number) {
            // An answer could not say which of the two it is for.
            return;
        }
        let ask = match ask.and_then(|ask| self.admit(ask, bytes)) {
            Ok(ask) => ask,
            Err(error) => {
                self.refuse(number, error);
                return;
            }
        };
        self.made += 1;
        self.bytes += bytes;
        self.calls += u64::from(matches!(ask, Ask::CallTool(_)));
        let (host, context) = (Arc::clone(&self.host), Arc::clone(&self.context));
        let (answers, turn) = (self.answers.clone(), Arc::clone(&self.turn));
        let task = self.tasks.spawn(async move {
            // It is never closed.
            let _turn = turn.acquire().await;
            let answer = host.ask(&context, ask).await;
            answers.send(number, &answer).await;
            Some(number)
        });
        self.open.insert(number, Open { task, bytes });
    }

    fn refuse(&mut self, number: u64, error: AskError) {
        let refusals = self.refusals.get_or_insert_with(|| {
            let (refusals, mut refused) = mpsc::channel::<(u64, AskError)>(MOST_REFUSALS);
            let answers = self.answers.clone();
            self.tasks.spawn(async move {
                while let Some((number, error)) = refused.recv().await {
                    answers.send(number, &Err(error)).await;
                }
                None
            });
            refusals
        });
        // Full where the cell does not listen.
        let _ = refusals.try_send((number, error));
    }

    /// Calls a request off.
    pub(super) fn cancel(&mut self, number: u64) {
        if let Some(open) = self.open.remove(&number) {
            open.task.abort();
            self.bytes -= open.bytes;
        }
    }

    /// Calls all requests off, and takes no more: the cell is to stop.
    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
        for (_, open) in self.open.drain() {
            open.task.abort();
        }
        self.bytes = 0;
    }

    /// Waits until a request is over.
    pub(super) async fn over(&mut self) {
        match self.tasks.join_next().await {
            Some(Ok(Some(number))) => self.cancel(number),
            Some(Err(error)) if error.is_panic() => self.failed(error.id()),
            Some(Ok(None) | Err(_)) => {}
            // There is none, and none comes while this waits.
            None => std::future::pending().await,
        }
    }

    /// How long the cell has waited for people.
    pub(super) fn patience(&self) -> Patience {
        self.context.patience.clone()
    }

    /// How many tools were called.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Answers a request whose host has panicked: the cell would wait for it in vain.
    fn failed(&mut self, task: Id) {
        let Some(number) = self.open.iter().find(|(_, open)| open.task.id() == task).map(|(number, _)| *number) else {
            return;
        };
        self.cancel(number);
        let error = AskError::new(AskErrorKind::Protocol, "Kennel failed at this request; its log says why");
        self.refuse(number, error);
    }

    fn admit(&self, ask: Ask, bytes: usize) -> Result<Ask, AskError> {
        let limit = |message: String| Err(AskError::new(AskErrorKind::Limit, message));
        if self.interrupted {
            return Err(AskError::new(AskErrorKind::Refused, "the cell is being stopped"));
        }
        if self.made >= self.limits.asks {
            return limit(format!("a cell may make {} requests; go on in another cell", self.limits.asks));
        }
        if self.bytes.saturating_add(bytes) > self.limits.ask_bytes {
            let most = self.limits.ask_bytes;
            return limit(format!(
                "the unanswered requests of a cell may have {most} bytes together; await some first"
            ));
        }
        match &ask {
            Ask::CallTool(super::CallTool { alias, .. }) | Ask::DescribeTools(super::DescribeTools { alias, .. })
                if !self.context.may_use(alias) =>
            {
                let alias = alias.chars().take(100).collect::<String>();
                let message = format!("this cell may not use the server {alias}: the argument servers leaves it out");
                Err(AskError::new(AskErrorKind::Refused, message))
            }
            _ => Ok(ask),
        }
    }
}

impl Answers {
    async fn send(&self, number: u64, answer: &Result<Box<RawValue>, AskError>) {
        let sent = self.sender.send(self.token, &message::reply(number, answer)).await;
        if let Err(error @ ChannelError::TooLarge { .. }) = sent {
            let answer = Err(AskError::new(AskErrorKind::Limit, error.to_string()));
            // What else fails here fails the cell where its messages are read.
            let _ = self.sender.send(self.token, &message::reply(number, &answer)).await;
        }
    }
}

#[cfg(test)]
#[path = "asks_tests.rs"]
mod tests;
