//! Two calls, and a text that the model has to read itself.

use crate::agent::{Agent, Call};
use crate::task::{Answer, Task, after, answers};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io;

const NOTION: &str = "notion-remote";
const MARK: &str = "The office stays closed from ";

pub(crate) const TASK: Task = Task {
    name: "a text to read",
    question: "According to our handbook in Notion, when is the office closed at the end of the year?",
    tools: [(NOTION, "search_pages"), (NOTION, "read_page"), (NOTION, "add_comment")],
    arguments: &[
        ["search_pages", "query", "string", "Words to look for"],
        ["read_page", "page_id", "string", "ID of the page"],
    ],
    searches: &[("search and read notion pages", &["search_pages", "read_page"])],
    answers: scripted,
    solve,
    cells: &[
        "pages = await mcp_notion_remote.search_pages(query=\"handbook office closed\")\nprint(pages)",
        "print(await mcp_notion_remote.read_page(page_id=\"pg-7\"))",
    ],
    read: |printed| closed(printed),
    answer: || "24 December to 1 January".to_owned(),
};

fn scripted() -> Vec<Answer> {
    let page = |id: &str, title: &str| json!({"id": id, "title": title, "last_edited": "2026-03-02"});
    let pages =
        json!([page("pg-7", "Handbook: time off"), page("pg-9", "Handbook: travel"), page("pg-12", "Office plants")]);
    let mut text = String::from("# Time off\n\n");
    for section in 1..=12 {
        let _ = write!(
            text,
            "## {section}. Rule {section}\nRequests of kind {section} are sent to the team lead {section} days before, who \
             answers within two working days. What is not answered by then counts as granted. Days that are left at the end \
             of a year can be taken until the end of March.\n\n"
        );
        if section == 8 {
            let _ = writeln!(text, "{MARK}24 December to 1 January.\nThese days need not be requested.\n");
        }
    }
    vec![
        answers(NOTION, "search_pages", json!({}), &pages),
        answers(NOTION, "read_page", json!({"page_id": "pg-7"}), &Value::from(text)),
    ]
}

fn solve(agent: &mut Agent) -> io::Result<String> {
    let pages = agent.ask(NOTION, "search_pages", json!({"query": "handbook office closed"}))?;
    let call = Call { server: NOTION, tool: "read_page", arguments: json!({"page_id": pages[0]["id"]}) };
    let texts = agent.call([call])?;
    closed(texts.first().map_or("", String::as_str))
}

fn closed(text: &str) -> io::Result<String> {
    Ok(after(text, MARK)?.trim_end_matches('.').to_owned())
}
