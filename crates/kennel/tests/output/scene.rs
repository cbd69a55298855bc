//! A place with a server that says nothing good, and Kennel called there, at a terminal or not.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::terminal::{AtTerminal, Terminal};
use kennel_testkit::Caller;
use std::process::Command;

pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// What a terminal would obey: clipboard, title, clearing, colours, strings and sequences of seven and of eight bits, lines
/// that look like Kennel's, directions, things that cannot be seen, tags, backspaces and a lone escape.
pub(crate) const EVIL: &str = "x\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;title\u{1b}\\\u{1b}[2J\u{1b}[31m\u{9b}2J\u{90}q\u{9c}\
    \rkennel: FORGED\nkennel: FORGED\u{85}\u{2028}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{7f}\u{8}\u{1b}y";

pub(crate) struct Scene {
    pub(crate) ground: Ground,
}

impl Scene {
    pub(crate) fn new(caller: Caller) -> Self {
        let ground = Ground::new(caller);
        let server = include_str!("server.py").replace("@EVIL@", &serde_json::to_string(EVIL).unwrap());
        ground.make_file("work/server.py", &server, 0o644);
        Self { ground }
    }

    pub(crate) fn of_all() -> impl Iterator<Item = Self> {
        callers().into_iter().map(Self::new)
    }

    pub(crate) fn mine() -> Self {
        Self::new(myself())
    }

    /// The server's command.
    pub(crate) fn server(&self, mode: &str) -> String {
        format!("{PYTHON} {} {mode}", self.ground.text("work/server.py")).trim_end().to_owned()
    }

    /// A table of the file of servers.
    pub(crate) fn table(&self, name: &str, mode: &str, keys: &str) -> String {
        let script = self.ground.text("work/server.py");
        format!("[servers.{name}]\ncommand = {PYTHON:?}\nargs = [{script:?}, {mode:?}]\n{keys}\n\n")
    }

    /// `kennel` with these words. What it keeps is kept in the place to work.
    pub(crate) fn kennel(&self, words: &[&str]) -> Command {
        let mut command = self.ground.kennel(words);
        command.env("KENNEL_DATA", self.ground.path("work/data")).env("HOME", self.ground.path("work"));
        command
    }

    /// The same at a terminal that changes nothing of what it is sent.
    #[track_caller]
    pub(crate) fn at_terminal(&self, words: &[&str]) -> AtTerminal {
        Terminal::open_raw().start(&self.kennel(words))
    }

    /// The same, run to its end: all that the terminal was sent.
    #[track_caller]
    pub(crate) fn screen(&self, words: &[&str]) -> Vec<u8> {
        self.at_terminal(words).finish_with_bytes().1
    }
}
