//! How long it takes from the start of a program to the first answer, beyond what the fixture takes by itself.

use std::io;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

use crate::Effort;
use crate::contestants::{Acquaintance, kennel};
use crate::lane::Entrant;
use crate::program::{Kind, Places, Program};
use crate::report::{Bound, Promise, Rounds, head, range, row, shown};

/// How long a program may take to its first answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// So that the end of one is not in the time of the next.
const BETWEEN: Duration = Duration::from_millis(100);

/// Starts every program in every round.
pub(crate) async fn measure(entrants: &[Entrant], places: &Places, effort: Effort) -> io::Result<Vec<Promise>> {
    let rounds = effort.rounds(15);
    let new =
        kennel("kennel, shared, a server it has never seen", Kind::Shared, "shared", Acquaintance::New, places, &[]);
    let programs = entrants.iter().map(|entrant| &entrant.program).filter(|program| program.kind != Kind::Modern);
    let programs: Vec<&Program> = programs.chain([&new]).collect();
    let mut times = vec![Rounds::default(); programs.len()];
    // What each took longer than the fixture by itself, in the same round.
    let mut over = vec![Rounds::default(); programs.len()];
    for _ in 0..rounds {
        let mut direct = 0.0;
        for (place, program) in programs.iter().enumerate().filter(|(_, program)| program.kind != Kind::Bare) {
            let time = match first_answer(program, places).await {
                Ok(time) => time.as_secs_f64() * 1e3,
                // Seen in the table: it has no figures, or fewer.
                Err(_) if program.kind == Kind::Peer => continue,
                Err(error) => return Err(error),
            };
            if program.kind == Kind::Direct {
                direct = time;
            }
            times[place].push(time);
            over[place].push(time - direct);
            sleep(BETWEEN).await;
        }
    }
    let title = format!("from the start to the first answer, median of {rounds} rounds");
    head(&title, &["program", "ms", "over the fixture's own ms", "single rounds ms"]);
    let mut promises = Vec::new();
    for (place, program) in programs.iter().enumerate().filter(|(_, program)| program.kind != Kind::Bare) {
        row(&[
            program.name.to_owned(),
            shown(times[place].median(), 1),
            shown(over[place].median(), 1),
            range(times[place].spread(), 1),
        ]);
        if program.kind == Kind::Shared {
            let text = format!("start of `{}` beyond the fixture's own, in ms", program.name);
            promises.push(Promise::new(text, over[place].median(), Bound::AtMost(30.0)));
        }
    }
    Ok(promises)
}

/// Starts a program and asks until it answers.
async fn first_answer(program: &Program, places: &Places) -> io::Result<Duration> {
    let start = Instant::now();
    let running = program.start(places)?;
    let answering = async {
        loop {
            let mut caller = program.first_caller(&running, places).await?;
            let mut request = caller.prepare(program.tool_prefix, 100);
            match caller.call(&mut request).await {
                Ok(_) => return Ok(start.elapsed()),
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        }
    };
    let late = |_| Err(io::Error::other(format!("{} does not answer", program.name)));
    timeout(PATIENCE, answering).await.unwrap_or_else(late)
}
