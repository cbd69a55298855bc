//! Attempts through the terminal on standard input.

use std::io::{self, IsTerminal};

use crate::Runner;
use crate::finding::{Stop, Verdict, escaped, gate, not_possible};
use crate::scene::Scene;
use crate::system::{Argument, call};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("inject_terminal_input", inject_terminal_input),
    ("paste_terminal_selection", paste_terminal_selection),
    ("change_line_discipline", change_line_discipline),
];

/// The built-in line discipline that does nothing.
const LINE_DISCIPLINE_NULL: u32 = 27;
const LINE_DISCIPLINE_TERMINAL: u32 = 0;

fn on_terminal(request: libc::Ioctl, data: &mut [u8]) -> io::Result<i64> {
    let request = i64::try_from(request).unwrap_or_default();
    let arguments = [Argument::Number(0), Argument::Number(request), Argument::Fill(data)];
    call(libc::SYS_ioctl, arguments)
}

/// A descriptor 0 that is no terminal has nothing to inject into, and proves nothing.
fn need_terminal() -> Result<(), Stop> {
    if io::stdin().is_terminal() { Ok(()) } else { Err(Stop::Found(not_possible("standard input is not a terminal"))) }
}

fn inject_terminal_input(_: &Scene) -> Verdict {
    need_terminal()?;
    gate(on_terminal(libc::TIOCSTI, &mut [b'#']), &[])
}

/// Subcode 6 only asks for the state of the shift keys.
fn paste_terminal_selection(_: &Scene) -> Verdict {
    need_terminal()?;
    gate(on_terminal(libc::TIOCLINUX, &mut [6]), &[])
}

fn change_line_discipline(_: &Scene) -> Verdict {
    need_terminal()?;
    on_terminal(libc::TIOCSETD, &mut LINE_DISCIPLINE_NULL.to_ne_bytes())?;
    // Back to the usual one, so that the harness can go on using its terminal.
    on_terminal(libc::TIOCSETD, &mut LINE_DISCIPLINE_TERMINAL.to_ne_bytes())?;
    Ok(escaped("changed the line discipline"))
}
