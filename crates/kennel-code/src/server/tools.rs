//! The tools of code mode: what their arguments mean, and what they return.

use super::conversation::{Conversation, Refused};
use crate::cell::{CellRequest, CellResult, Format};
use crate::docs::{DESCRIBE_TOOLS, DescribeArguments, RUN_PYTHON, SEARCH_TOOLS, SearchArguments, WAIT_PYTHON};
use crate::notebook::{CellHandle, Host, RunError, Stage};
use kennel_wire::{Message, RawJson};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// How often a client that wants to know hears that its cell still runs.
const PROGRESS: Duration = Duration::from_secs(2);
/// The longest name of a notebook.
const LONGEST_NAME: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunArguments {
    code: String,
    #[serde(default)]
    servers: Option<OneOrMany>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitArguments {
    cell: String,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Answers a call of a tool.
pub(super) async fn call(conversation: &Arc<Conversation>, message: &Message) -> Result<Value, Refused> {
    let name = message.text_at(&["params", "name"]).ok().flatten().unwrap_or_default();
    let arguments = message.field(&["params", "arguments"]).ok().flatten();
    match &*name {
        RUN_PYTHON => Ok(match run(conversation, message, arguments.as_ref()).await? {
            Ok((result, format)) => result.tool_result(format),
            Err(problem) => CellResult::invalid(problem).tool_result(Format::Compact),
        }),
        WAIT_PYTHON => Ok(match wait(conversation, message, arguments.as_ref()).await? {
            Ok((result, format)) => result.tool_result(format),
            Err(problem) => CellResult::invalid(problem).tool_result(Format::Compact),
        }),
        SEARCH_TOOLS => {
            let arguments = SearchArguments::read(arguments.as_ref());
            let arguments = arguments.map_err(|error| Refused::invalid(error.to_string()))?;
            Ok(text(&snapshot(conversation).await?.catalog().search(&arguments)))
        }
        DESCRIBE_TOOLS => {
            let arguments = DescribeArguments::read(arguments.as_ref());
            let arguments = arguments.map_err(|error| Refused::invalid(error.to_string()))?;
            Ok(text(&snapshot(conversation).await?.catalog().describe(&arguments)))
        }
        other => {
            let known = [RUN_PYTHON, WAIT_PYTHON, SEARCH_TOOLS, DESCRIBE_TOOLS].join(", ");
            Err(Refused::invalid(format!(
                "there is no tool `{other}` here but {known}; other tools are called in {RUN_PYTHON}"
            )))
        }
    }
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

async fn snapshot(conversation: &Conversation) -> Result<Arc<crate::toolbox::Snapshot>, Refused> {
    let snapshot = conversation.toolbox()?.snapshot().await;
    snapshot.map_err(|error| Refused { code: kennel_wire::ErrorCode::INTERNAL_ERROR, text: error.message })
}

/// What a model can mend is an inner error.
type Said = Result<(CellResult, Format), String>;

async fn run(
    conversation: &Arc<Conversation>,
    message: &Message,
    arguments: Option<&RawJson>,
) -> Result<Said, Refused> {
    let toolbox = conversation.toolbox()?;
    let arguments: RunArguments = match parsed(arguments) {
        Ok(arguments) => arguments,
        Err(problem) => return Ok(Err(format!("the arguments of {RUN_PYTHON} cannot be read: {problem}"))),
    };
    let snapshot = snapshot(conversation).await?;
    let servers = match arguments.servers {
        None => None,
        Some(servers) => {
            let servers = match servers {
                OneOrMany::One(server) => vec![server],
                OneOrMany::Many(servers) => servers,
            };
            let mut aliases = Vec::new();
            for server in servers {
                match snapshot.catalog().server(&server) {
                    Some((alias, _)) => aliases.push(alias.to_owned()),
                    None => return Ok(Err(snapshot.catalog().no_server(&server))),
                }
            }
            Some(aliases.into())
        }
    };
    let timeout = match arguments.timeout.map(Duration::try_from_secs_f64) {
        None => None,
        Some(Ok(timeout)) if !timeout.is_zero() => Some(timeout),
        Some(_) => return Ok(Err("`timeout` must be a number of seconds above 0".to_owned())),
    };
    let named = arguments.session.as_deref().filter(|name| !name.is_empty());
    if named.is_some_and(|name| !is_name(name)) {
        return Ok(Err(format!("`session` has letters, digits, `-`, `_` and `.`, and at most {LONGEST_NAME} of them")));
    }
    let Ok((notebook, session)) = conversation.notebook(named) else {
        return Ok(Err(RunError::NoRandomness.to_string()));
    };
    let request = CellRequest {
        code: arguments.code,
        servers,
        timeout,
        catalog: Some(snapshot.message().clone()),
        saved: toolbox.saved().message(toolbox.holder().owner()).await,
        host: Arc::clone(toolbox) as Arc<dyn Host>,
    };
    let handle = match conversation.server.notebooks().run(toolbox.holder(), &notebook, request) {
        Ok(handle) => handle,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let patience = conversation.server.yield_after();
    let mut result = follow(conversation, message, &handle, patience).await;
    if named.is_none() && !session.is_empty() {
        result.notes.push(format!("its variables are in the session {session}"));
    }
    result.session = session;
    Ok(Ok((result, arguments.format)))
}

async fn wait(
    conversation: &Arc<Conversation>,
    message: &Message,
    arguments: Option<&RawJson>,
) -> Result<Said, Refused> {
    let toolbox = conversation.toolbox()?;
    let arguments: WaitArguments = match parsed(arguments) {
        Ok(arguments) => arguments,
        Err(problem) => return Ok(Err(format!("the arguments of {WAIT_PYTHON} cannot be read: {problem}"))),
    };
    let Some(handle) = conversation.server.notebooks().cell(toolbox.holder(), &arguments.cell) else {
        let cell: String = arguments.cell.chars().take(80).collect();
        return Ok(Err(format!("there is no cell `{cell}`: it never was, or its notebook has gone")));
    };
    if arguments.cancel {
        handle.cancel();
    }
    let longest = conversation.server.longest_wait();
    let patience = arguments.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let patience = patience.unwrap_or_else(|| conversation.server.yield_after()).min(longest);
    let mut result = follow(conversation, message, &handle, patience).await;
    result.session = shown_name(&result.session);
    Ok(Ok((result, arguments.format)))
}

/// Waits for a cell, and tells a client that wants to know that it runs. A client that gives up interrupts it.
async fn follow(conversation: &Conversation, message: &Message, handle: &CellHandle, patience: Duration) -> CellResult {
    let token = message.field(kennel_wire::PROGRESS_TOKEN).ok().flatten();
    let interrupting = Interrupting(Some(handle.clone()));
    let began = Instant::now();
    let mut ticks = interval_at(began + PROGRESS, PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let waiting = handle.wait(began + patience);
    tokio::pin!(waiting);
    let progress = loop {
        tokio::select! {
            biased;
            progress = &mut waiting => break progress,
            _ = ticks.tick(), if token.is_some() => {
                if let Some(token) = &token {
                    tell(conversation, token, began.elapsed(), handle.stage());
                }
            }
        }
    };
    interrupting.disarm();
    progress.result
}

fn tell(conversation: &Conversation, token: &RawJson, elapsed: Duration, stage: Stage) {
    let doing = match stage {
        Stage::Queued => "waits for the cell before it",
        Stage::Running => "runs",
        Stage::Done => "is over",
    };
    let seconds = elapsed.as_secs();
    let said = json!({ "progress": seconds, "message": format!("the cell {doing}, {seconds} s") });
    let Ok(said) = RawJson::parse(said.to_string()) else { return };
    let mut members = said.members();
    members.push(("progressToken".to_owned(), token.clone()));
    let params = RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)));
    conversation.client.tell("notifications/progress", &params);
}

/// Interrupts a cell when it is dropped.
struct Interrupting(Option<CellHandle>);

impl Interrupting {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Interrupting {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.cancel();
        }
    }
}

fn parsed<'a, T: Deserialize<'a>>(arguments: Option<&'a RawJson>) -> Result<T, String> {
    let bytes = arguments.map_or(b"{}".as_slice(), RawJson::as_bytes);
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

/// The name of a notebook as its client has given it; nothing where it has given none.
fn shown_name(notebook: &str) -> String {
    notebook.strip_prefix("named ").unwrap_or_default().to_owned()
}
