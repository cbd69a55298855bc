//! Functions that people have saved, to be used in later notebooks.

use crate::cell::Versioned;
use crate::notebook::{AskError, AskErrorKind, SaveTool};
use crate::owner::Owner;
use kennel_state::{Kept, SavedLimits, SavedTool, StateError, Store};
use serde::Serialize;
use serde_json::json;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

/// How much one user may keep in one view.
const LIMITS: SavedLimits = SavedLimits { count: 100, bytes: 512 * 1024 };
/// The longest source.
const LONGEST_SOURCE: usize = 32 * 1024;
/// The longest description.
const LONGEST_DESCRIPTION: usize = 2000;
/// The longest name.
const LONGEST_NAME: usize = 64;

/// Functions that people have saved.
#[derive(Debug, Clone)]
pub(crate) struct SavedTools(pub(crate) Store);

/// What code sees of one.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    name: String,
    description: String,
    bytes: usize,
}

impl SavedTools {
    /// The message that tells a notebook which there are; none where they cannot be read.
    pub(crate) async fn message(&self, owner: &Owner) -> Option<Versioned> {
        let tools = self.0.saved_tools(owner.user(), Some(view(owner))).await.ok()?;
        let mut version = DefaultHasher::new();
        for tool in &tools {
            (&tool.name, &tool.source, &tool.description).hash(&mut version);
        }
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "source": tool.source, "description": tool.description }))
            .collect();
        let message = json!({ "t": "saved", "tools": tools }).to_string().into();
        Some(Versioned { version: version.finish(), message })
    }

    pub(super) async fn save(&self, owner: &Owner, tool: SaveTool) -> Result<(), AskError> {
        let refused = |text: String| Err(AskError::new(AskErrorKind::Refused, text));
        let SaveTool { name, source, description } = tool;
        let description = description.unwrap_or_default();
        let is_name = |name: &str| {
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        if !is_name(&name) || name.len() > LONGEST_NAME {
            return refused(format!("the name of a saved tool is a Python name of at most {LONGEST_NAME} letters"));
        }
        if source.len() > LONGEST_SOURCE || description.len() > LONGEST_DESCRIPTION {
            return refused(format!(
                "a saved tool has at most {LONGEST_SOURCE} bytes of source and {LONGEST_DESCRIPTION} of description"
            ));
        }
        let tool = SavedTool {
            owner: owner.user().to_owned(),
            view: view(owner).to_owned(),
            name,
            description,
            source,
            saved: SystemTime::now(),
        };
        match self.0.save_tool(tool, LIMITS).await.map_err(failed)? {
            Kept::Yes => Ok(()),
            Kept::TooMany => refused(format!("{} tools are saved, which is all that may be; remove one", LIMITS.count)),
            Kept::TooLarge => refused(format!("all saved tools together may have {} bytes; remove one", LIMITS.bytes)),
        }
    }

    pub(super) async fn remove(&self, owner: &Owner, name: &str) -> Result<bool, AskError> {
        self.0.remove_tool(owner.user(), view(owner), name).await.map_err(failed)
    }

    pub(super) async fn listed(&self, owner: &Owner) -> Result<Vec<Listed>, AskError> {
        let tools = self.0.saved_tools(owner.user(), Some(view(owner))).await.map_err(failed)?;
        let listed = tools.into_iter().map(|tool| Listed {
            name: tool.name,
            description: tool.description,
            bytes: tool.source.len(),
        });
        Ok(listed.collect())
    }
}

/// The view as rows have it.
fn view(owner: &Owner) -> &str {
    owner.view().unwrap_or_default()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped with")]
fn failed(error: StateError) -> AskError {
    AskError::new(AskErrorKind::Protocol, format!("saved tools cannot be used: {error}"))
}
