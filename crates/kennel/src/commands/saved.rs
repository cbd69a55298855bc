//! `kennel saved`: the tools that code has saved, to be looked at and removed.

use crate::cli::SavedCommand;
use crate::commands::server::data_directory;
use crate::commands::table::table;
use crate::failure::Failure;
use crate::screen::{print, print_data, print_json};
use kennel_state::{Limits, SavedTool, StateError, Store};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

/// How long the state is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does what is wanted.
pub(crate) fn run(command: &SavedCommand) -> Result<ExitCode, Failure> {
    match command {
        SavedCommand::List { json, place } => {
            let tools = tools(&open(place.data.as_deref())?, &place.owner)?;
            if *json {
                return print_json(&tools.iter().map(shown).collect::<Vec<_>>());
            }
            if tools.is_empty() {
                print("no tool is saved; code saves one with `await mcp.runtime.save_tool(func)`\n")?;
                return Ok(ExitCode::SUCCESS);
            }
            let rows: Vec<_> = tools.iter().map(row).collect();
            print(&table(["NAME", "BYTES", "DESCRIPTION"], &rows))?;
            Ok(ExitCode::SUCCESS)
        }
        SavedCommand::Show { name, json, place } => {
            let tools = tools(&open(place.data.as_deref())?, &place.owner)?;
            let Some(tool) = tools.iter().find(|tool| tool.name == *name) else { return Err(unknown(name)) };
            if *json {
                return print_json(&shown(tool));
            }
            print_data(&format!("{}\n", tool.source.trim_end()))?;
            Ok(ExitCode::SUCCESS)
        }
        SavedCommand::Remove { name, place } => {
            let removed = open(place.data.as_deref())?.remove_tool(&place.owner, name).wait(PATIENCE);
            if !removed.map_err(|error| failed(&error))? {
                return Err(unknown(name));
            }
            print(&format!("{name} is removed; notebooks that run keep what they have of it\n"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn open(data: Option<&Path>) -> Result<Store, Failure> {
    let file = data_directory(data)?.join("state/kennel.db");
    Ok(Store::open(file, Limits::default(), |_| {}))
}

fn tools(store: &Store, owner: &str) -> Result<Vec<SavedTool>, Failure> {
    store.saved_tools(Some(owner)).wait(PATIENCE).map_err(|error| failed(&error))
}

fn row(tool: &SavedTool) -> [String; 3] {
    let line = tool.description.lines().next().unwrap_or_default();
    [tool.name.clone(), tool.source.len().to_string(), line.to_owned()]
}

fn shown(tool: &SavedTool) -> Value {
    let saved = tool.saved.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({ "name": tool.name, "owner": tool.owner, "description": tool.description, "source": tool.source, "saved": saved })
}

fn unknown(name: &str) -> Failure {
    Failure::Argument(format!("no tool `{name}` is saved; `kennel saved list` lists those there are"))
}

fn failed(error: &StateError) -> Failure {
    Failure::Argument(error.to_string())
}
