//! The borders of code: the view, the user and the conversation. What is on one side is not there on the other.

use crate::client::{cell, cell_in, does};
use crate::scene::{File, Scene};
use crate::support::gateway::Client;
use crate::support::waiting::PATIENCE;
use serde_json::{Value, json};

/// As long as a loaded machine may need: nothing here is about time.
const PATIENT: &str = "[code]\nyield-after = 100\ntimeout = 100\n";
const VIEWS: &str = "[views.free]\nsurface = 'code'\n[views.denying]\nsurface = 'code'\napprove = 'deny'\n\
                     [views.asking]\nsurface = 'code'\napprove = 'ask'\n";

fn at(scene: &Scene, path: &str, mode: &str) -> Value {
    json!({ "url": format!("http://{}{path}", scene.address), "mode": mode })
}

fn open(scene: &Scene, path: &str) -> Client {
    let client = Client::open_at(&scene.address, path, json!({})).unwrap();
    client.connection.set_timeout(PATIENCE);
    client
}

#[track_caller]
fn result(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let messages = client.call(json!(1), tool, arguments).unwrap();
    messages.last().unwrap()["result"]["structuredContent"].clone()
}

#[test]
fn a_notebook_of_one_view_is_not_that_of_another() {
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(VIEWS));
    let mut denying = open(&scene, "/views/denying/mcp");
    let mut free = open(&scene, "/views/free/mcp");
    let mut all = open(&scene, "/servers/code/mcp");
    // Code of the view that may not call leaves a task behind, which calls when code that may runs in its interpreter.
    let trap = "import asyncio\nheard = []\nasync def call():\n    while True:\n        await asyncio.sleep(0.05)\n        \
                try:\n            heard.append(await mcp_one.echo(message='stolen'))\n        \
                except Exception as error:\n            heard.append('refused')\nleft = asyncio.create_task(call())\nawait asyncio.sleep(0)";
    let set = result(&mut denying, "run_python", json!({ "code": trap, "session": "same" }));
    assert_eq!(set["status"], "success", "{set}");
    let waits = "import asyncio\nawait asyncio.sleep(0.5)\n'left' in globals()";
    for client in [&mut free, &mut all] {
        let ran = result(client, "run_python", json!({ "code": waits, "session": "same" }));
        assert_eq!(ran["value"], "False", "the interpreter is another view's: {ran}");
    }
    let heard = result(
        &mut denying,
        "run_python",
        json!({ "code": "await asyncio.sleep(0.2)\nset(heard)", "session": "same" }),
    );
    assert!(!heard["value"].as_str().unwrap_or_default().contains("stolen"), "{heard}");
    // The same user finds it again in the same view.
    let again = result(
        &mut open(&scene, "/views/denying/mcp"),
        "run_python",
        json!({ "code": "'left' in globals()", "session": "same" }),
    );
    assert_eq!(again["value"], "True", "{again}");
}

#[test]
fn saved_tools_are_those_of_their_view() {
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(VIEWS));
    let save = |text: &str| {
        format!(
            "def mine():\n    return {text:?}\nawait mcp.runtime.save_tool(mine)\n[t['name'] for t in await mcp.runtime.list_saved_tools()]"
        )
    };
    let mut denying = open(&scene, "/views/denying/mcp");
    let saved = result(&mut denying, "run_python", json!({ "code": save("of the denying") }));
    assert_eq!(saved["value"], "['mine']", "{saved}");
    let looks = json!({ "code": "(hasattr(saved, 'mine'), await mcp.runtime.list_saved_tools())" });
    for path in ["/views/free/mcp", "/servers/code/mcp"] {
        let seen = result(&mut open(&scene, path), "run_python", looks.clone());
        assert_eq!(seen["value"], "(False, [])", "{path} has what another view has saved: {seen}");
    }
    let saved = result(&mut open(&scene, "/servers/code/mcp"), "run_python", json!({ "code": save("of all") }));
    assert_eq!(saved["status"], "success", "{saved}");
    let kept = result(&mut open(&scene, "/views/denying/mcp"), "run_python", json!({ "code": "saved.mine()" }));
    assert_eq!(kept["value"], "'of the denying'", "two of one name are two: {kept}");
    let listed = scene.json(&["saved", "list"]);
    let views: Vec<_> = listed.as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["view"])).collect();
    assert_eq!(views, [(&json!("mine"), &Value::Null), (&json!("mine"), &json!("denying"))], "{listed}");
    let unclear = scene.kennel(&["saved", "show", "mine"]);
    assert!(unclear.code != Some(0) && unclear.err().contains("--view"), "{}", unclear.err());
    assert!(scene.kennel(&["saved", "show", "mine", "--view", "denying"]).fine().contains("of the denying"));
    assert!(scene.kennel(&["saved", "show", "mine", "--view", "-"]).fine().contains("of all"));
    scene.kennel(&["saved", "remove", "mine", "--view", "denying"]).fine();
    assert!(scene.kennel(&["saved", "show", "mine"]).fine().contains("of all"));
}

#[test]
fn a_cell_of_another_conversation_is_as_unknown_as_one_that_never_was() {
    let scene = Scene::start(|file| file.text("[code]\nyield-after = 0.3\ntimeout = 100\n").text(VIEWS));
    let mut client = open(&scene, "/servers/code/mcp");
    let code = "import time\nprint('secret', flush=True)\ntime.sleep(4)\n'done'";
    let begun = result(&mut client, "run_python", json!({ "code": code, "session": "shared" }));
    assert_eq!(begun["status"], "running", "{begun}");
    let id = begun["cell"].as_str().unwrap().to_owned();
    let unknown = |client: &mut Client, id: &str| {
        let told = result(client, "wait_python", json!({ "cell": id, "cancel": true, "timeout": 0.1 }));
        told.to_string().replace(id, "ID")
    };
    for path in ["/servers/code/mcp", "/views/free/mcp"] {
        let mut other = open(&scene, path);
        let never = "c".repeat(id.len());
        assert_eq!(unknown(&mut other, &id), unknown(&mut other, &never), "{path} sees a foreign cell");
    }
    let ended = result(&mut client, "wait_python", json!({ "cell": id, "timeout": 60 }));
    assert_eq!((&ended["status"], &ended["value"]), (&json!("success"), &json!("'done'")), "{ended}");
    assert!(id.len() >= 26 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "it can be guessed: {id}");
}

#[test]
fn output_of_another_conversation_is_not_read_by_its_address() {
    let scene = Scene::start(|file| file.text(PATIENT).text(VIEWS));
    let mut client = open(&scene, "/servers/code/mcp");
    let ran = result(&mut client, "run_python", json!({ "code": "print('x' * 50000)", "session": "shared" }));
    let shown = ran.to_string();
    let uri = shown.split("kennel://result/").nth(1).unwrap_or_else(|| panic!("{shown}"));
    let id: String = uri.chars().take_while(char::is_ascii_alphanumeric).collect();
    assert!(id.len() >= 26, "it can be guessed: {id}");
    let read = |client: &mut Client| {
        let params = json!({ "uri": format!("kennel://result/{id}") });
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": params });
        client.post(&message).unwrap().messages().pop().unwrap()
    };
    assert!(read(&mut client)["result"]["contents"][0]["text"].as_str().unwrap().starts_with("xxx"));
    for path in ["/servers/code/mcp", "/views/free/mcp"] {
        let answer = read(&mut open(&scene, path));
        assert!(answer["error"]["message"].as_str().unwrap_or_default().contains("there is no result"), "{answer}");
    }
}

#[test]
fn who_is_asked_sees_every_argument_and_nothing_is_hidden_behind_a_long_one() {
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(VIEWS));
    let code = "arguments = {'message': 'x' * 5000, 'path': '/home/ann/.ssh/id_rsa', 'odd\\nname': 'a\\u202eb\\x1b[2J'}\n\
                await mcp.runtime.call_tool('one', 'echo', arguments)";
    let mut place = at(&scene, "/views/asking/mcp", "legacy");
    place["answer"] = json!({ "decision": "once" });
    let seen = does(&place, &[cell(code)]);
    let asked = &seen.asked[0];
    assert!(asked.contains("one.echo") && asked.contains("message"), "{asked}");
    assert!(asked.contains("path") && asked.contains("/home/ann/.ssh/id_rsa"), "an argument is hidden: {asked}");
    assert!(!asked.contains('\u{202e}') && !asked.contains('\u{1b}'), "{asked:?}");
    assert!(asked.contains("4,"), "it says how much of the long one is left out: {asked}");
    assert!(asked.chars().count() < 4000, "{}", asked.chars().count());
}

#[test]
fn tools_advertise_the_limits_of_the_file() {
    let scene = Scene::start(|file| file.text("[code]\ntimeout = 7\nmax-timeout = 300\n"));
    let mut client = open(&scene, "/servers/code/mcp");
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let answer = client.post(&message).unwrap().messages().pop().unwrap();
    let timeout = |tool: &str| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|known| known["name"] == tool).unwrap();
        tool["inputSchema"]["properties"]["timeout"].clone()
    };
    let run = timeout("run_python");
    assert_eq!((&run["maximum"], &run["default"]), (&json!(300), &json!(7)), "{run}");
    assert_eq!(timeout("wait_python")["maximum"], 300);
}

#[test]
fn stateless_clients_that_are_alike_share_neither_variables_nor_what_was_allowed() {
    let scene = Scene::start(|file| file.text(PATIENT).fixture("one", &[], "").text(VIEWS));
    let mut place = at(&scene, "/views/asking/mcp", "auto");
    place["answer"] = json!({ "decision": "always" });
    let twice = cell("x = [await mcp_one.echo(message='a'), await mcp_one.echo(message='b')]\nx");
    let first = does(&place, &[twice.clone(), cell("'x' in globals()")]);
    assert_eq!(first.version, "2026-07-28");
    assert_eq!(first.results[0]["structuredContent"]["value"], "['a', 'b']", "{:#}", first.results[0]);
    assert_eq!(first.asked.len(), 1, "what was allowed holds for the cell: {:?}", first.asked);
    let second = does(&place, &[cell("'x' in globals()"), twice]);
    assert_eq!(second.results[0]["structuredContent"]["value"], "False", "{:#}", second.results[0]);
    assert_eq!(second.asked.len(), 1, "what one client was allowed is not what the next one is: {:?}", second.asked);
    // Each cell without a name has a notebook of its own, and its result says by which name it goes on.
    let name = first.results[0]["structuredContent"]["session"].as_str().unwrap_or_default();
    assert!(name.len() >= 26, "{:#}", first.results[0]);
    assert_eq!(first.results[1]["structuredContent"]["value"], "False", "{:#}", first.results[1]);
    let on = does(&place, &[cell_in(name, "x")]);
    assert_eq!(on.results[0]["structuredContent"]["value"], "['a', 'b']", "{:#}", on.results[0]);
    // Elsewhere the same name is another notebook.
    let elsewhere = does(&at(&scene, "/views/free/mcp", "auto"), &[cell_in(name, "'x' in globals()")]);
    assert_eq!(elsewhere.results[0]["structuredContent"]["value"], "False", "{:#}", elsewhere.results[0]);
}

/// A file with these keys of the server and of the view.
fn file_with(server: &'static str, view: &'static str) -> impl FnOnce(File) -> File {
    move |file| {
        let view = format!("[views.v]\nservers = ['one']\nsurface = 'code'\n{view}\n");
        file.text(PATIENT).fixture("one", &[], &format!("model = 'shared'\n{server}")).text(&view)
    }
}

/// A cell that has its function keeps calling it; the file changes meanwhile. Returns how it ends.
fn changed_while_a_cell_calls(after: impl FnOnce(File) -> File) -> Value {
    let mut scene = Scene::start(file_with("", ""));
    let mut client = open(&scene, "/views/v/mcp");
    let before =
        result(&mut client, "run_python", json!({ "code": "await mcp_one.echo(message='a')", "session": "s" }));
    assert_eq!(before["value"], "'a'", "{before}");
    let calls = "import asyncio\necho = mcp_one.echo\nsaid = []\nfor _ in range(600):\n    try:\n        \
                 said.append(await echo(message='on'))\n    except MCPError as error:\n        said.append(str(error))\n        \
                 break\n    await asyncio.sleep(0.1)\nsaid[0], said[-1]";
    let running =
        std::thread::spawn(move || result(&mut client, "run_python", json!({ "code": calls, "session": "s" })));
    std::thread::sleep(std::time::Duration::from_secs(2));
    scene.rewrite(after);
    scene.event("reloaded", |_| true);
    running.join().unwrap()
}

#[test]
fn a_reload_takes_tools_from_cells_that_run() {
    let ended = changed_while_a_cell_calls(file_with("tools = { deny = ['echo'] }", ""));
    let said = ended["value"].as_str().unwrap_or_default();
    assert!(said.starts_with("('on', ") && !said.ends_with("'on')"), "{ended}");
}

#[test]
fn a_view_that_denies_from_now_on_denies_cells_that_run() {
    let ended = changed_while_a_cell_calls(file_with("", "approve = 'deny'"));
    let said = ended["value"].as_str().unwrap_or_default();
    assert!(said.starts_with("('on', ") && said.contains("only tools that do may be called"), "{ended}");
}

#[test]
fn code_calls_nothing_in_the_name_of_a_client_that_is_gone() {
    let scene = Scene::start(|file| {
        file.text("[code]\nyield-after = 0.3\ntimeout = 100\n").fixture("one", &[], "model = 'shared'")
    });
    let mut client = open(&scene, "/servers/code/mcp");
    let calls = "import asyncio\nsaid = []\nfor _ in range(600):\n    try:\n        \
                 said.append(await mcp_one.echo(message='on'))\n    except MCPError as error:\n        \
                 said.append(str(error))\n        break\n    await asyncio.sleep(0.1)\n";
    let begun = result(&mut client, "run_python", json!({ "code": calls, "session": "stays" }));
    assert_eq!(begun["status"], "running", "{begun}");
    let session = [("Mcp-Session-Id", client.session.as_str())];
    let path = client.path.clone();
    let gone = client.connection.request("DELETE", &path, &session, b"").unwrap();
    assert!(gone.status < 300, "{}", gone.text());
    // The notebook stays, and its next cell waits for the one of the client that is gone.
    let mut next = open(&scene, "/servers/code/mcp");
    let begun = result(&mut next, "run_python", json!({ "code": "said[-1]", "session": "stays" }));
    let ended = match begun["status"].as_str() {
        Some("running") => result(&mut next, "wait_python", json!({ "cell": begun["cell"], "timeout": 90 })),
        _ => begun,
    };
    assert!(ended["value"].as_str().unwrap_or_default().contains("conversation"), "{ended}");
}
