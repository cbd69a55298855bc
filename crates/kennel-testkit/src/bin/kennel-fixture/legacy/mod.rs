//! Owns the protocol of 2024-11-05 to 2025-11-25: the handshake, and which method does what.
//!
//! It is stricter than many servers, so that a proxy's mistakes show: nothing but `ping` before `initialize`, no second
//! `initialize`, no two calls in flight with one id.

pub(crate) mod version;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::calls::{self, Order};
use crate::catalog::Found;
use crate::content;
use crate::incoming::{Failure, Incoming, Kind};
use crate::server::{Client, Server};
use crate::tools::echo;
use crate::{prompts, resources};

/// Takes one line of the client.
pub(crate) fn receive(server: &Arc<Server>, line: &[u8]) {
    if line.is_empty() || server.is_hung() {
        return;
    }
    if line.starts_with(b"[") {
        return match serde_json::from_slice::<Vec<&RawValue>>(line) {
            Ok(messages) => messages.into_iter().for_each(|message| receive(server, message.get().as_bytes())),
            Err(error) => server.output.error("null", &Failure::parse_error(&error)),
        };
    }
    let refuse = |failure| server.output.error("null", &failure);
    match serde_json::from_slice::<Incoming<'_>>(line) {
        Err(error) if error.classify() == Category::Data => {
            refuse(Failure::invalid_request(&error.to_string()));
        }
        Err(error) => refuse(Failure::parse_error(&error)),
        Ok(incoming) => match incoming.kind() {
            Err(failure) => refuse(failure),
            Ok(Kind::Request { id, method, params }) => request(server, id, method, params),
            Ok(Kind::Notification { method, params }) => notification(server, method, params),
            Ok(Kind::Answer { id, answer }) => {
                let answer = answer.map(str::to_owned).map_err(str::to_owned);
                if !server.calls.answered(id, answer) {
                    eprintln!("kennel-fixture: an answer to {id}, which was not asked or is answered already");
                }
            }
        },
    }
}

fn notification(server: &Server, method: &str, params: &str) {
    if method == "notifications/cancelled"
        && let Ok(Cancelled { request_id }) = serde_json::from_str(params)
    {
        server.calls.cancel(request_id.get());
    }
}

fn request(server: &Arc<Server>, id: &str, method: &str, params: &str) {
    let outcome = match method {
        "tools/call" if server.client().is_some() && server.catalog.has_tools() => {
            match call_tool(server, id, params) {
                // The tool answers.
                Ok(()) => return,
                Err(failure) => Err(failure),
            }
        }
        _ => answer(server, method, params),
    };
    match outcome {
        Ok(result) => server.output.result(id, &result),
        Err(failure) => server.output.error(id, &failure),
    }
}

/// The result of every method that is answered at once.
fn answer(server: &Server, method: &str, params: &str) -> Result<String, Failure> {
    match method {
        "ping" => return Ok("{}".to_owned()),
        "initialize" => return initialize(server, params),
        _ if server.client().is_none() => {
            return Err(Failure::invalid_request("the first request must be initialize"));
        }
        "tools/list" if server.catalog.has_tools() => {
            let list: List<'_> = read(params)?;
            return server.catalog.page(list.cursor.as_deref());
        }
        "resources/list" => return Ok(resources::list()),
        "resources/templates/list" => return Ok(resources::templates()),
        "prompts/list" => return Ok(prompts::list()),
        _ => {}
    }
    match method {
        "resources/read" => resources::read(&read::<Resource>(params)?.uri),
        "resources/subscribe" => {
            server.subscribe(&read::<Resource>(params)?.uri);
            Ok("{}".to_owned())
        }
        "resources/unsubscribe" => {
            server.unsubscribe(&read::<Resource>(params)?.uri);
            Ok("{}".to_owned())
        }
        "prompts/get" => {
            let prompt: Prompt<'_> = read(params)?;
            prompts::get(&prompt.name, &Arguments::parse(prompt.arguments.map_or("{}", RawValue::get))?)
        }
        "completion/complete" => Ok(complete(&read(params)?)),
        "logging/setLevel" => {
            let level: Level<'_> = read(params)?;
            if server.set_level(&level.level) {
                Ok("{}".to_owned())
            } else {
                Err(Failure::invalid_params(format_args!("there is no level `{}`", level.level)))
            }
        }
        _ => Err(Failure::method_not_found(method)),
    }
}

fn initialize(server: &Server, params: &str) -> Result<String, Failure> {
    let introduction: Introduction<'_> = read(params)?;
    let version = version::negotiate(&introduction.protocol_version, server.options.newest);
    let client = Client { introduction: params.to_owned(), capabilities: introduction.capabilities };
    if !server.introduce(client) {
        return Err(Failure::invalid_request("initialize was sent already"));
    }
    let mut capabilities = json!({
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "logging": {},
        "completions": {},
    });
    if server.catalog.has_tools() {
        capabilities["tools"] = json!({"listChanged": true});
    }
    let result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities,
        "serverInfo": {"name": "kennel-fixture", "version": env!("CARGO_PKG_VERSION")},
    });
    Ok(result.to_string())
}

fn call_tool(server: &Arc<Server>, id: &str, params: &str) -> Result<(), Failure> {
    let params: ToolCall<'_> = read(params)?;
    server.count_tool_call();
    let arguments = params.arguments.map_or("{}", RawValue::get);
    match server.catalog.find(&params.name) {
        Some(Found::Own(tool)) if tool.name == echo::NAME => {
            let result = echo::run(arguments)?;
            server.output.result(id, &result);
            Ok(())
        }
        Some(Found::Own(tool)) => {
            let progress_token = params.meta.and_then(|meta| meta.progress_token).map(RawValue::get);
            calls::start(server, tool, &Order { id, arguments, progress_token })
        }
        Some(Found::Plain) => {
            server.output.result(id, &content::text(format!("{} {arguments}", params.name)));
            Ok(())
        }
        None => Err(Failure::invalid_params(format_args!("there is no tool `{}`", params.name))),
    }
}

/// Proposes what the context already has, so that a test sees that the context came.
fn complete(params: &Completion) -> String {
    let arguments = params.context.as_ref().and_then(|context| context["arguments"].as_object());
    let values: Vec<&Value> = arguments.into_iter().flat_map(serde_json::Map::values).collect();
    json!({"completion": {"values": values, "total": values.len(), "hasMore": false}}).to_string()
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, Failure> {
    serde_json::from_str(params).map_err(Failure::invalid_params)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introduction<'a> {
    #[serde(borrow)]
    protocol_version: Cow<'a, str>,
    capabilities: Value,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    cursor: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Resource {
    uri: String,
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Level<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Completion {
    context: Option<Value>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}
