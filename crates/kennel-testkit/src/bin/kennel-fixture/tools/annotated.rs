//! Owns the tools that differ only in their annotations: each counts its calls in a file of `--state-dir` and ends the
//! process at its first, so that a caller that tries again is found out.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process;

use super::{NO_ARGUMENTS, TaskSupport, Tool};
use crate::calls::{Call, Outcome};
use crate::content;

/// The exit code of a first call.
const FIRST_CALL: i32 = 71;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "annotated_read_only",
        description: "Says that it only reads; ends the process at its first call",
        schema: NO_ARGUMENTS,
        output: None,
        annotations: Some(r#"{"readOnlyHint":true}"#),
        run: |call| counted(call, "annotated_read_only"),
        task: TaskSupport::Never,
    },
    Tool {
        name: "annotated_idempotent",
        description: "Says that calling it twice is as calling it once; ends the process at its first call",
        schema: NO_ARGUMENTS,
        output: None,
        annotations: Some(r#"{"readOnlyHint":false,"idempotentHint":true}"#),
        run: |call| counted(call, "annotated_idempotent"),
        task: TaskSupport::Never,
    },
    Tool {
        name: "annotated_plain",
        description: "Says nothing of itself; ends the process at its first call",
        schema: NO_ARGUMENTS,
        output: None,
        annotations: None,
        run: |call| counted(call, "annotated_plain"),
        task: TaskSupport::Never,
    },
];

fn counted(call: &Call, name: &str) -> Outcome {
    let Some(directory) = &call.server.options.state_dir else {
        return Ok(content::tool_error(format!("{name} needs the option --state-dir")));
    };
    match count(&directory.join(name)) {
        Ok(1) => process::exit(FIRST_CALL),
        Ok(number) => Ok(content::text(format!("call {number}"))),
        Err(error) => Ok(content::tool_error(format!("{name} cannot count in {}: {error}", directory.display()))),
    }
}

/// Adds a byte to the file: its length is the number of calls, also if the process is killed.
fn count(file: &Path) -> io::Result<u64> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(b".")?;
    Ok(file.metadata()?.len())
}
