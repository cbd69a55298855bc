//! A cheap client of a server over stdio, without anything in between.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::message::Prepared;

const BUFFER: usize = 64 << 10;

/// A server and its two pipes; it ends with them.
pub(crate) struct Pipe {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    _child: Child,
}

impl Pipe {
    /// Starts a server.
    pub(crate) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let output = BufReader::with_capacity(BUFFER, output);
        Ok(Self { input, output, line: Vec::new(), _child: child })
    }

    /// Sends a line, its end included.
    pub(crate) async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.input.write_all(line).await
    }

    /// The next line, without its end.
    pub(crate) async fn receive(&mut self) -> io::Result<&[u8]> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(self.line.trim_ascii_end())
    }

    /// Keeps so many requests in flight for that time, and returns how many were answered and how long it took.
    pub(crate) async fn flood(
        &mut self,
        request: &mut Prepared,
        in_flight: usize,
        time: Duration,
    ) -> io::Result<(u32, Duration)> {
        let start = Instant::now();
        for _ in 0..in_flight {
            self.send(request.next()).await?;
        }
        let (mut answers, mut open) = (0, in_flight);
        while open > 0 {
            self.receive().await?;
            answers += 1;
            if start.elapsed() < time {
                self.send(request.next()).await?;
            } else {
                open -= 1;
            }
        }
        Ok((answers, start.elapsed()))
    }
}
