//! Owns the protocol of 2024-11-05 to 2025-11-25: the handshake, and which method does what.
//!
//! It is stricter than many servers, so that a proxy's mistakes show: nothing but `ping` before `initialize`, no second
//! `initialize`, no two calls in flight with one id.

mod tasks;
pub(crate) mod version;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::calls::{self, Order, Reply};
use crate::catalog::Found;
use crate::era::Era;
use crate::incoming::Failure;
use crate::options::TasksOffer;
use crate::server::{Client, Server};
use crate::tools::echo;
use crate::{completion, prompts, resources};

/// The methods that wait for the handshake; others there are not.
const AFTER_HANDSHAKE: [&str; 11] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
];

/// Answers a request, or starts what answers it.
pub(crate) fn request(server: &Arc<Server>, id: &str, method: &str, params: &str) {
    let outcome = match method {
        "tools/call" if server.client().is_some() && server.catalog.has_tools() => call_tool(server, id, params),
        "prompts/get" | "resources/read" if server.client().is_some() => get_or_ask(server, id, method, params),
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list" if has_tasks(server) => {
            tasks::request(server, id, method, params)
        }
        _ => answer(server, method, params).map(|result| server.output.result(id, &result)),
    };
    if let Err(failure) = outcome {
        server.output.error(id, &failure);
    }
}

/// Gets a prompt or a resource; one that asks the client answers from a thread of its own.
fn get_or_ask(server: &Arc<Server>, id: &str, method: &str, params: &str) -> Result<(), Failure> {
    let wanted: Wanted<'_> = read(params)?;
    let arguments = wanted.arguments.map_or("{}", RawValue::get);
    let asking = if method == "prompts/get" { prompts::asking(&wanted.name) } else { resources::asking(&wanted.uri) };
    if let Some(work) = asking {
        return calls::start(server, work, &Order { id, arguments, progress_token: None, reply: Reply::Plain }, None);
    }
    let result = match method {
        "prompts/get" => prompts::get(&wanted.name, &Arguments::parse(arguments)?)?,
        _ => resources::read(&wanted.uri)?,
    };
    server.output.result(id, &result);
    Ok(())
}

/// The result of every method that is answered at once.
fn answer(server: &Server, method: &str, params: &str) -> Result<String, Failure> {
    match method {
        "ping" => return Ok("{}".to_owned()),
        "initialize" => return initialize(server, params),
        _ if server.client().is_none() => {
            return Err(if AFTER_HANDSHAKE.contains(&method) {
                Failure::invalid_params("the first request must be initialize")
            } else {
                Failure::method_not_found(method)
            });
        }
        "tools/list" if server.catalog.has_tools() => {
            let list: List<'_> = read(params)?;
            return server.catalog.page(Era::Legacy, list.cursor.as_deref());
        }
        "resources/list" => return Ok(resources::list()),
        "resources/templates/list" => return Ok(resources::templates()),
        "prompts/list" => return Ok(prompts::list(server.prompt_changes())),
        _ => {}
    }
    match method {
        "resources/subscribe" => {
            server.subscribe(&read::<Resource>(params)?.uri);
            Ok("{}".to_owned())
        }
        "resources/unsubscribe" => {
            server.unsubscribe(&read::<Resource>(params)?.uri);
            Ok("{}".to_owned())
        }
        "completion/complete" => completion::complete(params),
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
    let mut capabilities = server.capabilities();
    if server.options.tasks == TasksOffer::Extension {
        capabilities["tasks"] = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
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
        Some(Found::Own(tool)) if params.task.is_some() && has_tasks(server) => {
            tasks::begin(server, id, tool, arguments)
        }
        Some(Found::Own(tool)) => {
            let progress_token = params.meta.and_then(|meta| meta.progress_token).map(RawValue::get);
            calls::start(server, tool.run, &Order { id, arguments, progress_token, reply: Reply::Plain }, None)
        }
        Some(Found::Plain) => {
            server.output.result(id, &server.catalog.answer(&params.name, arguments));
            Ok(())
        }
        None => Err(Failure::invalid_params(format_args!("there is no tool `{}`", params.name))),
    }
}

fn has_tasks(server: &Server) -> bool {
    server.client().is_some() && server.options.tasks == TasksOffer::Extension
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, Failure> {
    serde_json::from_str(params).map_err(Failure::invalid_params)
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

/// A prompt by its name or a resource by its uri.
#[derive(Deserialize)]
struct Wanted<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    uri: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Level<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(borrow)]
    task: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}
