//! Resource bombs: each asks for an amount, tells how far it came, and gives everything back.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Runner;
use crate::contain::{End, fork, progress, wait};
use crate::errno;
use crate::finding::{Finding, Setup, Verdict, blocked, escaped};
use crate::scene::Scene;
use crate::system::{Argument, call, call_for_descriptor};

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("fork_bomb", fork_bomb),
    ("thread_bomb", thread_bomb),
    ("memory_bomb", memory_bomb),
    ("shared_memory_bomb", shared_memory_bomb),
    ("descriptor_bomb", descriptor_bomb),
    ("inotify_bomb", inotify_bomb),
    ("terminal_bomb", terminal_bomb),
    ("pending_signal_bomb", pending_signal_bomb),
    ("message_queue_bomb", message_queue_bomb),
    ("disk_bomb", disk_bomb),
    ("cpu_bomb", cpu_bomb),
    ("core_dump", core_dump),
];

const MEBIBYTE: usize = 1 << 20;
/// How long memory is held before it counts as held: a watchdog looks only now and then.
const WATCHDOG_PATIENCE: Duration = Duration::from_secs(1);

/// A bomb that got all it asked for has escaped.
fn judge(asked: u64, reached: u64, stopped_by: Option<&io::Error>) -> Finding {
    let finding = match stopped_by {
        Some(error) => blocked(format!("reached {reached} of {asked}: {}", errno::name(error))),
        None => escaped(format!("reached {reached} of {asked}")),
    };
    Finding { reached: Some(reached), ..finding }
}

/// Takes one piece after the other until the amount is reached or one is refused. The list itself
/// has its room before, so that it cannot fail in the middle.
fn pile<T>(asked: u64, mut take: impl FnMut() -> io::Result<T>) -> (Vec<T>, Option<io::Error>) {
    let mut taken = Vec::with_capacity(usize::try_from(asked).unwrap_or_default().min(1 << 20));
    for reached in 1..=asked {
        match take() {
            Ok(piece) => taken.push(piece),
            Err(error) => return (taken, Some(error)),
        }
        if reached.is_multiple_of(16) {
            progress(reached);
        }
    }
    (taken, None)
}

/// The children end with their parent, should it be killed.
fn fork_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let (children, stopped_by) = pile(asked, || {
        fork(|| {
            let arguments = [Argument::Number(libc::PR_SET_PDEATHSIG.into()), Argument::Number(libc::SIGKILL.into())];
            let _ = call(libc::SYS_prctl, arguments);
            thread::sleep(Duration::from_mins(1));
            0
        })
    });
    for child in &children {
        let arguments = [Argument::Number((*child).into()), Argument::Number(libc::SIGKILL.into())];
        call(libc::SYS_kill, arguments).setup("end a child")?;
        wait(*child).setup("wait for a child")?;
    }
    Ok(judge(asked, children.len() as u64, stopped_by.as_ref()))
}

fn thread_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let (threads, stopped_by) =
        pile(asked, || thread::Builder::new().stack_size(64 << 10).spawn(|| thread::sleep(Duration::from_mins(1))));
    // The threads end with the process, right after this report.
    Ok(judge(asked, threads.len() as u64, stopped_by.as_ref()))
}

fn memory_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let (pieces, stopped_by) = pile(asked, || {
        let mut piece: Vec<u8> = Vec::new();
        piece.try_reserve_exact(MEBIBYTE).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
        // Every byte is written, so that every page is really there.
        piece.resize(MEBIBYTE, 1);
        Ok(std::hint::black_box(piece))
    });
    let reached = pieces.len() as u64;
    if stopped_by.is_none() {
        thread::sleep(WATCHDOG_PATIENCE);
    }
    // The report needs memory too.
    drop(pieces);
    Ok(judge(asked, reached, stopped_by.as_ref()))
}

/// What is written to a memory file is on no file system of the box, and no process's own.
fn shared_memory_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let arguments = [Argument::Text(c"kennel-hostile"), Argument::Number(0)];
    let mut file = File::from(call_for_descriptor(libc::SYS_memfd_create, arguments)?);
    let mebibyte = vec![1; MEBIBYTE];
    let (written, stopped_by) = pile(asked, || file.write_all(&mebibyte));
    if stopped_by.is_none() {
        thread::sleep(WATCHDOG_PATIENCE);
    }
    Ok(judge(asked, written.len() as u64, stopped_by.as_ref()))
}

fn descriptor_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let (copies, stopped_by): (Vec<OwnedFd>, _) = pile(asked, || io::stderr().as_fd().try_clone_to_owned());
    Ok(judge(asked, copies.len() as u64, stopped_by.as_ref()))
}

fn inotify_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let (instances, stopped_by) = pile(asked, || call_for_descriptor(libc::SYS_inotify_init1, [Argument::Number(0)]));
    Ok(judge(asked, instances.len() as u64, stopped_by.as_ref()))
}

fn terminal_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let open = || fs::OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open("/dev/ptmx");
    let (terminals, stopped_by) = pile(asked, open);
    Ok(judge(asked, terminals.len() as u64, stopped_by.as_ref()))
}

/// The signals are blocked, stay pending, and are gone with the process.
fn pending_signal_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let blocked_set = [1_u64 << (PENDING_SIGNAL - 1)];
    let arguments =
        [Argument::Number(libc::SIG_BLOCK.into()), Argument::Words(&blocked_set), Argument::Null, Argument::Number(8)];
    call(libc::SYS_rt_sigprocmask, arguments).setup("block the signal")?;
    let own = i64::from(std::process::id());
    // Number, error and origin; the rest is for the receiver.
    let mut information = [0_u64; 16];
    information[0] = PENDING_SIGNAL;
    information[1] = u64::from(libc::SI_QUEUE.cast_unsigned());
    let (queued, stopped_by) = pile(asked, || {
        let arguments =
            [Argument::Number(own), Argument::Number(PENDING_SIGNAL.cast_signed()), Argument::Words(&information)];
        call(libc::SYS_rt_sigqueueinfo, arguments)
    });
    Ok(judge(asked, queued.len() as u64, stopped_by.as_ref()))
}

/// A real-time signal: each of those that are sent is kept.
const PENDING_SIGNAL: u64 = 40;

/// The names are taken away at once; the queues end with their descriptors.
fn message_queue_bomb(scene: &Scene) -> Verdict {
    let asked = scene.number(0)?;
    let mut number = 0;
    let (queues, stopped_by) = pile(asked, || {
        number += 1;
        let name = CString::new(format!("kennel-hostile-{}-{number}", std::process::id()))?;
        crate::ipc::make_queue(&name).inspect(|_| drop(crate::ipc::remove_queue(&name)))
    });
    Ok(judge(asked, queues.len() as u64, stopped_by.as_ref()))
}

/// The file has no name any more when it grows, so that nothing is left behind in any case.
fn disk_bomb(scene: &Scene) -> Verdict {
    let path = scene.own_file(0)?;
    let asked = scene.number(1)?;
    let mut file = File::create_new(&path).setup("make a file in the writable directory")?;
    fs::remove_file(&path).setup("remove the file's name")?;
    // A file size limit shall answer by an error, not by a signal.
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let mebibyte = vec![1; MEBIBYTE];
    let (written, stopped_by) = pile(asked, || file.write_all(&mebibyte));
    Ok(judge(asked, written.len() as u64, stopped_by.as_ref()))
}

/// Burns in two threads, so that a limit of one CPU shows too.
fn cpu_bomb(scene: &Scene) -> Verdict {
    let milliseconds = scene.number(0)?;
    let allowed: u64 = scene.number(1)?;
    let stop = Arc::new(AtomicBool::new(false));
    let other = thread::Builder::new().spawn({
        let stop = Arc::clone(&stop);
        move || burn(|| stop.load(Ordering::Relaxed))
    });
    let start = Instant::now();
    let end = Duration::from_millis(milliseconds);
    burn(|| start.elapsed() >= end);
    stop.store(true, Ordering::Relaxed);
    if let Ok(other) = other {
        let _ = other.join();
    }
    let reached = cpu_milliseconds()?;
    let detail = format!("got {reached} ms of CPU in {} ms", start.elapsed().as_millis());
    let finding = if reached > allowed { escaped(detail) } else { blocked(detail) };
    Ok(Finding { reached: Some(reached), ..finding })
}

fn burn(mut done: impl FnMut() -> bool) {
    while !done() {
        for number in 0..10_000_u32 {
            std::hint::black_box(number);
        }
    }
}

/// The CPU time of this process so far.
fn cpu_milliseconds() -> io::Result<u64> {
    let mut time = [0; 2];
    let clock = i64::from(libc::CLOCK_PROCESS_CPUTIME_ID);
    let arguments = [Argument::Number(clock), Argument::FillWords(&mut time)];
    call(libc::SYS_clock_gettime, arguments)?;
    let [seconds, nanoseconds] = time;
    Ok(seconds * 1000 + nanoseconds / 1_000_000)
}

/// Raises the soft limit to the hard one, and aborts in a child. A core file of that name that is
/// found afterwards is this attempt's own, and removed.
fn core_dump(scene: &Scene) -> Verdict {
    std::env::set_current_dir(scene.path(0)?).setup("enter the writable directory")?;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) };
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the limit is valid for the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
    let child = fork(|| std::process::abort()).setup("make a child process")?;
    let end = wait(child).setup("wait for the child")?;
    for name in ["core".to_owned(), format!("core.{child}")] {
        // Where the kernel puts cores elsewhere there is none here.
        let _ = fs::remove_file(name);
    }
    Ok(match end {
        End::Killed { dumped_core: true, .. } => escaped("dumped core"),
        End::Killed { .. } => blocked("no core was dumped"),
        End::Exited(_) => blocked("the child did not abort"),
    })
}
