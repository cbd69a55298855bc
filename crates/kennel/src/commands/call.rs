//! `kennel call`: one call of one tool, by what its list says of its arguments.

mod arguments;
mod pretty;
mod progress;
mod results;
mod saving;
mod schema;

use crate::cli::Call;
use crate::commands::asking::{AskError, Endpoint, Listing, did_you_mean, with_endpoint};
use crate::failure::Failure;
use crate::screen::{complain, print_data, print_json_text};
use arguments::{ArgumentError, Given};
use kennel_redact::one_line;
use kennel_wire::RawJson;
use progress::Progress;
use results::{Outcome, show};
use saving::Folder;
use serde::Deserialize;
use std::process::ExitCode;

/// How many tools are named to somebody who asked for one that is not there.
const MOST_NAMED: usize = 20;

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self::Argument(error.to_string())
    }
}

/// Calls the tool and prints its result.
pub(crate) fn run(flags: Call) -> Result<ExitCode, Failure> {
    let Call { whom, tool, arguments, args, json, save } = flags;
    // All that can be wrong with the words is found before anything is started.
    let given = match &args {
        Some(text) => Given::whole(text, whom.server.max_message.bytes())?,
        None => Given::each(&arguments)?,
    };
    let mut folder = match &save {
        Some(path) => Some(Folder::open(path, &tool).map_err(|error| {
            Failure::Argument(format!("--save {}: {error}; name a directory that you may write to", path.display()))
        })?),
        None => None,
    };
    with_endpoint(whom, async |endpoint| {
        let arguments = fitting(endpoint, &tool, &given).await?;
        let result = called(endpoint, &tool, &arguments).await?;
        if json {
            print_json_text(&format!("{}\n", String::from_utf8_lossy(result.as_bytes())))?;
            return Ok(if says_error(&result) { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        let shown = show(result.as_bytes(), folder.as_mut());
        match shown.outcome {
            Outcome::Done => print_data(&shown.text).map(|()| ExitCode::SUCCESS),
            Outcome::Failed => Err(Failure::Server(format!("{tool} failed: {}", shown.text.trim_end()))),
        }
    })
}

/// The arguments as the tool wants them, by what the server's list says of it.
async fn fitting(endpoint: &Endpoint, tool: &str, given: &Given) -> Result<RawJson, Failure> {
    let listing = Listing::ask(endpoint).await?;
    complain(&listing.problems);
    match listing.find(tool) {
        Some(tool) => Ok(given.fit(tool)?),
        None => Err(unknown(tool, &listing)),
    }
}

async fn called(endpoint: &Endpoint, tool: &str, arguments: &RawJson) -> Result<RawJson, Failure> {
    let mut progress = Progress::new();
    let name = RawJson::string(tool);
    let mut params = b"{\"name\":".to_vec();
    params.extend_from_slice(name.as_bytes());
    params.extend_from_slice(b",\"arguments\":");
    params.extend_from_slice(arguments.as_bytes());
    if progress.is_wanted() {
        params.extend_from_slice(b",\"_meta\":{\"progressToken\":1}");
    }
    params.push(b'}');
    let params = RawJson::parse(params).map_err(|error| AskError::Request(error.to_string()))?;
    Ok(endpoint.ask("tools/call", &params, &mut |message| progress.hear(message)).await?)
}

fn unknown(tool: &str, listing: &Listing) -> Failure {
    let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    let guess = did_you_mean(tool, names.iter().copied());
    let hint = match (names.is_empty(), guess.is_empty()) {
        (true, _) => "; it has none at all".to_owned(),
        (false, true) => {
            let more = if names.len() > MOST_NAMED { ", … (`kennel tools` lists all)" } else { "" };
            format!("; it has {}{more}", names.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", "))
        }
        (false, false) => guess,
    };
    Failure::Argument(format!("the server has no tool `{tool}`{}", one_line(&hint)))
}

fn says_error(result: &RawJson) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CallResult {
        #[serde(default)]
        is_error: bool,
    }
    serde_json::from_slice::<CallResult>(result.as_bytes()).is_ok_and(|result| result.is_error)
}
