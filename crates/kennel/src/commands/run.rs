//! `kennel run`: one MCP server in a box behind a stable endpoint.

use crate::cli::Run;
use crate::commands::console::Format;
use crate::commands::server::{Memory, Server};
use crate::commands::service::{Bearer, Hangup, connections, reachable, runtime, stop_signals};
use crate::commands::snippets;
use crate::failure::Failure;
use crate::screen;
use kennel_gateway::{AccessSettings, Gateway, Limits, Settings, serve_stdio};
use kennel_hub::Endpoint;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Serves until it is told to stop.
pub(crate) fn run(flags: Run) -> Result<ExitCode, Failure> {
    let connections = connections()?;
    let runtime = runtime()?;
    let code = runtime.block_on(serve(flags, connections));
    // Reading standard input cannot be interrupted; nobody waits for it any more.
    runtime.shutdown_background();
    code
}

async fn serve(flags: Run, connections: usize) -> Result<ExitCode, Failure> {
    let stop = stop_signals(Hangup::Stops)?;
    let format = if flags.json { Format::Json } else { Format::People };
    let limits = Limits {
        message_bytes: usize::try_from(flags.server.max_message.bytes()).unwrap_or(usize::MAX),
        idle_session: Duration::from_secs(flags.session_idle.saturating_mul(60)),
        connections,
        ..Limits::default()
    };
    if flags.stdio {
        let server = Server::new(&flags.server, &flags.command, format, Memory::Kept)?;
        serve_stdio(Endpoint::Server(server.hub().clone()), tokio::io::stdin(), screen::protocol(), &limits, &stop)
            .await;
        server.shutdown().await;
        return Ok(ExitCode::SUCCESS);
    }
    let bearer = Bearer::find(&flags.token, None, std::path::Path::new("."), flags.listen)?;
    let access = AccessSettings {
        hosts: flags.allow_host,
        origins: flags.allow_origin,
        tokens: bearer.iter().map(Bearer::token).collect(),
    };
    // Before anything is installed or started, so that clients can connect from the beginning and nobody takes the port.
    let gateway = Gateway::bind(Settings { listen: flags.listen, access, limits }).await?;
    let address = gateway.address();
    let server = Server::new(&flags.server, &flags.command, format, Memory::Kept)?;
    let serving = tokio::spawn(gateway.serve(Arc::new(server.hub().clone()), stop.clone()));
    let outcome = tokio::select! {
        outcome = prove(&server) => outcome,
        () = stop.cancelled() => Ok(()),
    };
    if outcome.is_ok() && !stop.is_cancelled() {
        announce(&server, &format!("http://{address}"), bearer.as_ref());
        let networked = server.has_network.then(|| server.name.clone());
        if let Some(text) = reachable(networked.as_slice(), address, bearer.as_ref()) {
            server.console().say("warning", &text, json!({}));
        }
        stop.cancelled().await;
        server.console().say("stopping", "stopping", json!({}));
    }
    stop.cancel();
    // First the doors, so that no call comes for what is being stopped.
    let _ = serving.await;
    server.shutdown().await;
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Starts the server once, unless it is known from before, so that whoever typed the command sees whether it works.
async fn prove(server: &Server) -> Result<(), Failure> {
    if server.hub().is_known() {
        server.hub().warm();
        return Ok(());
    }
    server.console().say("starting", &format!("starting {}", server.name), json!({}));
    match server.hub().try_out().await {
        Ok(_) => Ok(()),
        // The console has said why.
        Err(text) => Err(Failure::Server(text)),
    }
}

fn announce(server: &Server, url: &str, bearer: Option<&Bearer>) {
    let token = bearer.and_then(Bearer::shown);
    let mcp = format!("{url}/mcp");
    server.console().say(
        "serving",
        &format!("{} is served at {mcp}", server.name),
        json!({ "url": mcp, "token": token }),
    );
    let socket = url.replacen("http", "ws", 1);
    server.console().tell(&format!("\n  WebSocket    {socket}/ws\n  JSON-RPC     {url}/rpc (no handshake needed)\n"));
    if let Some(token) = token {
        server
            .console()
            .tell(&format!("  Token        {token} (made for this run; send it as Authorization: Bearer)\n"));
    }
    server.console().tell(&snippets::text(&server.name, &mcp, bearer.map(Bearer::in_snippets)));
}
