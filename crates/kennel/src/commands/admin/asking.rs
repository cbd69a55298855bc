//! Owns the operator's side of the admin socket.

use super::place::SocketPlace;
use super::{LONGEST_LINE, Reply, Request};
use crate::cli::GatewayFlags;
use crate::failure::Failure;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

/// A gateway that runs on this machine.
pub(crate) struct Gateway {
    place: SocketPlace,
    stream: BufReader<UnixStream>,
}

impl Gateway {
    /// Finds the gateway that is meant.
    pub(crate) fn find(flags: &GatewayFlags) -> Result<Self, Failure> {
        let place = SocketPlace::find(flags.socket.as_deref(), flags.data.as_deref())?;
        match UnixStream::connect(place.path()) {
            Ok(stream) => Ok(Self { place, stream: BufReader::new(stream) }),
            Err(error) => Err(Failure::Argument(format!(
                "no gateway answers at {}: {error}\n  hint: start one with `kennel serve`, or name its socket with --socket",
                place.path().display()
            ))),
        }
    }

    /// Asks something, hands each item to `heard`, and returns the last answer.
    pub(crate) fn ask(
        mut self,
        request: &Request,
        mut heard: impl FnMut(Value) -> Result<(), Failure>,
    ) -> Result<Value, Failure> {
        let mut line = serde_json::to_vec(request).map_err(|error| self.broken(&error.into()))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).map_err(|error| self.broken(&error))?;
        loop {
            match self.reply().map_err(|error| self.broken(&error))? {
                Reply::Item(item) => heard(item)?,
                Reply::Done(value) => return Ok(value),
                Reply::Failed(text) => return Err(Failure::Server(text)),
            }
        }
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut line = Vec::new();
        (&mut self.stream).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended"));
        }
        Ok(Reply::read(&line)?)
    }

    fn broken(&self, source: &io::Error) -> Failure {
        Failure::Argument(format!("the gateway at {} gave no answer: {source}", self.place.path().display()))
    }
}

/// Where the gateway that runs serves its clients.
pub(crate) fn running_url(flags: &GatewayFlags) -> Result<String, Failure> {
    let status = Gateway::find(flags)?.ask(&Request::Status, |_| Ok(()))?;
    let url = status["url"].as_str().map(str::to_owned);
    url.ok_or_else(|| Failure::Argument("the gateway does not say where it serves".to_owned()))
}
