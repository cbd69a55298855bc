use super::*;

#[test]
fn the_page_is_as_prometheus_reads_it() {
    let counters = Counters::default();
    counters.answered(Door::Mcp, StatusCode::OK);
    counters.answered(Door::Mcp, StatusCode::ACCEPTED);
    counters.answered(Door::Rpc, StatusCode::NOT_FOUND);
    counters.connected();
    let metric = |value, server: &str| Metric {
        name: "calls_total",
        help: "Calls\nby server.",
        kind: MetricKind::Counter,
        labels: vec![("server", server.to_owned())],
        value,
    };
    let page = counters.render(Gauges { connections: 2, sessions: 3 }, &[metric(1, "a\"b"), metric(2, "c\\d")]);
    for line in [
        "kennel_http_requests_total{door=\"mcp\",status=\"2xx\"} 2",
        "kennel_http_requests_total{door=\"rpc\",status=\"4xx\"} 1",
        "kennel_http_requests_total{door=\"ws\",status=\"1xx\"} 0",
        "# TYPE kennel_http_sessions gauge",
        "kennel_http_sessions 3",
        "kennel_http_connections 2",
        "# HELP kennel_calls_total Calls\\nby server.",
        "kennel_calls_total{server=\"a\\\"b\"} 1",
        "kennel_calls_total{server=\"c\\\\d\"} 2",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
    }
    assert_eq!(page.matches("# TYPE kennel_calls_total").count(), 1, "a family is announced once");
    assert!(page.ends_with('\n'));
}
