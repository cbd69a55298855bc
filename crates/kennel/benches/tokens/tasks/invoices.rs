//! Two large results of which one is looked up in the other, and something that is done with what comes out.

use crate::agent::{Agent, Call, parsed};
use crate::task::{Answer, Task, after, answers};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

const STRIPE: &str = "stripe-remote";
const GMAIL: &str = "gmail-mcp";
const CUSTOMERS: u64 = 60;
const INVOICES: u64 = 200;

pub(crate) const TASK: Task = Task {
    name: "a join and a message",
    question: "Find the customer in Stripe who owes us most (sum of the open invoices), and send them an email from Gmail \
               with subject \"Reminder\" that names the sum in euros. Whom did you write, and what sum?",
    tools: [(STRIPE, "list_customers"), (STRIPE, "list_invoices"), (GMAIL, "sendMessage")],
    arguments: &[
        ["list_customers", "limit", "integer", "How many to return"],
        ["list_invoices", "limit", "integer", "How many to return"],
    ],
    searches: &[
        ("list stripe customers and invoices", &["list_customers", "list_invoices"]),
        ("send an email", &["sendMessage"]),
    ],
    answers: scripted,
    solve,
    cells: &[
        "customers = await mcp_stripe_remote.list_customers(limit=100)\n\
         invoices = await mcp_stripe_remote.list_invoices(limit=200)\n\
         print(customers[0], invoices[0])",
        "from collections import Counter\n\
         owed = Counter()\n\
         for i in invoices:\n    \
             if i[\"status\"] == \"open\":\n        \
                 owed[i[\"customer\"]] += i[\"amount_due\"]\n\
         who, cents = owed.most_common(1)[0]\n\
         to = next(c[\"email\"] for c in customers if c[\"id\"] == who)\n\
         amount = f\"{cents / 100:.2f}\"\n\
         await mcp_gmail_mcp.sendMessage(to=to, subject=\"Reminder\", body=f\"Please pay {amount} EUR.\")\n\
         print(\"sent:\", to, amount)",
    ],
    read: |printed| Ok(after(printed, "sent:")?.to_owned()),
    answer: || {
        let (customer, cents) = most(&customers(), &invoices()).unwrap_or_default();
        format!("{customer} {}", euros(cents))
    },
};

fn customers() -> Value {
    let customer = |number: u64| {
        json!({
            "id": format!("cus_{:010x}", number * 0x9e37_79b9 % 0xff_ffff_ffff),
            "object": "customer",
            "name": format!("Customer {number} Ltd"),
            "email": format!("billing{number}@customer{number}.example"),
            "created": 1_700_000_000 + number * 86_400,
            "currency": "eur",
            "balance": 0,
        })
    };
    (0..CUSTOMERS).map(customer).collect()
}

fn invoices() -> Value {
    let customers = customers();
    let invoice = |number: u64| {
        let customer = usize::try_from(number * 37 % CUSTOMERS).unwrap_or_default();
        json!({
            "id": format!("in_{:012x}", number * 0x51_7cc1_b727 % 0xffff_ffff_ffff),
            "object": "invoice",
            "number": format!("R-{}", 10_000 + number),
            "customer": customers[customer]["id"],
            "status": if number % 4 == 1 { "open" } else { "paid" },
            "amount_due": 1_000 + number * number * 97 % 90_000,
            "currency": "eur",
            "due_date": 1_770_000_000 + number * 3_600,
        })
    };
    (0..INVOICES).map(invoice).collect()
}

/// The address of who owes most, and how many cents.
fn most(customers: &Value, invoices: &Value) -> Option<(String, u64)> {
    let mut owed: BTreeMap<&str, u64> = BTreeMap::new();
    for invoice in invoices.as_array()?.iter().filter(|invoice| invoice["status"] == "open") {
        *owed.entry(invoice["customer"].as_str()?).or_default() += invoice["amount_due"].as_u64()?;
    }
    let (id, cents) = owed.into_iter().max_by_key(|(_, cents)| *cents)?;
    let customer = customers.as_array()?.iter().find(|customer| customer["id"] == id)?;
    Some((customer["email"].as_str()?.to_owned(), cents))
}

fn euros(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn scripted() -> Vec<Answer> {
    let (to, _) = most(&customers(), &invoices()).unwrap_or_default();
    let wrong = json!({"content": [{"type": "text", "text": "nobody wanted this message"}], "isError": true});
    vec![
        answers(STRIPE, "list_customers", json!({}), &customers()),
        answers(STRIPE, "list_invoices", json!({}), &invoices()),
        answers(
            GMAIL,
            "sendMessage",
            json!({"to": to, "subject": "Reminder"}),
            &json!({"id": "m-1", "status": "sent"}),
        ),
        Answer { server: GMAIL, tool: "sendMessage", when: json!({}), result: wrong },
    ]
}

fn solve(agent: &mut Agent) -> io::Result<String> {
    let call = |tool, limit: u64| Call { server: STRIPE, tool, arguments: json!({ "limit": limit }) };
    let lists = agent.call([call("list_customers", 100), call("list_invoices", 200)])?;
    let [customers, invoices] = lists.as_slice() else { return Err(io::Error::other("two calls have two results")) };
    let (customers, invoices) = (parsed(customers)?, parsed(invoices)?);
    let (to, cents) = most(&customers, &invoices).ok_or_else(|| io::Error::other("nobody owes anything"))?;
    let body = format!("Please pay {} EUR.", euros(cents));
    agent.ask(GMAIL, "sendMessage", json!({"to": to, "subject": "Reminder", "body": body}))?;
    Ok(format!("{to} {}", euros(cents)))
}
