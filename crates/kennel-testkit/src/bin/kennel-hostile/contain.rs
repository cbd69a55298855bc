//! Owns the child process around an attempt, so that a seccomp filter that kills, an OOM kill or
//! a hang still ends in a report.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use kennel_testkit::Report;

use crate::errno;
use crate::finding::{Finding, Stop, Verdict, blocked};

/// An attempt that says nothing for this long hangs.
const DEADLINE_SECONDS: u32 = 60;

/// Where the child tells its parent how far a bomb has come.
static PROGRESS: Mutex<Option<PipeWriter>> = Mutex::new(None);

/// How a child process ended.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Exited(i32),
    Killed { signal: i32, dumped_core: bool },
}

/// Runs `body` in a child process and waits for it.
pub(crate) fn in_child(body: impl FnOnce() -> i32) -> io::Result<End> {
    wait(fork(body)?)
}

/// Starts a child process that runs `body` and exits with its code.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> io::Result<libc::pid_t> {
    // SAFETY: this program has one thread whenever it forks, so the child may go on as usual.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = body();
            // SAFETY: ends the child at once; nothing of the parent's is flushed twice.
            unsafe { libc::_exit(code) }
        }
        child => Ok(child),
    }
}

/// Waits for a child process to end.
pub(crate) fn wait(child: libc::pid_t) -> io::Result<End> {
    let mut status = 0;
    loop {
        // SAFETY: the status is a valid place for the answer.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } != -1 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(if libc::WIFSIGNALED(status) {
        End::Killed { signal: libc::WTERMSIG(status), dumped_core: libc::WCOREDUMP(status) }
    } else {
        End::Exited(libc::WEXITSTATUS(status))
    })
}

/// Tells how far a bomb has come, in case that it is killed.
pub(crate) fn progress(reached: u64) {
    if let Ok(mut pipe) = PROGRESS.lock()
        && let Some(pipe) = pipe.as_mut()
    {
        // A lost progress line only makes the report less exact.
        let _ = writeln!(pipe, "{reached}");
    }
}

/// Makes an attempt in a child process; the error says why this program failed.
pub(crate) fn contained(name: &str, attempt: impl FnOnce() -> Verdict) -> Result<Finding, String> {
    let (reader, writer) = io::pipe().map_err(|error| format!("no pipe: {error}"))?;
    let child_writer = writer.try_clone().map_err(|error| format!("no pipe: {error}"))?;
    let child = fork(|| child_body(name, child_writer, attempt))
        .map_err(|error| format!("no child process: {}", errno::name(&error)))?;
    drop(writer);
    let (last_progress, report) = listen(reader.into());
    let end = wait(child).map_err(|error| format!("the child is lost: {error}"))?;
    if let Some(report) = report {
        let Report { outcome, detail, reached, .. } = report;
        return Ok(Finding { outcome, detail, reached });
    }
    let detail = match end {
        End::Killed { signal: libc::SIGALRM, .. } => format!("no answer in {DEADLINE_SECONDS} s"),
        End::Killed { signal: signal @ (libc::SIGSYS | libc::SIGKILL), .. } => {
            format!("killed by {}", errno::signal_name(signal))
        }
        End::Killed { signal, .. } => {
            return Err(format!("{name} broke: {}", errno::signal_name(signal)));
        }
        End::Exited(code) => return Err(format!("{name} broke: exit code {code}")),
    };
    Ok(Finding { reached: last_progress, ..blocked(detail) })
}

fn child_body(name: &str, mut pipe: PipeWriter, attempt: impl FnOnce() -> Verdict) -> i32 {
    // SAFETY: asks for a signal that ends this child; no memory is involved.
    unsafe { libc::alarm(DEADLINE_SECONDS) };
    if let (Ok(mut progress), Ok(clone)) = (PROGRESS.lock(), pipe.try_clone()) {
        *progress = Some(clone);
    }
    let finding = match attempt() {
        Ok(finding) | Err(Stop::Found(finding)) => finding,
        Err(Stop::Usage(message)) => {
            eprintln!("kennel-hostile: {name}: {message}");
            return 2;
        }
    };
    let Finding { outcome, detail, reached } = finding;
    let report = Report { attempt: name.to_owned(), outcome, detail, reached };
    i32::from(writeln!(pipe, "{}", report.to_line()).is_err())
}

/// Reads progress until the report, or until the child is gone.
fn listen(pipe: OwnedFd) -> (Option<u64>, Option<Report>) {
    let mut last_progress = None;
    for line in BufReader::new(File::from(pipe)).lines().map_while(Result::ok) {
        match line.parse() {
            Ok(reached) => {
                last_progress = Some(reached);
                eprintln!("reached {reached}");
            }
            Err(_) => return (last_progress, Report::parse(&line).ok()),
        }
    }
    (last_progress, None)
}
