//! Lists of all files of a tree with their digests, and what else is found by walking through it.

use crate::beneath::{Root, is_regular, open_to_read};
use crate::protocol::{Change, Comparison, Failure, MOST_LISTED, Recorded, Reply, Usage};
use crate::walk::{Account, Entry, walk};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat, statat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write as _};

/// What is said of one file: its kind and the digest of its content, by its name.
type FileList = BTreeMap<String, String>;

/// The largest list that is read.
const LARGEST_LIST: u64 = 256 << 20;
const CHUNK: usize = 1 << 17;

/// Lists a tree and writes the list to a new file.
pub(crate) fn record(root: &Root, tree: &[u8], list: &[u8], account: &mut Account) -> Result<Recorded, Failure> {
    let text = to_text(&of_tree(root, tree, account)?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = openat2(root.handle(), list, flags, Mode::RUSR | Mode::WUSR, resolve);
    let mut file = File::from(file.map_err(Failure::system("made", list))?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| Failure::system("written", list)(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    Ok(Recorded { digest: digest_of(&text), usage: account.usage })
}

/// Compares a tree with its list.
pub(crate) fn compare(root: &Root, tree: &[u8], list: &[u8], account: &mut Account) -> Result<Comparison, Failure> {
    let text = root.read(list, LARGEST_LIST)?.ok_or_else(|| Failure::refused(list, "is not there"))?;
    let text = String::from_utf8_lossy(&text);
    let (listed, found) = (from_text(&text), of_tree(root, tree, account)?);
    let changed = listed.iter().filter_map(|(name, what)| match found.get(name) {
        None => Some(Change::Missing(name.clone())),
        Some(other) if other != what => Some(Change::Changed(name.clone())),
        Some(_) => None,
    });
    let added = found.keys().filter(|name| !listed.contains_key(*name)).cloned().map(Change::Added);
    Ok(Comparison { digest: digest_of(&text), changes: changed.chain(added).take(MOST_LISTED).collect() })
}

fn of_tree(root: &Root, tree: &[u8], account: &mut Account) -> Result<FileList, Failure> {
    let mut files = FileList::new();
    walk(root.directory(tree)?, account, |entry, account| {
        if let Some(what) = described(entry, account)? {
            files.insert(escaped(entry.path), what);
        }
        Ok(())
    })?;
    Ok(files)
}

/// What a list says of an entry; nothing of a directory, which is there with what is in it.
fn described(entry: &Entry<'_>, account: &mut Account) -> Result<Option<String>, Failure> {
    Ok(match entry.kind {
        FileType::Directory if entry.closed => Some("closed:".to_owned()),
        FileType::Directory => None,
        FileType::Symlink => match readlinkat(entry.directory, entry.name, Vec::new()) {
            Ok(target) => Some(format!("link:{}", escaped(target.as_bytes()))),
            Err(Errno::ACCESS) => Some("closed:".to_owned()),
            Err(Errno::NOENT | Errno::INVAL) => None,
            Err(errno) => return Err(Failure::system("read", entry.path)(errno)),
        },
        FileType::RegularFile => digest(entry, account)?,
        _ => Some("special:".to_owned()),
    })
}

fn digest(entry: &Entry<'_>, account: &mut Account) -> Result<Option<String>, Failure> {
    let failed = |errno| Failure::system("read", entry.path)(errno);
    let file = match open_to_read(entry.directory, entry.name) {
        Ok(file) => file,
        Err(Errno::ACCESS) => return Ok(Some("closed:".to_owned())),
        // It was another a moment ago.
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(failed(errno)),
    };
    let stat = fstat(&file).map_err(failed)?;
    if !is_regular(&stat) {
        return Ok(Some("special:".to_owned()));
    }
    // By its size before it is read: a file of holes is as large as it says.
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > account.bytes_left() {
        account.bytes(size, entry.path)?;
    }
    let (mut file, mut digest, mut buffer) = (File::from(file), Sha256::new(), vec![0; CHUNK]);
    loop {
        let count =
            file.read(&mut buffer).map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        if count == 0 {
            break;
        }
        account.bytes(count as u64, entry.path)?;
        digest.update(&buffer[..count]);
    }
    let kind = if stat.st_mode & 0o111 == 0 { "file" } else { "program" };
    Ok(Some(format!("{kind}:{}", hex(&digest.finalize()))))
}

/// How much disk space a tree takes, as far as it may.
pub(crate) fn measure(root: &Root, path: &[u8], account: &mut Account) -> Result<Usage, Failure> {
    walk(root.directory(path)?, account, |entry, account| {
        match statat(entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => account.bytes(u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512), entry.path),
            Err(_) => Ok(()),
        }
    })?;
    Ok(account.usage)
}

/// The files that would run as their owner or group.
pub(crate) fn find_set_id(root: &Root, path: &[u8], account: &mut Account) -> Result<Reply, Failure> {
    let (mut files, mut complete) = (Vec::new(), true);
    walk(root.directory(path)?, account, |entry, _| {
        if entry.kind != FileType::RegularFile {
            return Ok(());
        }
        let set = statat(entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| is_regular(&stat) && stat.st_mode & 0o6000 != 0);
        match set {
            true if files.len() < MOST_LISTED => files.push(entry.path.to_vec()),
            true => complete = false,
            false => {}
        }
        Ok(())
    })?;
    Ok(Reply::SetId { files, complete })
}

/// The list as text, one file per line.
fn to_text(files: &FileList) -> String {
    files.iter().fold(String::new(), |mut text, (name, what)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what} {name}");
        text
    })
}

/// The list from its text.
fn from_text(text: &str) -> FileList {
    let pair = |line: &str| line.split_once(' ').map(|(what, name)| (name.to_owned(), what.to_owned()));
    text.lines().filter_map(pair).collect()
}

fn digest_of(text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A path in letters that stay on one line, reversible and so the same for no two paths.
fn escaped(path: &[u8]) -> String {
    path.iter().fold(String::with_capacity(path.len()), |mut text, byte| {
        if byte.is_ascii_graphic() && *byte != b'%' {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
        text
    })
}
