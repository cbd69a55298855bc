//! A small npm registry and Python index on this machine: publishes on demand, and remembers what it was asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Error, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A registry that lives as long as its value. npm's packages are at its root, Python's index at `/simple/`.
#[derive(Debug)]
pub struct Registry {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A package of npm.
#[derive(Debug, Clone)]
pub struct NpmPackage<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The further members of its `package.json`.
    pub description: serde_json::Value,
    /// Its files, with their content.
    pub files: &'a [(&'a str, &'a str)],
}

/// The description and the archive of each version of a package.
type Versions = BTreeMap<String, (serde_json::Value, Vec<u8>)>;

#[derive(Debug, Default)]
struct Shared {
    /// What every request must have as its bearer token, if anything.
    token: Option<String>,
    /// By name and version: description and archive.
    npm: Mutex<BTreeMap<String, Versions>>,
    /// By name of project: files with their content.
    python: Mutex<BTreeMap<String, BTreeMap<String, Vec<u8>>>>,
    requests: Mutex<Vec<String>>,
    silent: AtomicBool,
    ended: AtomicBool,
}

/// A lock whose holder panicked still guards consistent data.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Starts one; with a token, it answers nobody who does not have it.
    pub fn start(token: Option<&str>) -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { token: token.map(str::to_owned), ..Shared::default() });
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
        Ok(Self { port, shared, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Publishes a package of npm; its files are put together in a directory.
    pub fn publish(&self, package: &NpmPackage<'_>, place: &Path) -> Result<(), Error> {
        let directory = place.join(format!("{}-{}", package.name.replace('/', "_"), package.version));
        let mut description = package.description.clone();
        description["name"] = package.name.into();
        description["version"] = package.version.into();
        for (name, content) in package.files.iter().chain(&[("package.json", description.to_string().as_str())]) {
            let path = directory.join("package").join(name);
            fs::create_dir_all(path.parent().unwrap_or(&directory))?;
            fs::write(path, content)?;
        }
        let archive = Command::new("tar").args(["-cz", "package"]).current_dir(&directory).output()?;
        if !archive.status.success() {
            return Err(Error::other("tar failed"));
        }
        let mut all = locked(&self.shared.npm);
        let versions = all.entry(package.name.to_owned()).or_default();
        versions.insert(package.version.to_owned(), (description, archive.stdout));
        Ok(())
    }

    /// Publishes a source of Python: a directory that holds it becomes an archive.
    pub fn publish_source(&self, name: &str, version: &str, directory: &Path) -> Result<(), Error> {
        let stem = format!("{}-{version}", name.replace('-', "_"));
        let archive = Command::new("tar")
            .args(["-cz", "--transform"])
            .arg(format!("s,^\\.,{stem},"))
            .arg(".")
            .current_dir(directory)
            .output()?;
        if !archive.status.success() {
            return Err(Error::other("tar failed"));
        }
        self.publish_file(name, &format!("{stem}.tar.gz"), archive.stdout);
        Ok(())
    }

    /// Publishes a file of a Python project, such as a wheel.
    pub fn publish_file(&self, name: &str, file: &str, content: Vec<u8>) {
        locked(&self.shared.python).entry(name.to_owned()).or_default().insert(file.to_owned(), content);
    }

    /// What was asked, with the authorization that came along.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        locked(&self.shared.requests).clone()
    }

    /// From now on nothing is answered.
    pub fn fall_silent(&self) {
        self.shared.silent.store(true, Ordering::Relaxed);
    }

    /// Answers again.
    pub fn speak(&self) {
        self.shared.silent.store(false, Ordering::Relaxed);
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
        locked(&self.requests).push(format!("{path} {authorization}"));
        if self.silent.load(Ordering::Relaxed) {
            return Some(stream);
        }
        let (status, kind, body) = self.answer(&path, &authorization, port);
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        None
    }

    fn answer(&self, path: &str, authorization: &str, port: u16) -> (&'static str, &'static str, Vec<u8>) {
        if self.token.as_ref().is_some_and(|token| authorization != format!("Bearer {token}")) {
            return ("401 Unauthorized", "application/json", b"{}".to_vec());
        }
        let path = path.split('?').next().unwrap_or_default().replace("%2f", "/").replace("%2F", "/");
        let path = path.trim_matches('/');
        let found = path
            .strip_prefix("simple/")
            .map_or_else(|| path.strip_prefix("files/").map(|file| self.file(file)), |name| Some(self.index(name)))
            .unwrap_or_else(|| self.npm_answer(path, port));
        found.map_or(("404 Not Found", "application/json", b"{}".to_vec()), |(kind, body)| ("200 OK", kind, body))
    }

    fn index(&self, name: &str) -> Option<(&'static str, Vec<u8>)> {
        let python = locked(&self.python);
        let links = python.get(name)?.keys().map(|file| format!("<a href=\"/files/{file}\">{file}</a>\n"));
        Some(("text/html", format!("<!DOCTYPE html><html><body>{}</body></html>", links.collect::<String>()).into()))
    }

    fn file(&self, name: &str) -> Option<(&'static str, Vec<u8>)> {
        let python = locked(&self.python);
        let content = python.values().find_map(|files| files.get(name))?;
        Some(("application/octet-stream", content.clone()))
    }

    fn npm_answer(&self, path: &str, port: u16) -> Option<(&'static str, Vec<u8>)> {
        let npm = locked(&self.npm);
        if let Some((name, file)) = path.split_once("/-/") {
            let version = file.strip_suffix(".tgz")?.strip_prefix(name.rsplit('/').next()?)?.strip_prefix('-')?;
            return Some(("application/octet-stream", npm.get(name)?.get(version)?.1.clone()));
        }
        let versions = npm.get(path)?;
        let short = path.rsplit('/').next()?;
        // Some registries put a secret into the addresses that they give out.
        let query = self.token.as_ref().map(|token| format!("?key={token}")).unwrap_or_default();
        let described = versions.iter().map(|(version, (description, _))| {
            let mut description = description.clone();
            let address = format!("http://127.0.0.1:{port}/{path}/-/{short}-{version}.tgz{query}");
            description["dist"] = serde_json::json!({ "tarball": address });
            (version.clone(), description)
        });
        let answer = serde_json::json!({
            "name": path, "dist-tags": { "latest": versions.keys().last() },
            "versions": described.collect::<serde_json::Map<_, _>>(),
        });
        Some(("application/json", answer.to_string().into_bytes()))
    }
}
