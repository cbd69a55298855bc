//! Owns the columns of the matrix: which clients meet which servers, through which door and by which process model, and in
//! which order they are looked at.
//!
//! There is one Kennel for each era of servers and each process model, and one for each client over stdio. Clients that have
//! processes of their own are looked at side by side, others one after the other.

use crate::client::Client;
use crate::place::Place;
use crate::rows::ROWS;
use crate::seen::Seen;
use crate::support::caller::myself;
use crate::support::gateway::Gateway;
use crate::support::ground::Ground;
use crate::support::programs::fixture;
use crate::wire::{Door, Era, enter};
use serde_json::json;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Both kinds of clients and of servers.
pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A way from clients to processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    PerSession,
    Shared,
    /// The same while another client has a call that is not answered.
    Crowded,
    PerUser,
    PerCall,
    WebSocket,
    Stdio,
    Rpc,
}

impl Way {
    /// All of them, as the page shows them.
    pub(crate) const ALL: [Self; 8] = [
        Self::PerSession,
        Self::Shared,
        Self::Crowded,
        Self::PerUser,
        Self::PerCall,
        Self::WebSocket,
        Self::Stdio,
        Self::Rpc,
    ];

    fn door(self) -> Door {
        match self {
            Self::PerSession | Self::Shared | Self::Crowded | Self::PerUser | Self::PerCall => Door::Mcp,
            Self::WebSocket => Door::WebSocket,
            Self::Stdio => Door::Stdio,
            Self::Rpc => Door::Rpc,
        }
    }
}

/// Where a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    pub(crate) client: Era,
    pub(crate) server: Era,
    pub(crate) way: Way,
    /// The row's name.
    pub(crate) row: &'static str,
}

/// What was seen, cell by cell.
pub(crate) type Cells = HashMap<Position, Seen>;

/// What became of one cell.
type Looked = (Position, Result<Seen, String>);

/// Looks at every cell. What is not as it should be is told apart, a sentence each.
pub(crate) fn look() -> (Cells, Vec<String>) {
    let ground = Ground::new(myself());
    ground.add_program(fixture());
    let looked: Vec<Looked> = std::thread::scope(|scope| {
        let mut groups = Vec::new();
        for server in ERAS {
            for model in ["per-session", "shared", "per-user", "per-call"] {
                let scene = Scene { ground: &ground, server, model };
                groups.push(scope.spawn(move || scene.look()));
            }
            for client in ERAS {
                let scene = Scene { ground: &ground, server, model: "stdio" };
                groups.push(scope.spawn(move || scene.column("", client, Way::Stdio)));
            }
        }
        groups.into_iter().flat_map(|group| group.join().expect("it has told what it saw")).collect()
    });
    ground.assert_clean();
    let (mut cells, mut failures) = (Cells::new(), Vec::new());
    for (position, seen) in looked {
        match seen {
            Ok(seen) => drop(cells.insert(position, seen)),
            Err(text) => failures.push(format!("{position:?}: {text}")),
        }
    }
    failures.sort();
    (cells, failures)
}

/// One Kennel, or one for each client over stdio.
#[derive(Clone, Copy)]
struct Scene<'a> {
    ground: &'a Ground,
    server: Era,
    model: &'static str,
}

impl Scene<'_> {
    /// Looks at all that one Kennel serves.
    fn look(self) -> Vec<Looked> {
        let flags = self.flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let command = self.command();
        let command: Vec<&OsStr> = command.iter().map(OsStr::new).collect();
        let data = tempfile::Builder::new().prefix("kennel-test-").tempdir().unwrap();
        let gateway = Gateway::start_program(&self.ground.kennel_program(), data, &flags, &command);
        let address = gateway.address.as_str();
        let one_by_one = |ways: &[Way]| {
            let columns = ways.iter().flat_map(|way| ERAS.map(|client| (client, *way)));
            columns.flat_map(|(client, way)| self.column(address, client, way)).collect()
        };
        let looked = match self.model {
            "shared" => one_by_one(&[Way::Shared, Way::Crowded]),
            "per-user" => one_by_one(&[Way::PerUser]),
            "per-call" => one_by_one(&[Way::PerCall]),
            _ => std::thread::scope(|scope| {
                let ways = [Way::PerSession, Way::WebSocket, Way::Rpc];
                let columns: Vec<_> = ways
                    .into_iter()
                    .flat_map(|way| ERAS.map(|client| scope.spawn(move || self.column(address, client, way))))
                    .collect();
                columns.into_iter().flat_map(|column| column.join().expect("it has told what it saw")).collect()
            }),
        };
        let (status, log) = gateway.stop();
        assert!(status.success(), "{status}: {log}");
        looked
    }

    /// Looks at one column, row by row.
    fn column(self, address: &str, client: Era, way: Way) -> Vec<Looked> {
        let place = Place { locks: self.locks() };
        let other = (way == Way::Crowded).then(|| self.busy_client(address, &place));
        let mut asking = self.client(address, client, way);
        let look = |row: &crate::rows::Row| {
            let position = Position { client, server: self.server, way, row: row.name };
            (position, (row.look)(&mut asking, &place))
        };
        let looked = ROWS.iter().map(look).collect();
        if let Some((mut other, id)) = other {
            other.call_off(&id);
        }
        looked
    }

    fn client(self, address: &str, era: Era, way: Way) -> Client {
        // Clients of different names are different clients to Kennel, where no session or connection tells them apart.
        let name = format!("{way:?}");
        let program = self.ground.kennel_program();
        let arguments = if way == Way::Stdio { self.stdio_arguments(era) } else { Vec::new() };
        let wire = enter(way.door(), era, address, (&program, &arguments));
        Client::new(name, era, way.door(), wire)
    }

    /// Another client, with a call that goes on.
    fn busy_client(self, address: &str, place: &Place) -> (Client, serde_json::Value) {
        let mark = Place::mark();
        let mut client = self.client(address, Era::Legacy, Way::Crowded);
        let id = client.start("tools/call", json!({"name": "hold", "arguments": {"mark": mark}}));
        place.runs(&mark).expect("the other client's call runs");
        (client, id)
    }

    fn era(self) -> &'static str {
        match self.server {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }

    /// Where this Kennel's servers may write.
    fn locks(self) -> PathBuf {
        self.ground.make_directory(&format!("work/{}-{}", self.era(), self.model))
    }

    fn flags(self) -> Vec<String> {
        let mut flags = vec!["--read".to_owned(), self.ground.text("bin")];
        flags.extend(["--write".to_owned(), self.locks().to_str().unwrap().to_owned()]);
        if self.model != "stdio" {
            flags.extend(["--model".to_owned(), self.model.to_owned()]);
        }
        flags
    }

    fn command(self) -> Vec<String> {
        let fixture = self.ground.programs().join("kennel-fixture");
        let mut command = vec![fixture.to_str().unwrap().to_owned()];
        let locks = self.locks();
        let options = ["--era", self.era(), "--tasks", "--page-size", "10", "--state-dir", locks.to_str().unwrap()];
        command.extend(options.map(str::to_owned));
        command
    }

    fn stdio_arguments(self, client: Era) -> Vec<String> {
        let data = self.ground.make_directory(&format!("work/data-{}-{client:?}", self.era()));
        let mut arguments = ["run", "--stdio", "--data", data.to_str().unwrap()].map(str::to_owned).to_vec();
        arguments.extend(self.flags());
        arguments.push("--".to_owned());
        arguments.extend(self.command());
        arguments
    }
}
