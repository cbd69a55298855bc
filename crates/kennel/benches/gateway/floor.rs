//! The floor: the least that a gateway in front of a stdio server has to do, as one would write it with axum.
//!
//! One process behind one address: a body goes to the process as a line, with a number in place of its id, and the line
//! with that number comes back as the answer. No sessions, no box, no limits, no checks, nothing survives anything.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;

use crate::bare::listen;
use crate::message::{INITIALIZE, INITIALIZED};

/// A message on its way to the process.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    params: &'a RawValue,
}

/// A message of the process.
#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

struct Relay {
    input: tokio::sync::Mutex<ChildStdin>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

/// Who waits for an answer, and the id that it has to carry.
struct Waiting {
    id: Box<RawValue>,
    answer: oneshot::Sender<Vec<u8>>,
}

/// Serves the program on the port for ever.
pub(crate) async fn serve(port: u16, program: &str) -> io::Result<()> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the process has no pipes"));
    };
    let mut output = BufReader::with_capacity(64 << 10, output);
    input.write_all(format!("{INITIALIZE}\n").as_bytes()).await?;
    output.read_until(b'\n', &mut Vec::new()).await?;
    input.write_all(format!("{INITIALIZED}\n").as_bytes()).await?;
    let relay = Arc::new(Relay { input: input.into(), next: AtomicU64::new(1), waiting: Mutex::default() });
    let reading = tokio::spawn(read(Arc::clone(&relay), output));
    let routes = Router::new().route("/", post(forward)).with_state(relay);
    axum::serve(listen(port).await?, routes).await?;
    reading.await?
}

async fn forward(State(relay): State<Arc<Relay>>, body: Bytes) -> Response {
    let Ok(Request { id, method, params }) = serde_json::from_slice(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let number = relay.next.fetch_add(1, Ordering::Relaxed);
    let (answer, answered) = oneshot::channel();
    relay.waiting().insert(number, Waiting { id: id.to_owned(), answer });
    let mut line = Vec::with_capacity(body.len() + 64);
    let written = writeln!(line, r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{}}}"#, params.get());
    if written.is_err() || relay.input.lock().await.write_all(&line).await.is_err() {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    match answered.await {
        Ok(answer) => ([(CONTENT_TYPE, "application/json")], answer).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// Hands out what the process answers, until it answers no more.
async fn read(relay: Arc<Relay>, mut output: BufReader<ChildStdout>) -> io::Result<()> {
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).await? > 0 {
        if let Ok(Answer { id, result, error }) = serde_json::from_slice(&line)
            && let Some(waiting) = relay.waiting().remove(&id)
        {
            let (name, value) =
                if let Some(result) = result { ("result", result) } else { ("error", error.unwrap_or(RawValue::NULL)) };
            let mut answer = Vec::with_capacity(line.len() + 64);
            write!(answer, r#"{{"jsonrpc":"2.0","id":{},"{name}":{}}}"#, waiting.id.get(), value.get())?;
            let _ = waiting.answer.send(answer);
        }
        line.clear();
    }
    relay.waiting().clear();
    Ok(())
}

impl Relay {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
