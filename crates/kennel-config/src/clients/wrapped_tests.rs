use super::*;

fn understand(line: &str, directory: Option<&str>) -> Result<Option<Wrapped>, String> {
    let words: Vec<Option<&str>> = line.split(' ').map(|word| (word != "${X}").then_some(word)).collect();
    understood(&words, directory)
}

#[test]
fn flags_become_settings_and_the_command_is_what_is_behind_them() {
    let line =
        "/opt/kennel run --stdio --read /a --read=b --network on --env K=v --env T --pids 9 --no-infer -- npx x -- y";
    let wrapped = understand(line, Some("/home/ada")).unwrap().unwrap();
    assert_eq!(wrapped.command, 16);
    assert_eq!(wrapped.env, [("K".to_owned(), Some("v".to_owned())), ("T".to_owned(), None)]);
    let expected: [(&[&str], Setting); 5] = [
        (&["box", "read"], Setting::Item("/a".into())),
        (&["box", "read"], Setting::Item("/home/ada/b".into())),
        (&["box", "network"], Setting::Text("on".into())),
        (&["box", "pids"], Setting::Number("9".into())),
        (&["box", "infer"], Setting::Boolean(false)),
    ];
    assert_eq!(wrapped.settings, expected);
}

#[test]
fn the_command_needs_no_mark_before_it() {
    assert_eq!(understand("kennel run --stdio npx --read x", None).unwrap().unwrap().command, 3);
}

#[test]
fn what_is_no_kennel_run_is_left_alone() {
    for line in ["npx x", "kennel", "kennel-club run -- x", "docker run kennel"] {
        assert_eq!(understand(line, None), Ok(None), "{line}");
    }
}

#[test]
fn what_cannot_be_taken_over_is_named() {
    for (line, word) in [
        ("kennel run", "without a command"),
        ("kennel run --stdio --", "without a command"),
        ("env A=b kennel run -- x", "by another program"),
        ("kennel run --engine host -- x", "`--engine`"),
        ("kennel run --accept-missing namespaces -- x", "`--accept-missing`"),
        ("kennel run --read . -- x", "`--read .`"),
        ("kennel run --pids many -- x", "`--pids` is no number"),
        ("kennel run ${X} -- x", "placeholder"),
        ("kennel run --read", "`--read`"),
    ] {
        let refused = understand(line, None).expect_err(line);
        assert!(refused.contains(word), "{line}: {refused}");
    }
}
