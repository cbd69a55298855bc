//! What a gateway occupies when nothing happens, and how much more with every session. The fixture is not counted.

use std::io;
use std::time::Duration;

use crate::caller::{Caller, Door};
use crate::http::Http;
use crate::lane::Entrant;
use crate::processes::{Memory, memory};
use crate::program::{Kind, Places, Program, Running};
use crate::report::{Bound, Promise, failed, head, row, shown};

/// How many sessions are opened where they share a process, and where each may have its own.
const MANY: u32 = 1000;
const FEW: u32 = 50;
/// How long a program may take to come to rest.
const REST: Duration = Duration::from_millis(500);
const KIB_PER_MIB: f64 = 1024.0;

/// What is left of a session that nobody uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    /// Its connection is open.
    Connected,
    /// It has no connection.
    Disconnected,
    /// Its connection is open, and another one on which it listens, as official clients do.
    Listening,
}

struct Figures {
    idle: Memory,
    /// The proportional part of the processes that it has beside itself and the fixture, together.
    helpers: f64,
    per_session: f64,
    sessions: u32,
}

/// Measures all programs, each started anew.
pub(crate) async fn measure(entrants: &[Entrant], places: &Places) -> io::Result<Vec<Promise>> {
    head(
        "memory",
        &["program", "RSS MiB", "PSS MiB", "PSS of its helpers MiB", "sessions", "RSS per idle session KiB"],
    );
    let mut promises = Vec::new();
    for program in entrants
        .iter()
        .map(|entrant| &entrant.program)
        .filter(|program| program.command.is_some() && program.kind != Kind::Modern)
    {
        let figures = match one(program, places, Idle::Connected).await {
            Ok(figures) => figures,
            Err(error) if program.kind == Kind::Peer => {
                row(&[failed(program.name, &error)]);
                continue;
            }
            Err(error) => return Err(error),
        };
        print(program.name, &figures);
        if program.kind == Kind::Shared {
            let idle = figures.idle.resident / KIB_PER_MIB;
            promises.push(Promise::new("idle memory of Kennel in MiB", Some(idle), Bound::AtMost(12.0)));
            let text = "memory per idle session in KiB";
            promises.push(Promise::new(text, Some(figures.per_session), Bound::AtMost(60.0)));
            print("the same, sessions without connection", &one(program, places, Idle::Disconnected).await?);
            print("the same, sessions that also listen", &one(program, places, Idle::Listening).await?);
        }
    }
    Ok(promises)
}

fn print(name: &str, figures: &Figures) {
    let mib = |kib: f64| shown(Some(kib / KIB_PER_MIB), 1);
    row(&[
        name.to_owned(),
        mib(figures.idle.resident),
        mib(figures.idle.proportional),
        mib(figures.helpers),
        figures.sessions.to_string(),
        shown(Some(figures.per_session), 1),
    ]);
}

async fn one(program: &Program, places: &Places, idle: Idle) -> io::Result<Figures> {
    let running = program.start(places)?;
    let mut first = program.first_caller(&running, places).await?;
    let mut request = first.prepare(program.tool_prefix, 100);
    first.call(&mut request).await?;
    tokio::time::sleep(REST).await;
    let before = own(&running)?;
    let helpers = running.descendants().into_iter().filter(|process| process.name != "kennel-fixture");
    let helpers =
        helpers.filter_map(|helper| memory(helper.id).ok()).fold(0.0, |sum, memory| sum + memory.proportional);
    let sessions = match program.kind {
        Kind::PerSession | Kind::Peer => FEW,
        Kind::Direct | Kind::Bare | Kind::Floor | Kind::Shared | Kind::Modern => MANY,
    };
    let mut kept = Vec::new();
    for _ in 0..sessions {
        kept.extend(open(program, &running, idle).await?);
    }
    tokio::time::sleep(REST).await;
    let per_session = (own(&running)?.resident - before.resident) / f64::from(sessions);
    Ok(Figures { idle: before, helpers, per_session, sessions })
}

/// A session, as what of it stays open.
async fn open(program: &Program, running: &Running, idle: Idle) -> io::Result<Vec<Caller>> {
    let caller = running.connect(program.main_door()).await?;
    match (idle, program.main_door(), caller) {
        (Idle::Disconnected, _, _) => Ok(Vec::new()),
        (Idle::Listening, Door::Session(path), Caller::Http(http)) => {
            let mut listening = Http::connect(running.port, path).await?;
            listening.listen(http.session().unwrap_or_default()).await?;
            Ok(vec![Caller::Http(http), Caller::Http(listening)])
        }
        (_, Door::Post(_) | Door::Heedless(_), mut caller) => {
            // Without a session there is only the connection; it counts once it was used.
            let mut request = caller.prepare(program.tool_prefix, 100);
            caller.call(&mut request).await?;
            Ok(vec![caller])
        }
        (_, _, caller) => Ok(vec![caller]),
    }
}

fn own(running: &Running) -> io::Result<Memory> {
    memory(running.id().ok_or_else(|| io::Error::other("the program has ended"))?)
}
