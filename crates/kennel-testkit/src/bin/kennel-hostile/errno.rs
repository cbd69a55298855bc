//! Owns the names of error numbers and signals.

use std::io;

macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

const ERRORS: &[(i32, &str)] = names! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT
    ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG
    ENOSPC ESPIPE EROFS EMLINK EPIPE ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP EUSERS ENOTSOCK
    EPROTOTYPE EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE
    EADDRNOTAVAIL ENETDOWN ENETUNREACH ECONNABORTED ECONNRESET ENOBUFS ENOTCONN ETIMEDOUT
    ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EDQUOT ENOMEDIUM ENOKEY
    EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOVERFLOW ENODATA
};

const SIGNALS: &[(i32, &str)] = names! {
    SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGSEGV SIGPIPE SIGALRM
    SIGTERM SIGXCPU SIGXFSZ SIGSYS
};

/// The name of an error, as in the manual pages.
pub(crate) fn name(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return error.to_string();
    };
    look_up(ERRORS, number).map_or_else(|| format!("errno {number}"), str::to_owned)
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    look_up(SIGNALS, number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

fn look_up(names: &[(i32, &'static str)], number: i32) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}
