//! Owns the work of filling in: each key of a definition, one after the other.

use super::{Cause, ResolvedProcess, ResolvedUpstream};
use crate::problem::join;
use crate::sandbox::BoxSettings;
use crate::secret::Secret;
use crate::server::{Process, Upstream};
use crate::sources::Sources;
use crate::template::{Part, Template};
use crate::value::Value;
use kennel_box::{AccessMode, BoxSpec, MountSpec};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Fills in one definition, and remembers what must not be shown.
pub(super) struct Filler<'a> {
    directory: &'a Path,
    sources: &'a dyn Sources,
    pub(super) secrets: Vec<Secret>,
    pub(super) warnings: Vec<String>,
}

/// What went wrong, and below which key.
pub(super) type Keyed<T> = Result<T, (String, Cause)>;

impl<'a> Filler<'a> {
    pub(super) fn new(directory: &'a Path, sources: &'a dyn Sources) -> Self {
        Self { directory, sources, secrets: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn process(&mut self, process: &Process) -> Keyed<ResolvedProcess> {
        let program = at("command", self.text(&process.command))?;
        if program.is_empty() {
            return Err(("command".to_owned(), Cause::Nothing));
        }
        // A program that is named by a relative path is looked for beside the file.
        let program = if program.contains('/') { self.path_text(&program, "command")? } else { program };
        let mut command = vec![program];
        for (number, arg) in process.args.iter().enumerate() {
            command.push(at(&format!("args[{number}]"), self.text(arg))?);
        }
        let mut env = BTreeMap::new();
        for (name, secret) in self.values(&process.env, "env")? {
            env.insert(name, secret.expose().to_owned());
        }
        let cwd = process.cwd.as_ref().map(|cwd| at("cwd", self.path(cwd))).transpose()?;
        let spec = BoxSpec { env, workdir: cwd.flatten().map(|path| plain(&path)), ..self.spec(&process.sandbox)? };
        Ok(ResolvedProcess { command, spec, infer: process.sandbox.infer, refresh: process.refresh })
    }

    fn spec(&mut self, sandbox: &BoxSettings) -> Keyed<BoxSpec> {
        let mut mounts = Vec::new();
        for (key, paths, mode) in
            [("box.read", &sandbox.read, AccessMode::ReadOnly), ("box.write", &sandbox.write, AccessMode::ReadWrite)]
        {
            for (number, path) in paths.iter().enumerate() {
                let key = format!("{key}[{number}]");
                let text = at(&key, self.text(path))?;
                if text.is_empty() {
                    return Err((key, Cause::Nothing));
                }
                mounts.push(self.mount(&text, mode, &key)?);
            }
        }
        Ok(BoxSpec {
            engine: sandbox.engine,
            profile: sandbox.profile,
            network: sandbox.network,
            mounts,
            cpus: sandbox.cpus,
            memory: sandbox.memory,
            pids: sandbox.pids,
            tmp_size: sandbox.tmp_size,
            timeout: sandbox.timeout,
            accept_missing: sandbox.accept_missing.clone(),
            ..BoxSpec::default()
        })
    }

    pub(super) fn written_paths(&mut self, sandbox: &BoxSettings) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for path in &sandbox.write {
            let text = self.text(path).ok().filter(|text| !text.is_empty());
            let mount = text.and_then(|text| self.mount(&text, AccessMode::ReadWrite, "box.write").ok());
            paths.extend(mount.map(|mount| mount.host_path));
        }
        paths
    }

    /// `PATH` or `PATH:PLACE`; a colon that no absolute place follows belongs to the path.
    fn mount(&mut self, text: &str, mode: AccessMode, key: &str) -> Keyed<MountSpec> {
        let (path, place) = match text.rsplit_once(":/") {
            Some((path, place)) if !path.is_empty() => (path, Some(PathBuf::from(format!("/{place}")))),
            _ => (text, None),
        };
        let path = PathBuf::from(self.path_text(path, key)?);
        Ok(MountSpec { host_path: path, mount_path: place, mode })
    }

    pub(super) fn upstream(&mut self, upstream: &Upstream) -> Keyed<ResolvedUpstream> {
        let url = at("url", self.text(&upstream.url))?;
        // Keys are often in what is asked for, and whoever used a variable may have had a reason.
        if upstream.url.literal().is_none() {
            self.secrets.push(Secret::new(url.clone()));
        }
        self.secrets.extend(url.split_once('?').map(|(_, query)| Secret::new(query)));
        let headers: BTreeMap<String, Secret> = self.values(&upstream.headers, "headers")?.into_iter().collect();
        let is_unfit = |letter: char| letter.is_control() && letter != '\t';
        if let Some((name, _)) = headers.iter().find(|(_, secret)| secret.expose().contains(is_unfit)) {
            return Err((join("headers", name), Cause::NoHeader));
        }
        Ok(ResolvedUpstream { url, headers, transport: upstream.transport })
    }

    fn values(&mut self, values: &BTreeMap<String, Value>, key: &str) -> Keyed<Vec<(String, Secret)>> {
        let mut filled = Vec::with_capacity(values.len());
        for (name, value) in values {
            let secret = at(&join(key, name), self.value(value))?;
            self.secrets.push(secret.clone());
            filled.push((name.clone(), secret));
        }
        Ok(filled)
    }

    pub(super) fn value(&mut self, value: &Value) -> Result<Secret, Cause> {
        match value {
            Value::Text(template) => self.text(template).map(Secret::new),
            Value::FromEnv(name) => match self.sources.variable(name)? {
                Some(value) => Ok(Secret::new(value)),
                None => Err(Cause::NoVariable(name.clone())),
            },
            Value::FromFile(path) => {
                let path = self.path(path)?.ok_or(Cause::Nothing)?;
                let file = self.sources.file(&path)?;
                if file.readable_by_all {
                    let path = path.display();
                    self.warnings.push(format!("everybody on this machine may read {path}; chmod 600 it"));
                }
                Ok(file.secret)
            }
            Value::FromCommand(words) => Ok(self.sources.command(words, self.directory)?),
            Value::Prefixed { prefix, secret } => {
                let secret = self.value(secret)?;
                // Output must not show what is behind the prefix either.
                self.secrets.push(secret.clone());
                Ok(Secret::new(format!("{prefix}{}", secret.expose())))
            }
            Value::FromKeyring { service, account } => Ok(self.sources.keyring(service, account)?),
        }
    }

    fn text(&mut self, template: &Template) -> Result<String, Cause> {
        let mut text = String::new();
        for part in template.parts() {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Variable { name, default } => {
                    let value = self.sources.variable(name)?;
                    match (value, default) {
                        (Some(value), None) => text.push_str(&value),
                        (Some(value), Some(_)) if !value.is_empty() => text.push_str(&value),
                        (_, Some(default)) => text.push_str(default),
                        (None, None) => return Err(Cause::NoVariable(name.clone())),
                    }
                }
                Part::Foreign(placeholder) => return Err(Cause::Foreign(placeholder.clone())),
            }
        }
        Ok(text)
    }

    /// A path; `None` if there is nothing in it.
    fn path(&mut self, template: &Template) -> Result<Option<PathBuf>, Cause> {
        let text = self.text(template)?;
        if text.is_empty() { Ok(None) } else { self.whole(&text).map(Some) }
    }

    fn path_text(&mut self, text: &str, key: &str) -> Keyed<String> {
        at(key, self.whole(text)).map(|path| path.to_string_lossy().into_owned())
    }

    /// `~` is the home directory, and everything else is beside the file.
    fn whole(&mut self, text: &str) -> Result<PathBuf, Cause> {
        let below_home = text.strip_prefix("~/").or((text == "~").then_some(""));
        match below_home {
            Some(rest) => Ok(PathBuf::from(self.sources.variable("HOME")?.ok_or(Cause::NoHome)?).join(rest)),
            None => Ok(self.directory.join(text)),
        }
    }
}

fn at<T>(key: &str, result: Result<T, Cause>) -> Keyed<T> {
    result.map_err(|cause| (key.to_owned(), cause))
}

/// Takes `.` and `..` out of a path by its letters alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
