//! Messages that mean to be read in two ways.

use proptest::prelude::*;
use proptest::sample::select;

/// Names by which is decided, and some by which nothing is.
const NAMES: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "uri",
    "taskId",
    "arguments",
    "_meta",
    "progressToken",
    "cursor",
    "x",
    "title",
    "Names",
];

/// Another way to write a name, most of them so that some reader takes it for the same.
fn spelled(name: &'static str) -> impl Strategy<Value = String> {
    let letter = |name: &str, at: usize, with: &dyn Fn(char) -> String| -> String {
        name.char_indices().map(|(index, letter)| if index == at { with(letter) } else { letter.to_string() }).collect()
    };
    (0..name.len(), 0..22_u8).prop_map(move |(at, way)| match way {
        0..=5 => name.to_owned(),
        6 => name.to_uppercase(),
        7 => letter(name, at, &|letter| letter.to_uppercase().to_string()),
        8 => letter(name, at, &|letter| format!("\\u{:04x}", u32::from(letter))),
        9 => letter(name, at, &|letter| format!("\\u{:04X}", u32::from(letter.to_ascii_uppercase()))),
        10 => name.replace('s', "ſ").replace('k', "\u{212a}"),
        11 => name.replace('s', "\\u017f").replace('k', "\\u212a"),
        12 => format!("{name}\\u0000"),
        13 => format!("{name}\\u0000x"),
        14 => letter(name, at, &|letter| format!("\\u0000{letter}")),
        15 => format!(" {name}"),
        16 => format!("{name}\\ud800"),
        17 => letter(name, at, &|letter| format!("{letter}\u{200b}")),
        18 => letter(name, at, &|letter| format!("{letter}_")),
        19 => letter(name, at, &|letter| format!("-{letter}")),
        20 => name.replace('i', "ı"),
        _ => letter(name, at, &|letter| format!("{letter}\u{301}")),
    })
}

fn method() -> impl Strategy<Value = String> {
    const METHODS: &[&str] = &[
        "tools/call",
        "tools/call",
        "tools/list",
        "prompts/get",
        "resources/read",
        "resources/subscribe",
        "tasks/get",
        "ping",
        "acme/call",
        "notifications/progress",
    ];
    prop_oneof![4 => select(METHODS).prop_map(str::to_owned), 1 => select(METHODS).prop_flat_map(spelled)]
        .prop_map(|method| format!("\"{}\"", method.replace('/', "\\/")))
}

fn scalar() -> impl Strategy<Value = String> {
    const VALUES: &[&str] = &[
        r#""echo""#,
        r#""danger""#,
        r#""d\u0061nger""#,
        r#""danger\u0000""#,
        r#""danger\ud800""#,
        r#""\ud83d\ude00""#,
        r#""ſ""#,
        r#""""#,
        "1",
        "1.0",
        "1e0",
        "-0",
        "1e999",
        "123456789012345678901234567890",
        "0.1",
        "true",
        "null",
        r#""\/""#,
        "\"\u{2028}\"",
        r#"["danger"]"#,
        "[]",
        "{}",
        r#"{"name":"danger","Name":"x"}"#,
        r#"{"a":{"a":{"a":[[[[1]]]]}}}"#,
    ];
    select(VALUES).prop_map(str::to_owned)
}

fn member(names: &'static [&'static str], value: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    (select(names).prop_flat_map(spelled), value).prop_map(|(name, value)| format!("\"{name}\":{value}"))
}

fn object(members: Vec<BoxedStrategy<String>>, more: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let more = prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(more, 1..3)];
    (members, more)
        .prop_map(|(mut members, more)| {
            members.retain(|member| !member.is_empty());
            members.extend(more);
            members
        })
        .prop_shuffle()
        .prop_map(|members| format!("{{{}}}", members.join(",")))
        .boxed()
}

/// A member that is mostly there.
fn usual(name: &'static str, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let there = (prop_oneof![9 => Just(name.to_owned()), 1 => spelled(name)], value)
        .prop_map(|(name, value)| format!("\"{name}\":{value}"));
    prop_oneof![9 => there, 1 => Just(String::new())].boxed()
}

fn parameters() -> BoxedStrategy<String> {
    let meta = object(vec![usual("progressToken", scalar().boxed())], member(NAMES, scalar().boxed()).boxed());
    let members = vec![
        usual("name", scalar().boxed()),
        usual("uri", scalar().boxed()),
        usual("taskId", scalar().boxed()),
        usual("_meta", meta),
        usual("arguments", object(Vec::new(), member(NAMES, scalar().boxed()).boxed())),
    ];
    prop_oneof![12 => object(members, member(NAMES, scalar().boxed()).boxed()), 1 => scalar()].boxed()
}

/// A message of a client, with an id or without.
fn request() -> BoxedStrategy<String> {
    let version = Just("\"jsonrpc\":\"2.0\"".to_owned()).boxed();
    let members =
        vec![version, usual("id", scalar().boxed()), usual("method", method().boxed()), usual("params", parameters())];
    object(members, member(NAMES, prop_oneof![scalar(), method(), parameters()].boxed()).boxed())
}

/// An answer.
fn answer() -> BoxedStrategy<String> {
    let version = Just("\"jsonrpc\":\"2.0\"".to_owned()).boxed();
    let members = vec![version, usual("id", scalar().boxed()), usual("result", parameters())];
    object(members, member(NAMES, prop_oneof![scalar(), method(), parameters()].boxed()).boxed())
}

/// Bytes that may be a message.
pub(crate) fn bytes() -> BoxedStrategy<Vec<u8>> {
    let message = prop_oneof![4 => request(), 1 => answer()];
    let around = prop_oneof![
        30 => Just(("", "")),
        1 => Just(("\u{feff}", "")),
        1 => Just(("", " x")),
        1 => Just((" \t", "\r")),
        1 => Just(("", "{}")),
        1 => Just(("[", "]")),
        1 => Just(("", ",")),
    ];
    let damage = prop_oneof![30 => Just(None), 1 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(Some)];
    (message, around, damage)
        .prop_map(|(message, (before, after), damage)| {
            let mut bytes = format!("{before}{message}{after}").into_bytes();
            if let Some((index, byte)) = damage {
                let at = index.index(bytes.len());
                bytes[at] = if byte == b'\n' { b' ' } else { byte };
            }
            bytes
        })
        .boxed()
}
