//! Prometheus metrics: sums, without names of nodes or accounts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use groundwave_gateway::Snapshot;
use groundwave_protocol::NodeState;
use groundwave_protocol::RegistrationState;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::tls::TlsCertificate;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    operation: Word,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Bound {
    bound: Word,
}

/// Metrics of a gateway.
pub struct Metrics {
    registry: Registry,
    answered: Family<Answered, Counter>,
    took: Family<Operation, Histogram, fn() -> Histogram>,
    nodes: Family<State, Gauge>,
    registrations: Family<State, Gauge>,
    overlay_leases: Gauge,
    certificate: Family<Bound, Gauge>,
    /// Telemetry samples accepted.
    pub samples: Counter,
    /// Telemetry samples rejected.
    pub samples_rejected: Counter,
    /// Failed writes of the telemetry history.
    pub history_faults: Counter,
    /// 1 while the telemetry history has no space on its disk.
    pub history_full: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: Word,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("groundwave");
        let answered = Family::<Answered, Counter>::default();
        registry.register("http_requests", "Requests answered", answered.clone());
        // From half a millisecond to eight seconds.
        let bounds = || {
            Histogram::new(prometheus_client::metrics::histogram::exponential_buckets(
                0.0005, 2.0, 15,
            ))
        };
        let took = Family::<Operation, Histogram, fn() -> Histogram>::new_with_constructor(
            bounds as fn() -> Histogram,
        );
        registry.register_with_unit("http_request", "Time to answer", Unit::Seconds, took.clone());
        let nodes = Family::<State, Gauge>::default();
        registry.register("nodes", "Nodes by state", nodes.clone());
        let registrations = Family::<State, Gauge>::default();
        registry.register("registrations", "Registrations by state", registrations.clone());
        let overlay_leases = Gauge::default();
        registry.register("overlay_leases", "Overlay addresses not free", overlay_leases.clone());
        let certificate = Family::<Bound, Gauge>::default();
        registry.register_with_unit(
            "tls_certificate_validity_timestamp",
            "Bounds of the validity of the TLS certificate since the Unix epoch",
            Unit::Seconds,
            certificate.clone(),
        );
        let samples = Counter::default();
        registry.register("telemetry_samples", "Readings kept", samples.clone());
        let samples_rejected = Counter::default();
        registry.register(
            "telemetry_samples_rejected",
            "Readings not kept",
            samples_rejected.clone(),
        );
        let history_faults = Counter::default();
        registry.register(
            "history_faults",
            "Readings the history could not keep",
            history_faults.clone(),
        );
        let history_full = Gauge::default();
        registry.register(
            "history_full",
            "Whether the history has no space on its disk",
            history_full.clone(),
        );
        Self {
            registry,
            answered,
            took,
            nodes,
            registrations,
            overlay_leases,
            certificate,
            samples,
            samples_rejected,
            history_faults,
            history_full,
        }
    }
}

impl Metrics {
    /// Records a response.
    pub fn answered(&self, operation: &'static str, status: u16, took_ns: u64) {
        let operation = Word(operation);
        let labels = Answered { operation: operation.clone(), status };
        self.answered.get_or_create(&labels).inc();
        let took = self.took.get_or_create(&Operation { operation });
        took.observe(took_ns as f64 / 1e9);
    }

    /// Metrics as OpenMetrics text.
    pub fn text(&self, view: &Snapshot, certificate: &TlsCertificate) -> String {
        for (bound, at_ns) in certificate.bounds_ns().into_iter().flatten() {
            let gauge = self.certificate.get_or_create(&Bound { bound: Word(bound) });
            gauge.set(i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX));
        }
        for state in [NodeState::Joining, NodeState::Online, NodeState::Stale, NodeState::Offline] {
            let count =
                view.fleet.nodes.values().filter(|node| node.liveness.state == state).count();
            let labels = State { state: Word(state.word()) };
            self.nodes.get_or_create(&labels).set(count as i64);
        }
        use RegistrationState::{Approved, Expired, Pending, Rejected, Revoked};
        for state in [Pending, Approved, Rejected, Revoked, Expired] {
            let count = view
                .onboarding
                .registrations
                .values()
                .filter(|registration| registration.state == state)
                .count();
            let labels = State { state: Word(state.word()) };
            self.registrations.get_or_create(&labels).set(count as i64);
        }
        self.overlay_leases.set(view.onboarding.leases.len() as i64);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// OpenMetrics text in the older format 0.0.4, which has no end mark and declares counters by the names of their
/// series.
#[must_use]
pub fn plain_text(open_metrics: &str) -> String {
    let types = open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let counters: BTreeSet<&str> = types.filter_map(|line| line.strip_suffix(" counter")).collect();
    let mut text = String::new();
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name), Some(rest))
                if counters.contains(name) =>
            {
                // Writing to a string does not fail.
                let _ = writeln!(text, "# {word} {name}_total {rest}");
            }
            _ => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use groundwave_http::tls::Validity;

    use super::*;

    #[test]
    fn end_of_the_certificate_is_a_metric_where_there_is_one() {
        let (metrics, certificate) = (Metrics::default(), TlsCertificate::default());
        let view = Snapshot::default();
        let series = "groundwave_tls_certificate_validity_timestamp_seconds{";
        assert!(!metrics.text(&view, &certificate).contains(series));
        let validity = Validity { from_ns: 1_000_000_000, until_ns: 86_400_000_000_000 };
        certificate.set(Some(validity));
        let text = metrics.text(&view, &certificate);
        assert!(text.contains(&format!("{series}bound=\"not_after\"}} 86400")), "{text}");
    }

    #[test]
    fn counters_of_the_older_text_are_declared_by_the_names_of_their_series() {
        let metrics = Metrics::default();
        metrics.answered("login", 200, 1);
        let open = metrics.text(&Snapshot::default(), &TlsCertificate::default());
        let text = plain_text(&open);
        for declared in [
            "\n# TYPE groundwave_http_requests_total counter\n",
            "# HELP groundwave_http_requests_total Requests answered",
            "\n# TYPE groundwave_nodes gauge\n",
        ] {
            assert!(text.contains(declared), "{declared}: {text}");
        }
        assert!(!text.contains("# EOF") && text.ends_with('\n'), "{text}");
        let series = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        assert_eq!(series(&text), series(&open));
    }
}
