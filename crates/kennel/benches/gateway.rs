//! What the gateway costs: calls, memory and start, against the least that a gateway has to do and against the gateways
//! of others, interleaved in one run.
//!
//! `cargo bench -p kennel --bench gateway` prints tables of `docs/promises.md`; a promise that does not hold makes it
//! fail. Behind `--`, the names of single measures run only those, `--quick` takes fewer rounds, and `--no-peers` leaves
//! the gateways of others out. `KENNEL_BENCH_OTHER=/path/to/kennel` has another build take part.

#![forbid(unsafe_code)]

#[path = "gateway/bare.rs"]
mod bare;
#[path = "gateway/caller.rs"]
mod caller;
#[path = "gateway/contestants.rs"]
mod contestants;
#[path = "gateway/death.rs"]
mod death;
#[path = "gateway/floor.rs"]
mod floor;
#[path = "gateway/http.rs"]
mod http;
#[path = "gateway/lane.rs"]
mod lane;
#[path = "gateway/memory.rs"]
mod memory;
#[path = "gateway/message.rs"]
mod message;
#[path = "gateway/pipe.rs"]
mod pipe;
#[path = "gateway/processes.rs"]
mod processes;
#[path = "gateway/program.rs"]
mod program;
#[path = "gateway/report.rs"]
mod report;
#[path = "gateway/socket.rs"]
mod socket;
#[path = "gateway/start.rs"]
mod start;
#[path = "gateway/traffic.rs"]
mod traffic;

use contestants::{Peers, SERVE_BARE, SERVE_FLOOR};
use lane::Entrant;
use program::{Kind, Places};
use std::io;
use std::process::ExitCode;

/// All measures, in the order in which they run.
const MEASURES: [&str; 6] = ["latency", "throughput", "payloads", "memory", "start", "death"];

/// How many rounds are worth it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    Quick,
}

impl Effort {
    /// The number of rounds, where so many are a full effort.
    pub(crate) fn rounds(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full.div_ceil(5),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [SERVE_BARE, port] => serving(async { bare::serve(number(port)?).await }),
        [SERVE_FLOOR, port, program] => serving(async { floor::serve(number(port)?, program).await }),
        // That is how cargo says that it runs benches, and not tests.
        words if words.contains(&"--bench") => measuring(words),
        _ => Err(io::Error::other("run this by `cargo bench -p kennel --bench gateway`")),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves with the event loop that Kennel has.
fn serving(server: impl Future<Output = io::Result<()>>) -> io::Result<bool> {
    let workers = std::thread::available_parallelism()?.get().min(8);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.block_on(server).map(|()| true)
}

fn number(port: &str) -> io::Result<u16> {
    port.parse().map_err(io::Error::other)
}

/// Measures in one thread: the client should take as little of the machine as it can.
fn measuring(words: &[&str]) -> io::Result<bool> {
    let is_unknown = |word: &&&str| !word.starts_with("--") && !MEASURES.contains(word);
    if let Some(word) = words.iter().find(is_unknown) {
        return Err(io::Error::other(format!("there is no measure `{word}`; there are {}", MEASURES.join(", "))));
    }
    let peers = if words.contains(&"--no-peers") { Peers::LeftOut } else { Peers::Invited };
    let effort = if words.contains(&"--quick") { Effort::Quick } else { Effort::Full };
    let wanted = |measure: &&&str| words.contains(*measure) || words.iter().all(|word| word.starts_with("--"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(MEASURES.iter().filter(wanted).copied(), effort, peers))
}

async fn measure(measures: impl Iterator<Item = &str>, effort: Effort, peers: Peers) -> io::Result<bool> {
    let load = std::fs::read_to_string("/proc/loadavg")?;
    println!("load of the machine before the run: {} (more than 0.5 makes the figures noise)", load.trim());
    let scratch = tempfile::tempdir()?;
    let places = Places { fixture: kennel_testkit::program("kennel-fixture")?, scratch: scratch.path().to_owned() };
    let mut entrants = Vec::new();
    for program in contestants::all(&places, peers)? {
        let running = program.start(&places)?;
        match program.first_caller(&running, &places).await {
            Ok(_) => entrants.push(Entrant { program, running }),
            Err(error) if program.kind == Kind::Peer => println!("{error}"),
            Err(error) => return Err(error),
        }
    }
    let mut promises = Vec::new();
    for measure in measures {
        promises.extend(match measure {
            "latency" => traffic::latency(&entrants, effort).await?,
            "throughput" => traffic::throughput(&entrants, effort).await?,
            "payloads" => traffic::payloads(&entrants, effort).await?,
            "memory" => memory::measure(&entrants, &places).await?,
            "start" => start::measure(&entrants, &places, effort).await?,
            _ => death::measure(&entrants, &places).await?,
        });
    }
    Ok(report::settle(&promises))
}
