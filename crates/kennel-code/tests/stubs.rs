//! What is made of tools is always Python, and says nothing but what it should: real tools, and schemas that are anything.
#![allow(clippy::expect_used, clippy::panic)]

use kennel_code::docs::{Detail, Shown, Tool, stub};
use kennel_wire::RawJson;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const REGISTRY: &str = include_str!("../../kennel-testkit/data/tools.jsonl");
const INSTALLED: &str = include_str!("../../kennel-testkit/data/installed-servers.jsonl");

/// How many bytes the stub of one tool has at most, with the line that names its server.
const LARGEST: usize = 4 * 1024 + 100;

/// Reads `[{"definition", "stub", "signature", "name", "doc"}, …]` and complains about each that is not what it should be.
const CHECK: &str = r#"
import ast, json, sys
for case in json.load(sys.stdin):
    try:
        functions = []
        for node in ast.parse(case["stub"]).body:
            if isinstance(node, ast.AsyncFunctionDef):
                functions.append(node)
            elif isinstance(node, ast.ClassDef):
                fields = [field for field in node.body if not isinstance(field, ast.Pass)]
                assert all(isinstance(field, ast.AnnAssign) and field.value is None for field in fields), "class"
            else:
                assert isinstance(node, ast.Assign) and node.value.func.id == "TypedDict", "statement"
        assert [function.name for function in functions] == [case["name"]], "functions"
        (function,) = functions
        assert len(function.body) == 1, "body"
        doc = ast.get_docstring(function) or ""
        words = case["doc"].replace('"' * 3, "'" * 3).split()
        assert doc.split()[: len(words)] == words, ("doc", doc)
        assert isinstance(function.body[0].value, ast.Constant), "docstring"
        (alone,) = ast.parse(f"async def f{case['signature']}: ...").body
        for default in alone.args.defaults + [value for value in alone.args.kw_defaults if value]:
            ast.literal_eval(default)
    except Exception as error:
        print(repr(error), case["definition"], case["stub"], case["signature"], sep="\n", end="\n\n")
"#;

/// Fails if Python does not read what is made of one of these definitions as what it should be.
fn check(definitions: impl IntoIterator<Item = Value>) {
    let mut cases = Vec::new();
    for definition in definitions {
        let definition = RawJson::parse(definition.to_string()).expect("JSON");
        let tool = Tool::read(&definition);
        let shown = [Shown { alias: "server", tool: &tool, definition: &definition }];
        let full = stub(&shown, Detail::Full);
        assert!(full.len() <= LARGEST, "{} bytes: {full}", full.len());
        for detail in [Detail::Names, Detail::Signatures] {
            let text = stub(&shown, detail);
            assert!(text.starts_with(&format!("mcp_server.{}", tool.python)), "{text}");
        }
        assert!(serde_json::from_slice::<Value>(tool.for_box().as_bytes()).is_ok());
        let definition = String::from_utf8_lossy(definition.as_bytes());
        cases.push(json!({"definition": definition, "stub": full, "signature": tool.signature, "name": tool.python, "doc": tool.doc}));
    }
    let mut python = Command::new("python3");
    python.args(["-I", "-X", "utf8", "-W", "error", "-c", CHECK]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().expect("python3 starts");
    let mut stdin = python.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(Value::from(cases).to_string().as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("all was written");
    let complaints = String::from_utf8_lossy(&output.stdout);
    assert!(complaints.is_empty() && output.status.success(), "{complaints}");
}

/// The tools of the registry and of the servers that the tests install.
fn real_tools() -> impl Iterator<Item = Value> {
    REGISTRY.lines().chain(INSTALLED.lines()).map(|line| {
        let mut line: Map<String, Value> = serde_json::from_str(line).expect("a line of tools");
        // The registry lists arguments; servers send a schema.
        if let Some(Value::Array(arguments)) = line.remove("arguments") {
            let property = |argument: &Value| {
                let name = argument["name"].as_str().expect("a name").to_owned();
                (name, json!({"type": argument["type"], "description": argument["description"]}))
            };
            let properties: Map<String, Value> = arguments.iter().map(property).collect();
            line.insert("inputSchema".to_owned(), json!({"type": "object", "properties": properties}));
        }
        Value::Object(line)
    })
}

/// Words that mean something in schemas or in Python, and texts that could break out of where they stand.
fn word() -> impl Strategy<Value = String> + Clone {
    const WORDS: [&str; 24] = [
        "a",
        "b",
        "from",
        "x-y",
        "class",
        "__init__",
        "self",
        "",
        "1st",
        "items",
        "日本",
        "\u{202e}",
        "\"\"\"",
        "\\",
        "'",
        "\n",
        "\r",
        "#",
        "\"",
        "a\u{0}b",
        "\u{c}",
        "\\\"\"\"\nimport os\n",
        "#/$defs/a",
        "None",
    ];
    prop_oneof![proptest::sample::select(&WORDS[..]).prop_map(str::to_owned), "\\PC{0,12}", "[a-z]{60,80}"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..5).prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

/// Something like a schema: keywords with what they should have, or with anything.
fn schema() -> impl Strategy<Value = Value> {
    const KINDS: [&str; 8] = ["string", "integer", "number", "boolean", "null", "array", "object", "file"];
    let kind = proptest::sample::select(&KINDS[..]).prop_map(Value::from);
    let leaf = prop_oneof![
        3 => kind.clone().prop_map(|kind| json!({"type": kind})),
        1 => proptest::collection::vec(any_json(), 0..4).prop_map(|values| json!({"enum": values})),
        1 => any_json().prop_map(|value| json!({"const": value})),
        1 => any_json(),
        1 => Just(json!({"$ref": "#/$defs/a"})),
        1 => Just(json!({"$ref": "#"})),
    ];
    leaf.prop_recursive(8, 80, 5, move |inner| {
        let several = proptest::collection::vec(inner.clone(), 0..4);
        let named = proptest::collection::vec((word(), inner.clone()), 0..6);
        let required = proptest::collection::vec(word(), 0..3);
        prop_oneof![
            (named.clone(), required, any_json(), word()).prop_map(|(named, mut required, default, text)| {
                required.extend(named.first().map(|(name, _)| name.clone()));
                let mut properties: Map<String, Value> = named.into_iter().collect();
                for property in properties.values_mut().filter_map(Value::as_object_mut) {
                    property.insert("default".to_owned(), default.clone());
                    property.insert("description".to_owned(), text.clone().into());
                    property.insert("pattern".to_owned(), text.clone().into());
                }
                json!({"type": "object", "properties": properties, "required": required, "description": text})
            }),
            inner.clone().prop_map(|inner| json!({"type": ["array", "null"], "items": inner})),
            inner.clone().prop_map(|inner| json!({"type": "object", "additionalProperties": inner})),
            several.clone().prop_map(|several| json!({"anyOf": several})),
            several.clone().prop_map(|several| json!({"allOf": several})),
            several.prop_map(|several| json!({"prefixItems": several})),
            (named, inner).prop_map(|(named, inner)| {
                let definitions: Map<String, Value> =
                    named.into_iter().chain([("a".to_owned(), inner.clone())]).collect();
                json!({"$defs": definitions, "properties": {"a": {"$ref": "#/$defs/a"}, "b": inner}})
            }),
        ]
    })
}

fn some<T: std::fmt::Debug>(count: usize, strategy: &impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::default();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

#[test]
fn real_tools_are_python() {
    let tools: Vec<Value> = real_tools().collect();
    assert_eq!(tools.len(), 808);
    check(tools);
}

#[test]
fn tools_with_schemas_of_all_kinds_are_python() {
    let tool = (word(), word(), schema(), schema()).prop_map(|(name, description, input, output)| {
        json!({"name": name, "description": description, "inputSchema": input, "outputSchema": output})
    });
    check(some(800, &tool));
}

#[test]
fn tools_that_are_anything_are_python() {
    let tool = (any_json(), any_json(), any_json(), any_json()).prop_map(|(name, description, input, whole)| {
        [whole, json!({"name": name, "description": description, "inputSchema": input, "annotations": description})]
    });
    check(some(400, &tool).into_iter().flatten());
}
