//! A terminal of the test's own: the side that a program uses, and what is typed into it.

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// A terminal whose input is not taken by lines, so that every byte typed into it can be counted.
pub(crate) struct Terminal {
    /// The terminal ends with this side.
    _outer: OwnedFd,
    inner: OwnedFd,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&outer).unwrap();
        unlockpt(&outer).unwrap();
        let inner = ioctl_tiocgptpeer(&outer, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        let mut modes = tcgetattr(&inner).unwrap();
        modes.make_raw();
        tcsetattr(&inner, OptionalActions::Now, &modes).unwrap();
        Self { _outer: outer, inner }
    }

    /// The terminal as the standard input of a program; `setsid --ctty` makes it the controlling one.
    pub(crate) fn input(&self) -> Stdio {
        self.inner.try_clone().unwrap().into()
    }

    /// How many typed bytes wait for a reader.
    pub(crate) fn typed(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.inner).unwrap()
    }
}
