//! Owns the protocol of 2026-07-28: what each request must say of itself, and which method does what.
//!
//! It is as strict as the legacy half: a request is refused for what it lacks, whatever was said before it.

pub(crate) mod exchange;
pub(crate) mod listeners;
pub(crate) mod meta;
pub(crate) mod results;
mod state;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::arguments::Arguments;
use crate::calls::{self, Order, Reply, Work};
use crate::catalog::Found;
use crate::incoming::Failure;
use crate::server::Server;
use crate::tools::echo;
use crate::{completion, content, prompts, resources};
use exchange::Exchange;
use meta::{Meta, VERSION};

/// The params of any request; each method has some of them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    uri: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    cursor: Option<String>,
    input_responses: Option<&'a RawValue>,
    request_state: Option<String>,
    notifications: Option<listeners::Filter>,
}

/// One request that says enough of itself.
struct Request<'a> {
    server: &'a Arc<Server>,
    id: &'a str,
    method: &'a str,
    /// The params as the client spelled them.
    raw: &'a str,
    params: &'a Params<'a>,
    meta: &'a Meta<'a>,
}

/// Answers a request, or starts what answers it.
pub(crate) fn request(server: &Arc<Server>, id: &str, method: &str, params: &str) {
    if let Err(failure) = read(server, id, method, params) {
        server.output.error(id, &failure.in_modern());
    }
}

fn read(server: &Arc<Server>, id: &str, method: &str, raw: &str) -> Result<(), Failure> {
    if method == "initialize" {
        return Err(Failure::method_not_found(method).with_data(json!({ "supported": [VERSION] })));
    }
    let params: Params<'_> = serde_json::from_str(raw).map_err(Failure::invalid_params)?;
    let meta = meta::check(params.meta.as_ref())?;
    Request { server, id, method, raw, params: &params, meta }.serve()
}

impl Request<'_> {
    fn serve(&self) -> Result<(), Failure> {
        let (server, params) = (self.server, self.params);
        match self.method {
            "tools/call" if server.catalog.has_tools() => return self.call_tool(),
            "server/discover" => self.cacheable(&discover(server)),
            "tools/list" if server.catalog.has_tools() => {
                self.cacheable(&server.catalog.page(params.cursor.as_deref())?);
            }
            "resources/list" => self.cacheable(&resources::list()),
            "resources/templates/list" => self.cacheable(&resources::templates()),
            "prompts/list" => self.cacheable(&prompts::list()),
            "resources/read" => match resources::asking(&params.uri) {
                Some(work) => return self.start(work, &params.uri, Reply::Cacheable),
                None => self.cacheable(&resources::read(&params.uri)?),
            },
            "prompts/get" => match prompts::asking(&params.name) {
                Some(work) => return self.start(work, &params.name, Reply::Complete),
                None => self.complete(&prompts::get(&params.name, &Arguments::parse(self.arguments())?)?),
            },
            "completion/complete" => self.complete(&completion::complete(self.raw)?),
            "subscriptions/listen" => {
                let filter = params.notifications.clone();
                let filter = filter.ok_or_else(|| Failure::invalid_params("there is no filter `notifications`"))?;
                let filter = if server.catalog.has_tools() { filter } else { filter.without_tools() };
                return server.listeners.listen(&server.output, self.id, filter);
            }
            _ => return Err(Failure::method_not_found(self.method)),
        }
        Ok(())
    }

    fn complete(&self, result: &str) {
        self.server.output.result_with(self.id, results::COMPLETE, result);
    }

    fn cacheable(&self, result: &str) {
        self.server.output.result_with(self.id, self.server.options.hints.cacheable(), result);
    }

    fn arguments(&self) -> &str {
        self.params.arguments.map_or("{}", RawValue::get)
    }

    fn call_tool(&self) -> Result<(), Failure> {
        let (server, name) = (self.server, &self.params.name);
        self.meta.least_level()?;
        server.count_tool_call();
        match server.catalog.find(name) {
            Some(Found::Own(tool)) if tool.name == echo::NAME => self.complete(&echo::run(self.arguments())?),
            Some(Found::Own(tool)) => return self.start(tool.run, name, Reply::Complete),
            Some(Found::Plain) => self.complete(&content::text(format!("{name} {}", self.arguments()))),
            None => return Err(Failure::invalid_params(format_args!("there is no tool `{name}`"))),
        }
        Ok(())
    }

    /// Starts what can ask the client, in a thread of its own.
    fn start(&self, work: Work, name: &str, reply: Reply) -> Result<(), Failure> {
        let exchange = Exchange::new(self, name)?;
        let order =
            Order { id: self.id, arguments: self.arguments(), progress_token: self.meta.progress_token(), reply };
        calls::start(self.server, work, &order, Some(exchange))
    }
}

fn discover(server: &Server) -> String {
    json!({"supportedVersions": [VERSION], "capabilities": server.capabilities()}).to_string()
}
