//! What code mode costs: a cell, a call from a cell and a new notebook, against a bare Python, in one run.
//!
//! `cargo bench -p kennel --bench code` prints the tables of `docs/promises.md`. Goals that do not hold are named, and make it
//! fail. Rounds of all that is compared take turns; what is told is the median over all.

use kennel_box::{EngineKind, HostView, NativeEngine};
use kennel_code::cell::CellRequest;
use kennel_code::engine::{CodeEngine, NativePython, NativePythonSettings, Source};
use kennel_code::notebook::{Ask, AskError, CellContext, Host, HostFuture, Registry, RegistryParts};
use kennel_code::results::Results;
use kennel_code::{Holder, Owner, Pool, PoolSettings, RegistryLimits, Settings};
use serde_json::value::RawValue;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 20;
const CELLS: usize = 100;
const COLD: usize = 20;
const NOTEBOOKS: usize = 100;

/// Reads a line, runs it, and says when that is done: the least that a REPL does.
const REPL: &str = "import sys\nspace = {}\nfor line in sys.stdin:\n    exec(compile(line, 'cell', 'exec'), space)\n    \
                    sys.stdout.write('.\\n')\n    sys.stdout.flush()\n";

fn main() -> ExitCode {
    kennel_jail::run_if_helper();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(measure())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Outcome<bool> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine before the run: {} (more than 0.5 makes the figures noise)\n", load.trim());
    let boxes = Arc::new(NativeEngine::new(EngineKind::Native, kennel_jail::Helper::own_program()));
    let settings = NativePythonSettings::default();
    let engine = Arc::new(NativePython::new(boxes, Source::embedded(), &HostView::current(), settings).await?);
    println!("{}\n", engine.describe());
    let pool = Arc::new(Pool::new(
        Arc::clone(&engine) as _,
        PoolSettings { ready: 2, waiting: NOTEBOOKS, ..PoolSettings::default() },
    ));
    let bounds =
        RegistryLimits { owner_notebooks: 2 * NOTEBOOKS, notebooks: 2 * NOTEBOOKS, ..RegistryLimits::default() };
    let settings = Settings { registry: bounds, ..Settings::default() };
    let parts =
        RegistryParts { engine: Arc::clone(&pool) as _, results: Arc::new(Results::new(settings.results.clone())) };
    let bench = Bench { registry: Registry::new(parts, settings), host: Arc::new(Echo) };
    let (warm, repl) = bench.warm().await?;
    let call = bench.call().await?;
    let (pooled, fresh) = bench.cold(&pool, &engine).await?;
    // The program itself: what is on the PATH may be a script that looks for it.
    let said = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()?;
    let python = String::from_utf8(said.stdout)?;
    let plain = starts(&[python.trim(), "-c", "pass"])?;
    println!("| | median | of the bare Python's |\n|---|---|---|");
    println!("| a line through a pipe to a bare Python loop | {} | 1.00 |", shown(repl));
    println!("| a warm cell | {} | {:.2} |", shown(warm), ratio(warm, repl));
    println!("| a call from a cell, answered at once | {} | {:.2} |", shown(call), ratio(call, repl));
    println!("| the first cell of a notebook, from the pool | {} | |", shown(pooled));
    println!("| the same without a pool | {} | |", shown(fresh));
    println!("| `python3 -c pass` | {} | |", shown(plain));
    for engine in ["podman", "docker"] {
        match starts(&[engine, "run", "--rm", "--network", "none", "python:3-slim", "python3", "-c", "pass"]) {
            Ok(taken) => println!("| `{engine} run … python3 -c pass` | {} | |", shown(taken)),
            Err(_) => println!("| `{engine} run … python3 -c pass` | not here | |"),
        }
    }
    let (together, each) = bench.many().await?;
    println!(
        "\n{NOTEBOOKS} notebooks at once, each with one cell: ready after {}, {:.1} MiB each when idle (PSS)",
        shown(together),
        each / 1024.0
    );
    bench.registry.shutdown().await;
    let goals = [
        ("a warm cell takes at most 2 bare round trips", ratio(warm, repl) <= 2.0),
        ("the first cell of a notebook from the pool is done within 10 ms", pooled <= Duration::from_millis(10)),
    ];
    println!("\n| goal | kept |\n|---|---|");
    for (goal, kept) in goals {
        println!("| {goal} | {} |", if kept { "yes" } else { "**no**" });
    }
    Ok(goals.iter().all(|(_, kept)| *kept))
}

/// Answers every call at once.
struct Echo;

impl Host for Echo {
    fn ask<'a>(&'a self, _: &'a CellContext, _: Ask) -> HostFuture<'a, Result<Box<RawValue>, AskError>> {
        Box::pin(async {
            Ok(serde_json::value::to_raw_value(&serde_json::json!({ "content": [] })).unwrap_or_default())
        })
    }
}

struct Bench {
    registry: Registry,
    host: Arc<Echo>,
}

impl Bench {
    async fn run(&self, notebook: &str, code: &str) -> Outcome<String> {
        let host = Arc::clone(&self.host) as Arc<dyn Host>;
        let servers =
            r#"{"t":"servers","servers":[{"name":"one","alias":"one","tools":[{"name":"echo","python":"echo"}]}]}"#;
        let catalog = kennel_code::cell::Versioned { version: 1, message: servers.into() };
        let request = CellRequest { catalog: Some(catalog), ..CellRequest::new(code, host) };
        let holder = Holder::stateless(Owner::new("bench", None));
        let result = self.registry.run(&holder, notebook, request)?.finished().await;
        match result.error {
            None => Ok(result.value),
            Some(error) => Err(format!("{}: {}", error.kind, error.message).into()),
        }
    }

    /// A warm cell, and a line to a bare Python.
    async fn warm(&self) -> Outcome<(Duration, Duration)> {
        let mut bare = Bare::start()?;
        let (mut warm, mut repl) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for _ in 0..CELLS {
                let began = Instant::now();
                self.run("warm", "1+1").await?;
                warm.push(began.elapsed());
            }
            for _ in 0..CELLS {
                let began = Instant::now();
                bare.run("1+1")?;
                repl.push(began.elapsed());
            }
        }
        Ok((median(warm), median(repl)))
    }

    /// A call from a cell, as the cell sees it.
    async fn call(&self) -> Outcome<Duration> {
        let code = "import time\ntaken = []\nfor _ in range(1000):\n    began = time.perf_counter()\n    \
                    await mcp_one.echo()\n    taken.append(time.perf_counter() - began)\nsorted(taken)[500]";
        Ok(Duration::from_secs_f64(self.run("calls", code).await?.parse()?))
    }

    /// The first cell of a notebook, with a pool and without.
    async fn cold(&self, pool: &Pool, engine: &NativePython) -> Outcome<(Duration, Duration)> {
        let (mut pooled, mut fresh) = (Vec::new(), Vec::new());
        for number in 0..COLD {
            while pool.ready() < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let name = format!("cold {number}");
            let began = Instant::now();
            self.run(&name, "1").await?;
            pooled.push(began.elapsed());
            self.registry.end(&Owner::new("bench", None), &name).await;
            while pool.ready() < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let began = Instant::now();
            drop(engine.start().await?);
            fresh.push(began.elapsed());
        }
        Ok((median(pooled), median(fresh)))
    }

    /// Many notebooks at once: how long until all have run a cell, and how much memory each has in KiB.
    async fn many(&self) -> Outcome<(Duration, f64)> {
        let names: Vec<String> = (0..NOTEBOOKS).map(|number| format!("many {number}")).collect();
        let began = Instant::now();
        let cells: Vec<_> = names.iter().map(|name| self.run(name, "1")).collect();
        for cell in futures_util::future::join_all(cells).await {
            cell?;
        }
        let together = began.elapsed();
        let own =
            "import re\nint(re.search(r'^Pss:\\s+(\\d+)', open('/proc/self/smaps_rollup').read(), re.M).group(1))";
        let mut sum = 0.0;
        for name in &names {
            sum += self.run(name, own).await?.parse::<f64>()?;
        }
        #[expect(clippy::cast_precision_loss, reason = "it is a hundred")]
        Ok((together, sum / NOTEBOOKS as f64))
    }
}

/// A Python loop on pipes.
struct Bare {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Bare {
    fn start() -> Outcome<Self> {
        let mut command = Command::new("python3");
        let mut child = command.args(["-I", "-c", REPL]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Self { child, stdin, stdout })
    }

    fn run(&mut self, line: &str) -> Outcome<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes())?;
        let mut said = String::new();
        self.stdout.read_line(&mut said)?;
        if said == ".\n" { Ok(()) } else { Err(format!("the bare Python said {said:?}").into()) }
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long a command takes.
fn starts(words: &[&str]) -> Outcome<Duration> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut taken = Vec::new();
    for _ in 0..COLD {
        let began = Instant::now();
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        taken.push(began.elapsed());
        if !status.success() {
            return Err(format!("{program}: {status}").into());
        }
    }
    Ok(median(taken))
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn shown(taken: Duration) -> String {
    if taken < Duration::from_millis(1) {
        format!("{:.0} µs", taken.as_secs_f64() * 1e6)
    } else {
        format!("{:.1} ms", taken.as_secs_f64() * 1e3)
    }
}
