//! `kennel saved`: the tools that code has saved, to be looked at and removed.

use crate::cli::{SavedCommand, SavedPlace};
use crate::commands::server::data_directory;
use crate::commands::table::table;
use crate::failure::Failure;
use crate::screen::{print, print_data, print_json};
use kennel_state::{Limits, SavedTool, StateError, Store};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

/// What stands for the code of all servers, which is in no view. No view can be called so.
const NO_VIEW: &str = "-";
/// How long the state is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does what is wanted.
pub(crate) fn run(command: &SavedCommand) -> Result<ExitCode, Failure> {
    match command {
        SavedCommand::List { json, place } => {
            let tools = tools(&open(place.data.as_deref())?, place)?;
            if *json {
                return print_json(&tools.iter().map(shown).collect::<Vec<_>>());
            }
            if tools.is_empty() {
                print("no tool is saved; code saves one with `await mcp.runtime.save_tool(func)`\n")?;
                return Ok(ExitCode::SUCCESS);
            }
            let rows: Vec<_> = tools.iter().map(row).collect();
            print(&table(["NAME", "VIEW", "BYTES", "DESCRIPTION"], &rows))?;
            Ok(ExitCode::SUCCESS)
        }
        SavedCommand::Show { name, json, place } => {
            let tool = one(&open(place.data.as_deref())?, place, name)?;
            if *json {
                return print_json(&shown(&tool));
            }
            print_data(&format!("{}\n", tool.source.trim_end()))?;
            Ok(ExitCode::SUCCESS)
        }
        SavedCommand::Remove { name, place } => {
            let store = open(place.data.as_deref())?;
            let tool = one(&store, place, name)?;
            let removed = store.remove_tool(&tool.owner, &tool.view, name).wait(PATIENCE);
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

fn tools(store: &Store, place: &SavedPlace) -> Result<Vec<SavedTool>, Failure> {
    let view = place.view.as_deref().map(|view| if view == NO_VIEW { "" } else { view });
    store.saved_tools(&place.owner, view).wait(PATIENCE).map_err(|error| failed(&error))
}

/// The one of that name, where no other view has one of the same or the view is named.
fn one(store: &Store, place: &SavedPlace, name: &str) -> Result<SavedTool, Failure> {
    let mut tools = tools(store, place)?;
    tools.retain(|tool| tool.name == name);
    if tools.len() > 1 {
        let views: Vec<&str> = tools.iter().map(view).collect();
        let text = format!("a tool `{name}` is saved in several views; name one with --view: {}", views.join(", "));
        return Err(Failure::Argument(text));
    }
    tools.pop().ok_or_else(|| unknown(name))
}

fn view(tool: &SavedTool) -> &str {
    if tool.view.is_empty() { NO_VIEW } else { &tool.view }
}

fn row(tool: &SavedTool) -> [String; 4] {
    let line = tool.description.lines().next().unwrap_or_default();
    [tool.name.clone(), view(tool).to_owned(), tool.source.len().to_string(), line.to_owned()]
}

fn shown(tool: &SavedTool) -> Value {
    let saved = tool.saved.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let view = Some(&tool.view).filter(|view| !view.is_empty());
    json!({
        "name": tool.name,
        "owner": tool.owner,
        "view": view,
        "description": tool.description,
        "source": tool.source,
        "saved": saved,
    })
}

fn unknown(name: &str) -> Failure {
    Failure::Argument(format!("no tool `{name}` is saved; `kennel saved list` lists those there are"))
}

fn failed(error: &StateError) -> Failure {
    Failure::Argument(error.to_string())
}
