//! One call with a small result.

use crate::agent::Agent;
use crate::task::{Answer, Task, after, answers};
use serde_json::{Value, json};
use std::io;

const STRIPE: &str = "stripe-remote";

pub(crate) const TASK: Task = Task {
    name: "one small call",
    question: "How much money is available on our Stripe account, in euros?",
    tools: [(STRIPE, "retrieve_balance"), (STRIPE, "get_stripe_account_info"), (STRIPE, "list_disputes")],
    arguments: &[],
    searches: &[("stripe account balance", &["retrieve_balance"])],
    answers: scripted,
    solve,
    cells: &["balance = await mcp_stripe_remote.retrieve_balance()\nprint(\"balance:\", balance)"],
    read,
    answer: || "7345.12".to_owned(),
};

fn scripted() -> Vec<Answer> {
    let amount = |amount: u32, currency: &str| json!({"amount": amount, "currency": currency});
    let balance = json!({
        "object": "balance",
        "available": [amount(734_512, "eur"), amount(1_205, "usd")],
        "pending": [amount(88_000, "eur")],
        "livemode": true,
    });
    vec![answers(STRIPE, "retrieve_balance", json!({}), &balance)]
}

fn solve(agent: &mut Agent) -> io::Result<String> {
    let balance = agent.ask(STRIPE, "retrieve_balance", json!({}))?;
    available(&balance)
}

/// A model reads the balance out of Python's spelling.
fn read(printed: &str) -> io::Result<String> {
    let json = after(printed, "balance:")?.replace('\'', "\"").replace("True", "true");
    available(&crate::agent::parsed(&json)?)
}

fn available(balance: &Value) -> io::Result<String> {
    let mut amounts = balance["available"].as_array().into_iter().flatten();
    let euros = amounts.find(|amount| amount["currency"] == "eur").and_then(|amount| amount["amount"].as_u64());
    let euros = euros.ok_or_else(|| io::Error::other("no euros"))?;
    Ok(format!("{}.{:02}", euros / 100, euros % 100))
}
