//! Owns what a client's file looks like with servers in it, or with Kennel alone, and without.

use super::client::Client;
use super::document::{Document, Language};
use super::edit::{Change, edit};
use super::entry::{Entry, Launch, Origin, Scope, Timeouts, Tools};
use super::error::{ReadError, SayError};
use super::find::read_known;
use super::lists::path_of;
use super::text::{Part, Text};
use super::wrapped::is_program;
use super::write::say;
use std::path::{Path, PathBuf};

/// What the entry is called that points a client at Kennel.
pub const KENNEL_NAME: &str = "kennel";

/// The variable that holds the token for a gateway that asks for one.
pub const TOKEN_VARIABLE: &str = "KENNEL_TOKEN";

/// A file of a client as it is and as it would be.
#[derive(Debug)]
pub struct Export {
    /// The file.
    pub file: PathBuf,
    /// Its text; `None` if it is not there.
    pub before: Option<String>,
    /// Its text with the change.
    pub after: String,
    /// What the client has no words for, as sentences.
    pub notes: Vec<String>,
    /// The servers that the client cannot be told of.
    pub left_out: Vec<SayError>,
}

impl Export {
    /// Whether there is anything to do.
    #[must_use]
    pub fn is_change(&self) -> bool {
        self.before.as_deref() != Some(self.after.as_str())
    }
}

/// Puts servers into a client's file. Servers of the same names are replaced, everything else stays.
pub fn export(client: Client, file: &Path, before: Option<String>, entries: &[Entry]) -> Result<Export, ReadError> {
    let text = before.as_deref().unwrap_or_default();
    let document = Document::parse(file, Language::of(file), text)?;
    let path = path_of(client, file, &document.root);
    // What is there in other words than Kennel's stays as it is. If it cannot be read, it is what is to be replaced.
    let there = read_known(file, client, &Scope::User, text).unwrap_or_default().entries;
    let is_there =
        |entry: &Entry| there.iter().any(|known| known.origin.scope == Scope::User && known.says_the_same(entry));
    let (mut changes, mut notes, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries.iter().filter(|entry| !is_there(entry)) {
        match say(entry, client, path) {
            Ok(said) => {
                changes.extend(said.changes);
                notes.extend(said.notes);
            }
            Err(error) => left_out.push(error),
        }
    }
    let after = edit(file, text, &changes)?;
    Ok(Export { file: file.to_owned(), before, after, notes, left_out })
}

/// Takes a server out of a client's file.
pub fn without(client: Client, file: &Path, before: String, name: &str) -> Result<Export, ReadError> {
    let document = Document::parse(file, Language::of(file), &before)?;
    let path = path_of(client, file, &document.root);
    let after = edit(file, &before, &[Change::Remove { path, name: name.to_owned() }])?;
    Ok(Export { file: file.to_owned(), before: Some(before), after, notes: Vec::new(), left_out: Vec::new() })
}

/// The one entry that points a client at a gateway: its address, or a program for clients that only start programs.
pub fn entry_for_kennel(client: Client, url: &str, program: &Path, token: Option<&str>) -> Entry {
    let launch = if let Some((_, transport)) = client.dialect().urls.first() {
        let headers = token.map(|token| ("Authorization".to_owned(), bearer(client, token)));
        Launch::Http { url: url.into(), headers: headers.into_iter().collect(), transport: *transport }
    } else {
        let mut env = Vec::new();
        env.extend(token.map(|token| (TOKEN_VARIABLE.to_owned(), Text::from(token))));
        let args = ["connect", "--url", url].map(Text::from).into();
        Launch::Stdio { command: program.to_string_lossy().into_owned().into(), args, env, cwd: None }
    };
    Entry {
        name: KENNEL_NAME.to_owned(),
        origin: Origin { client, scope: Scope::User, file: PathBuf::new(), line: 0, key: String::new() },
        launch,
        enabled: true,
        timeouts: Timeouts::default(),
        tools: Tools::default(),
        description: None,
        other: Vec::new(),
    }
}

/// The token by the name of its variable where the client can fill that, and as it is where it cannot.
fn bearer(client: Client, token: &str) -> Text {
    let variable = Part::Variable { name: TOKEN_VARIABLE.to_owned(), default: None };
    let text = Text(vec![Part::Literal("Bearer ".to_owned()), variable]);
    // Codex has no placeholders, but a key of its own for this.
    let is_sayable = client == Client::Codex || text.spelled(client.dialect().spelling).is_ok();
    if is_sayable { text } else { Text::from(format!("Bearer {token}")) }
}

/// Whether an entry leads back to Kennel: it starts a gateway or leads to one, or its address is one of the gateway's.
pub fn is_kennel(entry: &Entry, addresses: &[String]) -> bool {
    match &entry.launch {
        Launch::Stdio { command, args, .. } => {
            let words = [command].into_iter().chain(args).filter_map(Text::literal);
            starts_kennel(&words.collect::<Vec<_>>(), addresses)
        }
        Launch::Http { url, .. } => url.literal().is_some_and(|url| leads_to(url, addresses)),
    }
}

/// Whether a command starts Kennel, or is given the gateway's address.
pub(crate) fn starts_kennel(words: &[&str], addresses: &[String]) -> bool {
    // What `kennel run` starts is somebody's server.
    let verbs = ["serve", "connect", "code"];
    // Also behind another program, such as `env` or a bridge.
    let starts = words.windows(2).any(|pair| is_program(pair[0]) && verbs.contains(&pair[1]));
    starts || words.iter().any(|word| leads_to(word, addresses))
}

/// Whether an address is on one of these hosts and ports, by any name of this machine.
pub(crate) fn leads_to(url: &str, addresses: &[String]) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let plain = |host: &str| {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        let is_local = matches!(name, "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0" | "[::]");
        format!("{}:{port}", if is_local { "this machine" } else { name })
    };
    addresses.iter().any(|address| plain(address) == plain(host))
}
