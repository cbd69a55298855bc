//! Words that people use for one another when they talk of tools: general English, no products, no single questions.

use super::stem::stem;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Pairs of words that mean one thing, and the word for it.
const PHRASES: [(&str, &str, &str); 56] = [
    ("back", "up", "backup"),
    ("bring", "back", "restore"),
    ("carry", "out", "execute"),
    ("check", "in", "commit"),
    ("check", "list", "checklist"),
    ("check", "out", "checkout"),
    ("clean", "up", "delete"),
    ("do", "mean", "explain"),
    ("does", "mean", "explain"),
    ("e", "mail", "email"),
    ("file", "name", "filename"),
    ("file", "system", "filesystem"),
    ("find", "out", "lookup"),
    ("free", "up", "reclaim"),
    ("get", "rid", "delete"),
    ("give", "back", "return"),
    ("how", "big", "size"),
    ("how", "do", "documentation"),
    ("how", "far", "progress"),
    ("how", "large", "size"),
    ("how", "long", "duration"),
    ("how", "many", "count"),
    ("how", "much", "amount"),
    ("how", "to", "documentation"),
    ("kick", "off", "start"),
    ("log", "in", "login"),
    ("log", "out", "logout"),
    ("look", "at", "view"),
    ("look", "for", "search"),
    ("look", "up", "lookup"),
    ("money", "back", "refund"),
    ("packet", "capture", "pcap"),
    ("put", "back", "restore"),
    ("roll", "back", "rollback"),
    ("roll", "out", "deploy"),
    ("set", "up", "setup"),
    ("shut", "down", "stop"),
    ("sign", "in", "login"),
    ("sign", "out", "logout"),
    ("spin", "up", "start"),
    ("sub", "task", "subtask"),
    ("sum", "up", "summary"),
    ("switch", "off", "disable"),
    ("switch", "on", "enable"),
    ("take", "down", "disable"),
    ("tear", "down", "delete"),
    ("throw", "away", "delete"),
    ("time", "zone", "timezone"),
    ("to", "do", "todo"),
    ("turn", "off", "disable"),
    ("turn", "on", "enable"),
    ("user", "name", "username"),
    ("web", "hook", "webhook"),
    ("web", "page", "webpage"),
    ("web", "site", "website"),
    ("work", "flow", "workflow"),
];

/// Words for what is done. What one word of a group asks for, the others offer. A word may be in several.
const ACTIONS: &[&[&str]] = &[
    &["get", "fetch", "read", "retrieve", "show", "view", "display", "see", "give", "print", "obtain", "open"],
    &["list", "enumerate", "show", "all", "every"],
    &["search", "find", "lookup", "query", "locate", "discover"],
    &["query", "ask", "question"],
    &["create", "add", "make", "new", "insert", "open", "generate", "register", "write"],
    &["append", "add", "attach", "insert"],
    &["delete", "remove", "drop", "erase", "destroy", "clear", "purge", "forget"],
    &["update", "edit", "change", "modify", "set", "adjust", "alter", "replace", "patch"],
    &["upgrade", "update", "migrate"],
    &["send", "post", "message", "deliver"],
    &["notify", "alert", "trigger", "webhook", "subscribe", "warn"],
    &["start", "run", "launch", "execute", "trigger", "begin", "invoke"],
    &["stop", "cancel", "end", "abort", "terminate", "halt", "kill"],
    &["pause", "suspend", "hold"],
    &["restart", "reboot", "reload"],
    &["enable", "activate", "allow", "apply"],
    &["allow", "grant", "permit", "authorize"],
    &["disable", "deactivate", "block", "suspend"],
    &["block", "deny", "forbid", "restrict", "filter"],
    &["approve", "accept", "confirm"],
    &["switch", "change", "toggle", "select", "checkout"],
    &["toggle", "mark", "flag", "complete"],
    &["complete", "finish", "done", "close", "resolve"],
    &["fix", "repair", "resolve", "correct"],
    &["copy", "duplicate", "clone"],
    &["backup", "copy", "snapshot"],
    &["move", "rename", "transfer"],
    &["migrate", "move", "port"],
    &["upload", "put", "import", "load", "ingest", "attach"],
    &["download", "export", "save", "dump", "get"],
    &["save", "store", "write", "record", "keep"],
    &["extract", "parse", "scrape", "pull"],
    &["convert", "transform", "translate"],
    &["calculate", "compute", "analyze"],
    &["sum", "add", "total"],
    &["compare", "diff", "difference"],
    &["check", "test", "verify", "validate", "inspect"],
    &["analyze", "review", "assess", "evaluate", "inspect", "investigate", "examine", "check", "scan", "audit"],
    &["explain", "describe", "define", "detail"],
    &["summary", "overview", "digest"],
    &["merge", "combine", "join"],
    &["publish", "release", "deploy", "ship", "live"],
    &["install", "setup", "deploy"],
    &["share", "publish", "expose", "forward"],
    &["restore", "recover", "rollback", "revert", "undo", "reset"],
    &["compress", "zip", "gzip", "archive"],
    &["compact", "shrink", "reduce", "reclaim", "vacuum"],
    &["optimize", "improve", "tune", "better"],
    &["monitor", "watch", "observe", "track"],
    &["reduce", "mitigate", "lower", "decrease"],
    &["reply", "respond", "answer"],
    &["assign", "delegate", "allocate"],
    &["connect", "link", "associate"],
    &["visualize", "draw", "plot", "chart", "render"],
    &["scale", "resize"],
    &["place", "put", "make"],
];

/// The same for what it is done to.
const THINGS: &[&[&str]] = &[
    // Money.
    &["order", "buy", "purchase", "sell", "trade"],
    &["refund", "reimburse", "return"],
    &["invoice", "bill", "receipt"],
    &["pay", "charge", "checkout"],
    &["subscription", "plan", "membership"],
    &["coupon", "discount", "voucher", "promotion"],
    &["dispute", "chargeback", "claim", "complaint"],
    &["product", "item", "article"],
    &["price", "cost", "quote", "rate", "worth", "value", "fee"],
    &["balance", "fund", "money", "cash", "amount"],
    &["stock", "share", "market", "exchange", "equity"],
    &["portfolio", "holding", "position", "own"],
    &["transaction", "transfer", "tx"],
    &["crypto", "coin", "bitcoin", "btc"],
    &["wallet", "address", "account"],
    &["customer", "client", "buyer"],
    // People and their groups.
    &["company", "business", "organization", "enterprise", "org", "firm"],
    &["person", "user", "member", "employee", "individual", "staff"],
    &["prospect", "lead", "contact"],
    &["team", "group", "department"],
    &["login", "signin", "logon", "auth", "authenticate"],
    &["password", "credential", "secret"],
    &["permission", "role", "privilege", "access", "scope", "right"],
    &["admin", "administrator"],
    &["suggestion", "recommendation", "advice", "improve", "better"],
    // Files, pages, messages.
    &["picture", "image", "photo", "img"],
    &["folder", "directory", "dir"],
    &["file", "document"],
    &["child", "inside", "within", "below", "content"],
    &["doc", "documentation", "manual", "guide", "reference", "help", "tutorial"],
    &["url", "link", "address"],
    &["site", "website"],
    &["page", "webpage", "screen"],
    &["internet", "web", "online"],
    &["url", "webpage", "website"],
    &["content", "text", "body"],
    &["email", "mail", "message", "inbox"],
    &["chat", "conversation", "thread", "channel", "message"],
    &["comment", "remark", "note", "reply"],
    &["calendar", "meeting", "appointment", "event", "schedule"],
    &["video", "movie", "clip"],
    &["audio", "sound", "music", "voice"],
    &["phone", "call", "sms"],
    &["language", "locale", "translation"],
    &["theme", "style", "color", "look"],
    &["logo", "icon", "brand"],
    &["weather", "forecast", "temperature"],
    &["map", "route", "direction"],
    &["spreadsheet", "csv", "sheet", "table"],
    &["example", "sample", "snippet"],
    &["note", "memo", "page"],
    // Data.
    &["database", "db", "sql"],
    &["column", "field", "attribute", "property"],
    &["schema", "structure", "column", "label"],
    &["row", "record", "entry"],
    &["statistics", "stats", "metric", "measure", "usage", "analytics"],
    &["statistics", "progress"],
    &["average", "mean", "median", "statistics"],
    &["outlier", "anomaly", "unusual", "abnormal"],
    &["count", "number", "total", "amount"],
    &["size", "big", "large", "length"],
    &["type", "kind", "class", "category"],
    &["relation", "relationship", "edge", "correlation", "link"],
    &["similar", "alike", "fuzzy"],
    &["similar", "lookalike", "imitate", "fake", "spoof"],
    &["integrity", "corruption", "damage", "consistent"],
    &["history", "historical", "past", "previous", "old"],
    &["current", "present", "active"],
    &["report", "analytics", "summary", "dashboard"],
    &["location", "place", "city", "geographic"],
    &["label", "tag"],
    &["owner", "author", "creator"],
    &["priority", "severity", "importance"],
    &["info", "information", "detail", "metadata"],
    &["recent", "latest", "last", "newest", "new"],
    &["flow", "workflow", "orchestrate", "schedule"],
    // Software and machines.
    &["log", "output", "history", "trail", "console"],
    &["event", "activity", "news", "history"],
    &["issue", "bug", "ticket", "problem", "defect", "error", "finding"],
    &["error", "exception", "failure", "crash", "fail", "break"],
    &["health", "alive", "ping", "status"],
    &["status", "state", "progress", "condition"],
    &["task", "todo", "checklist"],
    &["subtask", "step"],
    &["diagnose", "diagnostics", "troubleshoot", "debug", "trace"],
    &["repository", "repo", "codebase"],
    &["code", "source", "function", "script"],
    &["ci", "build", "pipeline", "workflow"],
    &["package", "library", "dependency", "module"],
    &["depend", "dependency", "reference"],
    &["version", "release", "revision"],
    &["machine", "host", "computer", "device", "laptop"],
    &["app", "application", "software", "program"],
    &["config", "configuration", "setting", "option", "preference", "configure"],
    &["environment", "env"],
    &["resource", "cpu", "memory", "disk"],
    &["remember", "memory", "memorize", "knowledge", "forget"],
    &["kubernetes", "k8s", "cluster"],
    &["context", "cluster", "environment"],
    &["container", "pod"],
    &["node", "machine", "server"],
    &["commit", "checkin", "revision"],
    &["diff", "change", "difference", "modification"],
    &["ip", "address"],
    &["traffic", "bandwidth", "volume"],
    &["domain", "hostname", "dns"],
    &["queue", "backlog"],
    // Safety.
    &["threat", "attack", "malware", "virus", "malicious"],
    &["vulnerability", "cve", "risk", "security"],
    &["alert", "alarm", "detection", "incident"],
    &["phishing", "spoof", "fake", "impersonate"],
    &["certificate", "cert", "ssl", "tls"],
    &["policy", "rule"],
];

/// The word for a pair of words that means one thing.
pub(crate) fn phrase(first: &str, second: &str) -> Option<&'static str> {
    let known = PHRASES.binary_search_by(|(one, other, _)| (*one, *other).cmp(&(first, second))).ok()?;
    PHRASES.get(known).map(|(_, _, meaning)| *meaning)
}

/// The stems of the words that are used for one with this stem, without itself.
pub(crate) fn of(stem: &str) -> &'static [String] {
    static OTHERS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(others);
    OTHERS.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a stem is a word for what is done, and for nothing else.
pub(crate) fn is_action(stem: &str) -> bool {
    static ACTION_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let stems = |groups: &[&[&str]]| {
            groups.iter().flat_map(|group| group.iter()).map(|word| super::stem::stem(word)).collect()
        };
        let (actions, things): (HashSet<String>, HashSet<String>) = (stems(ACTIONS), stems(THINGS));
        actions.difference(&things).cloned().collect()
    });
    ACTION_STEMS.contains(stem)
}

fn others() -> HashMap<String, Vec<String>> {
    let mut others: HashMap<String, Vec<String>> = HashMap::new();
    for group in ACTIONS.iter().chain(THINGS) {
        let stems: HashSet<String> = group.iter().map(|word| stem(word)).collect();
        for one in &stems {
            let known = others.entry(one.clone()).or_default();
            let new = stems.iter().filter(|other| *other != one);
            known.extend(new.cloned());
        }
    }
    for known in others.values_mut() {
        known.sort_unstable();
        known.dedup();
    }
    others
}

#[cfg(test)]
#[path = "synonyms_tests.rs"]
mod tests;
