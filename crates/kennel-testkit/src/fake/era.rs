//! Which protocol a fake server speaks: what it accepts, what it refuses, and what its results carry.

use serde_json::{Value, json};

/// The methods that the fake server has in each era.
const LEGACY_METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];
const MODERN_METHODS: [&str; 3] = ["server/discover", "tools/list", "tools/call"];

/// Which protocol a fake server speaks, and what it says to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// The one with `initialize`; does not mind what comes before that, and ignores what it does not know.
    Legacy,
    /// The one with `initialize`; answers -32601 to what comes before that and to what it does not know.
    Refusing,
    /// The one without sessions; answers -32601 to `initialize` and to what it does not know.
    Modern,
    /// Whichever the first request speaks, and from then on only that.
    Dual,
}

impl Era {
    /// The version of the protocol without sessions.
    pub(super) const MODERN_VERSION: &str = "2026-07-28";
    /// The version that a server of both eras speaks after `initialize`.
    const LEGACY_VERSION: &str = "2025-11-25";
}

/// Why a request is not served.
pub(super) enum Refusal {
    /// It stays unanswered.
    Silence,
    /// It is answered with this error.
    Error(Value),
}

/// The protocol as one process speaks it.
pub(super) struct Tongue {
    era: Era,
    version: &'static str,
    initialized: bool,
}

impl Tongue {
    pub(super) fn new(era: Era, version: &'static str) -> Self {
        Self { era, version, initialized: false }
    }

    /// The version that it speaks.
    pub(super) fn version(&self) -> &'static str {
        self.version
    }

    /// Takes a request, or says why not.
    pub(super) fn hear(&mut self, request: &Value) -> Result<(), Refusal> {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        match self.era {
            Era::Modern => self.hear_modern(method, request).map_err(Refusal::Error),
            Era::Legacy if LEGACY_METHODS.contains(&method) => Ok(()),
            Era::Legacy => Err(Refusal::Silence),
            Era::Refusing => {
                self.initialized |= method == "initialize";
                let known = LEGACY_METHODS.contains(&method);
                if self.initialized && known { Ok(()) } else { Err(Refusal::Error(unknown(method))) }
            }
            Era::Dual => {
                let modern = request.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
                (self.era, self.version) =
                    if modern { (Era::Modern, Era::MODERN_VERSION) } else { (Era::Refusing, Era::LEGACY_VERSION) };
                self.hear(request)
            }
        }
    }

    fn hear_modern(&self, method: &str, request: &Value) -> Result<(), Value> {
        if method == "initialize" {
            let mut error = unknown(method);
            error["data"] = json!({ "supported": [self.version] });
            return Err(error);
        }
        let meta = request.pointer("/params/_meta");
        let member = |name: &str| meta.and_then(|meta| meta.get(format!("io.modelcontextprotocol/{name}")));
        let (Some(version), Some(Value::Object(_))) =
            (member("protocolVersion").and_then(Value::as_str), member("clientCapabilities"))
        else {
            let message = "the request's _meta needs the version of the protocol and the client's capabilities";
            return Err(json!({ "code": -32602, "message": message }));
        };
        if version != self.version {
            let data = json!({ "supported": [self.version], "requested": version });
            return Err(json!({ "code": -32022, "message": "Unsupported protocol version", "data": data }));
        }
        if MODERN_METHODS.contains(&method) { Ok(()) } else { Err(unknown(method)) }
    }

    /// A result with what each result carries in this protocol.
    pub(super) fn complete(&self, mut result: Value) -> Value {
        if self.era == Era::Modern {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": { "name": "fake", "version": "1" } });
        }
        result
    }

    /// A result with what each result that can be kept carries in this protocol.
    pub(super) fn cacheable(&self, result: Value) -> Value {
        let mut result = self.complete(result);
        if self.era == Era::Modern {
            result["ttlMs"] = json!(60_000);
            result["cacheScope"] = json!("public");
        }
        result
    }
}

fn unknown(method: &str) -> Value {
    json!({ "code": -32601, "message": format!("Method not found: {method}") })
}
