//! Writes the objects that tools take and return as `TypedDict` classes.

use super::names::is_name;
use super::types::{Field, Presence, Record, quoted};
use std::fmt::Write;

/// The classes, those first that others are made of, with an empty line after each.
pub(crate) fn classes(records: &[Record]) -> String {
    let mut written = String::new();
    for record in records.iter().rev() {
        if let Some(others) = &record.others {
            let _ = writeln!(written, "# {} may have other members: {}", record.name, others.write(records));
        }
        if record.fields.iter().all(|field| is_name(&field.name)) {
            let _ = writeln!(written, "class {}(TypedDict):", record.name);
            if record.fields.is_empty() {
                written.push_str("    pass\n");
            }
            for field in &record.fields {
                let _ = writeln!(written, "    {}: {}{}", field.name, kind(field, records), comment(field));
            }
        } else {
            // A class cannot have members like `from` or `x-y`.
            let name = &record.name;
            let _ = writeln!(written, "{name} = TypedDict(\"{name}\", {{");
            for field in &record.fields {
                let _ = writeln!(written, "    {}: {},{}", quoted(&field.name), kind(field, records), comment(field));
            }
            written.push_str("})\n");
        }
        written.push('\n');
    }
    written
}

/// The same, each on one line for people: `Edit = {oldText: str, dryRun?: bool}`.
pub(crate) fn short(records: &[Record]) -> String {
    let mut lines = Vec::new();
    for Record { name, fields, others } in records.iter().rev() {
        let field = |field: &Field| {
            let mark = if field.presence == Presence::Required { "" } else { "?" };
            let name = if is_name(&field.name) { field.name.clone() } else { quoted(&field.name) };
            format!("{name}{mark}: {}", field.kind.write(records))
        };
        let mut members: Vec<String> = fields.iter().map(field).collect();
        members.extend(others.iter().map(|others| format!("...: {}", others.write(records))));
        lines.push(format!("{name} = {{{}}}", members.join(", ")));
    }
    lines.join("\n")
}

fn kind(field: &Field, records: &[Record]) -> String {
    let kind = field.kind.write(records);
    if field.presence == Presence::Required { kind } else { format!("NotRequired[{kind}]") }
}

fn comment(field: &Field) -> String {
    let mut comment = String::new();
    if !field.note.is_empty() {
        let _ = write!(comment, "  # {}", field.note);
    }
    if let Presence::Default(value) = &field.presence {
        let _ = write!(comment, "{} default {value}", if comment.is_empty() { "  #" } else { ";" });
    }
    comment
}
