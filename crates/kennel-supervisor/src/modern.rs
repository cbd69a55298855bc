//! The opening of the modern era: `server/discover`, then the whole list of tools, each request with its own `_meta`.

use crate::failure::{Cause, Permanence};
use crate::opening::{Ids, QUOTED, Step, as_line, protocol, result_of};
use crate::phase::Phase;
use crate::receiver::Handshake;
use crate::settings::Settings;
use crate::tools::{ToolPages, are_offered};
use bytes::Bytes;
use kennel_wire::{Era, ErrorCode, Id, Kind, Message, ParseError, ProtocolVersion, RawJson, request};
use std::sync::Arc;

/// The version that is spoken.
const SPOKEN: ProtocolVersion = ProtocolVersion::V2026_07_28;
/// The errors by which a server of this era is told from one that merely does not know `server/discover`.
const OF_THIS_ERA: [ErrorCode; 3] =
    [ErrorCode::HEADER_MISMATCH, ErrorCode::MISSING_CLIENT_CAPABILITY, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION];

/// How far the opening is.
pub(crate) struct Modern {
    meta: RawJson,
    discovered: Option<RawJson>,
    tools: ToolPages,
}

/// What a list of versions says about a server.
enum Speaks {
    /// The version that Kennel speaks.
    This,
    /// The legacy era, and not that version.
    LegacyOnly,
    /// Nothing that Kennel knows.
    Neither,
}

impl Modern {
    /// An opening with this object `_meta`.
    pub(crate) fn new(meta: RawJson, settings: Arc<Settings>) -> Self {
        Self { meta, discovered: None, tools: ToolPages::new(settings) }
    }

    pub(crate) fn begin(&mut self, ids: &mut Ids) -> Vec<Step> {
        vec![match self.params(None) {
            Ok(params) => Step::Send(ids.ask("server/discover", &params)),
            Err(error) => protocol(format!("the `_meta` for the process cannot be sent: {error}")),
        }]
    }

    pub(crate) fn answer(&mut self, message: &Message, ids: &mut Ids) -> Vec<Step> {
        let steps = match self.discovered {
            None => self.discovered(message, ids),
            Some(_) => self.listed(message, ids).map(|step| vec![step]),
        };
        steps.unwrap_or_else(|step| vec![step])
    }

    /// A line to which every process that lives has an answer.
    pub(crate) fn probe(&self, id: &Id) -> Bytes {
        // The same parameters have been sent at the beginning, so they can be.
        let params = self.params(None).unwrap_or_else(|_| RawJson::empty_object());
        as_line(request(id, "server/discover", &params))
    }

    /// Whether the process has not yet said that it speaks this era.
    pub(crate) fn is_discovering(&self) -> bool {
        self.discovered.is_none()
    }

    /// Takes the answer to `server/discover`.
    fn discovered(&mut self, message: &Message, ids: &mut Ids) -> Result<Vec<Step>, Step> {
        // Whatever no server of this era says comes from one of another era.
        let result = result_of(message, "server/discover").map_err(|text| match message.kind() {
            Kind::Error { .. } => judge_error(message, text),
            _ => Step::Refuse(Cause::Protocol(text)),
        })?;
        let versions = versions_at(message, &["result", "supportedVersions"]).ok_or_else(|| {
            let text = "the answer to `server/discover` has no `supportedVersions` that are a list of texts";
            Step::Refuse(Cause::Protocol(text.to_owned()))
        })?;
        match what_speaks(&versions) {
            Speaks::This => {}
            Speaks::LegacyOnly => return Err(Step::Refuse(lacking(&versions))),
            Speaks::Neither => return Err(Step::Fail(lacking(&versions), Permanence::Permanent)),
        }
        self.discovered = Some(result);
        let next = if are_offered(message) { self.ask_for_tools(None, ids) } else { self.finish() };
        Ok(vec![Step::Enter(Phase::Preflight), next.unwrap_or_else(|step| step)])
    }

    /// Takes one page of tools.
    fn listed(&mut self, message: &Message, ids: &mut Ids) -> Result<Step, Step> {
        match self.tools.take(message)? {
            Some(cursor) => self.ask_for_tools(Some(&cursor), ids),
            None => self.finish(),
        }
    }

    fn ask_for_tools(&self, cursor: Option<&RawJson>, ids: &mut Ids) -> Result<Step, Step> {
        match self.params(cursor) {
            Ok(params) => Ok(Step::Send(ids.ask("tools/list", &params))),
            Err(error) => Err(protocol(format!("`nextCursor` of `tools/list` cannot be sent back: {error}"))),
        }
    }

    /// The parameters of a request.
    fn params(&self, cursor: Option<&RawJson>) -> Result<RawJson, ParseError> {
        let mut params = b"{\"_meta\":".to_vec();
        params.extend_from_slice(self.meta.as_bytes());
        if let Some(cursor) = cursor {
            params.extend_from_slice(b",\"cursor\":");
            params.extend_from_slice(cursor.as_bytes());
        }
        params.push(b'}');
        RawJson::parse(params)
    }

    fn finish(&mut self) -> Result<Step, Step> {
        let tools = self.tools.finish()?;
        let Some(result) = self.discovered.take() else {
            return Err(protocol("the opening ended before it began".to_owned()));
        };
        Ok(Step::Open(Handshake { era: Era::Modern, version: SPOKEN.as_str().to_owned(), result, tools }))
    }
}

/// What an error says about the server: that it is of another era, unless it is one that only this era has.
fn judge_error(message: &Message, text: String) -> Step {
    let code = message.field(&["error", "code"]).ok().flatten();
    let code = code.and_then(|code| serde_json::from_slice(code.as_bytes()).ok()).map(ErrorCode);
    if !code.is_some_and(|code| OF_THIS_ERA.contains(&code)) {
        return Step::Refuse(Cause::Protocol(text));
    }
    let versions = versions_at(message, &["error", "data", "supported"]).unwrap_or_default();
    match what_speaks(&versions) {
        Speaks::LegacyOnly if code == Some(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) => {
            Step::Refuse(Cause::Protocol(text))
        }
        Speaks::This | Speaks::LegacyOnly | Speaks::Neither => protocol(text),
    }
}

/// The versions in the list to which a path leads, if there is one.
fn versions_at(message: &Message, path: &[&str]) -> Option<Vec<String>> {
    let list = message.field(path).ok().flatten()?;
    serde_json::from_slice(list.as_bytes()).ok()
}

fn what_speaks(versions: &[String]) -> Speaks {
    let known = || versions.iter().filter_map(|version| version.parse::<ProtocolVersion>().ok());
    if known().any(|version| version == SPOKEN) {
        Speaks::This
    } else if known().any(|version| version.era() == Era::Legacy) {
        Speaks::LegacyOnly
    } else {
        Speaks::Neither
    }
}

fn lacking(versions: &[String]) -> Cause {
    let versions = versions.join("`, `");
    let versions = kennel_redact::cut(&versions, QUOTED);
    Cause::Protocol(format!("the process supports protocol versions `{versions}`, and not {SPOKEN}"))
}

#[cfg(test)]
#[path = "modern_tests.rs"]
mod tests;
