//! A gateway with small bounds and one server for each way to flood it, and what it takes: memory, time of others,
//! descriptors, processes and disk.

use crate::rows::Row;
use crate::support::gateway::{Client, Connection, HEADERS};
use crate::support::ground::Ground;
use crate::support::processes::{proc_text, processes_with};
use crate::support::running::{Collected, Kept};
use crate::support::waiting::{PATIENCE, settle};
use crate::upstream::Upstream;
use kennel_testkit::Caller;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fmt::{self, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;
/// `max-message` of all servers and of the gateway.
pub(crate) const MESSAGE: usize = 256 * KIB;
/// `max-unread` of the gateway.
pub(crate) const UNREAD: usize = 8 * MIB;
/// What the allocator, threads and code that was not used before may take beside what is counted.
const SLACK: usize = 10 * MIB;
/// What may be left of it after a row.
const LEFT: usize = 24 * MIB;
/// How much longer the calls of others may take: so many times as long as when nothing else happens, and this time.
const FACTOR: u32 = 20;
const FLOOR: Duration = Duration::from_millis(750);

/// How long the names of tasks and elicitations are.
const LONG_NAME: &str = "200000";

/// How each server floods, by the name of the server; the script knows the same names.
pub(crate) const MODES: [&str; 17] = [
    "calm",
    "list-changed",
    "lists",
    "pages",
    "logs",
    "progress",
    "updates",
    "cancels",
    "questions",
    "elicitations",
    "pings",
    "answers",
    "errors",
    "junk",
    "endless-line",
    "crash",
    "stderr",
];

pub(crate) struct Gateway {
    kept: Kept,
    log: Mutex<Collected>,
    pub(crate) address: String,
    pub(crate) ground: Ground,
    upstream: Upstream,
    first: Use,
}

/// What the gateway uses just now.
#[derive(Debug, Clone, Copy)]
struct Use {
    resident: usize,
    descriptors: usize,
    threads: usize,
}

/// What was seen while a row was driven, and after it.
pub(crate) struct Seen {
    grown: usize,
    slowest: Duration,
    calls: usize,
    said: Result<(), String>,
    left: Option<String>,
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grown, slowest, calls, .. } = self;
        write!(formatter, "grown by {:6} KiB, p99 of others {slowest:9.1?} in {calls} calls", grown / KIB)
    }
}

impl Seen {
    /// What is wrong with it.
    pub(crate) fn complaints(&self, row: &Row, quiet: Duration) -> Vec<String> {
        let mut complaints: Vec<String> = self.said.clone().err().into_iter().chain(self.left.clone()).collect();
        let most = row.bound + SLACK;
        if self.grown > most {
            complaints.push(format!("it has grown by {} KiB; its bounds are {} KiB", self.grown / KIB, most / KIB));
        }
        if self.slowest > quiet * FACTOR + FLOOR {
            complaints.push(format!("calls of others took {:?}, {quiet:?} otherwise", self.slowest));
        }
        if self.calls == 0 {
            complaints.push("no call of others was answered".to_owned());
        }
        complaints
    }
}

impl Gateway {
    pub(crate) fn start(caller: Caller) -> Self {
        let ground = Ground::new(caller);
        ground.make_file("work/flood.py", include_str!("flood.py"), 0o644);
        let upstream = Upstream::start();
        let script = ground.text("work/flood.py");
        let mut file = "[gateway]\nmax-message = \"256K\"\nmax-unread = \"8M\"\nstarts = 4\naudit = \"text\"\n\n\
             [defaults]\nera = \"legacy\"\nmax-message = \"256K\"\nmax-processes = 4\nrestarts = 1\nrestart-delay = 0.1\n\
             box = { memory = \"256M\" }\n\n"
            .to_owned();
        for mode in MODES {
            // What is kept under its name has a long one.
            let size = if mode == "elicitations" { LONG_NAME } else { "16384" };
            writeln!(file, "[servers.{mode}]\ncommand = \"python3\"\nargs = [{script:?}, {mode:?}, {size:?}]\n")
                .unwrap();
        }
        let owned = format!("command = \"python3\"\nargs = [{script:?}, \"calm\", {LONG_NAME:?}]\n");
        writeln!(file, "[servers.owned]\n{owned}").unwrap();
        let calm = format!("command = \"python3\"\nargs = [{script:?}, \"calm\", \"4\"]\n");
        writeln!(file, "[servers.control]\n{calm}model = \"shared\"\n").unwrap();
        writeln!(file, "[servers.kept]\n{calm}max-result = \"4K\"\n").unwrap();
        writeln!(file, "[servers.elsewhere]\nurl = \"http://{}/mcp\"\ntransport = \"http\"\n", upstream.address)
            .unwrap();
        let file = ground.make_file("work/kennel.toml", file, 0o600);
        let mut serve = ground.kennel(["serve", "--json", "--listen", "127.0.0.1:0", "-c"]);
        serve.arg(file).arg("--data").arg(ground.path("work/data"));
        serve.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut kept = Kept::start(serve);
        let log = Mutex::new(Collected::from(kept.stderr()));
        let first = Use { resident: 0, descriptors: 0, threads: 0 };
        let mut gateway = Self { kept, log, address: String::new(), ground, upstream, first };
        let serving = settled(|| gateway.events("serving").pop());
        serving["url"].as_str().unwrap().trim_start_matches("http://").clone_into(&mut gateway.address);
        // What is there when all doors and one server have been used once.
        gateway.call("control", &json!({})).unwrap();
        let mut session = gateway.session("calm");
        session.text("go", json!({}));
        crate::clients::end(&mut session);
        let is_left =
            || !processes_with(&format!("{script} calm ")).iter().all(|process| process.line.contains("calm 4 "));
        settle(PATIENCE, || is_left().then(|| "the first process is still there".to_owned())).unwrap();
        gateway.first = gateway.uses();
        gateway
    }

    /// Events of this name that it has told up to now.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let mut log = self.log.lock().unwrap();
        log.take_all();
        let text = log.text();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["event"] == name).collect()
    }

    /// How many bytes it has written to its standard error.
    pub(crate) fn written(&self) -> usize {
        let mut log = self.log.lock().unwrap();
        log.take_all();
        log.text().len()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.kept.pid()
    }

    /// A session with a server, of a client that can be asked everything.
    pub(crate) fn session(&self, server: &str) -> Client {
        let capabilities = json!({ "sampling": {}, "elicitation": { "url": {}, "form": {} }, "roots": {} });
        Client::open_at(&self.address, &format!("/servers/{server}/mcp"), capabilities).expect("the session opens")
    }

    /// Calls the one tool of a server by `/rpc`.
    pub(crate) fn call(&self, server: &str, arguments: &Value) -> std::io::Result<Value> {
        let mut connection = Connection::open(&self.address)?;
        call_over(&mut connection, server, arguments)
    }

    /// How long calls take when nothing else happens: the slowest of a hundred but one.
    pub(crate) fn quiet(&self) -> Duration {
        let stop = AtomicBool::new(false);
        let mut took = std::thread::scope(|scope| {
            let calling = scope.spawn(|| self.calls_of_others(&stop));
            std::thread::sleep(Duration::from_secs(1));
            stop.store(true, Ordering::Relaxed);
            calling.join().unwrap()
        });
        percentile(&mut took)
    }

    /// Calls another server until it is told to stop, and says how long each call took.
    fn calls_of_others(&self, stop: &AtomicBool) -> Vec<Duration> {
        let mut connection = Connection::open(&self.address).unwrap();
        let mut took = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            let answer = call_over(&mut connection, "control", &json!({})).unwrap();
            assert!(answer["result"].is_object(), "{answer}");
            took.push(start.elapsed());
            std::thread::sleep(Duration::from_millis(2));
        }
        took
    }

    /// Drives a row, and looks at what it takes and leaves.
    pub(crate) fn drive(&self, row: &Row) -> Seen {
        let before = self.uses();
        // Forgets the highest use up to now.
        std::fs::write(format!("/proc/{}/clear_refs", self.pid()), "5").unwrap();
        let stop = AtomicBool::new(false);
        let (said, mut took) = std::thread::scope(|scope| {
            let calling = scope.spawn(|| self.calls_of_others(&stop));
            let said = (row.drive)(self);
            stop.store(true, Ordering::Relaxed);
            (said, calling.join().unwrap())
        });
        let grown = self.status("VmHWM").saturating_sub(before.resident);
        let left = self.left(before);
        Seen { grown, slowest: percentile(&mut took), calls: took.len(), said, left }
    }

    /// What is still there of a row, after some time.
    fn left(&self, before: Use) -> Option<String> {
        let complaint = || {
            let now = self.uses();
            let floods = processes_with(&self.ground.text("work/flood.py"));
            let floods: Vec<_> = floods.into_iter().filter(|process| !process.line.contains("calm 4 ")).collect();
            // A thread for what blocks goes only after ten seconds without work.
            let is_clean = floods.is_empty()
                && now.descriptors <= before.descriptors + 4
                && now.threads <= before.threads + 16
                && now.resident <= self.first.resident + LEFT;
            (!is_clean).then(|| format!("left behind: {before:?} became {now:?}, and there is {floods:?}"))
        };
        settle(Duration::from_secs(20), complaint).err()
    }

    fn uses(&self) -> Use {
        let count = |name: &str| std::fs::read_dir(format!("/proc/{}/{name}", self.pid())).unwrap().count();
        Use { resident: self.status("VmRSS"), descriptors: count("fd"), threads: count("task") }
    }

    /// The files that the gateway holds open and that have no name.
    pub(crate) fn nameless_files(&self) -> usize {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().flatten();
        let targets = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        targets.filter(|target| target.starts_with(self.ground.path("tmp"))).count()
    }

    fn status(&self, name: &str) -> usize {
        memory(self.pid(), name)
    }

    /// How much is on disk.
    pub(crate) fn disk(&self) -> usize {
        bytes_under(&self.ground.path("work/data"))
    }

    /// Ends it, and says what is wrong with what is left.
    pub(crate) fn end(mut self) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.kept.lives() {
            self.kept.signal(Signal::INT);
            let mut log = self.log.lock().unwrap();
            let status = self.kept.end(&mut [&mut *log]);
            complaints.extend((!status.success()).then(|| format!("the gateway ended with {status}")));
        } else {
            complaints.push("the gateway has ended".to_owned());
        }
        drop(self.upstream);
        let data = bytes_under(&self.ground.path("work/data"));
        complaints.extend((data > 32 * MIB).then(|| format!("{data} bytes are left on disk")));
        self.ground.assert_clean();
        complaints
    }
}

/// A line of `/proc/PID/status` in bytes.
pub(crate) fn memory(pid: u32, name: &str) -> usize {
    let status = proc_text(pid, "status");
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {status}"));
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * KIB
}

fn call_over(connection: &mut Connection, server: &str, arguments: &Value) -> std::io::Result<Value> {
    let params = json!({ "name": "go", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let response = connection.request("POST", &format!("/servers/{server}/rpc"), &HEADERS, body.as_bytes())?;
    response.messages().pop().ok_or_else(|| std::io::Error::other(response.text()))
}

fn bytes_under(path: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(known) if known.is_dir() => bytes_under(&entry.path()),
        Ok(known) => usize::try_from(known.len()).unwrap(),
        Err(_) => 0,
    });
    bytes.sum()
}

fn percentile(took: &mut [Duration]) -> Duration {
    took.sort_unstable();
    took.get(took.len().saturating_sub(1 + took.len() / 100)).copied().unwrap_or_default()
}

/// Waits for something that comes.
pub(crate) fn settled<T>(look: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
