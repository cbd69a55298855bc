//! What was said in one revision of the protocol, each message held against its schema as it is entered.

use crate::support::Process;
use kennel_testkit::{Schema, specification};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const MODERN: &str = "2026-07-28";
pub(super) const WITH_SESSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(super) struct Ledger {
    version: &'static str,
    schema: Schema,
    kinds: BTreeSet<String>,
}

impl Ledger {
    /// None, loudly, where there is no schema.
    pub(super) fn of(version: &'static str) -> Option<Self> {
        let schema = Schema::read(&specification(version)?).expect("the schema can be read");
        Some(Self { version, schema, kinds: BTreeSet::new() })
    }

    /// A message, or a part of one, that has to be as one of these definitions says: the first that this revision has.
    #[track_caller]
    fn enter(&mut self, definitions: &[&str], kind: &str, value: &Value) {
        let definition = definitions.iter().find(|definition| self.schema.has(definition));
        let definition = definition.unwrap_or_else(|| panic!("{} has none of {definitions:?}", self.version));
        let problem = self.schema.problem(definition, value);
        assert_eq!(problem, None, "{} of {}: {value}", definition, self.version);
        self.kinds.insert(kind.to_owned());
    }

    /// All that a process has heard so far.
    #[track_caller]
    pub(super) fn heard(&mut self, process: &Process) {
        for message in process.all_heard() {
            self.heard_message(&message);
        }
    }

    /// Something that a process has heard.
    #[track_caller]
    pub(super) fn heard_message(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some(method) if message.get("id").is_some() => self.enter(&["ClientRequest"], method, message),
            Some(method) => self.enter(&["ClientNotification"], method, message),
            None => self.answer(message),
        }
    }

    /// A result or an error, whatever it is of.
    #[track_caller]
    fn answer(&mut self, message: &Value) {
        match message.get("error") {
            Some(error) => {
                self.enter(&["JSONRPCErrorResponse", "JSONRPCError"], "an error", message);
                self.kinds.insert(error["code"].to_string());
            }
            None => self.enter(&["JSONRPCResultResponse", "JSONRPCResponse"], "a result", message),
        }
    }

    /// An answer to a client, whose result is of this definition.
    #[track_caller]
    pub(super) fn result(&mut self, definition: &'static str, message: &Value) {
        assert!(message.get("result").is_some(), "no {definition}: {message}");
        self.answer(message);
        self.enter(&[definition], definition, &message["result"]);
        let response = format!("{definition}Response");
        if self.schema.has(&response) {
            self.enter(&[&response], definition, message);
        }
    }

    /// An error for a client.
    #[track_caller]
    pub(super) fn error(&mut self, code: i64, message: &Value) {
        assert_eq!(message["error"]["code"], code, "{message}");
        self.answer(message);
        let named = match code {
            -32601 => "MethodNotFoundError",
            -32602 => "InvalidParamsError",
            -32603 => "InternalError",
            _ => return,
        };
        // Earlier revisions have no names for them.
        if self.schema.has(named) {
            self.enter(&[named], named, &message["error"]);
        }
    }

    /// Something that a client is told.
    #[track_caller]
    pub(super) fn told(&mut self, method: &str, message: &Value) {
        assert_eq!(message["method"], method, "{message}");
        self.enter(&["ServerNotification"], method, message);
    }

    /// Something that a client is asked.
    #[track_caller]
    pub(super) fn asked(&mut self, method: &str, message: &Value) {
        assert_eq!(message["method"], method, "{message}");
        self.enter(&["ServerRequest"], method, message);
    }

    /// Checks that all of these were there, so that nothing was valid only for its absence.
    #[track_caller]
    pub(super) fn has(&self, kinds: &[&str]) {
        for kind in kinds {
            assert!(self.kinds.contains(*kind), "no {kind} of {}: {:?}", self.version, self.kinds);
        }
    }
}

/// Capabilities of a server that has everything.
pub(super) fn everything() -> Value {
    json!({ "tools": {}, "logging": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {} })
}

/// A result as a modern server gives it.
pub(super) fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    (result["ttlMs"], result["cacheScope"]) = (json!(1000), json!("public"));
    result
}

/// The next message with this method that a process hears. What Kennel asks for itself on the way is answered.
pub(super) async fn attend(process: &mut Process, method: &str) -> Value {
    loop {
        let line = process.line().await.unwrap_or_else(|| panic!("the process ended instead of hearing {method}"));
        let message: Value = serde_json::from_str(&line).expect("a message");
        if message["method"] == method {
            return message;
        }
        match message["method"].as_str() {
            Some("resources/list") => process.answer(&message, complete(json!({ "resources": [] }))).await,
            Some("resources/templates/list") => {
                process.answer(&message, complete(json!({ "resourceTemplates": [] }))).await;
            }
            Some("prompts/list") => process.answer(&message, complete(json!({ "prompts": [] }))).await,
            Some("tools/list") => process.answer(&message, complete(crate::support::tools(&["echo"]))).await,
            Some("resources/subscribe" | "resources/unsubscribe" | "logging/setLevel") => {
                process.answer(&message, json!({})).await;
            }
            _ => {}
        }
    }
}
