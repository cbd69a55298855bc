//! Where the state is, and how it is opened: for this user alone, up to date, moved aside where it is damaged.

use crate::error::{StateError, Warning};
use crate::limits::Limits;
use crate::schema;
use crate::time::to_millis;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How long it takes until a file is tried again that another Kennel is opening.
const OPEN_PAUSE: Duration = Duration::from_millis(2);
/// How large the log of changes stays after they are in the file.
const WAL_BYTES: u64 = 16 << 20;

/// Where the state is.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Only here: it ends with the store.
    Memory,
    File(PathBuf),
}

/// The file that was opened, to tell it from one that has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// An open state.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    file: Option<FileId>,
}

impl Place {
    /// Its name in messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Memory => Path::new("memory"),
            Self::File(path) => path,
        }
    }

    /// Opens the state. One that is damaged is moved aside first, which `warn` hears.
    pub(crate) fn open(&self, limits: &Limits, warn: &dyn Fn(&Warning)) -> Result<Opened, StateError> {
        let path = match self {
            Self::Memory => {
                let unopened = |source| self.unopened(source);
                let connection = Connection::open_in_memory().map_err(unopened)?;
                let connection = prepared(connection, limits).map_err(unopened)?;
                return Ok(Opened { connection, file: None });
            }
            Self::File(path) => path,
        };
        make(path)?;
        let file = file_id(path);
        match self.open_in_turn(path, limits) {
            Err(Refusal::Damaged(cause)) => {
                self.move_aside(file, &cause, warn)?;
                make(path)?;
                let file = file_id(path);
                let connection = self.open_in_turn(path, limits).map_err(|refusal| self.error(refusal))?;
                Ok(Opened { connection, file })
            }
            outcome => Ok(Opened { connection: outcome.map_err(|refusal| self.error(refusal))?, file }),
        }
    }

    /// Begins anew after a state that turned out to be damaged while it was used.
    pub(crate) fn open_anew(
        &self,
        damaged: Opened,
        cause: &rusqlite::Error,
        limits: &Limits,
        warn: &dyn Fn(&Warning),
    ) -> Result<Opened, StateError> {
        let file = damaged.file;
        // Closed before it is moved: SQLite finds what belongs to a file by its name.
        drop(damaged);
        self.move_aside(file, cause, warn)?;
        self.open(limits, warn)
    }

    /// Opens the file when it is not another Kennel that does so. SQLite does not wait by itself where several make a
    /// file one with a WAL at once.
    fn open_in_turn(&self, path: &Path, limits: &Limits) -> Result<Connection, Refusal> {
        let deadline = Instant::now() + limits.busy;
        loop {
            match self.try_open(path, limits) {
                Err(Refusal::Other(error)) if is_busy(&error) && Instant::now() < deadline => {
                    std::thread::sleep(OPEN_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    fn try_open(&self, path: &Path, limits: &Limits) -> Result<Connection, Refusal> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(limits.busy)?;
        let found = schema::version(&connection)?;
        // Before anything is changed.
        if schema::is_newer(found) {
            let newer = StateError::Newer { path: path.to_owned(), found, known: schema::LATEST };
            return Err(Refusal::Final(newer));
        }
        prepared(connection, limits).map_err(|source| {
            if is_unwritable(&source) {
                let error = io::Error::other(source);
                return Refusal::Final(StateError::Unwritable { path: self.path().to_owned(), source: error.into() });
            }
            source.into()
        })
    }

    /// Moves the file away with what belongs to it, unless another Kennel has put a new one in its place already.
    fn move_aside(
        &self,
        damaged: Option<FileId>,
        cause: &rusqlite::Error,
        warn: &dyn Fn(&Warning),
    ) -> Result<(), StateError> {
        let Self::File(path) = self else { return Ok(()) };
        let failed = unwritable(path);
        let _alone = lock_directory(path).map_err(&failed)?;
        if file_id(path) != damaged {
            return Ok(());
        }
        let stem = beside(path, &format!("-damaged-{}", to_millis(SystemTime::now()) / 1000));
        let free = (0..).map(|number| if number == 0 { stem.clone() } else { beside(&stem, &format!("-{number}")) });
        let Some(aside) = free.take(1000).find(|aside| !aside.exists()) else {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        };
        // The file itself last: what belongs to it must never be found beside a new one.
        for suffix in ["-wal", "-shm", ""] {
            match fs::rename(beside(path, suffix), beside(&aside, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        warn(&Warning::MovedAside { path: path.clone(), aside, cause: cause.to_string() });
        Ok(())
    }

    fn unopened(&self, source: rusqlite::Error) -> StateError {
        StateError::Unopened { path: self.path().to_owned(), source: Arc::new(source) }
    }

    fn error(&self, refusal: Refusal) -> StateError {
        match refusal {
            Refusal::Damaged(source) | Refusal::Other(source) => self.unopened(source),
            Refusal::Final(error) => error,
        }
    }
}

/// Why a file could not be opened.
enum Refusal {
    Damaged(rusqlite::Error),
    Other(rusqlite::Error),
    Final(StateError),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        if is_damage(&error) { Self::Damaged(error) } else { Self::Other(error) }
    }
}

/// Whether an error says that the file is not what it was.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_unwritable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied))
}

/// Sets a connection up and brings the schema up to date.
fn prepared(mut connection: Connection, limits: &Limits) -> rusqlite::Result<Connection> {
    connection.busy_timeout(limits.busy)?;
    // A file that is being made holds nothing yet that would be worth waiting for the disk.
    let is_new = schema::version(&connection)? == 0;
    connection.pragma_update(None, "synchronous", if is_new { "OFF" } else { "NORMAL" })?;
    // Answers with the mode, which is another one in memory.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    schema::update(&mut connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What many changes at once have made of it is given back.
    connection.query_row(&format!("PRAGMA journal_size_limit = {WAL_BYTES}"), [], |_| Ok(()))?;
    Ok(connection)
}

/// Makes the directory and the file, each for this user alone.
fn make(path: &Path) -> Result<(), StateError> {
    let directory = parent(path);
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unwritable(directory))?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => narrow(path).map_err(unwritable(path)),
        Err(error) => Err(unwritable(path)(error)),
    }
}

/// Takes from others what rights they have to a file. By its name: whoever opens and closes a file that SQLite has open
/// loses the locks of the whole process.
fn narrow(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is there, but is no file"));
    }
    let mut permissions = metadata.permissions();
    if !Mode::from_raw_mode(permissions.mode()).intersects(Mode::RWXG | Mode::RWXO) {
        return Ok(());
    }
    permissions.set_mode(0o600);
    fs::set_permissions(path, permissions)
}

/// Keeps other Kennels from moving files at the same time, until it is dropped.
fn lock_directory(path: &Path) -> io::Result<impl Drop> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(parent(path), flags, Mode::empty())?;
    rustix::fs::flock(&directory, FlockOperation::LockExclusive)?;
    Ok(directory)
}

fn file_id(path: &Path) -> Option<FileId> {
    let metadata = fs::metadata(path).ok()?;
    Some(FileId { device: metadata.dev(), inode: metadata.ino() })
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The path with something after its name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> StateError {
    move |source| StateError::Unwritable { path: path.to_owned(), source: Arc::new(source) }
}
