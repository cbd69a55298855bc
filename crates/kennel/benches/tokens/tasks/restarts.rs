//! A call, and one more for each of its results.

use crate::agent::{Agent, Call, parsed};
use crate::task::{Answer, Task, after, answers};
use serde_json::{Value, json};
use std::io;

const KUBECTL: &str = "kubectl-mcp-server";
const NAMESPACES: u64 = 12;
const PODS: u64 = 10;

pub(crate) const TASK: Task = Task {
    name: "a call for each",
    question: "Which pods of the cluster, in all namespaces, have restarted more than 20 times?",
    tools: [(KUBECTL, "get_namespaces"), (KUBECTL, "get_pods"), (KUBECTL, "get_logs")],
    arguments: &[],
    searches: &[("kubernetes namespaces", &["get_namespaces"]), ("kubernetes pods in a namespace", &["get_pods"])],
    answers: scripted,
    solve,
    cells: &[
        "namespaces = await mcp_kubectl_mcp_server.get_namespaces()\n\
         first = await mcp_kubectl_mcp_server.get_pods(namespace=\"team-0\")\n\
         print(namespaces, first[0])",
        "import asyncio\n\
         lists = await asyncio.gather(*(mcp_kubectl_mcp_server.get_pods(namespace=n) for n in namespaces))\n\
         print(\"pods:\", *sorted(p[\"name\"] for pods in lists for p in pods if p[\"restarts\"] > 20))",
    ],
    read: |printed| Ok(after(printed, "pods:")?.to_owned()),
    answer: || {
        let all = (0..NAMESPACES).flat_map(|namespace| (0..PODS).map(move |pod| (namespace, pod)));
        let mut names: Vec<String> = all
            .filter(|(namespace, pod)| restarts(*namespace, *pod) > 20)
            .map(|(one, other)| name(one, other))
            .collect();
        names.sort();
        names.join(" ")
    },
};

fn restarts(namespace: u64, pod: u64) -> u64 {
    match (namespace * 17 + pod * 29) % 43 {
        41 => 27,
        less => less % 5,
    }
}

fn name(namespace: u64, pod: u64) -> String {
    format!("worker-{namespace}-{pod}-{:05x}", (namespace * 7_919 + pod * 104_729) % 0xf_ffff)
}

fn pod(namespace: u64, pod: u64) -> Value {
    json!({
        "name": name(namespace, pod),
        "namespace": format!("team-{namespace}"),
        "status": "Running",
        "restarts": restarts(namespace, pod),
        "node": format!("node-{}.cluster.example", (namespace + pod) % 6),
        "ip": format!("10.4.{namespace}.{}", 10 + pod),
        "age": format!("{}d", 1 + (namespace * pod) % 60),
        "image": format!("registry.example/team-{namespace}/worker:1.{}.{pod}", namespace % 4),
    })
}

fn scripted() -> Vec<Answer> {
    let names: Vec<String> = (0..NAMESPACES).map(|number| format!("team-{number}")).collect();
    let mut all = vec![answers(KUBECTL, "get_namespaces", json!({}), &json!(names))];
    for (number, name) in (0..NAMESPACES).zip(names) {
        let pods: Vec<Value> = (0..PODS).map(|of| pod(number, of)).collect();
        all.push(answers(KUBECTL, "get_pods", json!({ "namespace": name }), &Value::from(pods)));
    }
    all
}

fn solve(agent: &mut Agent) -> io::Result<String> {
    let namespaces = agent.ask(KUBECTL, "get_namespaces", json!({}))?;
    let namespaces = namespaces.as_array().cloned().unwrap_or_default();
    let call = |name| Call { server: KUBECTL, tool: "get_pods", arguments: json!({ "namespace": name }) };
    let mut names = Vec::new();
    for text in agent.call(namespaces.into_iter().map(call))? {
        let pods = parsed(&text)?;
        let restarted = pods.as_array().into_iter().flatten().filter(|pod| pod["restarts"].as_u64() > Some(20));
        names.extend(restarted.filter_map(|pod| pod["name"].as_str().map(str::to_owned)));
    }
    names.sort();
    Ok(names.join(" "))
}
