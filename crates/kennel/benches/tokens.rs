//! How much of a model's context it takes to do a task: with all tools listed, with the two tools of the search surface,
//! and in code mode.
//!
//! `cargo bench -p kennel --bench tokens` prints the tables of `docs/promises.md`. Behind `--`, the names of tasks run only
//! those; a promise that does not hold makes it fail. An agent that knows what to do makes real calls at a real `kennel serve`; an answer that is wrong makes it fail.

#![forbid(unsafe_code)]

#[path = "tokens/agent.rs"]
mod agent;
#[path = "tokens/footprint.rs"]
mod footprint;
#[path = "tokens/http.rs"]
mod http;
#[path = "tokens/report.rs"]
mod report;
#[path = "tokens/task.rs"]
mod task;
#[path = "tokens/tasks/mod.rs"]
mod tasks;
#[path = "tokens/world.rs"]
mod world;

use agent::{Agent, Surface};
use footprint::Footprint;
use report::Row;
use std::io;
use std::process::ExitCode;
use task::Task;
use world::World;

/// How many tools there are.
const SIZES: [usize; 3] = [3, 30, 300];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // That is how cargo says that it runs benches, and not tests.
    if !arguments.iter().any(|word| word == "--bench") {
        eprintln!("run this by `cargo bench -p kennel --bench tokens`");
        return ExitCode::FAILURE;
    }
    let wanted: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| !word.starts_with("--")).collect();
    match measure(&wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and says whether the promise holds.
fn measure(wanted: &[&str]) -> io::Result<bool> {
    let fixture = kennel_testkit::program("kennel-fixture")?;
    let mut rows = Vec::new();
    for task in tasks::ALL.iter().filter(|task| wanted.is_empty() || wanted.contains(&task.name)) {
        for size in SIZES {
            let world = World::start(&fixture, task, size)?;
            let done = |surface| done(task, &world, surface).map_err(|error| named(task, size, surface, &error));
            rows.push(Row {
                task: task.name,
                tools: size,
                direct: done(Surface::Direct)?,
                search: done(Surface::Search)?,
                code: done(Surface::Code)?,
            });
        }
    }
    report::print(&rows);
    Ok(report::settle(&rows))
}

/// Does a task, and returns what it took.
fn done(task: &Task, world: &World, surface: Surface) -> io::Result<Footprint> {
    let mut agent = Agent::new(world, surface, task.question)?;
    let answer = match surface {
        Surface::Direct => (task.solve)(&mut agent)?,
        Surface::Search => {
            agent.search(task)?;
            (task.solve)(&mut agent)?
        }
        Surface::Code => {
            agent.search(task)?;
            let mut printed = String::new();
            for cell in task.cells {
                printed = agent.run(cell)?;
            }
            (task.read)(&printed)?
        }
    };
    let wanted = (task.answer)();
    if answer != wanted {
        return Err(io::Error::other(format!("the answer is {answer:?} and should be {wanted:?}")));
    }
    Ok(agent.finish(&answer))
}

fn named(task: &Task, size: usize, surface: Surface, error: &io::Error) -> io::Error {
    io::Error::other(format!("{} with {size} tools, {surface:?}: {error}", task.name))
}
