//! Owns what every command that serves clients does alike: its threads, its signals, its token, and how many clients fit.

use crate::cli::TokenFlags;
use crate::failure::Failure;
use kennel_config::{Secret, SystemSources, Template, Value};
use kennel_gateway::{Limits, Token};
use kennel_hub::Principal;
use std::net::SocketAddr;
use std::path::Path;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The event loop of a command that serves.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .enable_all()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })
}

/// How many threads serve clients: half as many as there are processors, because the servers need the others, and on few
/// processors threads cost more by waking each other than they bring.
fn workers() -> usize {
    (std::thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, 8)
}

/// With fewer open files than this, Kennel cannot do its work.
const FEWEST_FILES: u64 = 128;
/// Of the open files, so many at least and at most are left to servers, the state and operators; in between a quarter.
const RESERVED_FILES: (u64, u64) = (64, 4096);

/// How many connections fit beside what servers, the state and operators need. Raises the limit of open files first, so
/// call it before other threads run.
pub(crate) fn connections() -> Result<usize, Failure> {
    connections_within(kennel_jail::raise_open_files())
}

fn connections_within(files: u64) -> Result<usize, Failure> {
    if files < FEWEST_FILES {
        return Err(Failure::Argument(format!(
            "this process may open only {files} files, and Kennel needs at least {FEWEST_FILES}; raise the limit with `ulimit \
             -n 4096`, or `LimitNOFILE=` in a systemd unit"
        )));
    }
    let (least, most) = RESERVED_FILES;
    let left = files - (files / 4).clamp(least, most);
    Ok(usize::try_from(left).unwrap_or(usize::MAX).min(Limits::default().connections))
}

/// What clients have to show.
pub(crate) struct Bearer {
    secret: String,
    origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Made for this run.
    Made,
    /// The user's own.
    Given,
}

/// A token of fewer characters could be guessed.
const SHORTEST_TOKEN: usize = 16;

impl Bearer {
    /// The token that is said by flags, or by the file, whose directory is given; a new one where it is needed and nothing
    /// is said; else none.
    pub(crate) fn find(
        flags: &TokenFlags,
        configured: Option<&Value>,
        directory: &Path,
        listen: SocketAddr,
    ) -> Result<Option<Self>, Failure> {
        let by_variable = flags.token_env.as_ref().map(|name| ("--token-env", Value::FromEnv(name.clone())));
        let by_file = flags.token_file.as_ref().map(|path| -> Result<_, Failure> {
            let path =
                std::path::absolute(path).map_err(|source| Failure::System { what: "finding --token-file", source })?;
            let path = path.to_str().ok_or_else(|| Failure::Argument("--token-file: not UTF-8".to_owned()))?;
            // There are no variables in it.
            Ok(("--token-file", Value::FromFile(Template::parse(&path.replace("${", "$${")))))
        });
        let by_config = configured.map(|value| ("gateway.token", value.clone()));
        let Some((place, value)) = by_variable.or(by_file.transpose()?).or(by_config) else {
            let made = || random().map(|secret| Self { secret, origin: Origin::Made });
            return if listen.ip().is_loopback() { Ok(None) } else { made().map(Some) };
        };
        let wrong = |text: String| Failure::Argument(format!("{place}: {text}"));
        let secret = kennel_config::resolve(&value, directory, &SystemSources::default())
            .map_err(|cause| wrong(cause.to_string()))?;
        Self::given(&secret).map(Some).map_err(|text| wrong(text.to_owned()))
    }

    fn given(secret: &Secret) -> Result<Self, &'static str> {
        let secret = secret.expose().to_owned();
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token must be printable ASCII without blanks; make one with `openssl rand -hex 24`");
        }
        if secret.len() < SHORTEST_TOKEN {
            return Err("the token must have at least 16 characters; make one with `openssl rand -hex 24`");
        }
        Ok(Self { secret, origin: Origin::Given })
    }

    /// For the gateway.
    pub(crate) fn token(&self) -> Token {
        Token { secret: self.secret.clone(), principal: Principal::local() }
    }

    /// What may be printed: only a token that was made for this run, which nobody knows otherwise.
    pub(crate) fn shown(&self) -> Option<&str> {
        (self.origin == Origin::Made).then_some(self.secret.as_str())
    }

    /// What stands for the token where clients are told how to connect.
    pub(crate) fn in_snippets(&self) -> &str {
        self.shown().unwrap_or("YOUR_TOKEN")
    }
}

/// What is said where servers with network access could use an endpoint that asks for no token; `None` where they cannot.
///
/// Boxes of root have users of their own, who are refused. Those of an ordinary user cannot be told from that user.
pub(crate) fn reachable(networked: &[String], listen: SocketAddr, bearer: Option<&Bearer>) -> Option<String> {
    let is_own_user = !rustix::process::geteuid().is_root();
    if networked.is_empty() || bearer.is_some() || !listen.ip().is_loopback() || !is_own_user {
        return None;
    }
    let (names, has) = (networked.join(", "), if networked.len() == 1 { "has" } else { "have" });
    Some(format!(
        "{names} {has} network access and could call this endpoint as you; to rule that out, set a token (--token-env or \
         --token-file, or gateway.token in the file), which clients then send"
    ))
}

/// A new secret: 192 random bits.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::System { what: "making a token", source: std::io::Error::other(error) })?;
    Ok(bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect())
}

/// What the end of the terminal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// To stop.
    Stops,
    /// Something else, which somebody else looks after.
    IsOther,
}

/// Cancelled by the first signal that asks to stop; the second one ends Kennel at once, and the kernel all its boxes.
pub(crate) fn stop_signals(hangup: Hangup) -> Result<CancellationToken, Failure> {
    let mut interrupt = caught(SignalKind::interrupt())?;
    let mut terminate = caught(SignalKind::terminate())?;
    let mut hung_up = match hangup {
        Hangup::Stops => Some(caught(SignalKind::hangup())?),
        Hangup::IsOther => None,
    };
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = received(hung_up.as_mut()) => {}
            }
            if asked.is_cancelled() {
                std::process::exit(130);
            }
            asked.cancel();
        }
    });
    Ok(stop)
}

/// A signal that is caught from now on.
pub(crate) fn caught(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|source| Failure::System { what: "catching signals", source })
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
