//! The opening of the legacy era: `initialize`, `notifications/initialized`, then the whole list of tools.

use crate::failure::Cause;
use crate::opening::{Ids, QUOTED, Step, as_line, protocol, result_of};
use crate::phase::Phase;
use crate::receiver::Handshake;
use crate::settings::Settings;
use crate::tools::{ToolPages, are_offered};
use kennel_wire::{Era, Kind, Message, ProtocolVersion, RawJson, notification};
use std::sync::Arc;

/// How far the opening is.
pub(crate) struct Legacy {
    params: RawJson,
    greeting: Option<Greeting>,
    tools: ToolPages,
}

/// What the process said about itself.
struct Greeting {
    version: ProtocolVersion,
    result: RawJson,
}

impl Legacy {
    /// An opening with these parameters of `initialize`.
    pub(crate) fn new(params: RawJson, settings: Arc<Settings>) -> Self {
        Self { params, greeting: None, tools: ToolPages::new(settings) }
    }

    pub(crate) fn begin(&mut self, ids: &mut Ids) -> Vec<Step> {
        vec![Step::Send(ids.ask("initialize", &self.params))]
    }

    pub(crate) fn answer(&mut self, message: &Message, ids: &mut Ids) -> Vec<Step> {
        let steps = match self.greeting {
            None => self.greeted(message, ids),
            Some(_) => self.listed(message, ids).map(|step| vec![step]),
        };
        steps.unwrap_or_else(|step| vec![step])
    }

    /// Takes the answer to `initialize`.
    fn greeted(&mut self, message: &Message, ids: &mut Ids) -> Result<Vec<Step>, Step> {
        let result = result_of(message, "initialize").map_err(|text| match message.kind() {
            // The modern era has no `initialize`.
            Kind::Error { .. } => Step::Refuse(Cause::Protocol(text)),
            _ => protocol(text),
        })?;
        let version = match message.text_at(&["result", "protocolVersion"]) {
            Ok(Some(version)) => version,
            Ok(None) => return Err(protocol("the answer to `initialize` has no `protocolVersion`".to_owned())),
            Err(error) => return Err(protocol(format!("the answer to `initialize` cannot be read: {error}"))),
        };
        let version = match version.parse::<ProtocolVersion>() {
            Ok(version) if version.era() == Era::Legacy => version,
            Ok(_) | Err(_) => {
                let version = kennel_redact::cut(&version, QUOTED);
                return Err(protocol(format!(
                    "the process chose protocol version `{version}`, which cannot follow `initialize`; \
                     known are 2024-11-05 to {}",
                    ProtocolVersion::LATEST_LEGACY
                )));
            }
        };
        self.greeting = Some(Greeting { version, result });
        let initialized = notification("notifications/initialized", &RawJson::empty_object());
        let next = if are_offered(message) {
            Step::Send(ids.ask("tools/list", &RawJson::empty_object()))
        } else {
            self.finish().unwrap_or_else(|step| step)
        };
        Ok(vec![Step::Send(as_line(initialized)), Step::Enter(Phase::Preflight), next])
    }

    /// Takes one page of tools.
    fn listed(&mut self, message: &Message, ids: &mut Ids) -> Result<Step, Step> {
        let Some(cursor) = self.tools.take(message)? else { return self.finish() };
        let mut params = b"{\"cursor\":".to_vec();
        params.extend_from_slice(cursor.as_bytes());
        params.push(b'}');
        match RawJson::parse(params) {
            Ok(params) => Ok(Step::Send(ids.ask("tools/list", &params))),
            Err(error) => Err(protocol(format!("`nextCursor` of `tools/list` cannot be sent back: {error}"))),
        }
    }

    fn finish(&mut self) -> Result<Step, Step> {
        let tools = self.tools.finish()?;
        let Some(Greeting { version, result }) = self.greeting.take() else {
            return Err(protocol("the opening ended before it began".to_owned()));
        };
        Ok(Step::Open(Handshake { era: Era::Legacy, version: version.as_str().to_owned(), result, tools }))
    }
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod tests;
