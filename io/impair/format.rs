//! An impairment as texts that [`ImpairmentSpec::impairment`] reads back.

use groundwave_impair::{Distribution, Impairment, Latency, Loss, QueueUnit};

use super::impairment_spec::{ImpairmentSpec, derived_burst_bytes};
use super::quantity::{print_duration, print_percent, print_rate, print_size, significant};

impl ImpairmentSpec {
    /// The texts of an impairment. A burst derived from the rate is left out.
    #[must_use]
    pub fn of(impairment: &Impairment) -> Self {
        let share = |share: f64| print_percent(share * 100.0);
        let mut spec = Self::default();
        if let Some(latency) = &impairment.latency {
            spec.delay = Some(print_duration(latency.mean_ns()));
            if let Latency::Stochastic { jitter_ns, distribution, correlation, .. } = latency {
                spec.jitter = Some(print_duration(*jitter_ns));
                let name = match distribution {
                    Distribution::Table { name } => name,
                    other => other.kind(),
                };
                spec.distribution = Some(name.to_owned());
                spec.delay_correlation = correlation.map(share);
            }
        }
        match &impairment.loss {
            None => {}
            Some(Loss::Bernoulli { pct, correlation }) => {
                spec.loss = Some(print_percent(*pct));
                spec.loss_correlation = correlation.map(share);
            }
            Some(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }) => {
                let shares = [p, r, one_minus_h, one_minus_k].map(|share| significant(*share));
                spec.loss_gemodel = Some(shares.join(" "));
            }
        }
        if let Some(rate) = &impairment.rate {
            spec.rate = Some(print_rate(rate.bps));
            let given = rate.burst_bytes != derived_burst_bytes(rate.bps);
            spec.burst = given.then(|| print_size(rate.burst_bytes.into()));
        }
        spec.queue = impairment.queue.map(|queue| match queue.limit.unit {
            QueueUnit::Packets => format!("{}packets", queue.limit.value),
            QueueUnit::Bytes => print_size(queue.limit.value.into()),
        });
        if let Some(duplication) = &impairment.duplication {
            spec.duplicate = Some(print_percent(duplication.pct));
            spec.duplicate_correlation = duplication.correlation.map(share);
        }
        if let Some(reordering) = &impairment.reordering {
            spec.reorder = Some(print_percent(reordering.pct));
            spec.gap = Some(reordering.gap.to_string());
            spec.reorder_correlation = reordering.correlation.map(share);
        }
        if let Some(corruption) = &impairment.corruption {
            spec.corrupt = Some(print_percent(corruption.pct));
            spec.corrupt_correlation = corruption.correlation.map(share);
        }
        spec
    }

    /// These fields with those of `over` in their place. `none` removes a field: a whole kind of
    /// impairment where it is the main field of the kind.
    #[must_use]
    pub fn with(mut self, over: &Self) -> Self {
        let mut over = over.clone();
        for key in Self::KEYS {
            let Some(text) = over.field(key).and_then(Option::take) else {
                continue;
            };
            for dependent in Self::replaced(key, &text) {
                if let Some(field) = self.field(dependent) {
                    *field = None;
                }
            }
            if let Some(field) = self.field(key) {
                *field = (text.trim() != "none").then_some(text);
            }
        }
        self
    }

    /// Fields removed when `key` is set: those that exclude it, or were derived from its old value.
    fn replaced(key: &str, text: &str) -> &'static [&'static str] {
        match (key, text.trim() == "none") {
            ("delay", true) => &["jitter", "distribution", "delay_correlation"],
            ("jitter", true) => &["distribution", "delay_correlation"],
            ("loss", true) => &["loss_correlation", "loss_gemodel"],
            ("loss", false) => &["loss_gemodel"],
            ("loss_gemodel", _) => &["loss", "loss_correlation"],
            ("rate", _) => &["burst"],
            ("duplicate", true) => &["duplicate_correlation"],
            ("reorder", true) => &["gap", "reorder_correlation"],
            ("corrupt", true) => &["corrupt_correlation"],
            _ => &[],
        }
    }

    /// The fields that are set, with their names, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut spec = self.clone();
        let entry = |key| Some((key, spec.field(key)?.take()?));
        Self::KEYS.into_iter().filter_map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(value: serde_json::Value) -> ImpairmentSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn formatted_impairments_read_back() {
        let cases = [
            json!({}),
            json!({ "delay": "50ms" }),
            json!({ "delay": "50ms", "jitter": "1.5ms", "distribution": "urban-1",
                    "delay_correlation": "25%", "loss": "0.3%", "loss_correlation": "10%",
                    "rate": "10mbit", "burst": "32kb", "queue": "64kb", "duplicate": "1%",
                    "reorder": "25%", "gap": "5", "corrupt": "0.1%",
                    "corrupt_correlation": "33.3333%" }),
            json!({ "loss_gemodel": "0.01 0.1 0 0.7", "rate": "64kbit", "queue": "100packets" }),
        ];
        for case in cases {
            let entry = spec(case);
            let meant = entry.impairment().unwrap();
            assert_eq!(ImpairmentSpec::of(&meant), entry);
        }
    }

    #[test]
    fn fields_replace_others() {
        let was = spec(json!({ "delay": "50ms", "jitter": "5ms", "distribution": "normal",
                                "loss": "1%", "loss_correlation": "5%", "rate": "1mbit",
                                "burst": "32kb" }));
        let over = spec(json!({ "jitter": "none", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        let want = spec(json!({ "delay": "50ms", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        assert_eq!(was.clone().with(&over), want);
        let none = spec(json!({ "delay": "none", "loss": "none", "rate": "none" }));
        assert!(was.with(&none).is_empty());
    }
}
