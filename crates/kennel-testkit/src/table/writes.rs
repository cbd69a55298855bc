//! Attempts to write outside the granted paths, or to what is granted read-only.

use crate::attempt::Argument::{
    OutsideDirectory, OutsideFile, ReadOnlyDirectory, ReadOnlyFile, SetuidDirectory, WritableDirectory,
};
use crate::attempt::{Attempt, Setting};

const ROOT_DIRECTORY: &str = "the directory belongs to root";
const CAPABILITY: &str = "needs a capability that ordinary users do not have";

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("write_outside", "writes to an outside file by its path").needs(&[OutsideFile]),
    Attempt::new("create_outside", "creates a file in an outside directory").needs(&[OutsideDirectory]),
    Attempt::new("write_by_symlink", "writes through a symbolic link in a writable directory")
        .needs(&[WritableDirectory, OutsideFile]),
    Attempt::new("write_by_dotdot", "climbs out of a writable directory by ..")
        .needs(&[WritableDirectory, OutsideFile]),
    Attempt::new("write_by_proc_root", "writes through /proc/self/root").needs(&[OutsideFile]),
    Attempt::new("write_by_proc_cwd", "climbs out through /proc/self/cwd").needs(&[WritableDirectory, OutsideFile]),
    Attempt::new("write_by_stdin_reopen", "reopens a read-only standard input for writing")
        .setting(Setting::FileOnStdin),
    Attempt::new("chmod_stdin", "changes the mode of the file on standard input").setting(Setting::FileOnStdin),
    Attempt::new("read_by_stdin_directory", "reads a file of the directory on standard input")
        .setting(Setting::DirectoryOnStdin),
    Attempt::new("chmod_by_stdin_directory", "changes the mode of a file in the directory on standard input")
        .setting(Setting::DirectoryOnStdin),
    Attempt::new("leave_setuid_program", "leaves a set-user-id file in a writable directory, for others to execute")
        .needs(&[WritableDirectory]),
    Attempt::new("rewrite_setuid_program", "rewrites a set-user-id program by a shared mapping, which keeps the bit")
        .needs(&[SetuidDirectory]),
    Attempt::new("write_by_descriptor_reopen", "reopens a read-only file for writing through /proc/self/fd")
        .needs(&[ReadOnlyFile]),
    Attempt::new("write_by_hard_link", "links a read-only file into a writable directory and writes")
        .needs(&[ReadOnlyFile, WritableDirectory]),
    Attempt::new("write_by_rename_in", "renames a read-only file into a writable directory and writes")
        .needs(&[ReadOnlyFile, WritableDirectory]),
    Attempt::new("rename_out", "renames a file out of a writable directory")
        .needs(&[WritableDirectory, OutsideDirectory]),
    Attempt::new("hard_link_outside", "links an outside file into a writable directory and writes")
        .needs(&[OutsideFile, WritableDirectory]),
    Attempt::new("write_read_only", "writes to a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("create_read_only", "creates a file in a read-only directory").needs(&[ReadOnlyDirectory]),
    Attempt::new("unlink_read_only", "moves a read-only file aside in its directory").needs(&[ReadOnlyFile]),
    Attempt::new("truncate_read_only", "truncates a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("chmod_read_only", "changes the mode of a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("chown_read_only", "changes the owner of a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("touch_read_only", "changes the times of a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("xattr_read_only", "sets an extended attribute on a read-only file").needs(&[ReadOnlyFile]),
    Attempt::new("remount_read_only", "remounts a read-only directory for writing")
        .needs(&[ReadOnlyDirectory])
        .only_root(CAPABILITY),
    Attempt::new("open_by_handle", "opens a file by its handle, past every path check").only_root(CAPABILITY),
    Attempt::new("write_usr_bin", "creates a file in /usr/bin").only_root(ROOT_DIRECTORY),
    Attempt::new("write_etc", "creates a file in /etc").only_root(ROOT_DIRECTORY),
];
