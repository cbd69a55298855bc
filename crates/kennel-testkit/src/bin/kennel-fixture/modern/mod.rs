//! Owns the protocol of 2026-07-28: what each request must say of itself, and which method does what.
//!
//! It is as strict as the legacy half: a request is refused for what it lacks, whatever was said before it.

mod clock;
pub(crate) mod exchange;
pub(crate) mod listeners;
pub(crate) mod meta;
pub(crate) mod results;
mod state;
pub(crate) mod tasks;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::calls::{self, NoResult, Order, Reply, Work};
use crate::catalog::Found;
use crate::dialogue::Sealing;
use crate::era::Era;
use crate::incoming::Failure;
use crate::options::TasksOffer;
use crate::server::Server;
use crate::tools::{TaskSupport, Tool, echo};
use crate::{completion, prompts, resources};
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
    #[serde(borrow, default)]
    task_id: Cow<'a, str>,
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
                self.cacheable(&server.catalog.page(Era::Modern, params.cursor.as_deref())?);
            }
            "resources/list" => self.cacheable(&resources::list()),
            "resources/templates/list" => self.cacheable(&resources::templates()),
            "prompts/list" => self.cacheable(&prompts::list(server.prompt_changes())),
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
                if filter.has_tasks() && server.options.tasks == TasksOffer::Extension {
                    self.require_tasks()?;
                }
                let filter = if server.catalog.has_tools() { filter } else { filter.without_tools() };
                let filter = filter
                    .with_tasks(|id| server.options.tasks == TasksOffer::Extension && server.tasks.find(id).is_ok());
                return server.listeners.listen(&server.output, self.id, filter);
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" if server.options.tasks == TasksOffer::Extension => {
                return self.serve_task();
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
            Some(Found::Own(tool)) => return self.run(tool),
            Some(Found::Plain) => self.complete(&server.catalog.answer(name, self.arguments())),
            None => return Err(Failure::invalid_params(format_args!("there is no tool `{name}`"))),
        }
        Ok(())
    }

    /// Runs a tool as a task if that must be or can be.
    fn run(&self, tool: &'static Tool) -> Result<(), Failure> {
        let exchange = Exchange::new(self, tool.name)?;
        let can = exchange.client_knows(tasks::EXTENSION);
        match tool.task {
            TaskSupport::Never => self.start_with(exchange, tool.run, Reply::Complete),
            TaskSupport::Optional if !can => self.start_with(exchange, tool.run, Reply::Complete),
            TaskSupport::Required | TaskSupport::RequiredAfter(_) if !can => {
                Err(Failure::missing_capabilities(&tasks::required()))
            }
            TaskSupport::Optional | TaskSupport::Required => self.start_task(exchange, tool.run),
            TaskSupport::RequiredAfter(question) => match exchange.ask(&[question()], Sealing::Always) {
                Ok(_) => self.start_task(exchange, tool.run),
                Err(NoResult::Failure(failure)) => Err(failure),
                Err(NoResult::InputRequired(result) | NoResult::Early(result)) => {
                    self.server.output.result_with(self.id, results::INPUT_REQUIRED, &result);
                    Ok(())
                }
                Err(NoResult::Cancelled | NoResult::Silent) => Ok(()),
            },
        }
    }

    /// Starts a task, and answers with its handle.
    fn start_task(&self, exchange: Exchange, work: Work) -> Result<(), Failure> {
        let task = self.server.tasks.begin()?;
        let handle = task.to_json();
        let reply = Reply::Task(Arc::clone(&task));
        let order = Order { id: &task.call_id(), arguments: self.arguments(), progress_token: None, reply };
        calls::start(self.server, work, &order, Some(exchange))?;
        self.server.output.result_with(self.id, results::TASK, &handle);
        Ok(())
    }

    /// Looks for a task, or does something to it.
    fn serve_task(&self) -> Result<(), Failure> {
        self.require_tasks()?;
        let task = self.server.tasks.find(&self.params.task_id)?;
        match self.method {
            "tasks/get" => self.complete(&task.to_json()),
            "tasks/update" => {
                task.take(&exchange::responses(self.params)?);
                self.server.calls.wake(&task.call_id());
                self.complete("{}");
            }
            _ => {
                self.server.calls.cancel(&task.call_id());
                self.complete("{}");
            }
        }
        Ok(())
    }

    /// Refuses a client that does not know the extension.
    fn require_tasks(&self) -> Result<(), Failure> {
        let capabilities: Value = serde_json::from_str(self.meta.capabilities()).map_err(Failure::invalid_params)?;
        if capabilities["extensions"].get(tasks::EXTENSION).is_some() {
            return Ok(());
        }
        Err(Failure::missing_capabilities(&tasks::required()))
    }

    /// Starts what can ask the client, in a thread of its own.
    fn start(&self, work: Work, name: &str, reply: Reply) -> Result<(), Failure> {
        self.start_with(Exchange::new(self, name)?, work, reply)
    }

    fn start_with(&self, exchange: Exchange, work: Work, reply: Reply) -> Result<(), Failure> {
        let order =
            Order { id: self.id, arguments: self.arguments(), progress_token: self.meta.progress_token(), reply };
        calls::start(self.server, work, &order, Some(exchange))
    }
}

fn discover(server: &Server) -> String {
    let mut capabilities = server.capabilities();
    if server.options.tasks == TasksOffer::Extension {
        capabilities["extensions"] = json!({tasks::EXTENSION: {}});
    }
    json!({"supportedVersions": [VERSION], "capabilities": capabilities}).to_string()
}
