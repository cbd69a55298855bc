//! Owns what is known of the gateway and of views.

use crate::code::Approval;
use crate::fields::Fields;
use crate::name::ServerName;
use crate::pattern::ToolFilter;
use crate::server::Server;
use crate::template::Template;
use crate::value::Value;
use kennel_box::Size;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How clients reach Kennel.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewaySettings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Further names by which clients may call this machine; `*` for any.
    pub allow_hosts: Vec<String>,
    /// Web pages that may use the endpoints; `*` for any.
    pub allow_origins: Vec<String>,
    /// What clients have to send as bearer token; made for each run beyond this machine if `None`, and not asked for on it.
    pub token: Option<Value>,
    /// After how long without a message a session is ended.
    pub session_idle: Duration,
    /// The largest message that a client may send.
    pub max_message: Size,
    /// How many bytes of answers may wait for clients, all servers together.
    pub max_unread: Size,
    /// How many processes may be starting at once, all servers together; as many as is usual if `None`.
    pub starts: Option<u32>,
    /// How much of calls is written down.
    pub audit: Audit,
    /// Where packages and what is known of servers are kept; where it is usual if `None`.
    pub data: Option<Template>,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self::read(Fields::of(None))
    }
}

impl GatewaySettings {
    pub(crate) fn read(fields: Fields<'_>) -> Self {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 7330));
        Self {
            listen: fields.text("listen").and_then(|text| text.parse().ok()).unwrap_or(usual),
            allow_hosts: fields.texts("allow-hosts"),
            allow_origins: fields.texts("allow-origins"),
            token: fields.value("token"),
            session_idle: fields.minutes("session-idle").unwrap_or(Duration::from_mins(30)),
            max_message: fields.size("max-message").unwrap_or(Size::mebibytes(64)),
            max_unread: fields.size("max-unread").unwrap_or(Size::mebibytes(512)),
            starts: fields.count("starts"),
            audit: match fields.text("audit") {
                Some("off") => Audit::Off,
                Some("text") => Audit::Text,
                _ => Audit::Digest,
            },
            data: fields.template("data"),
        }
    }
}

/// How much of calls is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Audit {
    /// Nothing.
    Off,
    /// Who called what, when and with which outcome, and a digest of the arguments.
    #[default]
    Digest,
    /// The arguments as well.
    Text,
}

/// A selection of servers and tools with an endpoint of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The servers in it by name.
    pub servers: BTreeSet<ServerName>,
    /// Servers with one of these tags are in it too.
    pub tags: BTreeSet<String>,
    /// Which tools are shown, by the server's own names or as `server__tool`.
    pub tools: ToolFilter,
    /// How tools are shown.
    pub surface: Surface,
    /// Whether its tools can be called from code, beside being shown.
    pub code: bool,
    /// Which tools run without asking somebody when code calls them; as for all code where nothing is said.
    pub approve: Option<Approval>,
    /// What it is for.
    pub description: Option<String>,
}

/// How the tools of a view are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surface {
    /// All are listed.
    #[default]
    Full,
    /// One tool finds the others, and one calls them.
    Search,
    /// A few tools run Python, which calls the others.
    Code,
}

impl View {
    /// Whether a server is in the view: if it is named or has one of the tags, or if the view names and tags nothing.
    #[must_use]
    pub fn selects(&self, name: &ServerName, server: &Server) -> bool {
        let all = self.servers.is_empty() && self.tags.is_empty();
        all || self.servers.contains(name) || !self.tags.is_disjoint(&server.tags)
    }

    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self {
            servers: fields.texts("servers").iter().filter_map(|name| name.parse().ok()).collect(),
            tags: fields.texts("tags").into_iter().collect(),
            tools: ToolFilter::read(fields.table("tools")),
            surface: match fields.text("surface") {
                Some("search") => Surface::Search,
                Some("code") => Surface::Code,
                _ => Surface::Full,
            },
            code: fields.boolean("code").unwrap_or(false),
            approve: Approval::read(fields),
            description: fields.text("description").map(str::to_owned),
        }
    }
}
