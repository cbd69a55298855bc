//! What a search costs among 10,000 tools: the real ones, varied until there are enough.
//!
//! `cargo bench -p kennel-hub` prints the table of `docs/promises.md`; a promise that does not hold makes it fail.
#![allow(clippy::cast_precision_loss, clippy::expect_used, clippy::panic)]

#[path = "../tests/search/support.rs"]
mod support;

use kennel_hub::search::{Document, Index};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const TOOLS: usize = 10_000;
const ROUNDS: usize = 20;
const PROMISE: Duration = Duration::from_millis(2);

fn main() -> ExitCode {
    let tools = support::tools();
    let documents: Vec<Document<'_>> = tools.iter().map(support::Tool::document).collect();
    let documents: Vec<Document<'_>> =
        (0..).flat_map(|copy| documents.iter().map(move |it| varied(it, copy))).take(TOOLS).collect();
    let servers: BTreeSet<&str> = documents.iter().map(|document| &*document.server).collect();
    println!("{} tools of {} servers", documents.len(), servers.len());

    let start = Instant::now();
    let mut index = Index::build(documents.iter().cloned());
    let build = start.elapsed();
    println!("build: {build:.1?}; memory: {:.1} MiB", index.bytes() as f64 / 1_048_576.0);

    let largest = "zscaler-mcp-server";
    let of_largest: Vec<Document<'_>> =
        documents.iter().filter(|document| document.server == largest).cloned().collect();
    let start = Instant::now();
    index.replace(largest, of_largest.iter().cloned());
    println!("replace the {} tools of one server: {:.1?}", of_largest.len(), start.elapsed());

    let mut questions: Vec<String> = support::questions().into_iter().map(|question| question.query).collect();
    questions.extend(["databse conection", "serach", "get"].map(str::to_owned));
    let mut medians: Vec<(Duration, &str)> =
        questions.iter().map(|question| (median(&index, question), &**question)).collect();
    medians.sort();
    let (typical, _) = medians[medians.len() / 2];
    let (longest, slowest) = medians[medians.len() - 1];
    println!("search, {} questions: {typical:.2?}; the longest {longest:.2?}: {slowest}", questions.len());
    if longest > PROMISE {
        eprintln!("a search takes longer than {PROMISE:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// How long a search takes, half of the time.
fn median(index: &Index, question: &str) -> Duration {
    let mut times = [Duration::ZERO; ROUNDS];
    for time in &mut times {
        let start = Instant::now();
        black_box(index.search(black_box(question), 8));
        *time = start.elapsed();
    }
    times.sort();
    times[ROUNDS / 2]
}

/// A tool of another server with other names: of each word that is not the first, every copy has its own form.
fn varied<'a>(document: &Document<'a>, copy: usize) -> Document<'a> {
    if copy == 0 {
        return document.clone();
    }
    let text = |text: &str| {
        let vary = |(place, word): (usize, &str)| {
            if place % 3 == 1 { format!("{word}{}", letters(copy)) } else { word.to_owned() }
        };
        text.split(' ').enumerate().map(vary).collect::<Vec<String>>().join(" ").into()
    };
    Document {
        server: format!("{}-{}", document.server, letters(copy)).into(),
        name: format!("{}_{}", document.name, letters(copy)).into(),
        title: document.title.clone(),
        description: text(&document.description),
        arguments: text(&document.arguments),
    }
}

/// A number in letters, so that it counts as a word.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}
