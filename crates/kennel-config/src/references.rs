//! Owns the checks that need more than one key: that a server can be reached, and that views name what there is.

use crate::code::CodeSettings;
use crate::fields::Fields;
use crate::keys::SERVER;
use crate::nearest::did_you_mean;
use crate::problem::{Report, join};
use crate::tree::{Content, Entry, Node};

/// Keys that make sense only for a server that Kennel starts, and those only for one that runs elsewhere.
const FOR_PROCESS: [&str; 5] = ["args", "env", "cwd", "box", "refresh"];
const FOR_UPSTREAM: [&str; 2] = ["headers", "transport"];

/// Checks a file whose keys are all known.
pub(crate) fn check(root: &Node, report: &mut Report<'_>) {
    let section = |name: &str| root.entry(name);
    let servers = section("servers").map(|entry| entry.value.entries()).unwrap_or_default();
    for entry in servers {
        let written = section("servers").map(|section| section.written.as_str()).unwrap_or_default();
        server(entry, &join(written, &entry.written), report);
    }
    let tags: Vec<&str> = [section("defaults")]
        .into_iter()
        .flatten()
        .chain(servers)
        .filter_map(|entry| entry.value.get("tags"))
        .flat_map(Node::items)
        .filter_map(Node::text)
        .collect();
    if let Some(code) = section("code") {
        timeouts(code, report);
    }
    let Some(views) = section("views") else { return };
    for entry in views.value.entries() {
        view(entry, &join(&views.written, &entry.written), servers, &tags, report);
    }
}

/// A time that nobody may ask for cannot be what counts where nobody asks.
fn timeouts(code: &Entry, report: &mut Report<'_>) {
    let settings = CodeSettings::read(Fields::of(Some(&code.value)));
    if settings.timeout <= settings.max_timeout {
        return;
    }
    let Some(key) = code.value.entry("timeout").or_else(|| code.value.entry("max-timeout")) else { return };
    let said = format!(
        "`timeout` is {:?}, which is more than the {:?} of `max-timeout`",
        settings.timeout, settings.max_timeout
    );
    report.problem(key.at, &join(&code.written, &key.written), said, Some("make them the same".to_owned()));
}

fn server(entry: &Entry, path: &str, report: &mut Report<'_>) {
    // Where a key is misspelled it is probably the one that would be missed, and that was said.
    let is_known = |entry: &Entry| SERVER.iter().any(|key| key.name == entry.key);
    if !matches!(entry.value.content, Content::Table(_)) || !entry.value.entries().iter().all(is_known) {
        return;
    }
    let has = |key: &str| entry.value.entry(key);
    let (unfit, instead) = match (has("command"), has("url")) {
        (Some(_), Some(url)) => {
            let said = "a server has either a `command` or a `url`";
            return report.problem(url.at, &join(path, &url.written), said, Some("remove one of them".to_owned()));
        }
        (None, None) => {
            let suggestion =
                "say `command` for a server that Kennel starts, or `url` for one that runs elsewhere".to_owned();
            return report.problem(entry.at, path, "has no `command`", Some(suggestion));
        }
        (Some(command), None) => {
            looks_like_a_line(&command.value, has("args").is_some(), &join(path, &command.written), report);
            (FOR_UPSTREAM.as_slice(), "url")
        }
        (None, Some(url)) => {
            check_url(&url.value, &join(path, &url.written), report);
            (FOR_PROCESS.as_slice(), "command")
        }
    };
    for key in unfit.iter().filter_map(|key| has(key)) {
        let said = format!("is only for a server with a `{instead}`, and this one has none");
        report.problem(key.at, &join(path, &key.written), said, Some("remove it".to_owned()));
    }
}

/// A whole command line in `command` is the commonest mistake of all.
fn looks_like_a_line(command: &Node, has_args: bool, path: &str, report: &mut Report<'_>) {
    let text = command.text().unwrap_or_default();
    if text.trim().is_empty() && command.text().is_some() {
        return report.problem(command.at, path, "there is nothing in it", None);
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    if !has_args && first.len() < text.trim().len() && !first.contains('/') && !first.contains("${") {
        let suggestion = "put the words after the first one into `args`, each by itself".to_owned();
        report.warning(command.at, path, "is the name of one program, spaces included", Some(suggestion));
    }
}

fn check_url(url: &Node, path: &str, report: &mut Report<'_>) {
    let Some(text) = url.text() else { return };
    let is_http = ["http://", "https://"].iter().any(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && text.len() > scheme.len()
    });
    if !is_http && !text.starts_with("${") {
        report.problem(url.at, path, "must begin with `http://` or `https://`", None);
    }
}

fn view(entry: &Entry, path: &str, servers: &[Entry], tags: &[&str], report: &mut Report<'_>) {
    let names: Vec<&str> = servers.iter().map(|server| server.key.as_str()).collect();
    for (item, path, name) in unknown(entry, "servers", path, &names) {
        let suggestion = did_you_mean(name, names.iter().copied());
        report.problem(item.at, &path, format!("no server is called `{name}`"), suggestion);
    }
    for (item, path, tag) in unknown(entry, "tags", path, tags) {
        let suggestion = did_you_mean(tag, tags.iter().copied());
        report.warning(item.at, &path, format!("no server has the tag `{tag}`"), suggestion);
    }
}

/// The members of a list of a view that are not known, with their paths.
fn unknown<'a>(view: &'a Entry, key: &str, path: &str, known: &[&str]) -> Vec<(&'a Node, String, &'a str)> {
    let Some(list) = view.value.entry(key) else { return Vec::new() };
    let path = join(path, &list.written);
    let items = list.value.items().iter().enumerate();
    let items = items.filter_map(|(number, item)| Some((item, format!("{path}[{number}]"), item.text()?)));
    items.filter(|(_, _, name)| !known.contains(name)).collect()
}
