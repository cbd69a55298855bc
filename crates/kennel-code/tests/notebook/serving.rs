//! Code mode as a server of the hub: what belongs to one user is no other's.

use crate::support::{PATIENCE, native_python};
use kennel_code::engine::CodeEngine;
use kennel_code::{CodeLauncher, CodeMode, CodeSettings, EngineToCome, Policy, PoolSettings, Settings};
use kennel_hub::{
    Endpoint, EndpointSession, Hub, Limits, Mailbox, MailboxLimits, OutgoingKind, Principal, ProcessModel,
    ServerSettings, Timeouts, Union, UnionSettings, Unobserved,
};
use kennel_state::Store;
use kennel_wire::Message;
use serde_json::{Value, json};
use std::sync::Arc;

struct Served {
    mode: Arc<CodeMode>,
    hub: Hub,
}

impl Served {
    fn new(model: ProcessModel) -> Self {
        let engine =
            || -> EngineToCome { Box::pin(async { Ok(Arc::new(native_python().await) as Arc<dyn CodeEngine>) }) };
        let pool = PoolSettings { ready: 0, ..PoolSettings::default() };
        let settings = CodeSettings { notebooks: Settings::default(), pool, yield_after: PATIENCE };
        let mode = CodeMode::new(engine, Store::in_memory(), settings);
        let hub = hub(&mode, None, model);
        Self { mode, hub }
    }

    async fn client(&self, user: &str) -> Client {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let unsolicited = Mailbox::new(MailboxLimits::default());
        let endpoint = Endpoint::Server(self.hub.clone());
        let opened = endpoint.initialize(&Principal::new(user), message(&request), unsolicited).await;
        let (session, _) = opened.unwrap_or_else(|refused| panic!("{:?}", refused.response));
        Client(session)
    }

    async fn end(self) {
        self.hub.shutdown().await;
        self.mode.shutdown().await;
    }
}

/// Code mode over the servers of a view, or over all.
fn hub(mode: &Arc<CodeMode>, view: Option<&str>, model: ProcessModel) -> Hub {
    let union = Union::new(UnionSettings::default(), Vec::new());
    let launcher = CodeLauncher::new(mode, union, view, Policy::default(), kennel_exec::Limits::default()).unwrap();
    let settings = ServerSettings {
        name: "code".to_owned(),
        model,
        era: Some(kennel_wire::Era::Legacy),
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        catalog: None,
        audit: None,
        results: None,
    };
    let supervision = kennel_supervisor::Settings::default();
    Hub::new(settings, supervision, Arc::new(launcher), Arc::new(Unobserved))
}

struct Client(EndpointSession);

impl Client {
    async fn request(&self, method: &str, params: Value) -> Value {
        let mailbox = Mailbox::new(MailboxLimits::default());
        let _attached = mailbox.attach();
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.0.receive(message(&request), &mailbox);
        let answer = async {
            loop {
                let outgoing = mailbox.next().await.expect("an answer");
                if outgoing.kind == OutgoingKind::Response {
                    return serde_json::from_slice(&outgoing.message).unwrap();
                }
            }
        };
        tokio::time::timeout(PATIENCE, answer).await.expect("the request is not answered")
    }

    async fn run(&self, session: Option<&str>, code: &str) -> Value {
        let arguments = json!({ "code": code, "session": session });
        let answer = self.request("tools/call", json!({ "name": "run_python", "arguments": arguments })).await;
        answer["result"]["structuredContent"].clone()
    }
}

fn message(value: &Value) -> Message {
    Message::parse(value.to_string().into()).unwrap()
}

pub(crate) async fn what_belongs_to_one_user_is_no_others() {
    let served = Served::new(ProcessModel::PerSession);
    let (ann, again, bob) = (served.client("ann").await, served.client("ann").await, served.client("bob").await);
    assert_eq!(ann.run(Some("shared"), "x = 'of ann'\nx").await["value"], "'of ann'");
    assert_eq!(again.run(Some("shared"), "x").await["value"], "'of ann'", "a name is found in another session");
    assert_eq!(bob.run(Some("shared"), "x").await["error"]["type"], "NameError", "but not by another user");
    assert_eq!(again.run(None, "x").await["error"]["type"], "NameError", "without a name it is the session's own");

    let saved = ann.run(None, "def mine():\n    return 1\nawait mcp.runtime.save_tool(mine)").await;
    assert_eq!(saved["status"], "success", "{saved}");
    assert_eq!(again.run(None, "saved.mine()").await["value"], "1");
    assert_eq!(bob.run(None, "hasattr(saved, 'mine')").await["value"], "False");

    let long = ann.run(None, "print('secret of ann ' * 10000)").await;
    let text = long["stdout"].as_str().unwrap();
    let start = text.find("kennel://result/").unwrap_or_else(|| panic!("no address: {text}"));
    let uri: String =
        text[start..].chars().take_while(|letter| letter.is_ascii_alphanumeric() || ":/".contains(*letter)).collect();
    let read = ann.request("resources/read", json!({ "uri": uri })).await;
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("secret of ann"), "{read}");
    let foreign = bob.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(foreign["error"]["code"], -32002, "{foreign}");
    assert!(!foreign.to_string().contains("secret of ann"), "{foreign}");

    let begun = ann.run(Some("shared"), "1").await;
    let wait = json!({ "name": "wait_python", "arguments": { "cell": begun["cell"] } });
    for foreign in [&bob, &again] {
        let answer = foreign.request("tools/call", wait.clone()).await;
        assert_eq!(answer["result"]["structuredContent"]["status"], "validation_error", "{answer}");
    }
    let own = ann.request("tools/call", wait).await;
    assert_eq!(own["result"]["structuredContent"]["status"], "success", "{own}");
    served.end().await;
}

pub(crate) async fn what_belongs_to_one_view_is_no_others() {
    let served = Served::new(ProcessModel::PerSession);
    let other = Served { mode: Arc::clone(&served.mode), hub: hub(&served.mode, Some("v"), ProcessModel::PerSession) };
    let (all, view) = (served.client("ann").await, other.client("ann").await);
    assert_eq!(all.run(Some("shared"), "x = 1\nx").await["value"], "1");
    assert_eq!(view.run(Some("shared"), "x").await["error"]["type"], "NameError");
    let saved = all.run(None, "def mine():\n    return 1\nawait mcp.runtime.save_tool(mine)").await;
    assert_eq!(saved["status"], "success", "{saved}");
    assert_eq!(view.run(None, "hasattr(saved, 'mine')").await["value"], "False");
    assert_eq!(view.run(None, "await mcp.runtime.remove_tool('mine')").await["value"], "False");
    assert_eq!(served.client("ann").await.run(None, "saved.mine()").await["value"], "1");
    other.hub.shutdown().await;
    served.end().await;
}

pub(crate) async fn whoever_is_not_known_runs_nothing() {
    let served = Served::new(ProcessModel::Shared);
    let client = served.client("ann").await;
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 4, "{listed}");
    let call = json!({ "name": "run_python", "arguments": { "code": "1" } });
    let refused = client.request("tools/call", call).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("whose code this is"), "{refused}");
    served.end().await;
}
