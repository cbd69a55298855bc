use super::{MethodName, Name, Within, folded, is_lookalike};
use crate::text;

fn judge_method(name: &str) -> MethodName {
    super::judge_method(&text::string(name))
}

fn judged(within: Within, name: &str) -> Name {
    let name = format!("\"{name}\"");
    within.spelled(name.as_bytes()).map_or_else(|| within.judge(name.as_bytes()), Name::Deciding)
}

#[test]
fn names_that_decide_are_known_however_they_are_escaped() {
    for within in [Within::Envelope, Within::Params, Within::Result, Within::Meta] {
        for (place, name) in within.names().all.iter().enumerate() {
            let place = u8::try_from(place).unwrap();
            assert_eq!(within.spelled(format!("\"{name}\"").as_bytes()), Some(place), "{name}");
            assert_eq!(within.name(place), *name);
            let escaped =
                name.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect::<Vec<_>>().concat();
            assert_eq!(judged(within, &escaped), Name::Deciding(place), "{escaped}");
            assert!(name.len() <= super::LONGEST, "{name}");
        }
        assert!(within.names().all.len() <= 32, "one bit for each");
        let meta = within.names().all.iter().position(|name| *name == "_meta");
        assert_eq!(within.meta().map(usize::from), meta);
    }
}

#[test]
fn other_spellings_of_each_name_are_told() {
    for within in [Within::Envelope, Within::Params, Within::Result, Within::Meta] {
        for name in within.names().all {
            let capitalized = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
            let (first, second) = name.split_at(2);
            let spellings = [
                name.to_uppercase(),
                capitalized,
                name.to_uppercase().to_lowercase(),
                name.replace('s', "ſ").replace('k', "\u{212a}"),
                name.replace('i', "ı"),
                name.replace("ss", "ß").replace("fi", "ﬁ").replace("st", "ﬆ"),
                format!("{name}\\u0000"),
                format!("{name}\\u0000tail"),
                format!("{}\\u0000tail", name.to_uppercase()),
                format!(" {name}"),
                format!("{name}\\t"),
                format!("{first}\u{200b}{second}"),
                format!("{first}_{second}"),
                format!("{first}-{second}"),
                format!("{first}\\ud800{second}"),
                format!("{name}\\udfff"),
                format!("\u{feff}{name}"),
                name.chars().map(|letter| format!("{letter}\u{ad}")).collect::<Vec<_>>().concat(),
            ];
            for spelling in spellings.iter().filter(|spelling| *spelling != name) {
                assert_eq!(judged(within, spelling), Name::Lookalike(name), "{spelling:?}");
            }
        }
    }
}

#[test]
fn names_that_mean_something_else_are_left_alone() {
    let free = [
        "",
        "n",
        "nam",
        "names",
        "Names",
        "naem",
        "named",
        "meta",
        "metadata",
        "_meta_data",
        "x-name",
        "url",
        "uris",
        "\u{e9}",
        "näme",
        "名前",
        "title",
        "ID_",
        "message",
        "role",
        "filename",
        "params2",
        "constructor",
        "__proto__",
        "\\ud83d",
    ];
    for name in free {
        if name != "ID_" {
            assert_eq!(judged(Within::Params, name), Name::Free, "{name}");
        }
    }
    assert_eq!(judged(Within::Params, "id"), Name::Free, "it decides elsewhere");
    assert_eq!(judged(Within::Envelope, "ID_"), Name::Lookalike("id"));
    let endless = "n\\u0000".repeat(10_000);
    assert_eq!(judged(Within::Params, &endless), Name::Free);
}

#[test]
fn methods_of_the_protocol_have_one_spelling() {
    for method in super::METHODS.all {
        assert_eq!(judge_method(method), MethodName::Known);
        let (first, second) = method.split_at(3);
        for spelling in [
            method.to_uppercase(),
            format!("{method}\0"),
            format!("{method} "),
            format!("\n{method}"),
            format!("/{method}"),
            format!("{method}/"),
            method.replace('/', "//"),
            format!("{first}\u{200d}{second}"),
            format!("{}{second}", first.to_uppercase()),
        ] {
            if spelling != *method {
                assert_eq!(judge_method(&spelling), MethodName::Lookalike(method), "{spelling:?}");
            }
        }
    }
    for other in ["", "x", "acme/do", "tools/callback", "tool/call", "acme/tools/call", "notifications/acme"] {
        assert_eq!(judge_method(other), MethodName::Other, "{other}");
    }
    for unprintable in ["acme/do\0", "tools/call\0x", "a\nb", "\u{7f}"] {
        assert_eq!(judge_method(unprintable), MethodName::Unprintable, "{unprintable:?}");
    }
}

#[test]
fn names_of_tools_are_folded_alike() {
    assert_eq!(folded("Delete_File\0"), "deletefile");
    assert!(is_lookalike("DANGER", "danger") && is_lookalike("danger\u{200b}", "danger"));
    assert!(!is_lookalike("danger", "danger") && !is_lookalike("dangers", "danger"));
}
