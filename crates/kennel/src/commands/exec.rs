//! `kennel exec`: one command in one box, with the caller's streams, signals and exit code.

use crate::cli::Exec;
use crate::commands::{sandbox, streams};
use crate::failure::Failure;
use crate::screen;
use crate::terminal::{Bridge, Terminals};
use kennel_box::{BoxError, BoxPlan, Command, EngineKind, ExitCause, ExitReport, Waitable};
use kennel_jail::{Access, Helper, Jail, JailError, JailEvent, ProcessSpec, Stream, Walls};
use std::os::fd::AsFd;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The only process in the box.
const PROCESS: u32 = 1;

/// Signals that are passed on to the command.
const FORWARDED: [fn() -> SignalKind; 6] = [
    SignalKind::hangup,
    SignalKind::interrupt,
    SignalKind::quit,
    SignalKind::terminate,
    SignalKind::user_defined1,
    SignalKind::user_defined2,
];

/// Runs the command and returns its exit code.
pub(crate) fn run(flags: Exec) -> Result<ExitCode, Failure> {
    let mut words = flags.command.into_iter();
    let program = words.next().ok_or_else(|| Failure::Argument("no command was given".into()))?;
    // Started first, so that it gets ready while the box is planned.
    let helper = Helper::start(&Helper::own_program(), sandbox::first_isolation(&flags.sandbox))?;
    let plan = sandbox::plan(&flags.sandbox, &program)?;
    if plan.engine == EngineKind::Host {
        screen::say("--engine host: no box; the command can do all that you can do");
    }
    if let Some(directory) = &plan.bare_cwd {
        eprintln!("kennel: {}", sandbox::bare(directory));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })?;
    let command = Command { program, args: words.collect(), ..Command::default() };
    let run = run_accepted(helper, &plan, &command, flags.verbose);
    let report = runtime.block_on(run)?;
    explain(&report, &plan);
    // The codes of the kernel fit; anything else would be a bug better seen than hidden.
    Ok(ExitCode::from(u8::try_from(report.shell_code()).unwrap_or(u8::MAX)))
}

/// Runs the command in the best box that this machine can make and the caller accepts.
async fn run_accepted(first: Helper, plan: &BoxPlan, command: &Command, verbose: bool) -> Result<ExitReport, Failure> {
    match run_in_box(first, plan, command, verbose).await {
        Err(Failure::Box(BoxError::Jail(error))) if error.lacks_namespaces() => {
            let Some(next) = plan.isolations().get(1) else { return Err(error.into()) };
            plan.check_isolation(*next)?;
            screen::say(format_args!("{error}\n  going on without namespaces, as accepted: the box is much weaker"));
            run_in_box(Helper::start(&Helper::own_program(), *next)?, plan, command, verbose).await
        }
        other => other,
    }
}

async fn run_in_box(helper: Helper, plan: &BoxPlan, command: &Command, verbose: bool) -> Result<ExitReport, Failure> {
    let mut signals = Signals::catch()?;
    let Jail { channel, remains } = helper.create(&plan.jail_spec())?;
    let channel = Waitable::new(channel)?;
    let terminals = Terminals::current();
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let relay = streams::check(plan.engine)?;
    let stream = |is_terminal, descriptor| if is_terminal { Stream::Terminal } else { Stream::Descriptor(descriptor) };
    let streams = [
        stream(terminals.stdin, relay.as_ref().map_or(stdin.as_fd(), |relay| relay.theirs.as_fd())),
        stream(terminals.stdout, stdout.as_fd()),
        stream(terminals.stderr, stderr.as_fd()),
    ];
    let spec = ProcessSpec { terminal: terminals.settings(), ..plan.process_spec(command) };
    // Asked for before the box stands, so that it need not be waited for.
    let asked = channel.get_ref().start(PROCESS, &spec, &streams);
    let JailEvent::Ready(walls) = channel.receive().await? else { return Err(JailError::BoxEnded.into()) };
    asked?;
    if verbose {
        describe(plan, &walls);
    }
    let bridge = match channel.receive().await? {
        JailEvent::Started { terminal: Some(terminal), .. } if terminals.any() => Some(
            Bridge::new(terminal, terminals)
                .map_err(|source| Failure::System { what: "using the terminal", source })?,
        ),
        JailEvent::NotStarted { error, .. } => return Err(error.into()),
        _ => None,
    };
    if let Some(relay) = relay {
        relay.begin();
    }
    let report = loop {
        tokio::select! {
            event = channel.receive() => match event {
                Ok(JailEvent::Exited { report, .. }) => break report,
                Ok(_) => {}
                Err(JailError::BoxEnded) => {
                    let starved = remains.wait().unwrap_or(false);
                    let cause = if starved { ExitCause::OutOfMemory } else { ExitCause::BoxEnded };
                    break ExitReport { cause, ..ExitReport::BOX_ENDED };
                }
                Err(error) => return Err(error.into()),
            },
            number = signals.next() => match number {
                Caught::Resize => if let Some(bridge) = &bridge { bridge.resize() },
                // A box that has just ended needs no signal.
                Caught::Forward(number) => drop(channel.get_ref().signal(Some(PROCESS), number)),
            },
        }
    };
    // First the box, so that what is left in it lets go of the terminal; then the terminal; the helper cleans up on its own.
    drop(channel);
    drop(bridge);
    helper.release();
    Ok(report)
}

enum Caught {
    Forward(i32),
    Resize,
}

/// The signals that arrive for the command.
struct Signals {
    forwarded: Vec<(i32, Signal)>,
    resize: Signal,
}

impl Signals {
    fn catch() -> Result<Self, Failure> {
        let failed = |source| Failure::System { what: "catching signals", source };
        let catch = |kind: SignalKind| Ok((kind.as_raw_value(), signal(kind).map_err(failed)?));
        let forwarded = FORWARDED.iter().map(|kind| catch(kind())).collect::<Result<_, Failure>>()?;
        Ok(Self { forwarded, resize: signal(SignalKind::window_change()).map_err(failed)? })
    }

    async fn next(&mut self) -> Caught {
        let (forwarded, resize) = (&mut self.forwarded, &mut self.resize);
        std::future::poll_fn(|context| {
            if resize.poll_recv(context).is_ready() {
                return std::task::Poll::Ready(Caught::Resize);
            }
            for (number, signal) in &mut *forwarded {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(Caught::Forward(*number));
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Says why Kennel, and not the command itself, made an end.
fn explain(report: &ExitReport, plan: &BoxPlan) {
    let limits = &plan.limits;
    let advice = match report.cause {
        ExitCause::Exited | ExitCause::Signalled => return,
        ExitCause::OutOfMemory => format!("the box may use {} MiB; raise --memory", limits.memory >> 20),
        ExitCause::PidsLimit => format!("the box may have {} processes and threads; raise --pids", limits.pids),
        ExitCause::Seccomp => "the command made a system call of another architecture".to_owned(),
        ExitCause::Deadline => "raise --timeout".to_owned(),
        ExitCause::BoxEnded => "its init was killed from outside".to_owned(),
    };
    screen::say(format_args!("{report}: {advice}"));
}

fn describe(plan: &BoxPlan, walls: &Walls) {
    for grant in &plan.grants {
        let access = match grant.access {
            Access::ReadOnly => "read",
            Access::ReadWrite => "write",
        };
        screen::say(format_args!("{access} {} at {}", grant.source.display(), grant.target.display()));
    }
    let landlock = walls.landlock.map_or_else(|| "absent".to_owned(), |version| format!("version {version}"));
    for notice in &plan.notices {
        screen::say(notice);
    }
    if walls.open_files < plan.limits.open_files {
        let (has, asked) = (walls.open_files, plan.limits.open_files);
        screen::say(format_args!("{has} open files (the hard limit here; {asked} asked for); raise `ulimit -Hn`"));
    }
    screen::say(format_args!(
        "memory {} MiB by {}; {} processes by {}; {} processors by {}; Landlock {landlock}",
        plan.limits.memory >> 20,
        walls.memory,
        plan.limits.pids,
        walls.pids,
        f64::from(plan.limits.milli_cpus) / 1000.0,
        walls.cpu,
    ));
}
