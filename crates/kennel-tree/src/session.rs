//! Kennel's side: a helper for one tree, asked one thing after another, killed when it is late or no longer wanted.

use crate::bounds::Bounds;
use crate::error::TreeError;
use crate::helper::ARGUMENT;
use crate::protocol::{
    Comparison, Failure, LARGEST_REPLY, Opening, Place, Recorded, Reply, Request, SetIdFiles, Usage, WirePlace,
};
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// What the caller gives the helper beyond its bound, so that it says itself that the time is over.
const GRACE: Duration = Duration::from_secs(2);
/// How long a helper that has closed its output may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// Starts helpers.
#[derive(Debug, Clone)]
pub struct Trees {
    program: PathBuf,
}

impl Default for Trees {
    /// Helpers that are the caller's own program, even if its file has been replaced since.
    fn default() -> Self {
        Self::with_program("/proc/self/exe")
    }
}

impl Trees {
    /// Helpers that are another program, whose `main` must begin with [`run_if_helper`](crate::run_if_helper).
    pub fn with_program(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Starts a helper for a directory.
    pub async fn open(&self, root: &Path, bounds: Bounds) -> Result<Session, TreeError> {
        self.open_known_as(root, None, bounds).await
    }

    /// The same where links in the tree may call it by another absolute path.
    pub async fn open_known_as(&self, root: &Path, alias: Option<&Path>, bounds: Bounds) -> Result<Session, TreeError> {
        let failed = |source| TreeError::Start { root: root.to_path_buf(), source };
        let mut command = Command::new(&self.program);
        // Nothing of the environment: the helper needs none, and secrets in it would be readable in its /proc.
        command.arg0("kennel").arg(ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::Error::other("it has no standard streams")));
        };
        let now = Instant::now();
        let deadline = now.checked_add(bounds.time.saturating_add(GRACE));
        let deadline = deadline.unwrap_or_else(|| now + Duration::from_hours(24 * 365));
        let (root, limit) = (root.to_path_buf(), bounds.time);
        let mut session = Session { child, input, output, root, limit, deadline, usable: true };
        let alias = alias.map(|path| path.as_os_str().as_bytes().to_vec());
        let opening = Opening { root: session.root.as_os_str().as_bytes().to_vec(), alias, bounds };
        session.send(&opening).await?;
        Ok(session)
    }

    /// Finds the files beneath a directory that have a set-user-id or set-group-id bit.
    pub async fn find_set_id(&self, root: &Path, bounds: Bounds) -> Result<SetIdFiles, TreeError> {
        self.open(root, bounds).await?.find_set_id(Path::new("")).await
    }
}

/// A helper at work on one tree. All paths are relative to its root. Dropping it kills the helper.
#[derive(Debug)]
pub struct Session {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    root: PathBuf,
    limit: Duration,
    deadline: Instant,
    /// False while a request is under way: one that was dropped leaves its answer behind, which is nobody's.
    usable: bool,
}

impl Session {
    /// Finds out where a path leads.
    pub async fn resolve(&mut self, path: &Path) -> Result<Place, TreeError> {
        match self.ask(&Request::Resolve { path: bytes(path) }).await? {
            Reply::Place(WirePlace::Absent) => Ok(Place::Absent),
            Reply::Place(WirePlace::Outside { target }) => Ok(Place::Outside { target: self.path(target)? }),
            Reply::Place(WirePlace::Inside { path, kind, executable }) => {
                Ok(Place::Inside { path: self.inner(path)?, kind, executable })
            }
            _ => Err(self.odd()),
        }
    }

    /// Reads a regular file of at most so many bytes; nothing where there is none.
    pub async fn read(&mut self, path: &Path, largest: u64) -> Result<Option<Vec<u8>>, TreeError> {
        match self.ask(&Request::Read { path: bytes(path), largest }).await? {
            Reply::Content(content) if content.as_ref().is_none_or(|content| content.len() as u64 <= largest) => {
                Ok(content)
            }
            _ => Err(self.odd()),
        }
    }

    /// Reads the first bytes of a regular file, however large it is; nothing where there is none.
    pub async fn read_start(&mut self, path: &Path, count: u64) -> Result<Option<Vec<u8>>, TreeError> {
        match self.ask(&Request::ReadStart { path: bytes(path), count }).await? {
            Reply::Content(content) if content.as_ref().is_none_or(|content| content.len() as u64 <= count) => {
                Ok(content)
            }
            _ => Err(self.odd()),
        }
    }

    /// The names in a directory that end so, sorted; nothing where there is none.
    pub async fn names(&mut self, path: &Path, ending: &str) -> Result<Option<Vec<OsString>>, TreeError> {
        match self.ask(&Request::Names { path: bytes(path), ending: ending.into() }).await? {
            Reply::Names(None) => Ok(None),
            Reply::Names(Some(names)) if !names.iter().any(|name| name.contains(&b'/') || name == b"..") => {
                Ok(Some(names.into_iter().map(OsString::from_vec).collect()))
            }
            _ => Err(self.odd()),
        }
    }

    /// Puts a regular file with this content in the place of another; a link there is replaced, not followed.
    pub async fn replace(&mut self, path: &Path, content: &[u8]) -> Result<(), TreeError> {
        self.done(&Request::Replace { path: bytes(path), content: content.to_vec() }).await
    }

    /// Lists all files of `tree` with their digests, and writes the list to the new file `list`.
    pub async fn record(&mut self, tree: &Path, list: &Path) -> Result<Recorded, TreeError> {
        match self.ask(&Request::Record { tree: bytes(tree), list: bytes(list) }).await? {
            Reply::Recorded(recorded) => Ok(recorded),
            _ => Err(self.odd()),
        }
    }

    /// Compares `tree` with a list of [`Session::record`].
    pub async fn compare(&mut self, tree: &Path, list: &Path) -> Result<Comparison, TreeError> {
        match self.ask(&Request::Compare { tree: bytes(tree), list: bytes(list) }).await? {
            Reply::Compared(comparison) => Ok(comparison),
            _ => Err(self.odd()),
        }
    }

    /// Measures what lies beneath a directory, in entries and bytes of disk space.
    pub async fn measure(&mut self, path: &Path) -> Result<Usage, TreeError> {
        match self.ask(&Request::Measure { path: bytes(path) }).await? {
            Reply::Measured(usage) => Ok(usage),
            _ => Err(self.odd()),
        }
    }

    /// Finds the files beneath a directory that have a set-user-id or set-group-id bit.
    pub async fn find_set_id(&mut self, path: &Path) -> Result<SetIdFiles, TreeError> {
        match self.ask(&Request::FindSetId { path: bytes(path) }).await? {
            Reply::SetId { files, complete } => {
                let files = files.into_iter().map(|file| self.inner(file)).collect::<Result<_, _>>()?;
                Ok(SetIdFiles { files, complete })
            }
            _ => Err(self.odd()),
        }
    }

    /// Removes a file, or a directory with all that is in it; there may be nothing.
    pub async fn remove(&mut self, path: &Path) -> Result<(), TreeError> {
        self.done(&Request::Remove { path: bytes(path) }).await
    }

    async fn done(&mut self, request: &Request) -> Result<(), TreeError> {
        match self.ask(request).await? {
            Reply::Done => Ok(()),
            _ => Err(self.odd()),
        }
    }

    async fn ask(&mut self, request: &Request) -> Result<Reply, TreeError> {
        self.send(request).await?;
        let reply = self.receive().await?;
        self.usable = true;
        match reply {
            Reply::Failed(failure) => Err(self.failed(failure)),
            reply => Ok(reply),
        }
    }

    async fn send(&mut self, message: &impl Serialize) -> Result<(), TreeError> {
        if !std::mem::replace(&mut self.usable, false) {
            return Err(self.garbage("an earlier request was not waited for"));
        }
        let message = postcard::to_stdvec(message).map_err(|error| self.garbage(&error.to_string()))?;
        let length = u32::try_from(message.len()).map_err(|error| self.garbage(&error.to_string()))?;
        let sent = timeout_at(self.deadline, async {
            self.input.write_all(&length.to_le_bytes()).await?;
            self.input.write_all(&message).await
        });
        match sent.await {
            Err(_) => Err(self.late()),
            Ok(Err(_)) => Err(self.ended().await),
            Ok(Ok(())) => {
                self.usable = true;
                Ok(())
            }
        }
    }

    async fn receive(&mut self) -> Result<Reply, TreeError> {
        self.usable = false;
        let received = timeout_at(self.deadline, async {
            let mut length = [0; 4];
            self.output.read_exact(&mut length).await?;
            let length = u32::from_le_bytes(length) as usize;
            if length > LARGEST_REPLY {
                return Ok(Err(length));
            }
            // As it comes, so that nothing is set aside for what a false length promises.
            let mut message = Vec::new();
            (&mut self.output).take(length as u64).read_to_end(&mut message).await?;
            Ok::<_, std::io::Error>(if message.len() == length { Ok(message) } else { Err(message.len()) })
        });
        let message = match received.await {
            Err(_) => return Err(self.late()),
            Ok(Err(_)) => return Err(self.ended().await),
            Ok(Ok(Err(length))) => return Err(self.garbage(&format!("a message of {length} bytes"))),
            Ok(Ok(Ok(message))) => message,
        };
        postcard::from_bytes(&message).map_err(|error| self.garbage(&error.to_string()))
    }

    /// The time is over: nothing that it says counts any more.
    fn late(&mut self) -> TreeError {
        // Where this fails it has ended.
        let _ = self.child.start_kill();
        TreeError::Timeout { root: self.root.clone(), limit: self.limit }
    }

    async fn ended(&mut self) -> TreeError {
        let how = match timeout(ENDING, self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its streams are closed".to_owned(),
        };
        let _ = self.child.start_kill();
        TreeError::Ended { root: self.root.clone(), how }
    }

    fn garbage(&self, problem: &str) -> TreeError {
        TreeError::Garbage { root: self.root.clone(), problem: problem.to_owned() }
    }

    fn odd(&self) -> TreeError {
        self.garbage("an answer to another question")
    }

    fn failed(&self, failure: Failure) -> TreeError {
        let system = std::io::Error::from_raw_os_error;
        match failure {
            Failure::Exceeded { bound, limit, at } => TreeError::Exceeded { bound, limit, at: shown(&at) },
            Failure::Refused { path, problem } => {
                TreeError::Refused { path: shown(&path), problem: shown(problem.as_bytes()) }
            }
            Failure::System { what, path, errno } => {
                TreeError::System { what: shown(what.as_bytes()), path: shown(&path), source: system(errno) }
            }
            Failure::Stuck { count, path, errno } => {
                TreeError::Stuck { root: self.root.clone(), count, path: shown(&path), source: system(errno) }
            }
        }
    }

    /// A path in the tree, which nothing leads out of.
    fn inner(&self, path: Vec<u8>) -> Result<PathBuf, TreeError> {
        let path = self.path(path)?;
        let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if plain { Ok(path) } else { Err(self.garbage("a path that leads out of the tree")) }
    }

    fn path(&self, path: Vec<u8>) -> Result<PathBuf, TreeError> {
        if path.contains(&0) {
            return Err(self.garbage("a path with a zero byte"));
        }
        Ok(PathBuf::from(OsString::from_vec(path)))
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Foreign bytes for people: one line, no letters that a terminal obeys, not too many.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 300;
    let text = String::from_utf8_lossy(text);
    let mut shown = text.chars().take(LONGEST).flat_map(char::escape_debug).collect::<String>();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
