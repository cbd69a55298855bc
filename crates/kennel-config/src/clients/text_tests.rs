use super::*;

fn parts(text: &str, spelling: Spelling) -> Vec<Part> {
    Text::parse(text, spelling, &Words::default()).0
}

fn variable(name: &str) -> Part {
    Part::Variable { name: name.to_owned(), default: None }
}

fn literal(text: &str) -> Part {
    Part::Literal(text.to_owned())
}

#[test]
fn each_spelling_has_its_own_variables() {
    let cases = [
        (Spelling::Braces, "Bearer ${TOKEN}", vec![literal("Bearer "), variable("TOKEN")]),
        (Spelling::Braces, "$TOKEN ${env:X} ${a b}", vec![literal("$TOKEN "), variable("X"), literal(" ${a b}")]),
        (Spelling::Dollar, "$A/${B}$", vec![variable("A"), literal("/"), variable("B"), literal("$")]),
        (Spelling::Editor, "${env:A}-${B}", vec![variable("A"), literal("-"), Part::Foreign("${B}".to_owned())]),
        (Spelling::Editor, "${input:my key}", vec![Part::Input("my key".to_owned())]),
        (Spelling::Editor, "${userHome}${/}x", vec![variable("HOME"), literal("/x")]),
        (Spelling::OpenCode, "{env:A}${B}{x}", vec![variable("A"), literal("${B}{x}")]),
        (Spelling::OpenCode, "{file:~/key}", vec![Part::File("~/key".to_owned())]),
        (Spelling::Plain, "${A} $B {env:C}", vec![literal("${A} $B {env:C}")]),
        (Spelling::Kennel, "$${A} $B ${C}", vec![literal("${A} $B "), variable("C")]),
        (Spelling::Braces, "${A", vec![literal("${A")]),
        (Spelling::Braces, "", vec![]),
    ];
    for (spelling, text, expected) in cases {
        assert!(parts(text, spelling) == expected, "{spelling:?} {text}");
    }
}

#[test]
fn defaults_are_kept_where_they_can_be_said() {
    let text = Text::parse("${PORT:-80}80", Spelling::Braces, &Words::default());
    assert_eq!(text.spelled(Spelling::Kennel).as_deref(), Ok("${PORT:-80}80"));
    assert_eq!(text.spelled(Spelling::Dollar).as_deref(), Ok("${PORT:-80}80"));
    assert_eq!(text.spelled(Spelling::Editor), Err(Unsayable("${PORT:-80}".to_owned())));
}

#[test]
fn the_words_of_editors_are_filled_where_they_are_known() {
    let words = Words {
        workspace: Some("/home/me/project".to_owned()),
        plugin: Some("/plug".to_owned()),
        directory: Some("/home/me/.config".to_owned()),
    };
    let file = |path: &str| Text::parse(&format!("{{file:{path}}}"), Spelling::OpenCode, &words).0;
    assert!(file("./key") == [Part::File("/home/me/.config/key".to_owned())]);
    assert!(file("~/key") == [Part::File("~/key".to_owned())]);
    let editor = Text::parse("${workspaceFolder}/x ${workspaceFolderBasename}", Spelling::Editor, &words);
    assert_eq!(editor.literal(), Some("/home/me/project/x project"));
    let plugin = Text::parse("${CLAUDE_PLUGIN_ROOT}/server", Spelling::Braces, &words);
    assert_eq!(plugin.literal(), Some("/plug/server"));
    let unknown = Text::parse("${workspaceFolder}", Spelling::Editor, &Words::default());
    assert!(unknown.0 == [Part::Foreign("${workspaceFolder}".to_owned())]);
}

#[test]
fn letters_that_look_like_placeholders_are_never_turned_into_them() {
    let text = Text::from("${HOME} {env:X} $Y");
    assert_eq!(text.spelled(Spelling::Kennel).as_deref(), Ok("$${HOME} {env:X} $Y"));
    assert_eq!(text.spelled(Spelling::Plain).as_deref(), Ok("${HOME} {env:X} $Y"));
    for spelling in [Spelling::Braces, Spelling::Dollar, Spelling::Editor, Spelling::OpenCode] {
        assert!(text.spelled(spelling).is_err(), "{spelling:?}");
    }
    // A dollar right before a variable would read as Kennel's escape.
    assert!(Text(vec![literal("$"), variable("A")]).spelled(Spelling::Kennel).is_err());
}

#[test]
fn questions_become_variables() {
    let text = Text(vec![literal("Bearer "), Part::Input("github-token".to_owned())]);
    assert_eq!(text.spelled(Spelling::Kennel).as_deref(), Ok("Bearer ${GITHUB_TOKEN}"));
    assert_eq!(Part::Input("2nd key".to_owned()).stand_in().as_deref(), Some("INPUT_2ND_KEY"));
    assert_eq!(Part::Foreign("${config:a.b}".to_owned()).stand_in().as_deref(), Some("CONFIG_A_B"));
    assert_eq!(Part::File("~/key.txt".to_owned()).stand_in().as_deref(), Some("FILE__KEY_TXT"));
}

#[test]
fn what_stands_for_itself_is_not_shown() {
    let text = Text(vec![literal("hunter2"), variable("A")]);
    assert_eq!(format!("{text:?}"), "\"…${A}\"");
}

proptest::proptest! {
    #[test]
    fn what_is_spelled_is_read_back_as_it_was(text in "[a-c${}:.-]{0,24}") {
        for spelling in [
            Spelling::Plain, Spelling::Braces, Spelling::Dollar, Spelling::Editor, Spelling::OpenCode, Spelling::Kennel,
        ] {
            let read = Text::parse(&text, spelling, &Words::default());
            if let Ok(spelled) = read.spelled(spelling) {
                let meant = if spelling == Spelling::Kennel { read.in_kennel() } else { read.clone() };
                proptest::prop_assert!(Text::parse(&spelled, spelling, &Words::default()) == meant);
            }
            // Kennel can say nearly everything; what it says is read as it was meant.
            if let Ok(spelled) = read.spelled(Spelling::Kennel) {
                proptest::prop_assert!(Text::parse(&spelled, Spelling::Kennel, &Words::default()) == read.in_kennel());
            }
        }
    }
}
