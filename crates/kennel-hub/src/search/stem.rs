//! Brings the forms of an English word together: light, by its ending, and the same for tools and questions.
//!
//! What comes out need not be a word. Endings are taken off only where enough is left that different words stay different.

/// Forms that no ending explains, and words that an ending would spoil, in their order.
const IRREGULAR: [(&str, &str); 51] = [
    ("analyse", "analyz"),
    ("analyses", "analyz"),
    ("analysis", "analyz"),
    ("analytics", "analyz"),
    ("began", "begin"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("built", "build"),
    ("children", "child"),
    ("chose", "choos"),
    ("chosen", "choos"),
    ("customer", "customer"),
    ("customers", "customer"),
    ("done", "done"),
    ("embed", "embed"),
    ("finding", "finding"),
    ("findings", "finding"),
    ("found", "find"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("got", "get"),
    ("held", "hold"),
    ("ids", "id"),
    ("indices", "index"),
    ("kept", "keep"),
    ("lost", "lose"),
    ("made", "make"),
    ("making", "make"),
    ("men", "man"),
    ("paid", "pay"),
    ("payment", "pay"),
    ("payments", "pay"),
    ("people", "person"),
    ("production", "production"),
    ("ran", "run"),
    ("sent", "send"),
    ("setting", "setting"),
    ("settings", "setting"),
    ("shown", "show"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("staging", "staging"),
    ("taken", "take"),
    ("took", "take"),
    ("usage", "use"),
    ("used", "use"),
    ("using", "use"),
    ("written", "write"),
    ("wrote", "write"),
];

/// The stem of a word in lower case. Words that are not plain letters stay as they are.
pub(crate) fn stem(word: &str) -> String {
    let irregular = IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(word)).ok();
    if let Some((_, stem)) = irregular.and_then(|place| IRREGULAR.get(place)) {
        return without_last_e(stem).to_owned();
    }
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let singular = without_plural(word);
    let plain = without_inflection(&singular);
    let root = without_derivation(&plain);
    let root = without_last_e(&root);
    match root.strip_suffix('y') {
        Some(start) if start.len() >= 2 && !ends_with_vowel(start) => format!("{start}i"),
        _ => root.to_owned(),
    }
}

/// `queries` → `query`, `addresses` → `address`, `boxes` → `box`; `status` and `analysis` are no plurals.
fn without_plural(word: &str) -> String {
    let cut = |count: usize| word.get(..word.len() - count).unwrap_or(word).to_owned();
    let ends = |ending: &str| word.ends_with(ending);
    if ends("ies") && word.len() > 4 {
        return cut(3) + "y";
    }
    if ["sses", "xes", "ches", "shes", "zzes"].iter().any(|ending| ends(ending)) {
        return cut(2);
    }
    if ends("s") && !["ss", "us", "is"].iter().any(|ending| ends(ending)) {
        return cut(1);
    }
    word.to_owned()
}

/// `running` → `run`, `stored` → `stor`, `modified` → `modify`; `string` and `speed` stay.
fn without_inflection(word: &str) -> String {
    if let Some(start) = word.strip_suffix("ied").filter(|start| start.len() >= 3) {
        return format!("{start}y");
    }
    let is_stem = |start: &&str| start.len() >= 3 && start.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let past = || word.strip_suffix("ed").filter(|start| !start.ends_with('e'));
    let Some(start) = word.strip_suffix("ing").or_else(past).filter(is_stem) else { return word.to_owned() };
    match start.as_bytes() {
        [.., before, last] if before == last && start.len() > 3 && !matches!(last, b'l' | b's' | b'z') => {
            start.get(..start.len() - 1).unwrap_or(start).to_owned()
        }
        _ => with_last_e(start),
    }
}

/// `nam` → `name`: three letters that an ending left, as in `named`, unless they are a word as they are, as in `added`.
fn with_last_e(start: &str) -> String {
    let is_vowel = |letter: &u8| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u');
    match start.as_bytes() {
        [first, second, third]
            if !is_vowel(first) && is_vowel(second) && !is_vowel(third) && !matches!(third, b'w' | b'x' | b'y') =>
        {
            format!("{start}e")
        }
        _ => start.to_owned(),
    }
}

/// `deployment` → `deploy`, `description` → `describ`, `configuration` → `configur`, `security` → `secur`.
fn without_derivation(word: &str) -> String {
    let without = |ending: &str, least: usize| word.strip_suffix(ending).filter(|start| start.len() >= least);
    if let Some(start) = without("ification", 2) {
        return format!("{start}ify");
    }
    if let Some(start) = without("cription", 2) {
        return format!("{start}crib");
    }
    if let Some(start) = without("ability", 4).or_else(|| without("able", 4)) {
        return start.to_owned();
    }
    if let Some(start) = without("er", 3).filter(|start| !ends_with_vowel(start)) {
        return with_last_e(start);
    }
    let ment = || without("ment", 5);
    let other = || without("ity", 5).or_else(|| without("ly", 4));
    if let Some(start) = ment().or_else(other) {
        return start.to_owned();
    }
    let verb = |ending: &str| without(ending, 4).filter(|start| start.ends_with(['s', 't']));
    let root = without_last_e(verb("ion").or_else(|| verb("or")).unwrap_or(word));
    match root.strip_suffix("at").filter(|start| start.len() >= 5) {
        Some(start) => start.to_owned(),
        None => root.to_owned(),
    }
}

fn without_last_e(word: &str) -> &str {
    word.strip_suffix('e').filter(|start| start.len() >= 4).unwrap_or(word)
}

fn ends_with_vowel(text: &str) -> bool {
    text.ends_with(['a', 'e', 'i', 'o', 'u'])
}

#[cfg(test)]
#[path = "stem_tests.rs"]
mod tests;
