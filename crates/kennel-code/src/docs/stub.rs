//! Shows tools to those who write Python: as names, as lines with their signatures, or as functions with all that is known.

use super::text::in_docstring;
use super::tool::Tool;
use super::types::quoted;
use kennel_wire::RawJson;
use std::collections::HashSet;
use std::fmt::Write;

/// How many bytes all that is shown has, about; of what does not fit, only names are shown, and of those only so many.
const MOST_BYTES: usize = 48 * 1024;

/// What is shown of each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Its name: `mcp_files.read_file`.
    Names,
    /// A line with its signature and what it does.
    #[default]
    Signatures,
    /// The function with its docstring, and the types that it needs.
    Full,
    /// Its definition as the server has it.
    Schema,
}

impl Detail {
    /// Reads how callers say it.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "names" => Some(Self::Names),
            "signatures" | "summary" => Some(Self::Signatures),
            "full" => Some(Self::Full),
            "schema" => Some(Self::Schema),
            _ => None,
        }
    }
}

/// A tool to be shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The alias of its server.
    pub alias: &'a str,
    /// The tool.
    pub tool: &'a Tool,
    /// Its definition as the server has it.
    pub definition: &'a RawJson,
}

/// Shows tools in their order.
#[must_use]
pub fn stub(shown: &[Shown<'_>], detail: Detail) -> String {
    let mut written = String::new();
    let mut server = None;
    let mut types = HashSet::new();
    for (place, one) in shown.iter().enumerate() {
        let text = match detail {
            Detail::Names => name(one) + "\n",
            Detail::Signatures => line(one),
            Detail::Full => {
                let mut text = String::new();
                if server != Some(one.alias) {
                    let _ = writeln!(text, "# await mcp_{}.NAME(...)", one.alias);
                }
                // Classes that stand there already do not come again.
                let is_new = one.tool.types.is_empty() || types.insert(one.tool.types.as_str());
                text + &if is_new { function(one.tool) } else { body(one.tool) } + "\n"
            }
            Detail::Schema => format!("{} {}\n", name(one), String::from_utf8_lossy(one.definition.as_bytes())),
        };
        if written.len() + text.len() > MOST_BYTES {
            rest(&mut written, shown.get(place..).unwrap_or_default(), detail);
            break;
        }
        server = Some(one.alias);
        written.push_str(&text);
    }
    written.truncate(written.trim_end().len());
    written
}

/// Names what does not fit.
fn rest(written: &mut String, shown: &[Shown<'_>], detail: Detail) {
    let (mark, what) = match detail {
        Detail::Full => ("# ", "too long to be shown at once"),
        _ => ("", "too long to be shown here"),
    };
    for (place, one) in shown.iter().enumerate() {
        let line = format!("{mark}{} ({what})\n", name(one));
        if written.len() + line.len() > MOST_BYTES + MOST_BYTES / 4 {
            let _ = writeln!(written, "{mark}… and {} more", shown.len() - place);
            break;
        }
        written.push_str(&line);
    }
}

/// How a tool is called.
fn name(shown: &Shown<'_>) -> String {
    format!("mcp_{}.{}", shown.alias, shown.tool.python)
}

/// A tool as a line, and the types that it needs below.
fn line(shown: &Shown<'_>) -> String {
    let Tool { signature, summary, short_types, types, .. } = shown.tool;
    // That `None` stands for what is left out need not be said twice.
    let mut line = format!("{}{}", name(shown), signature.replace(" | None = None", " = None"));
    if !summary.is_empty() {
        let _ = write!(line, "  # {summary}");
    }
    line.push('\n');
    for short in short_types.lines() {
        let _ = writeln!(line, "  {short}");
    }
    if short_types.is_empty() && !types.is_empty() {
        line.push_str("  (describe_tools has its types)\n");
    }
    line
}

/// A tool as a function, below the types that it needs.
pub(crate) fn function(tool: &Tool) -> String {
    format!("{}{}", tool.types, body(tool))
}

/// A tool as a function.
fn body(tool: &Tool) -> String {
    let mut written = format!("async def {}{}:", tool.python, tool.signature);
    let mut doc = in_docstring(&tool.doc);
    if tool.name != tool.python {
        // People may know it by that name.
        let known = in_docstring(&format!("(tool {} of the server)", quoted(&tool.shown_name())));
        doc = if doc.is_empty() { known } else { format!("{doc}\n{known}") };
    }
    if doc.is_empty() {
        written.push_str(" ...\n");
        return written;
    }
    let _ = write!(written, "\n    \"\"\"");
    for (place, text) in doc.lines().enumerate() {
        match (place, text.trim_end()) {
            (0, text) => written.push_str(text),
            (_, "") => written.push('\n'),
            (_, text) => {
                let _ = write!(written, "\n    {text}");
            }
        }
    }
    if doc.lines().count() > 1 {
        written.push_str("\n    ");
    } else if written.ends_with('"') {
        written.push(' ');
    }
    written.push_str("\"\"\"\n");
    written
}

#[cfg(test)]
#[path = "stub_tests.rs"]
mod tests;
