//! The tables, and from how many tools on code mode takes less.

use crate::footprint::Footprint;

/// With so many tools, code mode takes at most so many percent of the context that all tools listed take.
const PROMISE: (usize, usize) = (300, 10);

/// What a task took with so many tools.
pub(crate) struct Row {
    pub(crate) task: &'static str,
    pub(crate) tools: usize,
    pub(crate) direct: Footprint,
    pub(crate) search: Footprint,
    pub(crate) code: Footprint,
}

/// Prints all tables.
pub(crate) fn print(rows: &[Row]) {
    println!("\n| task | tools | all listed | search surface | code mode | code mode of all listed |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let share = percent(row.code.context, row.direct.context);
        println!(
            "| {} | {} | {} | {} | {} | {share} |",
            row.task,
            row.tools,
            shown(row.direct),
            shown(row.search),
            shown(row.code)
        );
    }
    println!("\nin the context at the end / read in all turns / turns; tokens of o200k_base\n");
    if let Some(last) = rows.last() {
        let [listed, search, code] = [last.direct, last.search, last.code].map(|footprint| footprint.definitions);
        println!("definitions: {} tools {listed}, search surface {search}, code mode {code}\n", last.tools);
    }
    println!(
        "| task | the search surface is in less context | reads less | code mode is in less context | reads less |"
    );
    println!("|---|---|---|---|---|");
    let mut tasks: Vec<&str> = rows.iter().map(|row| row.task).collect();
    tasks.dedup();
    for task in tasks {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.task == task).collect();
        let search = |row: &Row| row.search;
        let code = |row: &Row| row.code;
        let [context, read] = [|it: Footprint| it.context, |it: Footprint| it.read];
        println!(
            "| {task} | {} | {} | {} | {} |",
            even(&rows, search, context),
            even(&rows, search, read),
            even(&rows, code, context),
            even(&rows, code, read)
        );
    }
}

/// Whether what is promised holds; says where it does not.
pub(crate) fn settle(rows: &[Row]) -> bool {
    let (tools, most) = PROMISE;
    let is_broken = |row: &&Row| row.tools == tools && row.code.context * 100 > row.direct.context * most;
    let broken: Vec<&Row> = rows.iter().filter(is_broken).collect();
    for row in &broken {
        eprintln!("{}: with {tools} tools code mode takes more than {most} % of the context", row.task);
    }
    broken.is_empty()
}

fn shown(footprint: Footprint) -> String {
    format!("{} / {} / {}", footprint.context, footprint.read, footprint.turns)
}

fn percent(part: usize, whole: usize) -> String {
    format!("{} %", part * 100 / whole.max(1))
}

/// From how many tools on another surface takes less than all listed: between two sizes as if all tools were alike.
fn even(rows: &[&Row], other: impl Fn(&Row) -> Footprint, of: fn(Footprint) -> usize) -> String {
    let mut before: Option<(usize, usize)> = None;
    for row in rows {
        let (own, listed) = (of(other(row)), of(row.direct));
        match before {
            None if own <= listed => return format!("always (from {} tools on)", row.tools),
            Some((tools, excess)) if own <= listed => {
                let share = (row.tools - tools) * excess;
                return format!("from about {} tools on", tools + share.div_ceil(excess + listed - own));
            }
            _ => before = Some((row.tools, own - listed)),
        }
    }
    "never".to_owned()
}
