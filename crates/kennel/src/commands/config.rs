//! `kennel config`: whether a file makes sense, where it is, and what may be in it.

use crate::cli::ConfigCommand;
use crate::commands::serve::config_file;
use crate::failure::Failure;
use crate::screen::{complain, print, print_data, print_json};
use kennel_config::{Config, Launch};
use std::process::ExitCode;

/// Does what is asked.
pub(crate) fn run(command: &ConfigCommand) -> Result<ExitCode, Failure> {
    match command {
        ConfigCommand::Schema => print_json(&kennel_config::schema()),
        ConfigCommand::Path => {
            print_data(&format!("{}\n", config_file(None)?.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Check { config } => {
            let file = config_file(config.as_deref())?;
            let config = Config::read(&file).map_err(|error| Failure::Server(error.to_string()))?;
            complain(&config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
            let elsewhere = |launch: &Launch| matches!(launch, Launch::Upstream(_));
            let enabled = config.enabled().count();
            let upstream = config.enabled().filter(|(_, server)| elsewhere(&server.launch)).count();
            print(&format!(
                "{} makes sense: {} servers, {enabled} enabled, {upstream} of them elsewhere; {} views\n",
                file.display(),
                config.servers.len(),
                config.views.len()
            ))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
