//! Whatever a file holds, it is read or refused, with places that are in it and without a secret in what is said.

use kennel_config::{Config, ConfigError, Problem};
use proptest::prelude::*;
use std::path::Path;

/// A value that nothing may show.
const CANARY: &str = "xq7-canary-0f3";

fn read(bytes: &[u8]) -> Result<Config, ConfigError> {
    Config::parse(bytes, Path::new("f"))
}

/// Everything that is said about a file is at a place that it has.
fn check_places(bytes: &[u8]) {
    let (problems, refused): (Vec<Problem>, bool) = match read(bytes) {
        Ok(config) => (config.warnings, false),
        Err(error) => (error.problems().to_vec(), true),
    };
    assert!(!refused || !problems.is_empty(), "refused without a reason");
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for problem in problems {
        assert!((1..=lines.len()).contains(&problem.line), "line {} of {}: {problem}", problem.line, lines.len());
        let columns = lines[problem.line - 1].len() + 1;
        assert!((1..=columns).contains(&problem.column), "column {} of {columns}: {problem}", problem.column);
    }
}

/// Files that are almost right: pieces of real ones in any order.
fn almost() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[servers.a]\n"),
        Just("[servers.\"b c\"]\n"),
        Just("command = 'x'\n"),
        Just("url = 'https://x'\n"),
        Just("args = ['${A}', 1]\n"),
        Just("env = { A = { from-file = 'x' }, B = 2 }\n"),
        Just("[servers.a.box]\nmemory = 'lots'\n"),
        Just("[views.v]\nservers = ['ä']\n"),
        Just("[gateway]\nlisten = 1\n"),
        Just("[[servers]]\n"),
        Just("model = 1979-05-27\n"),
        Just("{ \"mcpServers\": { "),
        Just("\"a\": { \"command\": \"x\", \"args\": [\"${input:x}\"] }, "),
        Just("\"ä ö\": { \"url\": \"\", \"kennel\": { \"box\": [] } }"),
        Just("} }"),
        Just("// ö\r\n"),
        Just("\"\"\""),
        Just("\u{feff}"),
        Just("\0"),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_places(&bytes);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", brace in any::<bool>()) {
        check_places(if brace { format!("{{{text}") } else { text }.as_bytes());
    }

    #[test]
    fn what_is_almost_right_is_read_or_refused(text in almost()) {
        check_places(text.as_bytes());
    }
}

#[test]
fn deep_files_are_refused_and_not_followed() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("a = [", "]"), ("a.", "a = 1"), ("[a.", "]")] {
        let deep = format!("{{\"mcpServers\":{}{}", open.repeat(100_000), close.repeat(100_000));
        check_places(deep.as_bytes());
        check_places(format!("x = 1\n{}{}", open.repeat(100_000), close.repeat(100_000)).as_bytes());
    }
}

/// A file with secrets in all places where they belong.
fn with_secrets() -> [String; 2] {
    [
        format!(
            "[servers.a]\ncommand = 'x'\nargs = ['--key={CANARY}', '{CANARY}${{A}}']\n\n[servers.a.env]\nA = \"{CANARY}\"\n\
             B = '''\n{CANARY}'''\n\n[servers.b]\nurl = 'https://x/?k={CANARY}'\nheaders = {{ A = 'Bearer {CANARY}' }}\n"
        ),
        format!(
            "{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"x\", \"args\": [\"{CANARY}\"], \"env\": {{ \"A\": \"{CANARY}\" }} }},\n\
             \"b\": {{ \"url\": \"https://x/?k={CANARY}\", \"headers\": {{ \"A\": \"Bearer {CANARY}\" }} }} }} }}"
        ),
    ]
}

#[test]
fn a_secret_is_in_no_message_however_the_file_is_broken() {
    for file in with_secrets() {
        assert!(!format!("{:?}", read(file.as_bytes()).unwrap()).contains(CANARY));
        for at in 0..file.len() {
            let mut without = file.clone();
            without.remove(at);
            let doubled = format!("{}{}", &file[..=at], &file[at..]);
            for broken in [without, doubled, file[..at].to_owned()] {
                let said = match read(broken.as_bytes()) {
                    Ok(config) => format!("{:?} {config:?}", config.warnings),
                    Err(error) => format!("{error} {error:?}"),
                };
                // All of it, but for the one letter that may be the broken one.
                assert!(!said.contains(&CANARY[..CANARY.len() - 1]), "{said}\n{broken}");
                assert!(!said.contains(&CANARY[1..]), "{said}\n{broken}");
            }
        }
    }
}

#[test]
fn comments_order_and_spelling_do_not_matter() {
    let one = "[servers.a]\ncommand = 'x'\nidle-stop = 5\nbox = { memory = '1024M', network = 'on' }\n[servers.b]\ncommand = 'y'\n";
    let other = "# first\n[servers.b]\ncommand = \"y\"\n\n[servers.a]\nidle-stop = 5.0 # minutes\ncommand = \"\"\"x\"\"\"\n\
        [servers.a.box]\nnetwork = \"on\"\nmemory = 1_073_741_824\n";
    assert_eq!(read(one.as_bytes()).unwrap(), read(other.as_bytes()).unwrap());
}
