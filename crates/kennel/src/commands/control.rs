//! `kennel stop`, `start`, `restart` and `reload`: the operator's word to a running gateway.

use crate::cli::{Control, Reload};
use crate::commands::admin::{Gateway, Request};
use crate::commands::serve::Reloaded;
use crate::commands::{complain, print, print_json};
use crate::failure::Failure;
use serde_json::json;
use std::process::ExitCode;

/// What is to be done with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Stop,
    Start,
    Restart,
}

/// Has it done with each server.
pub(crate) fn run(verb: Verb, flags: &Control) -> Result<ExitCode, Failure> {
    let mut failed = Vec::new();
    for server in &flags.servers {
        let name = server.clone();
        let (request, done) = match verb {
            Verb::Stop => (Request::Stop { server: name }, "stopped"),
            Verb::Start => (Request::Start { server: name }, "started"),
            Verb::Restart => (Request::Restart { server: name }, "restarted"),
        };
        match Gateway::find(&flags.gateway)?.ask(&request, |_| Ok(())) {
            Ok(_) if flags.json => print(&format!("{}\n", json!({ "server": server, "done": done })))?,
            Ok(_) => print(&format!("{server} was {done}\n"))?,
            Err(Failure::Server(text)) => {
                if flags.json {
                    print(&format!("{}\n", json!({ "server": server, "failed": text })))?;
                }
                failed.push(text);
            }
            Err(other) => return Err(other),
        }
    }
    match failed.pop() {
        None => Ok(ExitCode::SUCCESS),
        Some(last) => {
            complain(&failed);
            Err(Failure::Server(last))
        }
    }
}

/// Has the file read again.
pub(crate) fn reload(flags: &Reload) -> Result<ExitCode, Failure> {
    let value = Gateway::find(&flags.gateway)?.ask(&Request::Reload, |_| Ok(()))?;
    if flags.json {
        return print_json(&value);
    }
    let reloaded: Reloaded = serde_json::from_value(value)
        .map_err(|error| Failure::Argument(format!("the gateway's answer cannot be read: {error}")))?;
    complain(&reloaded.warnings);
    let parts = [
        ("added", &reloaded.added),
        ("removed", &reloaded.removed),
        ("changed", &reloaded.changed),
        ("shown otherwise", &reloaded.shown_otherwise),
    ];
    for (what, names) in parts.into_iter().filter(|(_, names)| !names.is_empty()) {
        print(&format!("{what}: {}\n", names.join(", ")))?;
    }
    print(&format!("unchanged: {}\n", reloaded.same))?;
    Ok(ExitCode::SUCCESS)
}
