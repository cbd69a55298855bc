//! `kennel logs` and `kennel events`: what servers have printed and what has happened to them, up to now or from now on.

use crate::cli::{Events, Logs};
use crate::commands::admin::{Gateway, Request};
use crate::failure::Failure;
use crate::screen::{print, print_json_text};
use kennel_redact::hanging;
use serde_json::Value;
use std::process::ExitCode;

/// Prints what a server has printed.
pub(crate) fn logs(flags: Logs) -> Result<ExitCode, Failure> {
    let request = Request::Logs { server: flags.server, follow: flags.follow };
    follow(Gateway::find(&flags.gateway)?, &request, flags.json, |line| {
        let instance = line["instance"].as_str().unwrap_or_default();
        let mark = if line["source"] == "kennel" { "kennel: " } else { "" };
        format!("{}  [{instance}] {mark}{}", time(line), line["text"].as_str().unwrap_or_default())
    })
}

/// Prints what has happened.
pub(crate) fn events(flags: &Events) -> Result<ExitCode, Failure> {
    follow(Gateway::find(&flags.gateway)?, &Request::Events { follow: flags.follow }, flags.json, |event| {
        let server = event["server"].as_str().or(event["about"].as_str()).unwrap_or("-");
        let name = event["event"].as_str().unwrap_or_default();
        let state = event["lifecycle"]["state"].as_str().map(|state| format!("{state}: ")).unwrap_or_default();
        format!("{}  {server}  {name}  {state}{}", time(event), event["text"].as_str().unwrap_or_default())
    })
}

fn follow(
    gateway: Gateway,
    request: &Request,
    json: bool,
    line: impl Fn(&Value) -> String,
) -> Result<ExitCode, Failure> {
    gateway.ask(request, |item| {
        if json {
            return print_json_text(&format!("{item}\n"));
        }
        match item["missed"].as_u64() {
            Some(missed) => print(&format!("… {missed} lines are not kept any more\n")),
            None => print(&format!("{}\n", hanging(&line(&item)))),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The time of day of a line, in UTC.
fn time(line: &Value) -> String {
    let millis = line["time"].as_f64().map_or(0, |seconds| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times since 1970 fit")]
        let millis = (seconds.max(0.0) * 1000.0) as u64;
        millis
    });
    let (seconds, millis) = (millis / 1000 % 86_400, millis % 1000);
    format!("{:02}:{:02}:{:02}.{millis:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_day() {
        assert_eq!(time(&serde_json::json!({ "time": 1_000_000_000.25 })), "01:46:40.250Z");
        assert_eq!(time(&serde_json::json!({})), "00:00:00.000Z");
    }
}
