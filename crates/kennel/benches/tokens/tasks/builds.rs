//! One call with a large result, of which a few figures are wanted.

use crate::agent::Agent;
use crate::task::{Answer, Task, after, answers};
use serde_json::{Value, json};
use std::io;

const BUILDKITE: &str = "buildkite";
const BUILDS: u64 = 100;

pub(crate) const TASK: Task = Task {
    name: "a large result",
    question: "Of the last 100 builds of pipeline web (org acme) in Buildkite: how many failed, and how many seconds did \
               these take together?",
    tools: [(BUILDKITE, "list_builds"), (BUILDKITE, "get_build"), (BUILDKITE, "get_job_logs")],
    arguments: &[],
    searches: &[("list builds of a buildkite pipeline", &["list_builds"])],
    answers: scripted,
    solve,
    cells: &[
        "builds = await mcp_buildkite.list_builds(org=\"acme\", pipeline_slug=\"web\", perPage=100)\n\
         print(len(builds), builds[0])",
        "failed = [b for b in builds if b[\"state\"] == \"failed\"]\n\
         print(\"failed:\", len(failed), sum(b[\"duration_seconds\"] for b in failed))",
    ],
    read: |printed| Ok(after(printed, "failed:")?.to_owned()),
    answer: || {
        let failed = (0..BUILDS).filter(|number| has_failed(*number));
        let times: Vec<u64> = failed.map(seconds).collect();
        format!("{} {}", times.len(), times.iter().sum::<u64>())
    },
};

fn has_failed(number: u64) -> bool {
    number % 7 == 3
}

fn seconds(number: u64) -> u64 {
    180 + number * 37 % 211
}

fn build(number: u64) -> Value {
    json!({
        "id": format!("0197a3c2-77{number:02}-4d1e-9b7a-5f0c2e8d{:04x}", number * 523),
        "number": 4_200 - number,
        "state": if has_failed(number) { "failed" } else { "passed" },
        "branch": if number.is_multiple_of(3) { "main".to_owned() } else { format!("feature/{}", number * 13 % 47) },
        "commit": format!("{:040x}", u128::from(number + 1) * 0x9e37_79b9_7f4a_7c15_f39c_u128),
        "message": format!("Change {} of the shop", number * 31 % 89),
        "creator": {"name": format!("Developer {}", number % 9), "email": format!("dev{}@acme.example", number % 9)},
        "created_at": format!("2026-05-{:02}T{:02}:14:05Z", 1 + number / 4, number % 24),
        "duration_seconds": seconds(number),
        "web_url": format!("https://buildkite.example/acme/web/builds/{}", 4_200 - number),
    })
}

fn scripted() -> Vec<Answer> {
    let builds: Vec<Value> = (0..BUILDS).map(build).collect();
    let when = json!({"org": "acme", "pipeline_slug": "web", "perPage": BUILDS});
    vec![answers(BUILDKITE, "list_builds", when, &Value::from(builds))]
}

fn solve(agent: &mut Agent) -> io::Result<String> {
    let arguments = json!({"org": "acme", "pipeline_slug": "web", "perPage": BUILDS});
    let builds = agent.ask(BUILDKITE, "list_builds", arguments)?;
    let failed = builds.as_array().into_iter().flatten().filter(|build| build["state"] == "failed");
    let times: Vec<u64> = failed.filter_map(|build| build["duration_seconds"].as_u64()).collect();
    Ok(format!("{} {}", times.len(), times.iter().sum::<u64>()))
}
