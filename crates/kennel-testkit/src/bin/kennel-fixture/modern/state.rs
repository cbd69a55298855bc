//! Owns `requestState`: what was answered in earlier rounds of a request, with a seal that shows tampering.
//!
//! The key is the same in every process, so that a later round may come to another one; that is for a test server only.
//! For the same reason there is no expiry. The text is no base64, but has quotes and letters of all kinds: a proxy must
//! pass it on as it is.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::incoming::Failure;

/// Answers of the client by what they were asked under, each as JSON.
pub(super) type Answers = BTreeMap<String, String>;

const KEY: &[u8] = b"kennel-fixture signs what it gives out";

/// How many bytes a block of SHA-256 has.
const BLOCK: usize = 64;

/// What is before the seal.
const MARK: &str = "fixture “state” ";

#[derive(Deserialize)]
struct Content<'a> {
    purpose: String,
    #[serde(borrow)]
    answers: BTreeMap<String, &'a RawValue>,
}

/// What a state is for: one method with one name and one set of arguments, however these are spelled.
pub(super) fn purpose(what: (&str, &str), arguments: &str) -> String {
    let arguments = serde_json::from_str::<Value>(arguments).unwrap_or_default();
    format!("{} {} {}", what.0, what.1, hex(&Sha256::digest(arguments.to_string())))
}

/// Makes a state.
pub(super) fn seal(purpose: &str, answers: &Answers) -> String {
    let answers: Vec<String> =
        answers.iter().map(|(key, json)| format!("{}:{json}", Value::from(key.as_str()))).collect();
    let content = format!(r#"{{"purpose":{},"answers":{{{}}}}}"#, Value::from(purpose), answers.join(","));
    format!("{MARK}{} {content}", hex(&signature(&content)))
}

/// Reads a state that is for this purpose and as it was made.
pub(super) fn open(purpose: &str, state: &str) -> Result<Answers, Failure> {
    let refused = || Failure::invalid_params("the requestState is not one of this server for this request");
    let (seal, content) = state.strip_prefix(MARK).and_then(|rest| rest.split_once(' ')).ok_or_else(refused)?;
    if seal != hex(&signature(content)) {
        return Err(refused());
    }
    let content: Content<'_> = serde_json::from_str(content).map_err(|_| refused())?;
    if content.purpose != purpose {
        return Err(refused());
    }
    Ok(content.answers.into_iter().map(|(key, json)| (key, json.get().to_owned())).collect())
}

/// HMAC-SHA-256 of a text.
fn signature(text: &str) -> [u8; 32] {
    let mut block = [0; BLOCK];
    for (place, byte) in block.iter_mut().zip(KEY) {
        *place = *byte;
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
