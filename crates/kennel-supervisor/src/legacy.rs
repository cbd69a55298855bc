//! The opening of the legacy era: `initialize`, `notifications/initialized`, then the whole list of tools.

use crate::failure::{Cause, Permanence};
use crate::opening::{Ids, Step, as_line};
use crate::phase::Phase;
use crate::receiver::{Handshake, HandshakeParams};
use crate::settings::Settings;
use kennel_wire::{Era, Kind, Message, ProtocolVersion, RawJson, ValueKind, notification};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;

/// How much of a process's own words goes into an error.
const QUOTED: usize = 300;

/// How far the opening is.
pub(crate) struct Legacy {
    params: HandshakeParams,
    settings: Arc<Settings>,
    greeting: Option<Greeting>,
    pages: Vec<RawJson>,
    bytes: usize,
    cursors: HashSet<RawCursor>,
    missing: Vec<String>,
}

/// A cursor, by its spelling.
type RawCursor = Vec<u8>;

/// What the process said about itself.
struct Greeting {
    version: ProtocolVersion,
    result: RawJson,
}

/// The names of the tools on one page.
#[derive(Deserialize)]
struct Page {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

impl Legacy {
    pub(crate) fn new(params: HandshakeParams, settings: Arc<Settings>) -> Self {
        let missing = settings.required_tools.clone();
        Self { params, settings, greeting: None, pages: Vec::new(), bytes: 0, cursors: HashSet::new(), missing }
    }

    pub(crate) fn begin(&mut self, ids: &mut Ids) -> Vec<Step> {
        vec![Step::Send(ids.ask("initialize", self.params.as_raw()))]
    }

    pub(crate) fn answer(&mut self, message: &Message, ids: &mut Ids) -> Vec<Step> {
        match self.greeting {
            None => self.greeted(message, ids),
            Some(_) => self.listed(message, ids),
        }
    }

    /// Takes the answer to `initialize`.
    fn greeted(&mut self, message: &Message, ids: &mut Ids) -> Vec<Step> {
        let result = match result_of(message, "initialize") {
            Ok(result) => result,
            Err(text) => return protocol(text),
        };
        let version = match message.text_at(&["result", "protocolVersion"]) {
            Ok(Some(version)) => version,
            Ok(None) => return protocol("the answer to `initialize` has no `protocolVersion`".to_owned()),
            Err(error) => return protocol(format!("the answer to `initialize` cannot be read: {error}")),
        };
        let version = match version.parse::<ProtocolVersion>() {
            Ok(version) if version.era() == Era::Legacy => version,
            Ok(_) | Err(_) => {
                let version: String = version.chars().take(QUOTED).collect();
                return protocol(format!(
                    "the process chose protocol version `{version}`, which cannot follow `initialize`; \
                     known are 2024-11-05 to {}",
                    ProtocolVersion::LATEST_LEGACY
                ));
            }
        };
        self.greeting = Some(Greeting { version, result });
        let initialized = notification("notifications/initialized", &RawJson::empty_object());
        let mut steps = vec![Step::Send(as_line(initialized)), Step::Enter(Phase::Preflight)];
        let has_tools = matches!(
            message.field(&["result", "capabilities", "tools"]),
            Ok(Some(tools)) if tools.kind() == ValueKind::Object
        );
        if has_tools {
            steps.push(Step::Send(ids.ask("tools/list", &RawJson::empty_object())));
        } else {
            steps.push(self.finish());
        }
        steps
    }

    /// Takes one page of tools.
    fn listed(&mut self, message: &Message, ids: &mut Ids) -> Vec<Step> {
        let result = match result_of(message, "tools/list") {
            Ok(result) => result,
            // A server whose own upstream is away says so here; that may pass.
            Err(text) => return vec![Step::Fail(Cause::Protocol(text), Permanence::Transient)],
        };
        let page: Page = match serde_json::from_slice(result.as_bytes()) {
            Ok(page) => page,
            Err(error) => return protocol(format!("the answer to `tools/list` cannot be read: {error}")),
        };
        self.missing.retain(|name| page.tools.iter().all(|tool| tool.name != *name));
        self.bytes = self.bytes.saturating_add(result.as_bytes().len());
        self.pages.push(result);
        let cursor = match message.field(&["result", "nextCursor"]) {
            Ok(cursor) => cursor.filter(|cursor| !is_last(cursor)),
            Err(error) => return protocol(format!("the answer to `tools/list` cannot be read: {error}")),
        };
        let Some(cursor) = cursor else { return vec![self.finish()] };
        if cursor.kind() != ValueKind::String {
            return protocol(format!("`nextCursor` of `tools/list` must be a string, not {}", cursor.kind()));
        }
        if !self.cursors.insert(cursor.as_bytes().to_vec()) {
            return protocol("`tools/list` gave the same `nextCursor` twice, so it would never end".to_owned());
        }
        if self.pages.len() >= self.settings.tool_pages {
            return protocol(format!("`tools/list` has more than {} pages", self.settings.tool_pages));
        }
        if self.bytes > self.settings.tool_bytes {
            return protocol(format!("`tools/list` has more than {} bytes", self.settings.tool_bytes));
        }
        let mut params = b"{\"cursor\":".to_vec();
        params.extend_from_slice(cursor.as_bytes());
        params.push(b'}');
        match RawJson::parse(params) {
            Ok(params) => vec![Step::Send(ids.ask("tools/list", &params))],
            Err(error) => protocol(format!("`nextCursor` of `tools/list` cannot be sent back: {error}")),
        }
    }

    fn finish(&mut self) -> Step {
        let missing = std::mem::take(&mut self.missing);
        if !missing.is_empty() {
            return Step::Fail(Cause::MissingTools(missing), Permanence::Permanent);
        }
        match self.greeting.take() {
            Some(Greeting { version, result }) => {
                let tools = std::mem::take(&mut self.pages);
                Step::Open(Handshake { version: version.as_str().to_owned(), result, tools })
            }
            None => Step::Fail(Cause::Protocol("the opening ended before it began".to_owned()), Permanence::Permanent),
        }
    }
}

/// Whether a cursor says that no page follows. Servers that cannot leave a member out write `null` or `""`.
fn is_last(cursor: &RawJson) -> bool {
    matches!(cursor.as_bytes(), b"null" | b"\"\"")
}

fn protocol(text: String) -> Vec<Step> {
    vec![Step::Fail(Cause::Protocol(text), Permanence::Permanent)]
}

/// The result of an answer that should be an object, or what the process says instead.
fn result_of(message: &Message, method: &str) -> Result<RawJson, String> {
    match message.kind() {
        Kind::Response { .. } => match message.result() {
            Some(result) if result.kind() == ValueKind::Object => Ok(result),
            Some(result) => Err(format!("the process answered `{method}` with {}, not an object", result.kind())),
            None => Err(format!("the process answered `{method}` without a result")),
        },
        Kind::Error { error, .. } => {
            let quoted: String = String::from_utf8_lossy(error).chars().take(QUOTED).collect();
            Err(format!("the process answered `{method}` with an error: {quoted}"))
        }
        Kind::Request { .. } | Kind::Notification { .. } => {
            Err(format!("the process answered `{method}` with a request"))
        }
    }
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod tests;
