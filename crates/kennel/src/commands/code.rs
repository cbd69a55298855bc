//! `kennel code`: code mode over all servers of a file, for one client on standard input and output.

use crate::cli::Code;
use crate::commands::console::{Console, Format, Naming, Output};
use crate::commands::serve::{Fleet, config_file, data_of};
use crate::commands::server::{Ground, Memory, data_directory};
use crate::commands::service::{Hangup, runtime, stop_signals};
use crate::failure::Failure;
use crate::screen;
use kennel_config::Config;
use kennel_gateway::{Address, Directory, Limits, serve_stdio};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

/// Serves until the client is gone or it is told to stop.
pub(crate) fn run(flags: &Code) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let code = runtime.block_on(serve(flags));
    // Reading standard input cannot be interrupted; nobody waits for it any more.
    runtime.shutdown_background();
    code
}

async fn serve(flags: &Code) -> Result<ExitCode, Failure> {
    let stop = stop_signals(Hangup::Stops)?;
    let file = config_file(flags.config.as_deref())?;
    let config = Config::read_all(&file).map_err(|error| Failure::Argument(error.to_string()))?;
    let data = data_directory(flags.data.as_deref().or(data_of(&config)?.as_deref()))?;
    let format = if flags.json { Format::Json } else { Format::People };
    let output = Arc::new(Output::new(format, Naming::Each));
    let console = Console::of_kennel(&output);
    for warning in &config.warnings {
        console.say("warning", &warning.to_string(), json!({}));
    }
    let ground = Ground::new(output, data, Memory::Kept).audited(config.gateway.audit).using(&file, None);
    let fleet = Fleet::new(ground, file, String::new());
    fleet.adopt(config);
    let Some(endpoint) = fleet.endpoint(Address::Server(super::coding::NAME)) else {
        fleet.shutdown().await;
        let text = "there is no code mode: the file says `code.enabled = false`, or has a server called `code`";
        return Err(Failure::Argument(text.to_owned()));
    };
    serve_stdio(endpoint, tokio::io::stdin(), screen::protocol(), &Limits::default(), &stop).await;
    fleet.shutdown().await;
    Ok(ExitCode::SUCCESS)
}
