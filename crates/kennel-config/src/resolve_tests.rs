use super::*;
use crate::{Config, SecretFile};
use kennel_box::AccessMode;
use std::path::PathBuf;

/// Sources that know a few things.
#[derive(Default)]
struct Known {
    readable_by_all: bool,
}

impl Sources for Known {
    fn variable(&self, name: &str) -> Result<Option<String>, SourceError> {
        let known = [("HOME", "/home/me"), ("TOKEN", "hunter2"), ("EMPTY", ""), ("LINES", "a\nb")];
        Ok(known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    fn file(&self, path: &Path) -> Result<SecretFile, SourceError> {
        let secret = Secret::new(format!("file {}", path.display()));
        Ok(SecretFile { secret, readable_by_all: self.readable_by_all })
    }

    fn command(&self, words: &[String], directory: &Path) -> Result<Secret, SourceError> {
        Ok(Secret::new(format!("{} in {}", words.join(" "), directory.display())))
    }

    fn keyring(&self, service: &str, account: &str) -> Result<Secret, SourceError> {
        Ok(Secret::new(format!("{account} of {service}")))
    }
}

fn resolve(text: &str) -> Result<Resolved, ResolveError> {
    let file = Path::new("/etc/kennel/kennel.toml");
    let text = format!("[servers.a]\n{text}");
    let config = Config::parse(text.as_bytes(), file).unwrap_or_else(|error| panic!("{error}"));
    let (name, server) = config.servers.first_key_value().expect("there is a server");
    server.resolve(name, &config.directory, &Known::default())
}

fn process(text: &str) -> ResolvedProcess {
    match resolve(text).unwrap_or_else(|error| panic!("{error}")).launch {
        ResolvedLaunch::Process(process) => *process,
        ResolvedLaunch::Upstream(_) => panic!("no process"),
    }
}

fn failure(text: &str) -> String {
    resolve(text).expect_err("there is something wrong").to_string()
}

#[test]
fn variables_are_replaced_everywhere() {
    let found = process(
        "command = '${HOME}/bin/x'\nargs = ['--token=${TOKEN}', '$${TOKEN}', '${NONE:-d}', '${EMPTY:-d}', '${EMPTY}']\n",
    );
    assert_eq!(found.command, ["/home/me/bin/x", "--token=hunter2", "${TOKEN}", "d", "d", ""]);
}

#[test]
fn values_come_from_where_they_are_kept() {
    let found = process(
        "command = 'x'\n[servers.a.env]\nA = 'a-${TOKEN}'\nB = { from-env = 'TOKEN' }\nC = { from-file = 'secrets/c' }\n\
         D = { from-file = '~/d' }\nE = { from-command = ['pass', 'e'] }\nF = { from-keyring = 'https://api.example.com/me' }\n\
         G = 8080\nH = true\nI = { from-env = 'TOKEN', prefix = 'Bearer ' }\n",
    );
    let expected = [
        ("A", "a-hunter2"),
        ("B", "hunter2"),
        ("C", "file /etc/kennel/secrets/c"),
        ("D", "file /home/me/d"),
        ("E", "pass e in /etc/kennel"),
        ("F", "me of https://api.example.com"),
        ("G", "8080"),
        ("H", "true"),
        ("I", "Bearer hunter2"),
    ];
    assert_eq!(found.spec.env, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
}

#[test]
fn paths_start_from_the_file_or_from_home() {
    let found = process(
        "command = './server'\ncwd = 'work/../here'\nbox = { read = ['~/notes', '/data:/in'], write = ['out:/out', 'a:b'] }\n",
    );
    assert_eq!(found.command, ["/etc/kennel/./server"]);
    assert_eq!(found.spec.workdir, Some(PathBuf::from("/etc/kennel/here")));
    let mounts: Vec<(&str, Option<&str>, AccessMode)> = found
        .spec
        .mounts
        .iter()
        .map(|mount| {
            (
                mount.host_path.to_str().unwrap(),
                mount.mount_path.as_ref().map(|path| path.to_str().unwrap()),
                mount.mode,
            )
        })
        .collect();
    let (read, write) = (AccessMode::ReadOnly, AccessMode::ReadWrite);
    let expected = [
        ("/home/me/notes", None, read),
        ("/data", Some("/in"), read),
        ("/etc/kennel/out", Some("/out"), write),
        ("/etc/kennel/a:b", None, write),
    ];
    assert_eq!(mounts, expected);
    assert_eq!(process("command = 'npx'\n").command, ["npx"], "looked for on PATH");
}

#[test]
fn what_is_missing_is_told_with_server_key_and_name() {
    let cases = [
        (
            "command = 'x'\nenv = { A = '${NONE}' }\n",
            "server `a`, `env.A`: Kennel has no variable `NONE`; set it where Kennel is started, or write `${NONE:-default}`",
        ),
        (
            "command = 'x'\nargs = ['y', '${NONE}']\n",
            "server `a`, `args[1]`: Kennel has no variable `NONE`; set it where Kennel is started, or write `${NONE:-default}`",
        ),
        ("command = '${EMPTY}'\n", "server `a`, `command`: nothing is left of it when its variables are replaced"),
        (
            "url = 'https://x'\nheaders = { A = '${LINES}' }\n",
            "server `a`, `headers.A`: the value has a line end or another control character in it, which no header can have",
        ),
    ];
    for (text, said) in cases {
        assert_eq!(failure(text), said);
    }
}

#[test]
fn nothing_shows_a_value() {
    let texts = [
        "command = 'x'\nargs = ['hunter2']\nenv = { A = 'hunter2', B = { from-env = 'TOKEN' } }\n",
        "url = 'https://x/?key=${TOKEN}'\nheaders = { A = 'Bearer hunter2' }\n",
    ];
    for text in texts {
        let config = Config::parse(format!("[servers.a]\n{text}").as_bytes(), Path::new("f")).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
        let resolved = resolve(text).unwrap();
        assert!(!format!("{resolved:?}").contains("hunter2"), "{resolved:?}");
        assert!(resolved.secrets.iter().any(|secret| secret.expose().contains("hunter2")));
    }
}

#[test]
fn what_an_address_may_hide_is_known_to_be_secret() {
    let secrets = |text: &str| {
        let found = resolve(text).unwrap_or_else(|error| panic!("{error}"));
        found.secrets.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(secrets("url = 'https://x/mcp'\n"), Vec::<String>::new());
    assert_eq!(secrets("url = 'https://x/mcp?key=abc'\n"), ["key=abc"]);
    assert_eq!(secrets("url = 'https://x/${TOKEN}'\n"), ["https://x/hunter2"]);
}

#[test]
fn a_secret_that_everybody_may_read_is_warned_about() {
    let config =
        Config::parse(b"[servers.a]\ncommand = 'x'\nenv = { A = { from-file = '/s' } }\n", Path::new("f")).unwrap();
    let (name, server) = config.servers.first_key_value().unwrap();
    let warned = |readable_by_all| server.resolve(name, Path::new("/"), &Known { readable_by_all }).unwrap().warnings;
    assert_eq!(warned(true), ["everybody on this machine may read /s; chmod 600 it"]);
    assert!(warned(false).is_empty());
}
