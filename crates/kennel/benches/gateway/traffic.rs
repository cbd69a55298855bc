//! How fast calls are: one after the other, with large messages, and from many sessions at once.

use std::io;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

use crate::Effort;
use crate::caller::Caller;
use crate::lane::{Entrant, Lane, floor, race, shared_of_floor};
use crate::message::Prepared;
use crate::report::{Bound, Promise, head, median, micros, percentile_99, range, row, shown};

/// The message of an ordinary call.
const SMALL: usize = 100;
/// How long a turn lasts in which one caller calls, and how many calls it has at least.
const TURN: Duration = Duration::from_millis(60);
const FEWEST_CALLS: usize = 5;
/// How long a turn lasts in which all call.
const FLOOD: Duration = Duration::from_millis(600);
/// How many sessions call at once.
const SESSIONS: usize = 32;
/// The title of what [`processor`] says.
const PROCESSOR: &str = "gateway's processor time a call µs (of the floor's)";

/// One caller and small messages.
pub(crate) async fn latency(entrants: &[Entrant], effort: Effort) -> io::Result<Vec<Promise>> {
    let rounds = effort.rounds(60);
    let lanes = one_by_one(entrants, SMALL, rounds).await?;
    let title = format!("latency of a call with {SMALL} B, one caller, {rounds} rounds");
    head(&title, &["way", "p50 µs", "p99 µs", "p50 of the floor's", "p50 of single rounds µs", PROCESSOR]);
    for lane in &lanes {
        row(&[
            lane.label(),
            shown(lane.rounds.median(), 1),
            shown(percentile_99(lane.samples.clone()), 1),
            shown(lane.rounds.of(&floor(&lanes)?.rounds), 2),
            range(lane.rounds.spread(), 1),
            processor(lane, &lanes)?,
        ]);
    }
    let seen = shared_of_floor(&lanes);
    Ok(vec![Promise::new("latency (p50) of Kennel's shared process of the floor's", seen, Bound::AtMost(1.2))])
}

/// One caller and messages of 100 KB and 1 MB, which come back.
pub(crate) async fn payloads(entrants: &[Entrant], effort: Effort) -> io::Result<Vec<Promise>> {
    let mut promises = Vec::new();
    for (name, bytes) in [("100 KB", 100_000), ("1 MB", 1_000_000)] {
        let rounds = effort.rounds(20);
        let lanes = one_by_one(entrants, bytes, rounds).await?;
        let title = format!("latency of a call with {name} there and back, one caller, {rounds} rounds");
        head(&title, &["way", "p50 ms", "of the floor's", "single rounds ms", PROCESSOR]);
        for lane in &lanes {
            let spread = lane.rounds.spread().map(|(least, most)| (least / 1e3, most / 1e3));
            row(&[
                lane.label(),
                shown(lane.rounds.median().map(|time| time / 1e3), 2),
                shown(lane.rounds.of(&floor(&lanes)?.rounds), 2),
                range(spread, 2),
                processor(lane, &lanes)?,
            ]);
        }
        let text = format!("latency (p50) with {name} of the floor's");
        promises.push(Promise::new(text, shared_of_floor(&lanes), Bound::AtMost(1.0)));
    }
    Ok(promises)
}

async fn one_by_one(entrants: &[Entrant], bytes: usize, rounds: usize) -> io::Result<Vec<Lane<'_>>> {
    let mut lanes = Lane::open(entrants, 1).await?;
    // The first round is for caches, allocators and just-in-time compilers.
    for rounds in [1, rounds] {
        lanes.iter_mut().for_each(Lane::forget);
        race(&mut lanes, rounds, async |lane| {
            let prefix = lane.tool_prefix();
            let Some(caller) = lane.callers.first_mut() else { return Ok(0) };
            let mut request = caller.prepare(prefix, bytes);
            let (start, mut times) = (Instant::now(), Vec::new());
            while start.elapsed() < TURN || times.len() < FEWEST_CALLS {
                times.push(micros(caller.call(&mut request).await?));
            }
            lane.samples.extend(&times);
            let calls = u32::try_from(times.len()).unwrap_or(u32::MAX);
            lane.rounds.push(median(times).unwrap_or_default());
            Ok(calls)
        })
        .await?;
    }
    Ok(lanes)
}

/// Many sessions, each on its own connection and each with one call at a time.
pub(crate) async fn throughput(entrants: &[Entrant], effort: Effort) -> io::Result<Vec<Promise>> {
    let mut lanes = Lane::open(entrants, SESSIONS).await?;
    let rounds = effort.rounds(12);
    for rounds in [1, rounds] {
        lanes.iter_mut().for_each(Lane::forget);
        race(&mut lanes, rounds, flood).await?;
    }
    head(
        &format!("calls with {SMALL} B from {SESSIONS} sessions at once, {rounds} rounds"),
        &["way", "calls/s", "of the floor's", "single rounds", PROCESSOR],
    );
    for lane in &lanes {
        row(&[
            lane.label(),
            shown(lane.rounds.median(), 0),
            shown(lane.rounds.of(&floor(&lanes)?.rounds), 2),
            range(lane.rounds.spread(), 0),
            processor(lane, &lanes)?,
        ]);
    }
    let text = format!("throughput at {SESSIONS} sessions of the floor's");
    Ok(vec![Promise::new(text, shared_of_floor(&lanes), Bound::AtLeast(1.0))])
}

/// The processor time of a lane, and what it is of the floor's.
fn processor(lane: &Lane<'_>, lanes: &[Lane<'_>]) -> io::Result<String> {
    let of_floor = lane.processor.of(&floor(lanes)?.processor);
    Ok(match (lane.processor.median(), of_floor) {
        (Some(time), Some(of_floor)) => format!("{time:.0} ({of_floor:.2})"),
        _ => String::new(),
    })
}

async fn flood(lane: &mut Lane<'_>) -> io::Result<u32> {
    let prefix = lane.tool_prefix();
    if let [Caller::Pipe(_)] = lane.callers.as_slice()
        && let Some(caller) = lane.callers.first_mut()
    {
        let mut request = caller.prepare(prefix, SMALL);
        caller.call(&mut request).await?;
        if let Caller::Pipe(pipe) = caller {
            let (answers, time) = pipe.flood(&mut request, SESSIONS, FLOOD).await?;
            lane.rounds.push(f64::from(answers) / time.as_secs_f64());
        }
        return Ok(0);
    }
    let mut ready: Vec<(Caller, Prepared)> = Vec::new();
    for caller in lane.callers.drain(..) {
        let request = caller.prepare(prefix, SMALL);
        ready.push((caller, request));
    }
    let start = Instant::now();
    let mut calling = JoinSet::new();
    for (mut caller, mut request) in ready {
        calling.spawn(async move {
            let mut calls = 0_u32;
            while start.elapsed() < FLOOD {
                caller.call(&mut request).await?;
                calls += 1;
            }
            io::Result::Ok((caller, calls))
        });
    }
    let mut calls = 0;
    while let Some(ended) = calling.join_next().await {
        let (caller, count) = ended??;
        lane.callers.push(caller);
        calls += count;
    }
    lane.rounds.push(f64::from(calls) / start.elapsed().as_secs_f64());
    Ok(calls)
}
