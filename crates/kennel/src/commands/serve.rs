//! `kennel serve`: many MCP servers from one file behind one endpoint each, and behind one for all.

mod coded;
mod fleet;
mod reloading;
mod report;
mod retiring;
mod shown;
mod trust;
mod unions;
mod watching;

use crate::cli::Serve;
use crate::commands::admin::{Listener, SocketPlace};
use crate::commands::coding::NAME;
use crate::commands::console::{Console, Format, Naming, Output};
use crate::commands::server::{Ground, Memory, data_directory};
use crate::commands::service::{Bearer, Hangup, connections, reachable, runtime, stop_signals};
use crate::failure::Failure;
use kennel_config::{Config, GatewaySettings, Launch, Server, SystemSources, Value};
use kennel_gateway::{AccessSettings, Gateway, Limits, Settings};
use kennel_hub::MailboxLimits;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) use fleet::Fleet;
pub(crate) use reloading::{Reloaded, Waiting};
pub(crate) use report::ServerReport;

/// Serves until it is told to stop.
pub(crate) fn run(flags: Serve) -> Result<ExitCode, Failure> {
    let connections = connections()?;
    let runtime = runtime()?;
    let code = runtime.block_on(serve(flags, connections));
    runtime.shutdown_background();
    code
}

async fn serve(flags: Serve, connections: usize) -> Result<ExitCode, Failure> {
    let stop = stop_signals(Hangup::IsOther)?;
    let file = config_file(flags.config.as_deref())?;
    let config = Config::read(&file).map_err(|error| Failure::Argument(error.to_string()))?;
    let data = data_directory(flags.data.as_deref().or(data_of(&config)?.as_deref()))?;
    let socket = SocketPlace::find(flags.socket.as_deref(), flags.data.as_deref())?;
    // Before anything else is taken: two Kennels of one user would fight over what both should serve.
    let listener = Listener::bind(&socket)?;
    let listen = flags.listen.unwrap_or(config.gateway.listen);
    let bearer = Bearer::find(&flags.token, config.gateway.token.as_ref(), &config.directory, listen)?;
    let mut gateway = Gateway::bind(settings(&config.gateway, listen, bearer.as_ref(), connections)).await?;
    let url = format!("http://{}", gateway.address());
    let format = if flags.json { Format::Json } else { Format::People };
    let output = Arc::new(Output::new(format, Naming::Each));
    let console = Console::of_kennel(&output);
    let ground = Ground::new(output, data, Memory::Kept).audited(config.gateway.audit).starting(config.gateway.starts);
    let ground = ground.using(&file, Some(socket.path()));
    if let Some(store) = &ground.store {
        gateway = gateway.remembering(store.clone());
    }
    let fleet = Fleet::new(ground, file, url.clone());
    for warning in &config.warnings {
        console.say("warning", &warning.to_string(), json!({}));
    }
    let networked = networked(&config);
    fleet.adopt(config);
    let serving = tokio::spawn(gateway.serve(Arc::clone(&fleet) as _, stop.clone()));
    let administering = tokio::spawn(listener.serve(Arc::clone(&fleet), stop.clone()));
    let watching = tokio::spawn(watching::watch(Arc::clone(&fleet), stop.clone()));
    announce(&fleet, &console, bearer.as_ref().and_then(Bearer::shown), socket.path());
    if let Some(text) = reachable(&networked, listen, bearer.as_ref()) {
        console.say("warning", &text, json!({}));
    }
    stop.cancelled().await;
    console.say("stopping", "stopping", json!({}));
    // First the doors, so that no call comes for what is being stopped.
    let _ = serving.await;
    let _ = watching.await;
    fleet.shutdown().await;
    let _ = administering.await;
    Ok(ExitCode::SUCCESS)
}

/// The file that is meant: the one that is named, or the usual one.
pub(crate) fn config_file(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let usual = || Config::usual_file(|name| std::env::var_os(name));
    let file = named.map(Path::to_owned).or_else(usual);
    let file = file.ok_or_else(|| Failure::Argument("you have no home directory; name the file with -c".to_owned()))?;
    std::path::absolute(&file).map_err(|source| Failure::System { what: "finding the configuration", source })
}

/// Where the file says that data is kept.
pub(crate) fn data_of(config: &Config) -> Result<Option<PathBuf>, Failure> {
    let Some(data) = &config.gateway.data else { return Ok(None) };
    let value = Value::Text(data.clone());
    let text = kennel_config::resolve(&value, &config.directory, &SystemSources::default())
        .map_err(|cause| Failure::Argument(format!("gateway.data: {cause}")))?;
    let path = match (text.expose().strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => config.directory.join(text.expose()),
    };
    Ok(Some(path))
}

/// The servers that have the network of this machine, and so its loopback.
fn networked(config: &Config) -> Vec<String> {
    let has_network = |server: &Server| match &server.launch {
        Launch::Process(process) => process.sandbox.has_network(),
        Launch::Upstream(_) => false,
    };
    let servers = config.servers.iter().filter(|(_, server)| server.enabled && has_network(server));
    servers.map(|(name, _)| name.to_string()).collect()
}

fn settings(
    gateway: &GatewaySettings,
    listen: std::net::SocketAddr,
    bearer: Option<&Bearer>,
    connections: usize,
) -> Settings {
    Settings {
        listen,
        access: AccessSettings {
            hosts: gateway.allow_hosts.clone(),
            origins: gateway.allow_origins.clone(),
            tokens: bearer.into_iter().map(Bearer::token).collect(),
        },
        limits: Limits {
            message_bytes: usize::try_from(gateway.max_message.bytes()).unwrap_or(usize::MAX),
            mailbox: MailboxLimits {
                all_bytes: usize::try_from(gateway.max_unread.bytes()).unwrap_or(usize::MAX),
                ..MailboxLimits::default()
            },
            idle_session: gateway.session_idle,
            connections,
            ..Limits::default()
        },
    }
}

/// What all servers as one are called among their endpoints.
const EVERYTHING: &str = "everything";

fn announce(fleet: &Fleet, console: &Console, token: Option<&str>, socket: &Path) {
    let servers = fleet.reports();
    let served = servers.iter().filter(|server| server.url.is_some()).count();
    let text = format!("{served} of {} servers are served at {}", servers.len(), fleet.url());
    let urls: serde_json::Map<_, _> = servers.iter().map(|server| (server.name.clone(), json!(server.url))).collect();
    let said = json!({
        "url": fleet.url(), "servers": urls, "code": fleet.code_url(), "token": token, "socket": socket,
    });
    console.say("serving", &text, said);
    let views = fleet.views();
    let names = servers.iter().map(|server| &server.name).chain(&views);
    let width = names.map(String::len).max().unwrap_or(0).max(EVERYTHING.len());
    let mut table = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(table, "  {EVERYTHING:width$}  {}/mcp", fleet.url());
    if let Some(code) = fleet.code_url() {
        let _ = writeln!(table, "  {NAME:width$}  {code} (Python that calls their tools)");
    }
    for view in &views {
        let _ = writeln!(table, "  {view:width$}  {}/views/{view}/mcp (view)", fleet.url());
    }
    for server in &servers {
        let place = server.url.as_deref().unwrap_or("not served");
        let _ = writeln!(table, "  {:width$}  {place}", server.name);
    }
    let _ =
        writeln!(table, "\n  `kennel client install NAME` points a client here; `kennel ps` shows how servers are.");
    if let Some(token) = token {
        let _ = writeln!(table, "\n  Token  {token} (made for this run; send it as Authorization: Bearer)");
    }
    console.tell(&format!("\n{table}"));
}
