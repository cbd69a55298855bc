//! What callers get when the fixture is killed under a call, and what stays behind when the gateway itself is killed.

use serde_json::json;
use std::io;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

use crate::caller::Caller;
use crate::lane::Entrant;
use crate::processes::{self, Process};
use crate::program::{Kind, Places, Program, Running};
use crate::report::{Bound, Promise, failed, head, row};

/// What is not answered by then is never answered.
const PATIENCE: Duration = Duration::from_secs(10);
/// So that a call has arrived where it should.
const ARRIVAL: Duration = Duration::from_millis(300);
/// How long processes may take to end.
const ENDING: Duration = Duration::from_secs(2);
const GRANDCHILDREN: usize = 3;
const FIXTURE: &str = "kennel-fixture";

/// Kills under every program, each started anew.
pub(crate) async fn measure(entrants: &[Entrant], places: &Places) -> io::Result<Vec<Promise>> {
    let programs = entrants.iter().map(|entrant| &entrant.program).filter(|program| program.kind != Kind::Modern);
    let programs: Vec<&Program> = programs.collect();
    let gateways = || programs.iter().filter(|program| program.command.is_some() && program.kind != Kind::Bare);
    let title = "the server is killed under a call";
    head(title, &["program", "the call", "the next call of the session", "a call of a new session"]);
    for program in gateways() {
        match killed_server(program, places).await {
            Ok([call, next, new]) => row(&[program.name.to_owned(), call, next, new]),
            Err(error) => excuse(program, error)?,
        }
    }
    let title = format!("the gateway is killed; its server had left {GRANDCHILDREN} processes without a parent behind");
    head(&title, &["program", "servers left", "processes of servers left", "its own left"]);
    let mut promises = Vec::new();
    for program in gateways() {
        let left = match killed_gateway(program, places).await {
            Ok(left) => left,
            Err(error) => {
                excuse(program, error)?;
                continue;
            }
        };
        row(&[&[program.name.to_owned()][..], &left.map(|count| count.to_string())].concat());
        if let Kind::Shared | Kind::PerSession = program.kind {
            let all = f64::from(left.iter().sum::<u32>());
            let text = format!("processes left after the death of `{}`", program.name);
            promises.push(Promise::new(text, Some(all), Bound::AtMost(0.0)));
        }
    }
    Ok(promises)
}

/// What others cannot do is a finding, and no error.
fn excuse(program: &Program, error: io::Error) -> io::Result<()> {
    if program.kind != Kind::Peer {
        return Err(error);
    }
    row(&[failed(program.name, &error)]);
    Ok(())
}

/// What three calls come to: one that is under way at the kill, the next one, and one of a new session.
async fn killed_server(program: &Program, places: &Places) -> io::Result<[String; 3]> {
    let running = program.start(places)?;
    let mut caller = program.first_caller(&running, places).await?;
    let (echo, hang) = (format!("{}echo", program.tool_prefix), format!("{}hang", program.tool_prefix));
    let message = json!({ "message": "still there" });
    caller.tool(&echo, &message).await?;
    let killing = async {
        sleep(ARRIVAL).await;
        running.descendants().iter().filter(|process| process.name == FIXTURE).for_each(Process::kill);
        Instant::now()
    };
    let arguments = json!({});
    let hanging = async {
        let outcome = timeout(PATIENCE, caller.tool(&hang, &arguments)).await;
        (outcome, Instant::now())
    };
    let (killed, (outcome, ended)) = tokio::join!(killing, hanging);
    let call = match outcome {
        Ok(outcome) => describe(&outcome, ended.saturating_duration_since(killed)),
        Err(_) => hangs(),
    };
    let next = attempt(&mut caller, &echo, &message).await;
    let start = Instant::now();
    let new = match timeout(PATIENCE, running.connect(program.main_door())).await {
        Ok(Ok(mut caller)) => attempt(&mut caller, &echo, &message).await,
        Ok(Err(error)) => describe(&Err(error), start.elapsed()),
        Err(_) => hangs(),
    };
    Ok([call, next, new])
}

async fn attempt(caller: &mut Caller, tool: &str, arguments: &serde_json::Value) -> String {
    let start = Instant::now();
    match timeout(PATIENCE, caller.tool(tool, arguments)).await {
        Ok(outcome) => describe(&outcome, start.elapsed()),
        Err(_) => hangs(),
    }
}

fn hangs() -> String {
    format!("hangs (over {} s)", PATIENCE.as_secs())
}

/// An outcome in a few words.
fn describe(outcome: &io::Result<String>, after: Duration) -> String {
    let after = after.as_millis();
    match outcome {
        Ok(_) => format!("works ({after} ms)"),
        Err(error) => match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::InvalidData => {
                let text: String = error.to_string().chars().filter(|letter| *letter != '|').take(160).collect();
                format!("error after {after} ms: `{}`", text.replace('`', "'"))
            }
            _ => format!("connection lost after {after} ms"),
        },
    }
}

/// How many servers, processes that servers had left behind, and other processes of the gateway live on.
async fn killed_gateway(program: &Program, places: &Places) -> io::Result<[u32; 3]> {
    let running = program.start(places)?;
    let mut caller = program.first_caller(&running, places).await?;
    let marker = format!("bench-{}-{}", std::process::id(), running.port);
    let tool = format!("{}spawn_grandchildren", program.tool_prefix);
    caller.tool(&tool, &json!({ "count": GRANDCHILDREN, "marker": marker })).await?;
    let before = running.descendants();
    let orphans = processes::with_argument(&marker);
    if orphans.len() < GRANDCHILDREN {
        return Err(io::Error::other(format!("{}: only {} orphans were made", program.name, orphans.len())));
    }
    end(&running);
    let start = Instant::now();
    while start.elapsed() < ENDING && before.iter().chain(&orphans).any(Process::is_alive) {
        sleep(Duration::from_millis(20)).await;
    }
    let left: Vec<&Process> =
        before.iter().filter(|process| !orphans.contains(process) && process.is_alive()).collect();
    let servers = left.iter().filter(|process| process.name == FIXTURE).count();
    let orphaned = orphans.iter().filter(|process| process.is_alive()).count();
    let counts = [servers, orphaned, left.len() - servers];
    before.iter().chain(&orphans).for_each(Process::kill);
    Ok(counts.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
}

fn end(running: &Running) {
    if let Some(id) = running.id() {
        processes::kill(id);
    }
}
