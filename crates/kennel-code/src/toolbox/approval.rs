//! Which tools run without asking somebody, and asking.

use crate::notebook::{AskError, AskErrorKind, Patience};
use crate::server::{Client, Unanswered};
use crate::sync::lock;
use kennel_wire::RawJson;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Mutex;

/// How much of the arguments is shown to whoever is asked.
const SHOWN_ARGUMENTS: usize = 500;

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

/// What was decided in one conversation.
#[derive(Debug)]
pub(super) struct Approvals {
    policy: Approval,
    /// The tools that always may, by alias and name.
    always: Mutex<HashSet<(String, String)>>,
    /// One question at a time: people answer one after the other, and an answer may settle the next.
    turn: tokio::sync::Mutex<()>,
}

impl Approvals {
    pub(super) fn new(policy: Approval) -> Self {
        Self { policy, always: Mutex::default(), turn: tokio::sync::Mutex::new(()) }
    }

    /// Whether a tool that may change something may be called with these arguments.
    pub(super) async fn check(
        &self,
        client: &Client,
        patience: &Patience,
        alias: &str,
        tool: &str,
        arguments: &str,
    ) -> Result<(), AskError> {
        let refused = |text: String| Err(AskError::new(AskErrorKind::Refused, text));
        match self.policy {
            Approval::Auto => return Ok(()),
            Approval::Deny => {
                return refused(format!(
                    "{alias}.{tool} does not say that it changes nothing, and only tools that do may be called from code here"
                ));
            }
            Approval::Ask => {}
        }
        let _asking = patience.asking();
        let _turn = self.turn.lock().await;
        let key = (alias.to_owned(), tool.to_owned());
        if lock(&self.always).contains(&key) {
            return Ok(());
        }
        match client.elicit(&question(alias, tool, arguments)).await {
            Ok(answer) => match (answer["action"].as_str(), answer["content"]["decision"].as_str()) {
                (Some("accept"), Some("once")) => Ok(()),
                (Some("accept"), Some("always")) => {
                    lock(&self.always).insert(key);
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

fn question(alias: &str, tool: &str, arguments: &str) -> RawJson {
    let mut shown: String = arguments.chars().take(SHOWN_ARGUMENTS).collect();
    if shown.len() < arguments.len() {
        shown.push('…');
    }
    let question = json!({
        "message": format!("Code wants to call {alias}.{tool} with {shown}"),
        "requestedSchema": {
            "type": "object",
            "properties": { "decision": {
                "type": "string",
                "title": "May it?",
                "enum": ["once", "always", "no"],
                "enumNames": ["Yes, this once", "Yes, this tool from now on", "No"],
            } },
            "required": ["decision"],
        },
    });
    RawJson::parse(question.to_string()).unwrap_or_else(|_| RawJson::empty_object())
}
