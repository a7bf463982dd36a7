//! From an impairment back to words: what is shown can be typed in again.

use groundwave_systems::impair::{Distribution, Impairment, Latency, Loss, QueueUnit};

use super::quantity::{print_duration, print_percent, print_rate, print_size, significant};
use super::words::{Words, derived_burst_bytes};

impl Words {
    /// The words for an impairment. A burst that follows from the rate is left out.
    #[must_use]
    pub fn of(impairment: &Impairment) -> Self {
        let share = |share: f64| print_percent(share * 100.0);
        let mut words = Self::default();
        if let Some(latency) = &impairment.latency {
            words.delay = Some(print_duration(latency.mean_ns()));
            if let Latency::Stochastic {
                jitter_ns,
                distribution,
                correlation,
                ..
            } = latency
            {
                words.jitter = Some(print_duration(*jitter_ns));
                let name = match distribution {
                    Distribution::Table { name } => name,
                    other => other.kind(),
                };
                words.distribution = Some(name.to_owned());
                words.delay_correlation = correlation.map(share);
            }
        }
        match &impairment.loss {
            None => {}
            Some(Loss::Bernoulli { pct, correlation }) => {
                words.loss = Some(print_percent(*pct));
                words.loss_correlation = correlation.map(share);
            }
            Some(Loss::GilbertElliott {
                p,
                r,
                one_minus_h,
                one_minus_k,
            }) => {
                let shares = [p, r, one_minus_h, one_minus_k].map(|share| significant(*share));
                words.loss_gemodel = Some(shares.join(" "));
            }
        }
        if let Some(rate) = &impairment.rate {
            words.rate = Some(print_rate(rate.bps));
            let said = rate.burst_bytes != derived_burst_bytes(rate.bps);
            words.burst = said.then(|| print_size(rate.burst_bytes.into()));
        }
        words.queue = impairment.queue.map(|queue| match queue.limit.unit {
            QueueUnit::Packets => format!("{}packets", queue.limit.value),
            QueueUnit::Bytes => print_size(queue.limit.value.into()),
        });
        if let Some(duplication) = &impairment.duplication {
            words.duplicate = Some(print_percent(duplication.pct));
            words.duplicate_correlation = duplication.correlation.map(share);
        }
        if let Some(reordering) = &impairment.reordering {
            words.reorder = Some(print_percent(reordering.pct));
            words.gap = Some(reordering.gap.to_string());
            words.reorder_correlation = reordering.correlation.map(share);
        }
        if let Some(corruption) = &impairment.corruption {
            words.corrupt = Some(print_percent(corruption.pct));
            words.corrupt_correlation = corruption.correlation.map(share);
        }
        words
    }

    /// These words with `over` in place of what it says. `none` takes away what is there: a whole
    /// kind of impairment when it is its first word.
    #[must_use]
    pub fn with(mut self, over: &Self) -> Self {
        let mut over = over.clone();
        for key in Self::KEYS {
            let Some(word) = over.field(key).and_then(Option::take) else {
                continue;
            };
            for dependent in Self::replaced(key, &word) {
                if let Some(field) = self.field(dependent) {
                    *field = None;
                }
            }
            if let Some(field) = self.field(key) {
                *field = (word.trim() != "none").then_some(word);
            }
        }
        self
    }

    /// What else goes when `key` is said anew: what cannot stand beside it, or was derived from
    /// what it replaces.
    fn replaced(key: &str, word: &str) -> &'static [&'static str] {
        match (key, word.trim() == "none") {
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

    /// All words that are said, with their keys, in order.
    #[must_use]
    pub fn said(&self) -> Vec<(&'static str, String)> {
        let mut words = self.clone();
        let said = |key| Some((key, words.field(key)?.take()?));
        Self::KEYS.into_iter().filter_map(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(value: serde_json::Value) -> Words {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_shown_can_be_typed_in() {
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
            let said = words(case);
            let meant = said.impairment().unwrap();
            assert_eq!(Words::of(&meant), said);
        }
    }

    #[test]
    fn words_are_laid_over_others() {
        let was = words(
            json!({ "delay": "50ms", "jitter": "5ms", "distribution": "normal",
                                "loss": "1%", "loss_correlation": "5%", "rate": "1mbit",
                                "burst": "32kb" }),
        );
        let over = words(json!({ "jitter": "none", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        let want = words(json!({ "delay": "50ms", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        assert_eq!(was.clone().with(&over), want);
        let none = words(json!({ "delay": "none", "loss": "none", "rate": "none" }));
        assert!(was.with(&none).is_empty());
    }
}
