//! What a box costs: start and round trip, against a plain process and bubblewrap, interleaved in one run.
//!
//! `cargo bench -p kennel` prints the tables of `docs/promises.md`; a promise that does not hold makes it fail.

use kennel_box::{BoxPlan, BoxSpec, Command, Engine, EngineKind, HostView, MountRules, NativeEngine, RunningBox};
use std::error::Error;
use std::pin::Pin;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const STARTS: usize = 200;
const ROUNDS: usize = 40;
const ROUND_TRIPS: u32 = 500;

const BUBBLEWRAP: [&str; 19] = [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--symlink",
    "usr/bin",
    "/bin",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    kennel_jail::run_if_helper();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(measure()));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Outcome<bool> {
    let host = HostView::current();
    let plan = BoxSpec::default().plan(&host, &MountRules::for_user(&host.home), &[])?;
    let engine = NativeEngine::new(EngineKind::Native, kennel_jail::Helper::own_program());
    let mut kept = true;
    for command in [&["/bin/true"][..], &["/usr/bin/python3", "-c", "pass"]] {
        kept &= starts(&engine, &plan, command).await?;
    }
    kept &= round_trips(&plan).await?;
    Ok(kept)
}

/// Times the start of a command in every way, one after the other, over and over.
async fn starts(engine: &NativeEngine, plan: &BoxPlan, command: &[&str]) -> Outcome<bool> {
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..STARTS {
        times[0].push(spawn(command[0], &command[1..]).await?);
        times[1].push(spawn("bwrap", &[&BUBBLEWRAP, command].concat()).await?);
        times[2].push(spawn(env!("CARGO_BIN_EXE_kennel"), &[&["exec", "--"], command].concat()).await?);
        times[3].push(in_box(engine, plan, command).await?);
    }
    let [bare, bubblewrap, exec, engine] = times.map(median);
    println!("\nstart of `{}`, median of {STARTS}\n", command.join(" "));
    println!("| way | ms | over plain | of bubblewrap's |\n|---|---|---|---|");
    let over = |time: Duration| (time.saturating_sub(bare)).as_secs_f64() * 1000.0;
    for (way, time) in
        [("plain", bare), ("bubblewrap", bubblewrap), ("`kennel exec`", exec), ("engine, helper running", engine)]
    {
        let ms = time.as_secs_f64() * 1000.0;
        println!("| {way} | {ms:.2} | {:.2} | {:.2} |", over(time), over(time) / over(bubblewrap));
    }
    Ok(engine <= bubblewrap)
}

async fn spawn(program: &str, arguments: &[&str]) -> Outcome<Duration> {
    let start = Instant::now();
    let status = tokio::process::Command::new(program).args(arguments).stdin(Stdio::null()).status().await?;
    let time = start.elapsed();
    if status.success() { Ok(time) } else { Err(format!("{program}: {status}").into()) }
}

async fn in_box(engine: &NativeEngine, plan: &BoxPlan, command: &[&str]) -> Outcome<Duration> {
    let start = Instant::now();
    let made = engine.create(plan).await?;
    let process = made.start(&words(command)).await?;
    let report = process.handle.wait().await;
    let time = start.elapsed();
    made.destroy().await?;
    if report.success() { Ok(time) } else { Err(format!("{}: {report}", command[0]).into()) }
}

fn words(command: &[&str]) -> Command {
    Command { program: command[0].into(), args: command[1..].iter().map(Into::into).collect(), ..Command::default() }
}

/// Times lines going to `cat` and back: through a plain pipe, to a process in a session of its own, and into a box.
///
/// A session of its own is what any supervisor gives a process. The kernel then schedules it as a group of its own, as
/// it does a box, which costs a little at every switch whatever else is done to it.
async fn round_trips(plan: &BoxPlan) -> Outcome<bool> {
    // On one processor: on two, whether they sleep in between decides more than anything that is measured here.
    let mut one = rustix::thread::CpuSet::new();
    one.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &one)?;
    let engine = NativeEngine::new(EngineKind::Native, kennel_jail::Helper::own_program());
    let made: Arc<dyn RunningBox> = engine.create(plan).await?;
    let boxed = made.start(&words(&["cat"])).await?;
    let (mut bare, mut session) = (Piped::spawn("cat", &[])?, Piped::spawn("setsid", &["cat"])?);
    let mut boxed = Piped { to: boxed.stdin, from: boxed.stdout, _child: None };
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(echo(&mut bare).await?);
        times[1].push(echo(&mut session).await?);
        times[2].push(echo(&mut boxed).await?);
    }
    made.destroy().await?;
    let [bare, session, boxed] = times.map(median);
    println!("\nround trip of a line to `cat`, median of {ROUNDS} rounds of {ROUND_TRIPS}, on one processor\n");
    println!("| way | µs | of plain pipe | of own session |\n|---|---|---|---|");
    let ratio = |time: Duration, base: Duration| time.as_secs_f64() / base.as_secs_f64();
    for (way, time) in [("plain pipe", bare), ("plain pipe, own session", session), ("box", boxed)] {
        let micros = time.as_secs_f64() * 1e6 / f64::from(ROUND_TRIPS);
        println!("| {way} | {micros:.2} | {:.2} | {:.2} |", ratio(time, bare), ratio(time, session));
    }
    Ok(ratio(boxed, session) <= 1.05)
}

/// A process at the other end of two pipes.
struct Piped {
    to: Pin<Box<dyn tokio::io::AsyncWrite + Send>>,
    from: Pin<Box<dyn tokio::io::AsyncRead + Send>>,
    _child: Option<tokio::process::Child>,
}

impl Piped {
    fn spawn(program: &str, arguments: &[&str]) -> Outcome<Self> {
        let mut command = tokio::process::Command::new(program);
        let mut child =
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        Ok(Self { to: Box::pin(stdin), from: Box::pin(stdout), _child: Some(child) })
    }
}

async fn echo(piped: &mut Piped) -> Outcome<Duration> {
    const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let mut back = [0; LINE.len()];
    let start = Instant::now();
    for _ in 0..ROUND_TRIPS {
        piped.to.write_all(LINE).await?;
        piped.from.read_exact(&mut back).await?;
    }
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
