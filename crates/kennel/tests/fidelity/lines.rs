//! Owns the door `--stdio`: a Kennel of its own, and lines on its pipes.

use crate::support::running::Kept;
use crate::support::waiting::PATIENCE;
use crate::wire::{Heard, Wire, cancellation};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

/// A Kennel that serves one client, and the thread that reads what it prints.
pub(crate) struct Lines {
    kept: Kept,
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
}

impl Lines {
    pub(crate) fn start((program, arguments): (&Path, &[String]), sender: SyncSender<Heard>) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut kept = Kept::start(command);
        let (input, output) = (kept.stdin(), BufReader::new(kept.stdout()));
        let reader = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(Heard::new(&line)).is_err() {
                    return;
                }
            }
        });
        Self { kept, input: Some(input), reader: Some(reader) }
    }
}

impl Wire for Lines {
    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open as long as this is there");
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn call_off(&mut self, id: &Value) {
        self.send(&cancellation(id));
    }

    fn initialize(&mut self, request: &Value, heard: &Receiver<Heard>) -> Option<Value> {
        self.send(request);
        let answer = heard.recv_timeout(PATIENCE).expect("initialize is answered");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Some(answer.json)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.input = None;
        if std::thread::panicking() {
            return;
        }
        let status = self.kept.end(&mut []);
        assert!(status.success(), "kennel run --stdio: {status}");
        let _ = self.reader.take().map(JoinHandle::join);
    }
}
