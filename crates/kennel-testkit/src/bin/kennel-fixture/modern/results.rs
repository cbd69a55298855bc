//! Owns what results have beside what their method says.

/// Who answers, as a member of a result's `_meta`.
macro_rules! server_info {
    () => {
        concat!(
            r#""io.modelcontextprotocol/serverInfo":{"name":"kennel-fixture","version":""#,
            env!("CARGO_PKG_VERSION"),
            r#""}"#
        )
    };
}

/// See the macro.
pub(super) const SERVER_INFO: &str = server_info!();

/// The members of a result that is final.
pub(crate) const COMPLETE: &str = concat!(r#""resultType":"complete","_meta":{"#, server_info!(), "},");

/// The members of a result that asks the client.
pub(crate) const INPUT_REQUIRED: &str = concat!(r#""resultType":"input_required","_meta":{"#, server_info!(), "},");

/// The members of a result that is the handle of a task.
pub(crate) const TASK: &str = concat!(r#""resultType":"task","_meta":{"#, server_info!(), "},");

/// What is said of results that can be kept.
pub(crate) struct Hints {
    pub(crate) ttl_ms: u64,
    pub(crate) scope: &'static str,
    cacheable: std::sync::OnceLock<String>,
}

impl Default for Hints {
    fn default() -> Self {
        Self { ttl_ms: 60_000, scope: "public", cacheable: std::sync::OnceLock::new() }
    }
}

impl Hints {
    /// Reads a scope; the error is a sentence.
    pub(crate) fn scope(text: &str) -> Result<&'static str, String> {
        ["public", "private"]
            .into_iter()
            .find(|known| *known == text)
            .ok_or_else(|| format!("there is no cache scope `{text}`, only public and private"))
    }

    /// The members of a final result that can be kept.
    pub(crate) fn cacheable(&self) -> &str {
        self.cacheable.get_or_init(|| format!(r#"{COMPLETE}"ttlMs":{},"cacheScope":"{}","#, self.ttl_ms, self.scope))
    }
}
