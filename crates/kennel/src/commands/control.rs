//! `kennel stop`, `start`, `restart` and `reload`: the operator's word to a running gateway.

use crate::cli::{Accepted, Control, Reload};
use crate::commands::admin::{Gateway, Request};
use crate::commands::serve::{Reloaded, Waiting};
use crate::failure::Failure;
use crate::screen::{complain, print, print_json, print_json_text};
use kennel_redact::one_line;
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
            Ok(_) if flags.json => print_json_text(&format!("{}\n", json!({ "server": server, "done": done })))?,
            Ok(_) => print(&format!("{server} was {done}\n"))?,
            Err(Failure::Server(text)) => {
                if flags.json {
                    print_json_text(&format!("{}\n", json!({ "server": server, "failed": text })))?;
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

/// Has the file read again, and a change that waits taken up if that is accepted.
pub(crate) fn reload(flags: &Reload) -> Result<ExitCode, Failure> {
    let ask = |accept: Option<u64>| {
        let value = Gateway::find(&flags.gateway)?.ask(&Request::Reload { accept }, |_| Ok(()))?;
        let reloaded: Reloaded = serde_json::from_value(value.clone())
            .map_err(|error| Failure::Argument(format!("the gateway's answer cannot be read: {error}")))?;
        Ok::<_, Failure>((value, reloaded))
    };
    let (value, reloaded) = match flags.accept {
        // The change that somebody has looked at, and no other.
        Some(Accepted::Number(number)) => ask(Some(number))?,
        Some(Accepted::Any) => {
            let (value, reloaded) = ask(None)?;
            match &reloaded.waiting {
                None => (value, reloaded),
                Some(waiting) => {
                    complain(&accepted(waiting));
                    ask(Some(waiting.number))?
                }
            }
        }
        None => ask(None)?,
    };
    let waits = |waiting: &Waiting| Failure::Server(waiting.to_string());
    if flags.json {
        print_json(&value)?;
        return reloaded.waiting.as_ref().map_or(Ok(ExitCode::SUCCESS), |waiting| Err(waits(waiting)));
    }
    complain(&reloaded.warnings);
    if let Some(waiting) = &reloaded.waiting {
        return Err(waits(waiting));
    }
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

/// What is accepted, for whoever accepts it.
fn accepted(waiting: &Waiting) -> Vec<String> {
    let widens = waiting.widens.iter().map(|widened| {
        let server = widened.server.as_ref().map(|server| format!("{server}: ")).unwrap_or_default();
        one_line(&format!("accepted: {server}{}", widened.what))
    });
    widens.collect()
}
