//! Real servers with some of the real tools, behind a real `kennel serve`.

use crate::agent::Surface;
use crate::http::Client;
use crate::task::Task;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const REGISTRY: &str = include_str!("../../../kennel-testkit/data/tools.jsonl");

/// How long the gateway may take until all servers have said what they have.
const PATIENCE: Duration = Duration::from_mins(2);

/// A gateway that serves so many tools. It ends when this is dropped.
pub(crate) struct World {
    child: Child,
    port: u16,
    _place: TempDir,
}

impl World {
    /// Serves so many tools, those of the task among them, and waits until all are there.
    pub(crate) fn start(fixture: &Path, task: &Task, size: usize) -> io::Result<Self> {
        let place = tempfile::tempdir()?;
        let mut servers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, line) in chosen(task, size)? {
            servers.entry(server).or_default().push(line);
        }
        let mut config = String::from("[views.found]\nsurface = \"search\"\n");
        for (server, lines) in &servers {
            let tools = place.path().join(format!("{server}.tools"));
            fs::write(&tools, lines.join("\n"))?;
            let answers = place.path().join(format!("{server}.answers"));
            let scripted = (task.answers)().into_iter().filter(|answer| answer.server == server);
            let scripted = scripted
                .map(|answer| json!({"tool": answer.tool, "when": answer.when, "result": answer.result}).to_string());
            fs::write(&answers, scripted.collect::<Vec<_>>().join("\n"))?;
            let [command, tools, answers] = [fixture, &tools, &answers].map(|path| format!("\"{}\"", path.display()));
            let _ = write!(
                config,
                "[servers.{server}]\ncommand = {command}\nmodel = \"shared\"\nbox = {{ read = [{tools}, {answers}] }}\n\
                 args = [\"--tools-file\", {tools}, \"--tools-server\", \"{server}\", \"--answers\", {answers}]\n",
            );
        }
        let file = place.path().join("kennel.toml");
        fs::write(&file, config)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let log = File::create(place.path().join("log"))?;
        let mut serve = Command::new(env!("CARGO_BIN_EXE_kennel"));
        serve.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "-c"]).arg(&file);
        serve.arg("--data").arg(place.path().join("data"));
        let child = serve.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let world = Self { child, port, _place: place };
        world.wait(size)?;
        Ok(world)
    }

    /// A session at an address.
    pub(crate) fn connect(&self, path: &'static str) -> io::Result<Client> {
        Client::connect(self.port, path)
    }

    /// Waits until all tools are listed.
    fn wait(&self, size: usize) -> io::Result<()> {
        let start = Instant::now();
        loop {
            let found = self.connect(Surface::Direct.path()).and_then(|mut client| client.tools());
            match found.map(|tools| tools.len()) {
                Ok(found) if found == size => return Ok(()),
                found if start.elapsed() > PATIENCE => {
                    return Err(io::Error::other(format!("there are not {size} tools but {found:?}")));
                }
                _ => sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // It ends its servers then; there is nobody to tell if it does not.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The lines of so many tools: those of the task, then the others of their servers, then the rest in its order.
fn chosen(task: &Task, size: usize) -> io::Result<Vec<(String, String)>> {
    let mut lines = Vec::new();
    for line in REGISTRY.lines() {
        let mut tool: Value = serde_json::from_str(line)?;
        let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
        let (server, name) = (text("server"), text("name"));
        if task.tools.contains(&(server.as_str(), name.as_str()))
            && let Some(arguments) = tool["arguments"].as_array_mut()
        {
            let known = task.arguments.iter().filter(|[tool, ..]| *tool == name);
            arguments
                .extend(known.map(|[_, name, kind, what]| json!({"name": name, "type": kind, "description": what})));
        }
        lines.push((server, name, tool.to_string()));
    }
    let rank = |server: &str, name: &str| {
        let is_needed = task.tools.contains(&(server, name));
        let is_near = task.tools.iter().any(|(needed, _)| *needed == server);
        (!is_needed, !is_near)
    };
    lines.sort_by_key(|(server, name, _)| rank(server, name));
    let needed = lines.iter().filter(|(server, name, _)| !rank(server, name).0).count();
    if needed != task.tools.len() {
        return Err(io::Error::other(format!("the data has {needed} of the three tools of {}", task.name)));
    }
    Ok(lines.into_iter().take(size).map(|(server, _, line)| (server, line)).collect())
}
