//! The whole list of tools, page by page and within bounds; the same in all eras.

use crate::failure::{Cause, Permanence};
use crate::opening::{Step, protocol, result_of};
use crate::settings::Settings;
use kennel_wire::{Message, RawJson, ValueKind};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;

/// The pages so far.
pub(crate) struct ToolPages {
    settings: Arc<Settings>,
    pages: Vec<RawJson>,
    bytes: usize,
    cursors: HashSet<RawCursor>,
    missing: Vec<String>,
}

/// A cursor, by its spelling.
type RawCursor = Vec<u8>;

/// The names of the tools on one page.
#[derive(Deserialize)]
struct Page {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

impl ToolPages {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let missing = settings.required_tools.clone();
        Self { settings, pages: Vec::new(), bytes: 0, cursors: HashSet::new(), missing }
    }

    /// Takes one page. Returns the cursor of the next one, if any, or what to do instead of going on.
    pub(crate) fn take(&mut self, message: &Message) -> Result<Option<RawJson>, Step> {
        // A server whose own upstream is away says so here; that may pass.
        let result = result_of(message, "tools/list")
            .map_err(|text| Step::Fail(Cause::Protocol(text), Permanence::Transient))?;
        let unreadable =
            |error: &dyn std::fmt::Display| protocol(format!("the answer to `tools/list` cannot be read: {error}"));
        let page: Page = serde_json::from_slice(result.as_bytes()).map_err(|error| unreadable(&error))?;
        self.missing.retain(|name| page.tools.iter().all(|tool| tool.name != *name));
        self.bytes = self.bytes.saturating_add(result.as_bytes().len());
        self.pages.push(result);
        let cursor = message.field(&["result", "nextCursor"]).map_err(|error| unreadable(&error))?;
        let Some(cursor) = cursor.filter(|cursor| !is_last(cursor)) else { return Ok(None) };
        if cursor.kind() != ValueKind::String {
            return Err(protocol(format!("`nextCursor` of `tools/list` must be a string, not {}", cursor.kind())));
        }
        if !self.cursors.insert(cursor.as_bytes().to_vec()) {
            return Err(protocol("`tools/list` gave the same `nextCursor` twice, so it would never end".to_owned()));
        }
        if self.pages.len() >= self.settings.tool_pages {
            return Err(protocol(format!("`tools/list` has more than {} pages", self.settings.tool_pages)));
        }
        if self.bytes > self.settings.tool_bytes {
            return Err(protocol(format!("`tools/list` has more than {} bytes", self.settings.tool_bytes)));
        }
        Ok(Some(cursor))
    }

    /// All pages, unless a tool that must be there is on none of them.
    pub(crate) fn finish(&mut self) -> Result<Vec<RawJson>, Step> {
        let missing = std::mem::take(&mut self.missing);
        if !missing.is_empty() {
            return Err(Step::Fail(Cause::MissingTools(missing), Permanence::Permanent));
        }
        Ok(std::mem::take(&mut self.pages))
    }
}

/// Whether a server that answers so about itself has tools.
pub(crate) fn are_offered(message: &Message) -> bool {
    let tools = message.field(&["result", "capabilities", "tools"]);
    matches!(tools, Ok(Some(tools)) if tools.kind() == ValueKind::Object)
}

/// Whether a cursor says that no page follows. Servers that cannot leave a member out write `null` or `""`.
fn is_last(cursor: &RawJson) -> bool {
    matches!(cursor.as_bytes(), b"null" | b"\"\"")
}
