//! Owns stdout: whole lines from many threads, each written at once.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use crate::incoming::Failure;

/// The way to the client.
pub(crate) struct Output(Mutex<Option<File>>);

impl Output {
    /// Takes stdout, past the buffer of the standard library.
    pub(crate) fn stdout() -> io::Result<Self> {
        let descriptor = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self(Mutex::new(Some(File::from(descriptor)))))
    }

    /// Answers a request; `id` and `result` are JSON.
    pub(crate) fn result(&self, id: &str, result: &str) {
        self.result_with(id, "", result);
    }

    /// Answers a request with a result that has more members, each with a comma behind it: `"a":1,"b":2,`.
    pub(crate) fn result_with(&self, id: &str, more: &str, result: &str) {
        let members = result.strip_prefix('{').unwrap_or(result);
        let more = if members == "}" { more.trim_end_matches(',') } else { more };
        let mut line = Vec::with_capacity(id.len() + more.len() + result.len() + 40);
        line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        line.extend_from_slice(id.as_bytes());
        line.extend_from_slice(br#","result":{"#);
        line.extend_from_slice(more.as_bytes());
        line.extend_from_slice(members.as_bytes());
        line.extend_from_slice(b"}\n");
        self.bytes(&line);
    }

    /// Answers a request with an error.
    pub(crate) fn error(&self, id: &str, failure: &Failure) {
        let error = failure.to_json();
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    }

    /// Refuses what has no id that could be read, as modern servers do; legacy ones say `null`.
    pub(crate) fn error_without_id(&self, failure: &Failure) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","error":{}}}"#, failure.to_json()));
    }

    /// Sends a notification; `params` is JSON.
    pub(crate) fn notification(&self, method: &str, params: &str) {
        self.line(&notification(method, params));
    }

    /// Sends a request of the server; `id` and `params` are JSON.
    pub(crate) fn request(&self, id: &str, method: &str, params: &str) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    }

    /// Writes one line of any content.
    pub(crate) fn line(&self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes as they are. A client that no longer reads is none of the server's business: the end of stdin
    /// will tell.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        if let Some(file) = self.file().as_mut() {
            let _ = file.write_all(bytes);
        }
    }

    /// Closes stdout, really: nobody in this process holds the pipe any more.
    pub(crate) fn close(&self) -> io::Result<()> {
        let mut file = self.file();
        *file = None;
        rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
        Ok(())
    }

    fn file(&self) -> std::sync::MutexGuard<'_, Option<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A notification as JSON.
pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}
