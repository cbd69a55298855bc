use super::*;
use std::path::Path;

const BASE: &str = r#"
[servers.notes]
command = "notes"
args = ["--all"]
env = { TOKEN = { from-env = "TOKEN" }, OTHER = "x" }
box = { read = ["/srv/a", "/srv/b"], write = ["/srv/c"], memory = "512M", network = "on", accept-missing = ["cpu"] }
tools = { deny = ["delete"] }

[servers.host]
command = "/opt/tool"
box = { engine = "host" }

[servers.away]
url = "https://example.com/mcp"

[views.all]
servers = ["notes"]
"#;

fn config(text: &str) -> Config {
    Config::parse(text.as_bytes(), Path::new("/etc/kennel.toml")).unwrap()
}

#[track_caller]
fn widened(from: &str, to: &str) -> Vec<String> {
    assert!(BASE.contains(from), "{from}");
    let widenings = Widening::between(&config(BASE), &config(&BASE.replacen(from, to, 1)));
    widenings.iter().map(ToString::to_string).collect()
}

#[test]
fn what_takes_away_is_no_widening() {
    assert_eq!(Widening::between(&config(BASE), &config(BASE)), []);
    for (from, to) in [
        ("\"/srv/a\", ", ""),
        ("write = [\"/srv/c\"]", "write = []"),
        ("read = [\"/srv/a\", \"/srv/b\"], write = [\"/srv/c\"]", "read = [\"/srv/a\", \"/srv/c\"], write = []"),
        (", OTHER = \"x\"", ""),
        ("memory = \"512M\"", "memory = \"128M\""),
        ("network = \"on\"", "network = \"off\""),
        ("accept-missing = [\"cpu\"]", "accept-missing = []"),
        ("network = \"on\"", "network = \"on\", infer = false"),
        ("deny = [\"delete\"]", "deny = [\"delete\", \"write\"]"),
        ("engine = \"host\"", "engine = \"native\""),
        ("command = \"notes\"", "command = \"notes\"\nenabled = false"),
        ("[servers.away]\nurl = \"https://example.com/mcp\"", ""),
        ("[views.all]\nservers = [\"notes\"]", "[code]\nenabled = false"),
    ] {
        assert_eq!(widened(from, to), [] as [String; 0], "{to}");
    }
}

#[test]
fn whatever_lets_a_server_do_more_is_named() {
    for (from, to, word) in [
        (
            "[views.all]",
            "[servers.evil]\ncommand = \"x\"\nbox = { engine = \"host\" }\n[views.all]",
            "evil: is new, and runs without",
        ),
        ("[views.all]", "[servers.evil]\nurl = \"https://evil.example\"\n[views.all]", "evil: is new"),
        ("read = [", "engine = \"host\", read = [", "notes: runs without a box"),
        ("\"/srv/a\"", "\"/srv/z\"", "notes: may read `/srv/z`"),
        ("write = [\"/srv/c\"", "write = [\"/srv/c\", \"/srv/b\"", "notes: may write `/srv/b`"),
        ("network = \"on\"", "profile = \"default\"", "notes: has the profile"),
        ("network = \"on\", ", "", "notes: has another network"),
        ("memory = \"512M\"", "memory = \"1G\"", "notes: may use more memory"),
        ("memory = \"512M\", ", "", "notes: may use more memory"),
        ("\"cpu\"", "\"cpu\", \"namespaces\"", "notes: accepts a missing wall"),
        ("OTHER = \"x\"", "OTHER = { from-command = [\"sh\"] }", "variable `OTHER`"),
        ("OTHER = \"x\"", "OTHER = \"x\", MORE = \"y\"", "variable `MORE`"),
        ("from-env = \"TOKEN\"", "from-env = \"HOME\"", "variable `TOKEN`"),
        ("\"--all\"", "\"/home\"", "notes: runs another command"),
        ("command = \"/opt/tool\"", "command = \"/tmp/tool\"", "host: runs another command"),
        ("command = \"notes\"", "command = \"notes\"\ncwd = \"/x\"", "notes: starts in another directory"),
        ("command = \"notes\"", "command = \"notes\"\nrefresh = true", "notes: takes up newer"),
        ("command = \"notes\"", "command = \"notes\"\nmodel = \"shared\"", "notes: has other settings"),
        ("deny = [\"delete\"]", "deny = []", "notes: shows other tools"),
        ("deny = [\"delete\"]", "deny = [\"delete\"], rename = { a = \"b\" }", "notes: shows other tools"),
        ("example.com/mcp", "example.net/mcp", "away: is reached in another way"),
        ("servers = [\"notes\"]", "servers = [\"host\"]", "the view `all`"),
        (
            "[views.all]",
            "[defaults]\nbox = { infer = true, write = [\"/srv/w\"] }\n[views.all]",
            "host: may write `/srv/w`",
        ),
        ("[views.all]", "[code]\nread = [\"/srv\"]\n[views.all]", "code mode runs with other settings"),
    ] {
        let found = widened(from, to);
        assert!(found.iter().any(|what| what.contains(word)), "{to}: {found:?}");
        assert!(found.iter().all(|what| !what.contains("\"y\"")), "no values: {found:?}");
    }
}

#[test]
fn what_runs_without_a_box_is_known() {
    let words =
        config(&BASE.replace("OTHER = \"x\"", "OTHER = { from-command = [\"./secret.sh\", \"a\"] }")).unboxed_words();
    for word in ["/opt/tool", "./secret.sh"] {
        assert!(words.iter().any(|known| known == word), "{words:?}");
    }
    assert!(!words.iter().any(|known| known == "notes"));
}
