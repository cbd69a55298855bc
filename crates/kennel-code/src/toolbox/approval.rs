//! Which tools run without asking somebody, and asking.

use super::question::question;
use crate::notebook::{AskError, AskErrorKind, CellContext};
use crate::server::{Client, Unanswered};
use crate::sync::lock;
use kennel_wire::RawJson;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// How many tools are remembered that always may; of more, the oldest is asked for again.
const MOST_ALWAYS: usize = 1000;

/// Which tools run without asking somebody. Those that say that they change nothing always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// All of them.
    #[default]
    Auto,
    /// None of the others: the client's user is asked.
    Ask,
    /// None of the others, and nobody is asked.
    Deny,
}

/// What holds for the code of one view. It can be changed while code runs, and holds for it at once.
#[derive(Debug, Clone, Default)]
pub struct Policy(Arc<Mutex<Approval>>);

impl Policy {
    /// One that says this.
    #[must_use]
    pub fn new(approval: Approval) -> Self {
        Self(Arc::new(Mutex::new(approval)))
    }

    /// From now on it says this.
    pub fn set(&self, approval: Approval) {
        *lock(&self.0) = approval;
    }

    fn get(&self) -> Approval {
        *lock(&self.0)
    }
}

/// A tool that always may.
#[derive(Debug, PartialEq, Eq)]
struct Always {
    holds: Holds,
    alias: String,
    tool: String,
}

/// For how long something was decided.
#[derive(Debug, PartialEq, Eq)]
enum Holds {
    /// For the conversation, which is one client's.
    Conversation,
    /// For the cell of this id.
    Cell(Arc<str>),
}

/// What was decided in one conversation.
#[derive(Debug)]
pub(super) struct Approvals {
    policy: Policy,
    always: Mutex<VecDeque<Always>>,
    /// One question at a time: people answer one after the other, and an answer may settle the next.
    turn: tokio::sync::Mutex<()>,
}

impl Approvals {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, always: Mutex::default(), turn: tokio::sync::Mutex::new(()) }
    }

    /// Whether a tool that may change something may be called with these arguments.
    pub(super) async fn check(
        &self,
        client: &Client,
        cell: &CellContext,
        alias: &str,
        tool: &str,
        arguments: &str,
    ) -> Result<(), AskError> {
        let refused = |text: String| Err(AskError::new(AskErrorKind::Refused, text));
        let denied = || {
            refused(format!(
                "{alias}.{tool} does not say that it changes nothing, and only tools that do may be called from code here"
            ))
        };
        match self.policy.get() {
            Approval::Auto => return Ok(()),
            Approval::Deny => return denied(),
            Approval::Ask => {}
        }
        let _asking = cell.patience.asking();
        let _turn = self.turn.lock().await;
        // Clients that cannot be told apart must not decide for each other: what one says holds for its cell.
        let holds = if cell.holder.is_one_client() { Holds::Conversation } else { Holds::Cell(Arc::clone(&cell.cell)) };
        let key = Always { holds, alias: alias.to_owned(), tool: tool.to_owned() };
        if lock(&self.always).contains(&key) {
            return Ok(());
        }
        let Some(question) = question(alias, tool, arguments) else {
            return refused(format!("{alias}.{tool} needs the user's approval, but its arguments cannot be shown"));
        };
        match client.elicit(&form(&question, &key.holds)).await {
            // People take their time.
            Ok(_) if self.policy.get() == Approval::Deny => denied(),
            Ok(answer) => match (answer["action"].as_str(), answer["content"]["decision"].as_str()) {
                (Some("accept"), Some("once")) => Ok(()),
                (Some("accept"), Some("always")) => {
                    let mut always = lock(&self.always);
                    if always.len() == MOST_ALWAYS {
                        always.pop_front();
                    }
                    always.push_back(key);
                    Ok(())
                }
                _ => refused(format!("the user does not want {alias}.{tool} to be called")),
            },
            Err(unable @ Unanswered::Unable) => refused(format!(
                "{alias}.{tool} needs the user's approval, but {unable}; use one that does, or set `approve = \"auto\"`"
            )),
            Err(error) => refused(format!("{alias}.{tool} needs the user's approval, but {error}")),
        }
    }
}

fn form(question: &str, holds: &Holds) -> RawJson {
    let always = match holds {
        Holds::Conversation => "Yes, this tool from now on",
        Holds::Cell(_) => "Yes, this tool until the cell ends",
    };
    let form = json!({
        "message": question,
        "requestedSchema": {
            "type": "object",
            "properties": { "decision": {
                "type": "string",
                "title": "May it?",
                "enum": ["once", "always", "no"],
                "enumNames": ["Yes, this once", always, "No"],
            } },
            "required": ["decision"],
        },
    });
    RawJson::parse(form.to_string()).unwrap_or_else(|_| RawJson::empty_object())
}
