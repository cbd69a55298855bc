use super::{SplitError, split};

#[test]
fn words_are_split_as_by_a_shell() {
    for (text, words) in [
        ("npx -y server", &["npx", "-y", "server"][..]),
        ("  a \t b\n c  ", &["a", "b", "c"]),
        ("'two words' \"and three more\"", &["two words", "and three more"]),
        ("pre'mid dle'post\"x y\"", &["premid dlepostx y"]),
        ("'' a \"\"", &["", "a", ""]),
        (r"two\ words \' \\ \a", &["two words", "'", r"\", "a"]),
        (r#""\$ \` \" \\ \a""#, &[r#"$ ` " \ \a"#]),
        (r"'\a\'", &[r"\a\"]),
        ("a\\\nb \"c\\\nd\"", &["ab", "cd"]),
        ("$HOME ~ *.py a|b && # x", &["$HOME", "~", "*.py", "a|b", "&&", "#", "x"]),
        ("grüße 'ä ö'", &["grüße", "ä ö"]),
    ] {
        assert_eq!(split(text).as_deref(), Ok(words.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice()));
    }
}

#[test]
fn what_cannot_be_split_is_an_error_that_says_where() {
    for (text, error) in [
        ("a 'b", SplitError::Unbalanced { mark: '\'', position: 3 }),
        ("a \"b 'c'", SplitError::Unbalanced { mark: '"', position: 3 }),
        ("ä 'x' it's", SplitError::Unbalanced { mark: '\'', position: 9 }),
        ("\"\\\"", SplitError::Unbalanced { mark: '"', position: 1 }),
        ("a \\", SplitError::LoneBackslash),
        (" \n ", SplitError::Empty),
        ("", SplitError::Empty),
    ] {
        assert_eq!(split(text), Err(error), "{text}");
    }
}
