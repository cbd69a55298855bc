//! Owns what makes a client one of 2026-07-28.

use serde_json::{Map, Value, json};

use super::StdioClient;

impl StdioClient {
    /// Makes the client one of 2026-07-28: there is no handshake, and each request says in its `_meta` what the version
    /// and the capabilities are, unless it says so itself.
    #[must_use]
    pub fn modern(mut self, capabilities: &Value) -> Self {
        let mut meta = Map::new();
        let client = json!({"name": "kennel-testkit", "version": env!("CARGO_PKG_VERSION")});
        meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2026-07-28"));
        meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client);
        meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities.clone());
        self.meta = Some(meta);
        self
    }

    /// Params with what each request says of itself.
    pub(super) fn with_meta(&self, params: &Value) -> Value {
        let mut params = params.clone();
        if let (Some(meta), Some(members)) = (&self.meta, params.as_object_mut()) {
            let own = members.entry("_meta").or_insert_with(|| json!({}));
            for (key, value) in meta {
                if let Some(own) = own.as_object_mut() {
                    own.entry(key).or_insert_with(|| value.clone());
                }
            }
        }
        params
    }
}
