//! `kennel connect`: an endpoint of a gateway through standard input and output, over one WebSocket at a time.
//!
//! The client sees one server that never goes away. When the gateway does, its requests that are under way are answered
//! with an error, and with the next connection the client's handshake is said again on its behalf.

mod session;
mod socket;

use crate::cli::Connect;
use crate::commands::asking::Address;
use crate::failure::Failure;
use crate::screen::{self, Messages, complain};
use kennel_wire::ByteSize;
use session::{Said, Session};
use socket::{Limits, Lost, Socket};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Messages of the client that wait for the gateway.
const WAITING: usize = 16;
/// How long answers are waited for once the client has said all.
const DRAIN: Duration = Duration::from_secs(30);

/// Goes between until the client is done.
pub(crate) fn run(flags: &Connect) -> Result<ExitCode, Failure> {
    let address = Address::read(&flags.url).map_err(|error| Failure::Argument(error.to_string()))?;
    let wait = Duration::try_from_secs_f64(flags.wait)
        .map_err(|_| Failure::Argument(format!("--wait {}: must be seconds", flags.wait)))?;
    let limits = Limits {
        message_bytes: usize::try_from(flags.max_message.bytes()).unwrap_or(usize::MAX),
        wait,
        token: std::env::var("KENNEL_TOKEN").ok().filter(|token| !token.is_empty()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Failure::System { what: "starting the event loop", source })?;
    let outcome = runtime.block_on(go_between(&address, &limits));
    // Reading standard input cannot be interrupted; nobody waits for it any more.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn go_between(address: &Address, limits: &Limits) -> Result<(), Failure> {
    let (lines, mut said) = mpsc::channel(WAITING);
    let most = limits.message_bytes;
    let listening = tokio::spawn(async move { listen(BufReader::new(tokio::io::stdin()), most, &lines).await });
    let mut out = screen::protocol();
    let mut session = Session::default();
    let mut is_done = false;
    let outcome = loop {
        let mut socket = match Socket::open(address, limits).await {
            Ok(socket) => socket,
            Err(error) => break Err(Failure::Server(error.to_string())),
        };
        match converse(&mut socket, &mut session, &mut said, &mut out, &mut is_done).await {
            Ok(()) | Err(Broken::Client) => break Ok(()),
            // Whoever is done does not wait for another gateway.
            Err(Broken::Gateway(lost)) if is_done => break Err(Failure::Server(lost.to_string())),
            Err(Broken::Gateway(_)) => {
                for answer in session.give_up() {
                    if print(&mut out, &answer).await.is_err() {
                        break;
                    }
                }
            }
        }
    };
    listening.abort();
    outcome
}

/// Why a conversation ended before the client was done.
enum Broken {
    Client,
    Gateway(Lost),
}

async fn converse(
    socket: &mut Socket,
    session: &mut Session,
    said: &mut mpsc::Receiver<Vec<u8>>,
    out: &mut Messages,
    is_done: &mut bool,
) -> Result<(), Broken> {
    for message in session.handshake() {
        socket.send(message).await.map_err(Broken::Gateway)?;
    }
    loop {
        if *is_done && !session.is_waiting() {
            socket.close().await;
            return Ok(());
        }
        tokio::select! {
            line = said.recv(), if !*is_done => match line {
                Some(line) => match session.say(&line) {
                    Said::Forward => socket.send(line).await.map_err(Broken::Gateway)?,
                    Said::Nothing => {}
                },
                None => *is_done = true,
            },
            heard = socket.next() => {
                let message = heard.map_err(Broken::Gateway)?;
                if session.hear(&message) == Said::Forward {
                    print(out, &message).await.map_err(|_| Broken::Client)?;
                }
            }
            () = tokio::time::sleep(DRAIN), if *is_done => return Ok(()),
        }
    }
}

/// Hands over the lines of the client, as far as they are no longer than the gateway takes.
async fn listen(mut input: impl AsyncBufRead + Unpin, most: usize, lines: &mpsc::Sender<Vec<u8>>) {
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(2);
    loop {
        let mut line = Vec::new();
        match (&mut input).take(limit).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let message = line.trim_ascii();
        if message.len() > most {
            // What follows is the rest of the same line, which nobody can make sense of.
            complain(&[format!("a message has more than {}; raise --max-message", ByteSize::from(most))]);
            return;
        }
        if !message.is_empty() && lines.send(message.to_vec()).await.is_err() {
            return;
        }
    }
}

/// One message on one line: outside of texts, where they are escaped, line ends mean nothing in JSON.
async fn print(out: &mut Messages, message: &[u8]) -> std::io::Result<()> {
    let mut line: Vec<u8> =
        message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    line.push(b'\n');
    out.write_all(&line).await?;
    out.flush().await
}
