//! What to type or paste to point a client at an endpoint.

use serde_json::json;
use std::fmt::Write;

/// The ways to add a server to the common clients, as lines for people.
pub(crate) fn text(name: &str, url: &str, token: Option<&str>) -> String {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers = bearer.as_ref().map(|bearer| json!({ "Authorization": bearer }));
    let with_headers = |mut entry: serde_json::Value| {
        if let (Some(headers), Some(members)) = (&headers, entry.as_object_mut()) {
            members.insert("headers".to_owned(), headers.clone());
        }
        entry
    };
    let claude_header =
        bearer.as_ref().map_or_else(String::new, |bearer| format!(" --header \"Authorization: {bearer}\""));
    let cursor = json!({ "mcpServers": { name: with_headers(json!({ "url": url })) } });
    let code = with_headers(json!({ "name": name, "type": "http", "url": url }));
    let codex_key = if token.is_some() { "\nbearer_token_env_var = \"KENNEL_TOKEN\"" } else { "" };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "  Claude Code  claude mcp add --transport http {name} {url}{claude_header}\n\
         \x20 VS Code      code --add-mcp '{code}'\n\
         \x20 Cursor       in ~/.cursor/mcp.json: {cursor}\n\
         \x20 Codex        in ~/.codex/config.toml:\n{}",
        indented(&format!("[mcp_servers.{name}]\nurl = \"{url}\"{codex_key}")),
    );
    text
}

fn indented(lines: &str) -> String {
    lines.lines().flat_map(|line| ["                 ", line, "\n"]).collect()
}
