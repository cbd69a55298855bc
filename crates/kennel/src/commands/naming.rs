//! What a server is called if nobody says: after the package or program that its command runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Words of a command that run something else.
const RUNNERS: [&str; 13] =
    ["npx", "npm", "exec", "uvx", "pipx", "run", "uv", "tool", "python", "python3", "node", "bun", "deno"];
/// Names of files and directories that say nothing about what is in them.
const BLAND: [&str; 12] =
    ["index", "main", "server", "app", "cli", "__main__", "dist", "src", "build", "bin", "lib", "stdio"];

/// A name of letters, digits, `-` and `_`.
pub(crate) fn name_of(command: &[OsString]) -> String {
    let is_telling = |word: &&OsString| {
        let stem = Path::new(word).file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        !word.to_string_lossy().starts_with('-') && !RUNNERS.contains(&&*stem)
    };
    let word = command.iter().find(is_telling).or(command.first());
    let word = word.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if word.starts_with('@') || !word.contains('/') { of_package(&word) } else { of_path(Path::new(&word)) };
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// `@scope/name@1.2`, `name==1.2`, `name[extra]`, or a file such as `server.py`.
fn of_package(word: &str) -> String {
    let name = word.strip_prefix('@').map_or(word, |scoped| scoped.split_once('/').map_or(scoped, |(_, name)| name));
    let name = name.split(['@', '=', '[', '<', '>', '~', '!']).next().unwrap_or(name);
    name.strip_suffix(".py").or_else(|| name.strip_suffix(".js")).unwrap_or(name).to_owned()
}

/// The last part of a path that says something.
fn of_path(path: &Path) -> String {
    let parts = path.ancestors().filter_map(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let telling = parts.clone().find(|part| !BLAND.contains(&part.as_str()));
    telling.or_else(|| parts.clone().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_after_what_it_is() {
        let cases = [
            ("npx -y @modelcontextprotocol/server-everything@2026.1.14", "server-everything"),
            ("npm exec -- @scope/thing", "thing"),
            ("uvx mcp-server-time==1.0 --local-timezone UTC", "mcp-server-time"),
            ("uvx mcp-server-git[extra]", "mcp-server-git"),
            ("python3 server.py", "server"),
            ("python3 /home/me/weather/src/server.py", "weather"),
            ("node /x/node_modules/@modelcontextprotocol/server-memory/dist/index.js", "server-memory"),
            ("/usr/bin/my.server", "my"),
            ("./fixture", "fixture"),
            ("node", "node"),
            ("./bin/main", "main"),
            ("", "server"),
        ];
        for (command, name) in cases {
            let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
            assert_eq!(name_of(&words), name, "{command}");
        }
    }
}
