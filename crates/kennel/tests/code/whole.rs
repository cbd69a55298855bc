//! All of it with real servers: search, files, memory, parallel calls, saved tools, and a restart.

use crate::client::{Seen, cell_in, does};
use crate::scene::{File, Scene};
use crate::support::processes::{processes_with, unique_mark};
use crate::support::programs::material;
use crate::support::waiting::holds_soon;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Real servers for files and for memory, and fixtures that take their time.
fn servers(file: File, place: &Path) -> File {
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let node = text(material("KENNEL_TEST_NODE_BIN").join("node"));
    let files = text(material("KENNEL_TEST_SERVER_FILESYSTEM"));
    let memory = text(material("KENNEL_TEST_SERVER_MEMORY"));
    let data = text(place.join("files"));
    let text = format!(
        "[servers.files]\ncommand = {node:?}\nargs = [{files:?}, {data:?}]\nmodel = \"shared\"\n\
         [servers.files.box]\nread = [{files:?}]\nwrite = [{data:?}]\n\
         [servers.memory]\ncommand = {node:?}\nargs = [{memory:?}]\nmodel = \"shared\"\n\
         env = {{ MEMORY_FILE_PATH = \"/tmp/memory.jsonl\" }}\n"
    );
    let patient = "[code]\nyield-after = 100\ntimeout = 100\n";
    file.text(patient).text(&text).fixture("slow", &[], "model = \"shared\"")
}

const SEARCH: &str = "hits = await mcp.runtime.search_tool_docs('read a text file', limit=3)\nprint(hits)";
const FILES: &str = r"
listed = await mcp_files.list_allowed_directories()
place = listed.content.split('\n')[-1]
text = await mcp_files.read_text_file(path=place + '/numbers.txt')
numbers = [int(word) for word in text.content.split()]
sum(numbers)
";
const MEMORY: &str = r#"
await mcp_memory.create_entities(entities=[{"name": "total", "entityType": "sum", "observations": [str(sum(numbers))]}])
graph = await mcp_memory.read_graph()
graph["entities"][0]["observations"]
"#;
const PARALLEL: &str = r#"
import asyncio, time
began = time.monotonic()
answers = await asyncio.gather(*(mcp_slow.sleep(ms=500) for _ in range(20)))
together = time.monotonic() - began
began = time.monotonic()
await mcp_slow.sleep(ms=500)
alone = time.monotonic() - began
assert len(answers) == 20
assert together < 5 * alone, (together, alone)
"parallel"
"#;
const SAVE: &str = r#"
async def total_of(path):
    """The sum of the numbers in a file."""
    from mcp.servers import files
    text = await files.read_text_file(path=path)
    return sum(int(word) for word in text.content.split())

await mcp.runtime.save_tool(total_of)
[tool["name"] for tool in await mcp.runtime.list_saved_tools()]
"#;
const USE: &str = "await saved.total_of(PLACE)";

fn ran(seen: &Seen, sum: &str) {
    assert!(seen.text(0).contains("mcp_files.read_text_file"), "{}", seen.text(0));
    assert_eq!(seen.text(1).lines().last(), Some(sum));
    assert!(seen.text(2).contains(sum), "{}", seen.text(2));
    assert!(seen.text(3).contains("parallel"), "{}", seen.text(3));
    assert!(seen.text(4).contains("total_of"), "{}", seen.text(4));
    assert_eq!(seen.text(5).lines().last(), Some(sum), "another notebook has the saved tool");
    assert_eq!(seen.tools, ["run_python", "wait_python", "search_tools", "describe_tools"]);
    assert!(seen.manual.contains("mcp_files"), "{}", seen.manual);
}

#[test]
fn a_client_searches_reads_remembers_gathers_and_saves() {
    let (place, mark) = (tempfile::tempdir().unwrap(), unique_mark());
    let data = place.path().join("files");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("numbers.txt"), "1 2 3\n36\n").unwrap();
    let uses = USE.replace("PLACE", &format!("{:?}", data.join("numbers.txt").to_str().unwrap()));
    // A client without sessions has no notebook that stays but one that it names.
    let one = |code: &str| cell_in("one", code);
    let steps = [one(SEARCH), one(FILES), one(MEMORY), one(PARALLEL), one(SAVE), cell_in("another", &uses)];
    let root = place.path().to_owned();
    let scene = Scene::start_in(place, mark.clone(), |file| servers(file, &root));
    let url = |scene: &Scene| json!({ "url": format!("http://{}/servers/code/mcp", scene.address) });
    for mode in ["auto", "legacy"] {
        let mut place = url(&scene);
        place["mode"] = json!(mode);
        let seen = does(&place, &steps);
        assert_eq!(seen.version == "2026-07-28", mode == "auto", "{}", seen.version);
        ran(&seen, "42");
    }
    let listed: Value = scene.json(&["saved", "list"]);
    assert_eq!(listed[0]["name"], "total_of", "{listed}");
    let (status, place, _) = scene.end(Signal::TERM);
    assert!(status.success(), "{status}");
    let scene = Scene::start_in(place, mark.clone(), |file| servers(file, &root));
    let seen = does(&url(&scene), &[cell_in("one", &uses)]);
    assert_eq!(seen.text(0).lines().last(), Some("42"), "a restarted gateway has it");
    assert!(scene.kennel(&["saved", "show", "total_of"]).fine().contains("async def total_of"));
    scene.kennel(&["saved", "remove", "total_of"]).fine();
    let seen = does(&url(&scene), &[cell_in("one", "hasattr(saved, 'total_of')")]);
    assert_eq!(seen.text(0).lines().last(), Some("False"));
    drop(scene);
    assert!(holds_soon(|| processes_with(&mark).is_empty()), "nothing remains");
}
