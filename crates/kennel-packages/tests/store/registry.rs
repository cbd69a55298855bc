//! A small npm registry on this machine: it wants a token, remembers what it was asked, and publishes on demand.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What the registry wants to see.
pub(crate) const TOKEN: &str = "kennel-s3cr3t-t0k3n-value";

/// A registry that lives as long as its value.
pub(crate) struct Registry {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    archives: Mutex<BTreeMap<String, (String, Vec<u8>)>>,
    requests: Mutex<Vec<String>>,
    silent: AtomicBool,
    ended: AtomicBool,
}

impl Registry {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            // Kept open, so that whoever asks a silent registry waits.
            let mut unanswered = Vec::new();
            for stream in listener.incoming().flatten() {
                if serving.ended.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(stream) = serving.serve(stream, port) {
                    unanswered.push(stream);
                }
            }
        });
        Self { port, shared, thread: Some(thread) }
    }

    /// Publishes a version of `@corp/tool` whose program prints its version, with a step of its own.
    pub(crate) fn publish(&self, version: &str, install_step: &str, place: &Path) {
        let package = place.join(version).join("package");
        fs::create_dir_all(&package).unwrap();
        let description = serde_json::json!({
            "name": "@corp/tool", "version": version, "bin": {"tool": "tool.js"},
            "scripts": if install_step.is_empty() { serde_json::json!({}) } else { serde_json::json!({"postinstall": "node step.js"}) },
        });
        fs::write(package.join("package.json"), description.to_string()).unwrap();
        fs::write(package.join("tool.js"), "#!/usr/bin/env node\nconsole.log(require('./package.json').version);\n")
            .unwrap();
        fs::write(package.join("step.js"), install_step).unwrap();
        let archive = Command::new("tar").args(["-cz", "package"]).current_dir(place.join(version)).output().unwrap();
        assert!(archive.status.success());
        self.shared.archives.lock().unwrap().insert(version.to_owned(), (description.to_string(), archive.stdout));
    }

    /// What was asked, with the authorization that came along.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// From now on nothing is answered.
    pub(crate) fn fall_silent(&self) {
        self.shared.silent.store(true, Ordering::Relaxed);
    }

    /// Answers again.
    pub(crate) fn speak(&self) {
        self.shared.silent.store(false, Ordering::Relaxed);
    }

    /// The settings that a user of this registry has.
    pub(crate) fn npmrc(&self) -> String {
        let port = self.port;
        format!("@corp:registry=http://127.0.0.1:{port}/\n//127.0.0.1:{port}/:_authToken={TOKEN}\n")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    /// Answers one request; gives the stream back where it is to stay open.
    fn serve(&self, mut stream: TcpStream, port: u16) -> Option<TcpStream> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        let first = lines.next()?.ok()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let headers = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect::<Vec<_>>();
        let authorization = headers.iter().find(|line| line.to_ascii_lowercase().starts_with("authorization:"));
        let authorization =
            authorization.map(|line| line["authorization:".len()..].trim().to_owned()).unwrap_or_default();
        self.requests.lock().unwrap().push(format!("{path} {authorization}"));
        if self.silent.load(Ordering::Relaxed) {
            return Some(stream);
        }
        let (status, body) = self.answer(&path, &authorization, port);
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        None
    }

    fn answer(&self, path: &str, authorization: &str, port: u16) -> (&'static str, Vec<u8>) {
        if authorization != format!("Bearer {TOKEN}") {
            return ("401 Unauthorized", b"{}".to_vec());
        }
        let path = path.split('?').next().unwrap_or_default();
        let archives = self.archives.lock().unwrap();
        if let Some(version) =
            path.strip_suffix(".tgz").and_then(|path| path.rsplit_once("/-/tool-")).map(|(_, version)| version)
        {
            return archives
                .get(version)
                .map_or(("404 Not Found", Vec::new()), |(_, archive)| ("200 OK", archive.clone()));
        }
        if !path.to_ascii_lowercase().ends_with("tool") || archives.is_empty() {
            return ("404 Not Found", b"{}".to_vec());
        }
        let versions = archives.iter().map(|(version, (description, _))| {
            let mut description: serde_json::Value = serde_json::from_str(description).unwrap();
            // Some registries put a secret into the addresses that they give out.
            let address = format!("http://127.0.0.1:{port}/@corp/tool/-/tool-{version}.tgz?key={TOKEN}");
            description["dist"] = serde_json::json!({"tarball": address});
            (version.clone(), description)
        });
        let latest = archives.keys().last().cloned();
        let answer = serde_json::json!({
            "name": "@corp/tool", "dist-tags": {"latest": latest},
            "versions": versions.collect::<serde_json::Map<_, _>>(),
        });
        ("200 OK", answer.to_string().into_bytes())
    }
}
