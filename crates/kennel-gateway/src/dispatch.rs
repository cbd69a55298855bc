//! From the address of a request to its door, past the checks that all doors share.

use crate::access::{Access, Denied};
use crate::connection::Slot;
use crate::directory::{Address, Directory};
use crate::guarded::Reading;
use crate::intake::Intake;
use crate::mcp::{Home, McpDoor};
use crate::metrics::{Counters, Door, Gauges};
use crate::peer::Peers;
use crate::readiness;
use crate::reply::{self, Reply};
use crate::rpc::RpcDoor;
use crate::websocket::SocketDoor;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use kennel_hub::{Endpoint, Hub};
use std::sync::Arc;

/// All doors of a gateway.
pub(crate) struct Doors {
    pub(crate) access: Access,
    /// Who knows whose connections are, where that decides.
    pub(crate) peers: Option<Peers>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) mcp: McpDoor,
    pub(crate) rpc: RpcDoor,
    pub(crate) socket: SocketDoor,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) counters: Counters,
}

impl Doors {
    /// Answers a request.
    pub(crate) async fn handle(&self, slot: &Arc<Slot>, request: Request<Incoming>) -> Reply {
        let (door, reply) = self.route(slot, request).await;
        self.counters.answered(door, reply.status());
        reply
    }

    async fn route(&self, slot: &Arc<Slot>, request: Request<Incoming>) -> (Door, Reply) {
        let path = request.uri().path();
        if request.body().is_end_stream() {
            // What comes now is the head of the next one.
            slot.meter().whole(Reading::Head);
        }
        let access = || self.access.check(slot.peer, request.uri(), request.headers());
        // Whether it lives is told to everybody: probes know neither names nor tokens. Why it is not ready is not.
        match path {
            "/healthz" => return (Door::Other, readable(request.method(), || reply::text(StatusCode::OK, "alive"))),
            "/readyz" => {
                let ready =
                    || readiness::reply(&self.directory.servers(), &self.directory.unserved(), access().is_ok());
                return (Door::Other, readable(request.method(), ready));
            }
            _ => {}
        }
        let split = Address::split(path);
        let door = match split {
            Some((.., "mcp")) => Door::Mcp,
            Some((.., "rpc")) => Door::Rpc,
            Some((.., "ws")) => Door::WebSocket,
            Some(_) | None => Door::Other,
        };
        let principal = match access() {
            Ok(principal) => principal,
            Err(denied) => return (door, deny(&denied)),
        };
        let Some((address, home, _)) = split.filter(|_| door != Door::Other) else {
            let reply = match path {
                "/metrics" => readable(request.method(), || self.measurements(slot)),
                _ => reply::text(StatusCode::NOT_FOUND, NOTHING_HERE),
            };
            return (door, reply);
        };
        let Some(endpoint) = self.directory.endpoint(address) else {
            return (door, reply::text(StatusCode::NOT_FOUND, unknown(address)));
        };
        let address = home.to_owned();
        let home = Home { endpoint: &endpoint, address: &address };
        let reply = match door {
            Door::Mcp => self.mcp.handle(home, principal, slot, request).await,
            Door::Rpc => self.rpc.handle(&endpoint, principal, slot, request).await,
            Door::WebSocket | Door::Other => self.socket.handle(endpoint, principal, slot, request),
        };
        (door, reply)
    }

    /// The servers behind all endpoints.
    fn hubs(&self) -> Vec<Hub> {
        let hub = |endpoint| match endpoint {
            Endpoint::Server(hub) => Some(hub),
            Endpoint::Union(_) => None,
        };
        self.directory.endpoints().into_iter().filter_map(hub).collect()
    }

    fn measurements(&self, slot: &Slot) -> Reply {
        let gauges = Gauges { connections: slot.open_connections(), sessions: self.mcp.sessions.len() };
        let mut metrics: Vec<_> = self.hubs().iter().flat_map(Hub::metrics).collect();
        // What is said of one measurement has to stand together.
        metrics.sort_by_key(|metric| metric.name);
        let mut reply = reply::text(StatusCode::OK, self.counters.render(gauges, &metrics).trim_end());
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        reply.headers_mut().insert(CONTENT_TYPE, kind);
        reply
    }
}

const NOTHING_HERE: &str = "There is nothing here. MCP clients connect to /mcp (Streamable HTTP) or /ws (WebSocket); \
                            plain JSON-RPC goes to /rpc; there are also /healthz, /readyz and /metrics. Where many \
                            servers are served, the doors of one are below /servers/<name>, those of a view below \
                            /views/<name>.";

/// What is said of an address that leads to nothing.
fn unknown(address: Address<'_>) -> String {
    match address {
        Address::All => "Nothing is served here for all servers together.".to_owned(),
        Address::Server(name) => format!("There is no server `{name}` here. `kennel ps` lists those there are."),
        Address::View(name) => format!("There is no view `{name}` here. Views are defined in the configuration."),
    }
}

/// What can only be read.
fn readable(method: &Method, read: impl FnOnce() -> Reply) -> Reply {
    if matches!(*method, Method::GET | Method::HEAD) { read() } else { *reply::method_not_allowed("GET, HEAD") }
}

fn deny(denied: &Denied) -> Reply {
    let challenge = match denied {
        Denied::User(_) | Denied::UnknownUser => {
            let mut refusal = reply::refusal(StatusCode::FORBIDDEN, denied);
            // Whose connection it is does not change; its place is for others.
            refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return *refusal;
        }
        Denied::NoHost | Denied::Host(_) | Denied::Origin(_) => return *reply::refusal(StatusCode::FORBIDDEN, denied),
        Denied::NoToken => "Bearer realm=\"kennel\"",
        Denied::Token => "Bearer realm=\"kennel\", error=\"invalid_token\"",
    };
    let mut refusal = reply::refusal(StatusCode::UNAUTHORIZED, denied);
    refusal.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    *refusal
}
