//! Owns the tools that touch files.

use std::fs;

use super::Tool;
use crate::content;

const READ: &str = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
const WRITE: &str =
    r#"{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path"]}"#;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("read_file", "Returns the text of a file", READ, |call| {
        let path = call.arguments.text("path")?;
        Ok(match fs::read(path) {
            Ok(bytes) => content::text(String::from_utf8_lossy(&bytes)),
            Err(error) => content::tool_error(format!("{path} cannot be read: {error}")),
        })
    }),
    Tool::new("write_file", "Writes `text` into a file", WRITE, |call| {
        let (path, text) = (call.arguments.text("path")?, call.arguments.text_or("text", "written by kennel-fixture")?);
        Ok(match fs::write(path, text) {
            Ok(()) => content::text(format!("wrote {} bytes", text.len())),
            Err(error) => content::tool_error(format!("{path} cannot be written: {error}")),
        })
    }),
];
