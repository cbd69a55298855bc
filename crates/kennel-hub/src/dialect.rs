//! How a message of one era is said in the other. Nothing here knows who asked, or which process answers.

use bytes::Bytes;
use kennel_wire::{ErrorCode, FieldError, Id, Message, PROGRESS_TOKEN, ProtocolVersion, RawJson, ValueKind, meta};
use std::sync::LazyLock;

const META: &str = "_meta";
/// What a modern request says about its sender, of which a process of the old era must not hear: a server that speaks
/// both would take it for the other one.
const DECLARED: [&str; 4] = [meta::PROTOCOL_VERSION, meta::CLIENT_INFO, meta::CLIENT_CAPABILITIES, meta::LOG_LEVEL];
/// What a modern request carries when it is made again with what it was asked for.
pub(crate) const INPUT_RESPONSES: &str = "inputResponses";
pub(crate) const REQUEST_STATE: &str = "requestState";

/// What a request is about, as far as the eras differ in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A page of a list.
    List,
    /// A resource.
    Read,
    /// A tool.
    Call,
    /// A prompt.
    Prompt,
    /// Anything else.
    Other,
}

impl Subject {
    pub(crate) fn of(method: &str) -> Self {
        match method {
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => Self::List,
            "resources/read" => Self::Read,
            "tools/call" => Self::Call,
            "prompts/get" => Self::Prompt,
            _ => Self::Other,
        }
    }

    /// Whether its answer may ask for more.
    pub(crate) fn may_ask(self) -> bool {
        matches!(self, Self::Read | Self::Call | Self::Prompt)
    }

    /// Whether its answer says for how long it holds.
    fn is_cacheable(self) -> bool {
        matches!(self, Self::List | Self::Read)
    }
}

/// A modern request as a line for a process of the old era.
pub(crate) fn old_request(message: &Message, minted: &Id) -> Result<Bytes, FieldError> {
    let told = message.field(&["params", META])?.unwrap_or_else(RawJson::empty_object);
    let told = if told.names().all(|name| DECLARED.contains(&&*name)) {
        // As with most requests.
        Vec::new()
    } else {
        let told = told.members().into_iter().filter(|(name, _)| !DECLARED.contains(&name.as_str()));
        with_token(told.collect(), message, minted)?
    };
    let rewrite = message.rewrite().id(minted)?;
    let again = [INPUT_RESPONSES, REQUEST_STATE];
    if again.iter().all(|name| !message.has(&["params", name])) {
        return Ok(rewrite.set(&["params", META], &object(&told))?.finish_line());
    }
    let mut params = members_of(message, &["params"])?;
    params.retain(|(name, _)| name != META && !again.contains(&name.as_str()));
    params.push((META.to_owned(), object(&told)));
    Ok(rewrite.replace(&["params"], &object(&params))?.finish_line())
}

/// A request of the old era as a line for a modern process, with what it says about its sender and what further
/// parameters it needs.
pub(crate) fn new_request(
    message: &Message,
    minted: &Id,
    declared: &[(&str, RawJson)],
    further: &[(&str, RawJson)],
) -> Result<Bytes, FieldError> {
    let mut rewrite = message.rewrite().id(minted)?;
    let mut added = further.to_vec();
    match message.field(&["params", META])? {
        Some(told) if told.names().any(|name| DECLARED.contains(&&*name)) => {
            let mut told = with_token(told.members(), message, minted)?;
            told.retain(|(name, _)| !DECLARED.contains(&name.as_str()));
            told.extend(declared.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            rewrite = rewrite.replace(&["params", META], &object(&told))?;
        }
        Some(told) if told.kind() == ValueKind::Object => {
            if message.progress_token()?.is_some() {
                rewrite = rewrite.progress_token(minted)?;
            }
            rewrite = rewrite.add(&["params", META], declared)?;
        }
        Some(_) | None => added.push((META, RawJson::object(declared.iter().map(|(name, value)| (*name, value))))),
    }
    let rewrite = match message.params() {
        Some(params) if params.kind() == ValueKind::Object => rewrite.add(&["params"], &added)?,
        Some(_) | None => {
            rewrite.set(&["params"], &RawJson::object(added.iter().map(|(name, value)| (*name, value))))?
        }
    };
    Ok(rewrite.finish_line())
}

/// The answer of a process of the old era for a modern client.
pub(crate) fn new_answer(
    message: &Message,
    id: &Id,
    subject: Subject,
    server: Option<&RawJson>,
) -> Result<Bytes, FieldError> {
    let mut rewrite = message.rewrite().id(id)?;
    let Some(result) = message.result() else {
        if subject == Subject::Read && error_code(message) == Some(ErrorCode::RESOURCE_NOT_FOUND) {
            rewrite = rewrite.replace(&["error", "code"], &code(ErrorCode::INVALID_PARAMS))?;
        }
        return Ok(rewrite.finish());
    };
    if result.kind() != ValueKind::Object {
        return Ok(rewrite.finish());
    }
    let has = |name: &str| message.has(&["result", name]);
    let mut added = Vec::new();
    if !has("resultType") {
        added.push(("resultType", COMPLETE.clone()));
    }
    if subject.is_cacheable() {
        added.extend(FRESHNESS.iter().filter(|(name, _)| !has(name)).map(|(name, value)| (*name, raw(value))));
    }
    if let Some(server) = server {
        let path = ["result", META, meta::SERVER_INFO];
        match message.field(&path[..2])? {
            None => added.push((META, RawJson::object([(meta::SERVER_INFO, server)]))),
            Some(told) if told.kind() == ValueKind::Object && message.locate(&path)?.is_none() => {
                rewrite = rewrite.set(&path, server)?;
            }
            Some(_) => {}
        }
    }
    Ok(rewrite.add(&["result"], &added)?.finish())
}

/// The answer of a modern process for a client of the old era.
pub(crate) fn old_answer(message: &Message, id: &Id, subject: Subject) -> Result<Bytes, FieldError> {
    let mut rewrite = message.rewrite().id(id)?;
    let is_missing = subject == Subject::Read
        && error_code(message) == Some(ErrorCode::INVALID_PARAMS)
        && message.has(&["error", "data", "uri"]);
    if is_missing {
        rewrite = rewrite.replace(&["error", "code"], &code(ErrorCode::RESOURCE_NOT_FOUND))?;
    }
    Ok(rewrite.finish())
}

/// What a result is that asks for nothing.
static COMPLETE: LazyLock<RawJson> = LazyLock::new(|| RawJson::string("complete"));
/// How long an answer of a server holds that does not say so, and for whom.
const FRESHNESS: [(&str, &str); 2] = [("ttlMs", "0"), ("cacheScope", "\"private\"")];

/// What `server/discover` says of a server that has answered `initialize` so, or `server/discover` so.
pub(crate) fn discovered(answer: &RawJson) -> RawJson {
    let mut told: Vec<(String, RawJson)> = Vec::new();
    let mut about = Vec::new();
    for (name, value) in answer.members() {
        match name.as_str() {
            "protocolVersion" | "supportedVersions" => {}
            "serverInfo" => about.push((meta::SERVER_INFO.to_owned(), value)),
            META => about.extend(value.members()),
            _ => told.push((name, value)),
        }
    }
    let versions = ProtocolVersion::ALL.iter().rev().map(|version| version.as_str()).collect::<Vec<_>>();
    let versions = raw(&format!("[\"{}\"]", versions.join("\",\"")));
    let defaults = [("resultType", &*COMPLETE), ("capabilities", &RawJson::empty_object())];
    let defaults = defaults.into_iter().map(|(name, value)| (name, value.clone()));
    for (name, value) in defaults.chain(FRESHNESS.iter().map(|(name, value)| (*name, raw(value)))) {
        if told.iter().all(|(known, _)| known != name) {
            told.push((name.to_owned(), value));
        }
    }
    told.push(("supportedVersions".to_owned(), versions));
    if !about.is_empty() {
        told.push((META.to_owned(), object(&about)));
    }
    object(&told)
}

/// What `initialize` says of a server that has answered `server/discover` so.
pub(crate) fn initialized(answer: &RawJson, name: &str) -> RawJson {
    let mut told = vec![("protocolVersion".to_owned(), RawJson::string(ProtocolVersion::LATEST_LEGACY.as_str()))];
    let mut server = None;
    for (name, value) in answer.members() {
        match name.as_str() {
            "capabilities" | "instructions" => told.push((name, value)),
            META => server = value.members().into_iter().find(|(name, _)| name == meta::SERVER_INFO),
            _ => {}
        }
    }
    let unknown = || {
        let (name, version) = (RawJson::string(name), RawJson::string("unknown"));
        RawJson::object([("name", &name), ("version", &version)])
    };
    told.push(("serverInfo".to_owned(), server.map_or_else(unknown, |(_, server)| server)));
    if told.iter().all(|(name, _)| name != "capabilities") {
        told.push(("capabilities".to_owned(), RawJson::empty_object()));
    }
    object(&told)
}

/// The code of an error.
pub(crate) fn error_code(message: &Message) -> Option<ErrorCode> {
    let code = message.field(&["error", "code"]).ok()??;
    std::str::from_utf8(code.as_bytes()).ok()?.parse().ok().map(ErrorCode)
}

fn code(code: ErrorCode) -> RawJson {
    raw(&code.to_string())
}

/// JSON that Kennel writes itself.
fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap_or_else(|_| RawJson::empty_object())
}

fn members_of(message: &Message, path: &[&str]) -> Result<Vec<(String, RawJson)>, FieldError> {
    Ok(message.field(path)?.map(|object| object.members()).unwrap_or_default())
}

/// The members of `_meta` with another progress token in place of the one there is.
fn with_token(
    mut told: Vec<(String, RawJson)>,
    message: &Message,
    minted: &Id,
) -> Result<Vec<(String, RawJson)>, FieldError> {
    if message.progress_token()?.is_some() {
        let token = PROGRESS_TOKEN.last().copied().unwrap_or_default();
        told.iter_mut().filter(|(name, _)| name == token).for_each(|(_, value)| *value = minted.into());
    }
    Ok(told)
}

fn object(members: &[(String, RawJson)]) -> RawJson {
    RawJson::object(members.iter().map(|(name, value)| (name.as_str(), value)))
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
