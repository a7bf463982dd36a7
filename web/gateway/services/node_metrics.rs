//! Prometheus metrics of single nodes, with a bounded number of series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::FleetNode;
use groundwave_protocol::NodeState;

/// Maximum number of series of one answer: a scrape of 10 MB takes Prometheus about a second.
pub const SERIES_MAX: usize = 50_000;
/// Age from which on a reading is left out, ms: it is too old to describe the present.
const READING_MS: u64 = 300_000;

/// Series of one name: labels and value.
type Family = Vec<(String, f64)>;

/// Metrics of all nodes as Prometheus text. Nodes come in the order of their ids; where the series of a
/// node would exceed `series_max`, it and all after it are left out and counted.
#[must_use]
pub fn text(view: &Snapshot, now_ms: u64, series_max: usize) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let (mut series, mut left_out) = (0, 0);
    for node in view.fleet.nodes.values() {
        let own = series_of(node, now_ms);
        if left_out > 0 || series + own.len() > series_max {
            left_out += 1;
            continue;
        }
        series += own.len();
        let labels = labels(node);
        for (name, value) in own {
            let family = families.entry(name).or_default();
            family.push((labels.clone(), value));
        }
    }
    let mut text = String::new();
    for (name, family) in families {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# TYPE {name} gauge");
        for (labels, value) in family {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    let name = "groundwave_nodes_left_out";
    let _ = writeln!(text, "# TYPE {name} gauge\n{name} {left_out}");
    text
}

/// Names and values of the series of a node.
fn series_of(node: &FleetNode, now_ms: u64) -> Vec<(String, f64)> {
    let online = node.liveness.state == NodeState::Online;
    let mut own = vec![("groundwave_node_up".to_owned(), f64::from(u8::from(online)))];
    if let Some(received) = node.last_heartbeat.as_deref() {
        let age_ms = now_ms.saturating_sub(received.wall_ns / 1_000_000);
        own.push(("groundwave_node_last_heartbeat_age_seconds".to_owned(), age_ms as f64 / 1e3));
        own.push(("groundwave_node_uptime_seconds".to_owned(), received.heartbeat.uptime_s as f64));
    }
    let missed = node.liveness.missed_heartbeats as f64;
    own.push(("groundwave_node_missed_heartbeats".to_owned(), missed));
    let present =
        node.latest.iter().filter(|(_, reading)| reading.ts_ms.saturating_add(READING_MS) > now_ms);
    own.extend(present.map(|(metric, reading)| {
        // Metrics are words of a-z 0-9 _ and dots.
        let name = format!("groundwave_node_{}", metric.replace('.', "_"));
        (name, reading.value)
    }));
    own
}

fn labels(node: &FleetNode) -> String {
    format!("node_id=\"{}\",node=\"{}\"", node.id, escaped(&node.record.name))
}

/// A value of a label, escaped as the text format requires.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }

    #[test]
    fn a_world_without_nodes_has_one_series() {
        let metrics = text(&Snapshot::default(), 0, SERIES_MAX);
        assert_eq!(
            metrics,
            "# TYPE groundwave_nodes_left_out gauge\ngroundwave_nodes_left_out 0\n"
        );
    }
}
