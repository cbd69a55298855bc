use super::*;
use std::path::Path;

fn config(text: &str) -> Config {
    Config::parse(text.as_bytes(), Path::new("/x/kennel.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn names(list: &[ServerName]) -> Vec<&str> {
    list.iter().map(ServerName::as_str).collect()
}

const OLD: &str = "[servers.same]\ncommand = 'x'\n[servers.gone]\ncommand = 'x'\n[servers.other]\ncommand = 'x'\n\
    [servers.renamed]\ncommand = 'x'\n[servers.off]\ncommand = 'x'\n[servers.on]\ncommand = 'x'\nenabled = false\n";

#[test]
fn only_what_is_different_is_touched() {
    let new = "# moved, and with comments\n[servers.other]\ncommand = 'x'\nargs = ['-v']\n[servers.new]\ncommand = 'x'\n\
        [servers.renamed]\ncommand = 'x'\ntools = { rename = { a = 'b' } }\ntags = ['t']\n\
        [servers.off]\ncommand = 'x'\nenabled = false\n[servers.on]\ncommand = 'x'\n\n[servers.same]\ncommand = \"x\"\n";
    let changes = Changes::between(&config(OLD), &config(new));
    assert_eq!(names(&changes.added), ["new", "on"]);
    assert_eq!(names(&changes.removed), ["gone", "off"]);
    assert_eq!(names(&changes.changed), ["other"]);
    assert_eq!(names(&changes.shown_otherwise), ["renamed"]);
    assert_eq!(names(&changes.same), ["same"]);
    assert!(!changes.views && !changes.gateway && !changes.is_empty());
}

#[test]
fn a_changed_default_changes_those_that_are_silent() {
    let old = "[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'x'\nmodel = 'shared'\n";
    let changes = Changes::between(&config(old), &config(&format!("[defaults]\nmodel = 'per-call'\n{old}")));
    assert_eq!((names(&changes.changed), names(&changes.same)), (vec!["a"], vec!["b"]));
}

#[test]
fn views_and_gateway_are_compared_by_themselves() {
    let changes =
        Changes::between(&config(OLD), &config(&format!("{OLD}[views.v]\n[gateway]\nlisten = '127.0.0.1:1'\n")));
    assert!(changes.views && changes.gateway && changes.changed.is_empty());
    assert!(Changes::between(&config(OLD), &config(OLD)).is_empty());
}
