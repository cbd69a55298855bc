//! What is counted about the doors, and all measurements as Prometheus reads them.

use http::StatusCode;
use kennel_hub::{Metric, MetricKind};
use kennel_wire::Era;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The doors that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Mcp,
    WebSocket,
    Rpc,
    Other,
}

impl Door {
    const ALL: [Self; 4] = [Self::Mcp, Self::WebSocket, Self::Rpc, Self::Other];

    fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::WebSocket => "ws",
            Self::Rpc => "rpc",
            Self::Other => "other",
        }
    }
}

/// The classes of a status: 1xx to 5xx.
const CLASSES: usize = 5;

/// Counts HTTP requests.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: [[AtomicU64; CLASSES]; Door::ALL.len()],
    connections: AtomicU64,
    tallies: [Arc<Tally>; Door::ALL.len()],
}

/// Counts the MCP requests of one door.
#[derive(Debug, Default)]
pub(crate) struct Tally([AtomicU64; 2]);

impl Tally {
    /// Counts a request.
    pub(crate) fn count(&self, era: Era) {
        self.of(era).fetch_add(1, Ordering::Relaxed);
    }

    fn of(&self, era: Era) -> &AtomicU64 {
        let Self([legacy, modern]) = self;
        match era {
            Era::Legacy => legacy,
            Era::Modern => modern,
        }
    }
}

/// What is only known at the time of asking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    /// Connections that are open.
    pub(crate) connections: usize,
    /// Sessions over HTTP.
    pub(crate) sessions: usize,
}

impl Counters {
    /// Counts an answered request.
    pub(crate) fn answered(&self, door: Door, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = self.requests.get(door as usize).and_then(|classes| classes.get(class)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts an accepted connection.
    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Where the MCP requests of a door are counted.
    pub(crate) fn tally(&self, door: Door) -> Arc<Tally> {
        self.tallies.get(door as usize).map(Arc::clone).unwrap_or_default()
    }

    /// Everything as text: the doors' own measurements, then the hub's.
    pub(crate) fn render(&self, gauges: Gauges, hub: &[Metric]) -> String {
        let mut page = Page::default();
        page.family("kennel_http_requests_total", "HTTP requests by door and class of status.", "counter");
        for (door, classes) in Door::ALL.into_iter().zip(&self.requests) {
            for (class, count) in (1..).zip(classes) {
                let labels = [("door", door.name()), ("status", &format!("{class}xx"))];
                page.sample("kennel_http_requests_total", &labels, count.load(Ordering::Relaxed));
            }
        }
        page.family("kennel_mcp_requests_total", "MCP requests by door and era of the protocol.", "counter");
        for (door, tally) in Door::ALL.into_iter().zip(&self.tallies).filter(|(door, _)| *door != Door::Other) {
            for (era, name) in [(Era::Legacy, "legacy"), (Era::Modern, "modern")] {
                let labels = [("door", door.name()), ("era", name)];
                page.sample("kennel_mcp_requests_total", &labels, tally.of(era).load(Ordering::Relaxed));
            }
        }
        page.single(
            "kennel_http_connections_total",
            "Accepted connections.",
            "counter",
            self.connections.load(Ordering::Relaxed),
        );
        page.single("kennel_http_connections", "Open connections.", "gauge", gauges.connections);
        page.single("kennel_http_sessions", "Sessions over Streamable HTTP.", "gauge", gauges.sessions);
        let mut family = "";
        for metric in hub {
            let name = format!("kennel_{}", metric.name);
            if metric.name != family {
                family = metric.name;
                page.family(&name, metric.help, kind(metric.kind));
            }
            let labels = metric.labels.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>();
            page.sample(&name, &labels, metric.value);
        }
        page.text
    }
}

fn kind(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, help: &str, kind: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    }

    fn single(&mut self, name: &str, help: &str, kind: &str, value: impl fmt::Display) {
        self.family(name, help, kind);
        self.sample(name, &[], value);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        if labels.is_empty() {
            return self.line(format_args!("{name} {value}"));
        }
        let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect::<Vec<_>>();
        self.line(format_args!("{name}{{{}}} {value}", labels.join(",")));
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
