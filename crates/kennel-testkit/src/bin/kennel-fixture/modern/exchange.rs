//! Owns how a modern request asks its client: its result says what it wants to know, and the request comes again with
//! the answers.
//!
//! What asks runs again from its beginning in every round; what was answered before is in the state that the client
//! brings back, so the server remembers nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::state::{self, Answers};
use super::{Params, Request};
use crate::calls::{Answer, NoResult};
use crate::dialogue::{Question, Sealing, capability};
use crate::incoming::Failure;

/// What a request says of its client, and what it brings from earlier rounds.
pub(crate) struct Exchange {
    /// The `_meta` as the client spelled it.
    pub(crate) meta: String,
    capabilities: Value,
    least_level: Option<u8>,
    purpose: String,
    /// Answers of earlier rounds, if the request brought a state.
    earlier: Option<Answers>,
    /// Answers that came with this request.
    responses: Answers,
    /// Answers that were asked for in this round, in the end for the next one.
    used: RefCell<Answers>,
}

#[derive(Deserialize)]
struct RawMeta<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: &'a RawValue,
}

impl Exchange {
    /// Reads what a request brings; `name` is that of what it wants.
    pub(super) fn new(request: &Request<'_>, name: &str) -> Result<Self, Failure> {
        let (params, meta) = (request.params, request.meta);
        let purpose = state::purpose((request.method, name), request.arguments());
        let earlier = params.request_state.as_ref().map(|state| state::open(&purpose, state)).transpose()?;
        let responses = responses(params)?;
        Ok(Self {
            meta: serde_json::from_str::<RawMeta<'_>>(request.raw)
                .map_err(Failure::invalid_params)?
                .meta
                .get()
                .to_owned(),
            capabilities: serde_json::from_str(meta.capabilities()).map_err(Failure::invalid_params)?,
            least_level: meta.least_level()?,
            purpose,
            earlier,
            responses,
            used: RefCell::default(),
        })
    }

    /// Whether the client says that it can do something.
    pub(crate) fn client_can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some()
    }

    /// Whether the client says that it knows an extension.
    pub(super) fn client_knows(&self, extension: &str) -> bool {
        self.capabilities["extensions"].get(extension).is_some()
    }

    /// Whether messages of this severity are wanted.
    pub(crate) fn wants_log(&self, severity: u8) -> bool {
        self.least_level.is_some_and(|least| severity >= least)
    }

    /// The answers, if the request brought them all.
    pub(crate) fn ask(&self, questions: &[Question], sealing: Sealing) -> Result<Vec<Answer>, NoResult> {
        let answer = |question: &Question| self.answer(&question.key, sealing);
        let missing: Vec<&Question> = questions.iter().filter(|question| answer(question).is_none()).collect();
        let mut used = self.used.borrow_mut();
        let answers: Vec<Answer> = (questions.iter())
            .filter_map(|question| {
                let json = answer(question)?;
                used.insert(question.key.clone(), json.to_owned());
                Some(Ok(json.to_owned()))
            })
            .collect();
        if missing.is_empty() { Ok(answers) } else { Err(self.request(&missing, sealing, &used)) }
    }

    /// An answer of this round or, by the state, an earlier one. What must come with a state does not count without.
    fn answer(&self, key: &str, sealing: Sealing) -> Option<&str> {
        if sealing == Sealing::Always && self.earlier.is_none() {
            return None;
        }
        let earlier = self.earlier.as_ref().and_then(|earlier| earlier.get(key));
        self.responses.get(key).or(earlier).map(String::as_str)
    }

    fn request(&self, missing: &[&Question], sealing: Sealing, used: &Answers) -> NoResult {
        let undeclared: Map<String, Value> = (missing.iter())
            .map(|question| capability(question.method))
            .filter(|capability| !self.client_can(capability))
            .map(|capability| (capability.to_owned(), json!({})))
            .collect();
        if !undeclared.is_empty() {
            return Failure::missing_capabilities(&Value::Object(undeclared)).into();
        }
        let mut result = json!({ "inputRequests": requests(missing) });
        if sealing == Sealing::Always || !used.is_empty() {
            result["requestState"] = Value::from(state::seal(&self.purpose, used));
        }
        NoResult::InputRequired(result.to_string())
    }
}

/// Questions as the requests that they are to the client.
pub(super) fn requests(questions: &[&Question]) -> Map<String, Value> {
    (questions.iter())
        .map(|question| (question.key.clone(), json!({"method": question.method, "params": question.params})))
        .collect()
}

/// The answers that came with a request.
pub(super) fn responses(params: &Params<'_>) -> Result<Answers, Failure> {
    let responses = params.input_responses.map_or("{}", RawValue::get);
    let responses: BTreeMap<String, &RawValue> = serde_json::from_str(responses).map_err(Failure::invalid_params)?;
    if let Some((key, _)) = responses.iter().find(|(_, response)| !response.get().starts_with('{')) {
        return Err(Failure::invalid_params(format_args!("the input response `{key}` is no object")));
    }
    Ok(responses.into_iter().map(|(key, json)| (key, json.get().to_owned())).collect())
}
