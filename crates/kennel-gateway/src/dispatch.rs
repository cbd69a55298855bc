//! From the address of a request to its door, past the checks that all doors share.

use crate::access::{Access, Denied};
use crate::connection::Slot;
use crate::mcp::McpDoor;
use crate::metrics::{Counters, Door, Gauges};
use crate::reply::{self, Reply};
use crate::rpc::RpcDoor;
use crate::websocket::SocketDoor;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use kennel_hub::{Hub, Readiness};
use std::sync::Arc;

/// All doors of a gateway.
pub(crate) struct Doors {
    pub(crate) access: Access,
    pub(crate) mcp: McpDoor,
    pub(crate) rpc: RpcDoor,
    pub(crate) socket: SocketDoor,
    pub(crate) hub: Hub,
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
        // Whether it lives is told to everybody: probes know neither names nor tokens.
        match path {
            "/healthz" => return (Door::Other, readable(request.method(), || reply::text(StatusCode::OK, "alive"))),
            "/readyz" => return (Door::Other, readable(request.method(), || self.readiness())),
            _ => {}
        }
        let door = match path {
            "/mcp" => Door::Mcp,
            "/rpc" => Door::Rpc,
            "/ws" => Door::WebSocket,
            _ => Door::Other,
        };
        let principal = match self.access.check(request.uri(), request.headers()) {
            Ok(principal) => principal,
            Err(denied) => return (door, deny(&denied)),
        };
        let reply = match door {
            Door::Mcp => self.mcp.handle(principal, slot.alarms(), request).await,
            Door::Rpc => self.rpc.handle(principal, request).await,
            Door::WebSocket => self.socket.handle(principal, slot, request),
            Door::Other if path == "/metrics" => readable(request.method(), || self.measurements(slot)),
            Door::Other => reply::text(StatusCode::NOT_FOUND, NOTHING_HERE),
        };
        (door, reply)
    }

    fn readiness(&self) -> Reply {
        let unready = |reason: &str| reply::text(StatusCode::SERVICE_UNAVAILABLE, reason);
        match self.hub.status().ready() {
            Readiness::Ready => reply::text(StatusCode::OK, "ready"),
            Readiness::Starting => unready("The server is starting."),
            Readiness::Failed { cause } => unready(&format!("The server cannot be used: {cause}")),
            Readiness::Closing => unready("The gateway is shutting down."),
        }
    }

    fn measurements(&self, slot: &Slot) -> Reply {
        let gauges = Gauges { connections: slot.open_connections(), sessions: self.mcp.sessions.len() };
        let mut reply = reply::text(StatusCode::OK, self.counters.render(gauges, &self.hub.metrics()).trim_end());
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        reply.headers_mut().insert(CONTENT_TYPE, kind);
        reply
    }
}

const NOTHING_HERE: &str = "There is nothing here. MCP clients connect to /mcp (Streamable HTTP) or /ws (WebSocket); \
                            plain JSON-RPC goes to /rpc; there are also /healthz, /readyz and /metrics.";

/// What can only be read.
fn readable(method: &Method, read: impl FnOnce() -> Reply) -> Reply {
    if matches!(*method, Method::GET | Method::HEAD) { read() } else { *reply::method_not_allowed("GET, HEAD") }
}

fn deny(denied: &Denied) -> Reply {
    let challenge = match denied {
        Denied::NoHost | Denied::Host(_) | Denied::Origin(_) => return *reply::refusal(StatusCode::FORBIDDEN, denied),
        Denied::NoToken => "Bearer realm=\"kennel\"",
        Denied::Token => "Bearer realm=\"kennel\", error=\"invalid_token\"",
    };
    let mut refusal = reply::refusal(StatusCode::UNAUTHORIZED, denied);
    refusal.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    *refusal
}
