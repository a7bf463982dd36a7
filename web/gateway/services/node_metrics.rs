//! Prometheus metrics of single nodes, with a bounded number of series.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::FleetNode;
use groundwave_protocol::{NodeState, unit_of};

/// Maximum number of series of one answer: a scrape of 10 MB takes Prometheus about a second.
pub const SERIES_MAX: usize = 50_000;
/// Age from which on a reading is left out, ms: it is too old to describe the present.
const READING_MS: u64 = 300_000;

/// Series of one name.
#[derive(Default)]
struct Family {
    help: String,
    /// Labels and value.
    series: Vec<(String, f64)>,
}

/// A series of a node.
struct Series {
    name: String,
    help: String,
    /// Metric of a reading: names of two metrics may be one as series, `i2c.a_b.c` and `i2c.a.b_c`.
    metric: Option<String>,
    value: f64,
}

impl Series {
    fn of(name: &str, help: &str, value: f64) -> Self {
        Self { name: name.to_owned(), help: help.to_owned(), metric: None, value }
    }

    fn of_reading(metric: &str, value: f64) -> Self {
        // Metrics are words of a-z 0-9 _ and dots.
        let name = format!("groundwave_node_{}", metric.replace('.', "_"));
        let unit = unit_of(metric).map_or_else(String::new, |unit| format!(", {unit}"));
        let help = format!("Latest reading of the metric in the label{unit}");
        Self { name, help, metric: Some(metric.to_owned()), value }
    }
}

/// Metrics of all nodes as Prometheus text. Nodes come in the order of their ids; where the series of a
/// node would exceed `series_max`, it and all after it are left out and counted.
#[must_use]
pub fn text(view: &Snapshot, now_ms: u64, series_max: usize) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let (mut count, mut left_out) = (0, 0);
    for node in view.fleet.nodes.values() {
        let own = series_of(node, now_ms);
        if left_out > 0 || count + own.len() > series_max {
            left_out += 1;
            continue;
        }
        count += own.len();
        let labels = labels(node);
        for Series { name, help, metric, value } in own {
            let family = families.entry(name).or_default();
            family.help = help;
            let labels = match metric {
                Some(metric) => format!("{labels},metric=\"{metric}\""),
                None => labels.clone(),
            };
            family.series.push((labels, value));
        }
    }
    let mut text = String::new();
    for (name, family) in families {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} gauge", family.help);
        for (labels, value) in family.series {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    let name = "groundwave_nodes_left_out";
    let help = "Nodes left out of this answer, which has a maximum of series";
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {left_out}");
    text
}

/// The series of a node.
fn series_of(node: &FleetNode, now_ms: u64) -> Vec<Series> {
    let online = f64::from(u8::from(node.liveness.state == NodeState::Online));
    let mut own = vec![Series::of("groundwave_node_up", "Whether the node is online", online)];
    if let Some(received) = node.last_heartbeat.as_deref() {
        let age_ms = now_ms.saturating_sub(received.wall_ns / 1_000_000);
        own.push(Series::of(
            "groundwave_node_last_heartbeat_age_seconds",
            "Time since the last heartbeat",
            age_ms as f64 / 1e3,
        ));
        own.push(Series::of(
            "groundwave_node_uptime_seconds",
            "Uptime by the last heartbeat",
            received.heartbeat.uptime_s as f64,
        ));
    }
    own.push(Series::of(
        "groundwave_node_missed_heartbeats",
        "Heartbeats missed since the last one",
        node.liveness.missed_in_silence as f64,
    ));
    let present =
        node.latest.iter().filter(|(_, reading)| reading.ts_ms.saturating_add(READING_MS) > now_ms);
    own.extend(present.map(|(metric, reading)| Series::of_reading(metric, reading.value)));
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
    fn metrics_of_one_name_differ_in_a_label() {
        let [one, other] = ["i2c.a_b.t_c", "i2c.a.b_t_c"].map(|one| Series::of_reading(one, 1.0));
        assert_eq!(one.name, other.name);
        assert_ne!(one.metric, other.metric);
        assert_eq!(one.help, "Latest reading of the metric in the label, °C");
    }

    #[test]
    fn a_world_without_nodes_has_one_series() {
        let metrics = text(&Snapshot::default(), 0, SERIES_MAX);
        assert_eq!(
            metrics,
            "# HELP groundwave_nodes_left_out Nodes left out of this answer, which has a maximum of \
             series\n# TYPE groundwave_nodes_left_out gauge\ngroundwave_nodes_left_out 0\n"
        );
    }
}
