//! Owns the tool that shows by a locked file of `--state-dir` how long it runs, so that a test sees its end whichever
//! process it was called in.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::Tool;
use crate::calls::{Call, Outcome};
use crate::content;

const MARK: &str = r#"{"type":"object","properties":{"mark":{"type":"string"}},"required":["mark"]}"#;

/// Longer than any test waits.
const LONG: Duration = Duration::from_mins(10);

pub(super) const TOOLS: &[Tool] =
    &[Tool::new("hold", "Runs until it is cancelled, and holds the lock of the file `mark` meanwhile", MARK, hold)];

fn hold(call: &Call) -> Outcome {
    let Some(directory) = &call.server.options.state_dir else {
        return Ok(content::tool_error("hold needs the option --state-dir"));
    };
    // The lock goes with the call, and if the process goes before, with that.
    match locked(directory, call.arguments.text("mark")?) {
        Ok(_locked) => call.wait(LONG).map(|()| content::text("held")),
        Err(error) => Ok(content::tool_error(format!("hold cannot write into {}: {error}", directory.display()))),
    }
}

/// A file that is locked before anybody sees it under its name.
fn locked(directory: &Path, mark: &str) -> io::Result<File> {
    let unseen = directory.join(format!("{mark}.unseen"));
    let file = File::create(&unseen)?;
    file.lock()?;
    fs::rename(&unseen, directory.join(mark))?;
    Ok(file)
}
