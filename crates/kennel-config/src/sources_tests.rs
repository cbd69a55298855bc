use super::*;
use std::os::unix::fs::OpenOptionsExt;

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

fn ask(sources: &SystemSources, script: &str) -> Result<String, String> {
    let found = sources.command(&shell(script), Path::new("/"));
    found.map(|secret| secret.expose().to_owned()).map_err(|error| error.to_string())
}

#[test]
fn a_program_is_asked_without_a_shell_and_one_line_end_goes() {
    let sources = SystemSources::default();
    assert_eq!(ask(&sources, "printf 'a b\\n\\n'"), Ok("a b\n".to_owned()));
    assert_eq!(ask(&sources, "printf 'a\\r\\n'"), Ok("a".to_owned()));
    assert_eq!(ask(&sources, "pwd"), Ok("/".to_owned()));
    let words = ["echo", "$HOME; `id`"].map(str::to_owned);
    assert_eq!(sources.command(&words, Path::new("/")).unwrap().expose(), "$HOME; `id`");
}

#[test]
fn a_program_that_fails_is_told_by_its_last_words() {
    let sources = SystemSources::default();
    let cases = [
        ("echo no >&2; echo 'no such entry' >&2; exit 1", "`sh` failed: no such entry"),
        ("echo secret; exit 3", "`sh` failed"),
        ("true", "`sh` gives nothing"),
        ("printf '\\377'", "what `sh` gives is not text that a program can be given"),
        ("printf 'a\\0b'", "what `sh` gives is not text that a program can be given"),
        ("exec yes", "`sh` gives more than 65536 bytes, which is no secret"),
    ];
    for (script, said) in cases {
        assert_eq!(ask(&sources, script), Err(said.to_owned()), "{script}");
    }
    let absent = sources.command(&["/no/such/program".to_owned()], Path::new("/")).unwrap_err().to_string();
    assert!(absent.starts_with("`/no/such/program` cannot be started: "), "{absent}");
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let place = tempfile::tempdir().unwrap();
    let note = place.path().join("pid");
    // Once with the output open, and once closed by a program that goes on.
    for first in ["", "exec > /dev/null 2>&1;"] {
        let script = format!("{first} sleep 1000 & echo $! > {}; wait", note.display());
        let _ = std::fs::remove_file(&note);
        let mut patience = Duration::from_millis(200);
        // A busy machine may need longer to begin.
        while std::fs::read_to_string(&note).unwrap_or_default().is_empty() {
            let said = ask(&SystemSources { patience, ..SystemSources::default() }, &script).unwrap_err();
            assert!(said.starts_with("`sh` gave no answer within"), "{said}");
            patience *= 2;
        }
        let pid = std::fs::read_to_string(&note).unwrap();
        assert!(is_gone(pid.trim()), "{first}");
    }
}

#[test]
fn what_a_program_leaves_running_is_ended() {
    let place = tempfile::tempdir().unwrap();
    let note = place.path().join("pid");
    let script = format!("sleep 1000 > /dev/null 2>&1 & echo $! > {}; echo value", note.display());
    assert_eq!(ask(&SystemSources::default(), &script), Ok("value".to_owned()));
    assert!(is_gone(std::fs::read_to_string(&note).unwrap().trim()));
}

/// Whether a process that was killed is no longer there, or only as a name for somebody to collect.
fn is_gone(pid: &str) -> bool {
    (0..500).any(|_| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let gone = status.is_empty() || status.contains(") Z ");
        if !gone {
            std::thread::sleep(Duration::from_millis(10));
        }
        gone
    })
}

#[test]
fn files_are_read_and_said_to_be_open_to_all() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, mode: u32, text: &str| {
        let path = place.path().join(name);
        let mut file =
            std::fs::OpenOptions::new().create(true).write(true).truncate(true).mode(mode).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let sources = SystemSources::default();
    let closed = sources.file(&write("closed", 0o600, "value\n")).unwrap();
    assert_eq!((closed.secret.expose(), closed.readable_by_all), ("value", false));
    assert!(sources.file(&write("open", 0o604, "value")).unwrap().readable_by_all);
    assert!(!sources.file(&write("group", 0o640, "value")).unwrap().readable_by_all);
    let said = |path: &Path| sources.file(path).unwrap_err().to_string();
    assert!(said(place.path()).ends_with(" is not a file"));
    assert!(said(&place.path().join("none")).contains("none cannot be read: "));
    assert!(said(&write("long", 0o600, &"x".repeat(LONGEST_SECRET + 1))).contains("more than"));
}

#[test]
fn the_keyring_is_asked_through_its_program() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/secret-tool").into();
    let sources = SystemSources { keyring_program: program, ..SystemSources::default() };
    assert_eq!(sources.keyring("s", "a").unwrap().expose(), "value");
    assert!(matches!(sources.keyring("s", "b"), Err(SourceError::NotInKeyring { .. })));
    let none = SystemSources { keyring_program: "/no/such/asker".into(), ..SystemSources::default() };
    assert!(matches!(none.keyring("s", "a"), Err(SourceError::NoKeyring)));
}

#[test]
fn variables_are_kennels_own() {
    let sources = SystemSources::default();
    assert!(sources.variable("PATH").unwrap().is_some());
    assert_eq!(sources.variable("KENNEL_NO_SUCH_VARIABLE").unwrap(), None);
}
