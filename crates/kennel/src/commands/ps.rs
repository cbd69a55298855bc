//! `kennel ps` and `kennel inspect`: how the servers of a running gateway are.

use crate::cli::{Inspect, Ps};
use crate::commands::admin::{Gateway, Request};
use crate::commands::serve::{ServerReport, Waiting};
use crate::commands::table::table;
use crate::failure::Failure;
use crate::screen::{print, print_json};
use kennel_redact::{one_line, printable};
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

/// Lists all servers.
pub(crate) fn list(flags: &Ps) -> Result<ExitCode, Failure> {
    let status = Gateway::find(&flags.gateway)?.ask(&Request::Status, |_| Ok(()))?;
    if flags.json {
        return print_json(&status);
    }
    let text = |name: &str| one_line(status[name].as_str().unwrap_or_default());
    let mut shown = String::new();
    if flags.verbose {
        // Writing to a string cannot fail.
        let _ = writeln!(
            shown,
            "kennel {}, process {}\nendpoint  {}\nfile      {}\ndata      {}\nsocket    {}\n",
            text("version"),
            status["pid"],
            text("url"),
            text("file"),
            text("data"),
            text("socket"),
        );
        if let Some(lost @ 1..) = status["rows_lost"].as_u64() {
            let _ = writeln!(shown, "{lost} rows of the state and the audit log were lost; `kennel events` says why\n");
        }
    }
    let servers: Vec<ServerReport> =
        serde_json::from_value(status["servers"].clone()).map_err(|error| not_told(&error))?;
    shown.push_str(&rows(&servers));
    let waiting: Option<Waiting> =
        serde_json::from_value(status["waiting"].clone()).map_err(|error| not_told(&error))?;
    if let Some(waiting) = waiting {
        let _ = writeln!(shown, "\n{}", printable(&waiting.to_string()));
    }
    print(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Tells all about one server.
pub(crate) fn inspect(flags: &Inspect) -> Result<ExitCode, Failure> {
    let request = Request::Inspect { server: flags.server.clone() };
    let report = Gateway::find(&flags.gateway)?.ask(&request, |_| Ok(()))?;
    if flags.json {
        return print_json(&report);
    }
    let report: ServerReport = serde_json::from_value(report).map_err(|error| not_told(&error))?;
    print(&details(&report))?;
    Ok(ExitCode::SUCCESS)
}

fn rows(servers: &[ServerReport]) -> String {
    let rows: Vec<[String; 8]> = servers
        .iter()
        .map(|server| {
            let first_line = |text: &String| text.lines().next().unwrap_or_default().to_owned();
            let place = server.problem.as_ref().map(first_line).or_else(|| server.url.clone());
            [
                server.name.clone(),
                server.state.word().to_owned(),
                eras(server),
                server.model.clone(),
                server.processes.to_string(),
                server.sessions.to_string(),
                server.calls.to_string(),
                place.unwrap_or_default(),
            ]
        })
        .collect();
    table(["NAME", "STATE", "ERA", "MODEL", "PROCESSES", "SESSIONS", "CALLS", "ENDPOINT OR PROBLEM"], &rows)
}

fn details(server: &ServerReport) -> String {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let mut text = String::new();
    let lines = [
        ("name", server.name.clone()),
        ("state", server.state.word().to_owned()),
        ("endpoint", or_none(&server.url)),
        ("command", or_none(&server.command)),
        ("era", eras(server)),
        ("model", server.model.clone()),
        ("sessions", server.sessions.to_string()),
        ("tags", server.tags.join(", ")),
        ("about", or_none(&server.description)),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:9} {}", one_line(&value));
    }
    if let Some(problem) = &server.problem {
        let _ = writeln!(text, "problem   {}", printable(problem).replace('\n', "\n          "));
    }
    for what in &server.waiting {
        let _ = writeln!(text, "waits     {} (see `kennel ps`)", one_line(what));
    }
    let instances = server.status.as_ref().and_then(|status| status["instances"].as_array()).cloned();
    let instances = instances.unwrap_or_default();
    if !instances.is_empty() {
        let word = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), str::to_owned);
        let row = |instance: &Value| {
            let since = instance["since"]["secs"].as_u64().unwrap_or(0);
            [
                word(&instance["name"]),
                word(&instance["state"]),
                word(&instance["phase"]),
                word(&instance["era"]),
                instance["generation"].to_string(),
                instance["calls_in_flight"].to_string(),
                format!("{since} s"),
            ]
        };
        let rows: Vec<_> = instances.iter().map(row).collect();
        let headings = ["PROCESS", "STATE", "PHASE", "ERA", "STARTS", "CALLS", "SINCE"];
        let _ = write!(text, "\n{}", table(headings, &rows));
    }
    text
}

fn eras(server: &ServerReport) -> String {
    if server.eras.is_empty() { "-".to_owned() } else { server.eras.join(", ") }
}

fn not_told(error: &serde_json::Error) -> Failure {
    Failure::Argument(format!("the gateway's answer cannot be read ({error}); is it of another version?"))
}
