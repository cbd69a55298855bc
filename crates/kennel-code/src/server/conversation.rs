//! One conversation with a client: an MCP server without a process, which says and hears lines.

use super::client::Client;
use super::{CodeServer, resources, tools};
use crate::docs::definitions;
use crate::owner::{Holder, unguessable};
use crate::sync::lock;
use crate::toolbox::Toolbox;
use bytes::{Bytes, BytesMut};
use kennel_exec::{Line, LineAssembler};
use kennel_supervisor::Pipes;
use kennel_wire::{ErrorCode, ErrorObject, Id, Kind, Message, ProtocolVersion, RawJson, success_response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// What the server says of itself when it is introduced.
const INSTRUCTIONS: &str = "Python notebooks in a sandbox, in which the tools of all servers are functions. Find tools with \
    search_tools, then call them in run_python: `await mcp_<server>.<tool>(…)`. Keep data in variables and print only what \
    you need. The manual is the resource kennel://code/capabilities.";

/// What the requests of one conversation share.
pub(super) struct Conversation {
    pub(super) server: Arc<CodeServer>,
    pub(super) client: Arc<Client>,
    /// Nothing where it is not known who the client is: then only what is the same for all is told.
    pub(super) toolbox: Option<Arc<Toolbox>>,
    /// The notebook for cells that name none; none where several clients may speak, who cannot be told apart.
    own_notebook: Option<Arc<str>>,
}

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) code: ErrorCode,
    pub(super) text: String,
}

impl Refused {
    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self { code: ErrorCode::INVALID_PARAMS, text: text.into() }
    }
}

/// Holds the conversation until the client has ended it; returns the exit code.
pub(super) async fn converse(server: Arc<CodeServer>, holder: Option<Holder>, pipes: Pipes) -> i32 {
    let Pipes { stdin, stdout, stderr: _stderr, term } = pipes;
    let (client, lines) = Client::new();
    let is_one_client = holder.as_ref().is_some_and(Holder::is_one_client);
    let toolbox = holder.map(|holder| Arc::new(server.toolbox(holder, &client)));
    let own_notebook =
        if is_one_client { unguessable('o').ok().map(|name| format!("own {name}").into()) } else { None };
    let conversation = Arc::new(Conversation { server, client, toolbox, own_notebook });
    let mut requests = Requests::default();
    tokio::select! {
        () = write(stdout, lines) => {}
        () = read(stdin, &conversation, &mut requests) => {}
        () = term.cancelled() => {}
    }
    drop(requests);
    conversation.ended().await;
    0
}

async fn write(mut stdout: DuplexStream, mut lines: mpsc::Receiver<Bytes>) {
    while let Some(line) = lines.recv().await {
        let written = async {
            stdout.write_all(&line).await?;
            stdout.write_all(b"\n").await
        };
        if written.await.is_err() {
            return;
        }
    }
}

async fn read(mut stdin: DuplexStream, conversation: &Arc<Conversation>, requests: &mut Requests) {
    // What is written here comes from Kennel itself, which has its own bounds.
    let mut lines = LineAssembler::new(usize::MAX);
    loop {
        let mut chunk = BytesMut::with_capacity(CHUNK);
        if !matches!(stdin.read_buf(&mut chunk).await, Ok(1..)) {
            return;
        }
        for line in lines.push(chunk.freeze()) {
            if let Line::Whole(line) = line
                && let Ok(message) = Message::parse(line)
            {
                conversation.take(message, requests);
            }
        }
    }
}

/// The requests that are not answered yet; dropped, they are called off.
#[derive(Default)]
struct Requests {
    tasks: JoinSet<()>,
    open: Arc<Mutex<HashMap<Id, AbortHandle>>>,
}

impl Conversation {
    fn take(self: &Arc<Self>, message: Message, requests: &mut Requests) {
        while requests.tasks.try_join_next().is_some() {}
        match message.kind() {
            Kind::Request { id, .. } => {
                let (conversation, id, open) = (Arc::clone(self), id.clone(), Arc::clone(&requests.open));
                // Held until it is noted, so that it cannot be over before.
                let mut noting = lock(&requests.open);
                let key = id.clone();
                let task = requests.tasks.spawn(async move {
                    let answer = conversation.answer(&message, &id).await;
                    lock(&open).remove(&id);
                    conversation.client.say(answer).await;
                });
                noting.insert(key, task);
            }
            Kind::Notification { method, .. } if method == "notifications/cancelled" => {
                let id = message.cancelled_request().ok().flatten();
                if let Some(task) = id.and_then(|id| lock(&requests.open).remove(&id)) {
                    task.abort();
                }
            }
            Kind::Notification { .. } => {}
            Kind::Response { .. } | Kind::Error { .. } => {
                if !self.client.answered(&message)
                    && let Some(toolbox) = &self.toolbox
                {
                    toolbox.answered(message);
                }
            }
        }
    }

    async fn answer(self: &Arc<Self>, message: &Message, id: &Id) -> Bytes {
        let answer = match self.result(message).await {
            Ok(result) => RawJson::parse(result.to_string()).map_err(|error| error.to_string()),
            Err(Refused { code, text }) => return ErrorObject::new(code, text).response(&id.clone().into()),
        };
        match answer {
            Ok(result) => success_response(id, &result),
            Err(text) => ErrorObject::new(ErrorCode::INTERNAL_ERROR, text).response(&id.clone().into()),
        }
    }

    async fn result(self: &Arc<Self>, message: &Message) -> Result<Value, Refused> {
        let method = message.method().unwrap_or_default();
        match &*method {
            "initialize" => Ok(self.introduce(message)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": definitions(self.server.limits()) })),
            "tools/call" => tools::call(self, message).await,
            "resources/list" => Ok(resources::list()),
            "resources/templates/list" => Ok(resources::templates()),
            "resources/read" => resources::read(self, message).await,
            _ => {
                let text = format!("there is no `{method}` here");
                Err(Refused { code: ErrorCode::METHOD_NOT_FOUND, text })
            }
        }
    }

    fn introduce(&self, message: &Message) -> Value {
        if let Some(params) = message.params() {
            self.client.introduced(params);
        }
        if self.toolbox.is_some() {
            // Whoever comes here is about to run something.
            self.server.warm();
        }
        let wanted = message.text_at(&["params", "protocolVersion"]).ok().flatten();
        let wanted = wanted.and_then(|version| version.parse::<ProtocolVersion>().ok());
        let version = wanted.unwrap_or(ProtocolVersion::LATEST_LEGACY).min(ProtocolVersion::LATEST_LEGACY);
        json!({
            "protocolVersion": version.as_str(),
            "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": { "name": "kennel-code", "title": "Kennel code mode", "version": env!("CARGO_PKG_VERSION") },
            "instructions": INSTRUCTIONS,
        })
    }

    /// What the client has, or why it has nothing.
    pub(super) fn toolbox(&self) -> Result<&Arc<Toolbox>, Refused> {
        let text = "it is not known whose code this is";
        self.toolbox.as_ref().ok_or_else(|| Refused { code: ErrorCode::INVALID_REQUEST, text: text.to_owned() })
    }

    /// The notebook of a cell: the one that is named, or that of this client; else a new one, and the name by which its
    /// client finds it again.
    pub(super) fn notebook(&self, named: Option<&str>) -> std::io::Result<(Arc<str>, String)> {
        match (named, &self.own_notebook) {
            (Some(name), _) => Ok((format!("named {name}").into(), name.to_owned())),
            (None, Some(own)) => Ok((Arc::clone(own), String::new())),
            (None, None) => {
                let name = unguessable('n')?;
                Ok((format!("named {name}").into(), name))
            }
        }
    }

    /// Ends what belongs to the conversation alone.
    async fn ended(&self) {
        if let Some(toolbox) = &self.toolbox {
            // What its cells have left behind in notebooks that stay acts in nobody's name.
            toolbox.close();
            if let Some(own) = &self.own_notebook {
                self.server.notebooks().end(toolbox.holder().owner(), own).await;
            }
        }
    }
}
