//! The helper: a process with little memory, few descriptors and no way out of the root, that answers one request after
//! another until its caller goes.

use crate::beneath::Root;
use crate::clock::Clock;
use crate::listing;
use crate::protocol::{Failure, LARGEST_REQUEST, LONGEST_PATH, MOST_LISTED, Opening, Reply, Request, WirePlace};
use crate::remove::remove;
use crate::walk::Account;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError,
};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with, unlinkat};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::sync_channel;

/// The argument that makes Kennel's program act as the helper.
pub(crate) const ARGUMENT: &str = "__tree-helper";

/// The most of the start of a file.
const LARGEST_START: u64 = 1 << 20;
const MEMORY: u64 = 1 << 30;
const DESCRIPTORS: u64 = 512;
/// The largest file that it writes: a list.
const FILE_SIZE: u64 = 512 << 20;

/// Turns the calling process into the helper, if it was started as one. To be called before anything else in `main`.
pub fn run_if_helper() {
    if std::env::args_os().nth(1).is_some_and(|asked| asked == ARGUMENT) {
        // Whatever went wrong, the caller sees that there is no answer.
        std::process::exit(i32::from(run().is_err()));
    }
}

fn run() -> io::Result<()> {
    limit()?;
    let opening: Opening = receive(&mut io::stdin().lock())?;
    let clock = Clock::start(opening.bounds.time);
    let root = Root::open(&opening.root, opening.alias.as_deref());
    if let Ok(root) = &root {
        confine(root)?;
    }
    // Requests are read by another thread, so that the end of the caller ends this process in the middle of its work.
    let (requests, work) = sync_channel(1);
    std::thread::Builder::new().stack_size(1 << 18).spawn(move || {
        while let Ok(request) = receive::<Request>(&mut io::stdin().lock()) {
            if requests.send(request).is_err() {
                break;
            }
        }
        std::process::exit(0);
    })?;
    for request in work {
        let reply = match &root {
            Ok(root) => answer(root, &opening, &clock, request).unwrap_or_else(Reply::Failed),
            Err(Failure::System { what, path, errno }) => {
                Reply::Failed(Failure::System { what: what.clone(), path: path.clone(), errno: *errno })
            }
            Err(_) => Reply::Failed(Failure::refused(&opening.root, "cannot be opened")),
        };
        send(&mut io::stdout().lock(), &reply)?;
    }
    Ok(())
}

/// What a tree could make this process use, it may use so much and no more.
fn limit() -> io::Result<()> {
    let limits =
        [(Resource::As, MEMORY), (Resource::Nofile, DESCRIPTORS), (Resource::Core, 0), (Resource::Fsize, FILE_SIZE)];
    for (resource, most) in limits {
        let present = rustix::process::getrlimit(resource);
        let most = present.maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}

/// Shuts out all files but those beneath the root, where the kernel can do that and still move directories.
fn confine(root: &Root) -> io::Result<()> {
    let everything = AccessFs::from_all(ABI::V2);
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(everything);
    // An older kernel has no such wall. The handles hold without it.
    let Ok(rules) = rules else { return Ok(()) };
    let Ok(rules) = rules.create() else { return Ok(()) };
    let confined = rules.add_rule(PathBeneath::new(root.handle(), everything)).and_then(RulesetCreated::restrict_self);
    confined.map(drop).map_err(|error: RulesetError| io::Error::other(error.to_string()))
}

fn answer(root: &Root, opening: &Opening, clock: &Clock, request: Request) -> Result<Reply, Failure> {
    let mut account = Account::new(opening.bounds, *clock);
    clock.check(b"")?;
    Ok(match request {
        Request::Resolve { path } => Reply::Place(root.resolve(&path)?),
        Request::Read { path, largest } => Reply::Content(root.read(&path, largest.min(LARGEST_REQUEST as u64))?),
        Request::ReadStart { path, count } => Reply::Content(root.read_start(&path, count.min(LARGEST_START))?),
        Request::Names { path, ending } => Reply::Names(names(root, &path, &ending, clock)?),
        Request::Replace { path, content } => {
            replace(root, &path, &content)?;
            Reply::Done
        }
        Request::Record { tree, list } => Reply::Recorded(listing::record(root, &tree, &list, &mut account)?),
        Request::Compare { tree, list } => Reply::Compared(listing::compare(root, &tree, &list, &mut account)?),
        Request::Measure { path } => Reply::Measured(listing::measure(root, &path, &mut account)?),
        Request::FindSetId { path } => listing::find_set_id(root, &path, &mut account)?,
        Request::Remove { path } => {
            let (parent, name) = split(&path)?;
            remove(rustix::fd::AsFd::as_fd(&root.directory(parent)?), &name, clock)?;
            Reply::Done
        }
    })
}

/// The directory of a path, and its name there.
fn split(path: &[u8]) -> Result<(&[u8], CString), Failure> {
    let at = path.iter().rposition(|byte| *byte == b'/');
    let (parent, name) = at.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
    if name.is_empty() || name == b"." || name == b".." {
        return Err(Failure::refused(path, "is no name"));
    }
    Ok((parent, CString::new(name).map_err(|_| Failure::refused(path, "is no name"))?))
}

fn names(root: &Root, path: &[u8], ending: &[u8], clock: &Clock) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    let real = match root.resolve(path)? {
        WirePlace::Absent => return Ok(None),
        WirePlace::Outside { .. } => return Err(Failure::refused(path, "leads out of the tree")),
        WirePlace::Inside { path, .. } => path,
    };
    let failed = || Failure::system("listed", path);
    let mut names = Vec::new();
    for entry in Dir::new(root.directory(&real)?).map_err(failed())? {
        clock.check(path)?;
        let entry = entry.map_err(failed())?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && name.ends_with(ending) {
            if names.len() == MOST_LISTED {
                return Err(Failure::refused(path, &format!("has more than {MOST_LISTED} entries")));
            }
            names.push(name.to_vec());
        }
    }
    names.sort();
    Ok(Some(names))
}

/// Writes a file beside another and puts it in its place, so that no link at that place is ever written through.
fn replace(root: &Root, path: &[u8], content: &[u8]) -> Result<(), Failure> {
    let (parent, name) = split(path)?;
    let parent = root.directory(parent)?;
    let failed = |errno| Failure::system("written", path)(errno);
    let new = c".kennel-new";
    match unlinkat(&parent, new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let file = openat2(&parent, new, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS).map_err(failed)?;
    let written = File::from(file).write_all(content);
    written.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    renameat_with(&parent, new, &parent, &name, RenameFlags::empty()).map_err(failed)
}

fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST_REQUEST + LONGEST_PATH {
        return Err(io::Error::other("the request is too large"));
    }
    let mut message = vec![0; length];
    input.read_exact(&mut message)?;
    postcard::from_bytes(&message).map_err(io::Error::other)
}

fn send(output: &mut impl Write, reply: &impl Serialize) -> io::Result<()> {
    let message = postcard::to_stdvec(reply).map_err(io::Error::other)?;
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&message)?;
    output.flush()
}
