//! A registry that wants a token, with one package of npm that comes in many versions.

use kennel_testkit::NpmPackage;
use serde_json::json;
use std::ops::Deref;
use std::path::Path;

/// What the registry wants to see.
pub(crate) const TOKEN: &str = "kennel-s3cr3t-t0k3n-value";

/// A registry that lives as long as its value.
pub(crate) struct Registry {
    inner: kennel_testkit::Registry,
}

impl Deref for Registry {
    type Target = kennel_testkit::Registry;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl Registry {
    pub(crate) fn start() -> Self {
        Self { inner: kennel_testkit::Registry::start(Some(TOKEN)).unwrap() }
    }

    /// Publishes a version of `@corp/tool` whose program prints its version, with a step of its own.
    pub(crate) fn publish(&self, version: &str, install_step: &str, place: &Path) {
        let scripts = if install_step.is_empty() { json!({}) } else { json!({ "postinstall": "node step.js" }) };
        let program = "#!/usr/bin/env node\nconsole.log(require('./package.json').version);\n";
        let package = NpmPackage {
            name: "@corp/tool",
            version,
            description: json!({ "bin": { "tool": "tool.js" }, "scripts": scripts }),
            files: &[("tool.js", program), ("step.js", install_step)],
        };
        self.inner.publish(&package, place).unwrap();
    }

    /// The settings that a user of this registry has.
    pub(crate) fn npmrc(&self) -> String {
        let port = self.port();
        format!("@corp:registry=http://127.0.0.1:{port}/\n//127.0.0.1:{port}/:_authToken={TOKEN}\n")
    }
}
