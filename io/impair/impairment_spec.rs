//! An impairment as texts with units: the form of the command line, timelines and presets.

use std::num::NonZeroU32;

use groundwave_impair::{
    Corruption, Distribution, Duplication, Impairment, ImpairmentField, Latency, Loss, Queue,
    QueueLimit, QueueUnit, Rate, Reordering,
};
use serde::{Deserialize, Serialize};

use super::quantity::{self, Limit};

/// An impairment, each field a text with its unit; absent fields are not impaired.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImpairmentSpec {
    /// One-way delay: `50ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// Deviation from the delay: `5ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<String>,
    /// `uniform`, `normal`, `pareto`, `paretonormal`, or the name of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Correlation of consecutive delays: `25%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_correlation: Option<String>,
    /// Share of packets dropped: `1%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// Correlation of consecutive drops: `25%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_correlation: Option<String>,
    /// Two-state loss: `p r 1-h 1-k` as shares, the last two optional (0 and 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_gemodel: Option<String>,
    /// Ceiling of the data rate: `10mbit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Bucket of the rate: `32kb`; derived from the rate when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<String>,
    /// Bound of the queue: `100packets`, `64kb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Share of packets sent twice: `0.1%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<String>,
    /// Correlation of consecutive duplications: `25%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_correlation: Option<String>,
    /// Share of the candidates that overtake: `25%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<String>,
    /// Interval of candidates, packets: `5`; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
    /// Correlation of consecutive overtakings: `50%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_correlation: Option<String>,
    /// Share of packets given a bit error: `0.01%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<String>,
    /// Correlation of consecutive errors: `25%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt_correlation: Option<String>,
}

/// An invalid field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {key}: {reason}")]
pub struct ParseError {
    /// Name of the field of [`ImpairmentSpec`].
    pub key: &'static str,
    /// Value found and values allowed.
    pub reason: String,
}

/// Smallest derived burst, bytes: one Ethernet frame with its header.
pub const BURST_BYTES_MIN: u64 = 1514;

/// The burst of a rate without one, bytes: 2 · bps / 1000 bytes, which is 16 ms of
/// data, and at least one Ethernet frame.
#[must_use]
pub fn derived_burst_bytes(bps: u64) -> u32 {
    let bytes = (bps / 500).max(BURST_BYTES_MIN);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl ImpairmentSpec {
    /// Names of the fields: the columns of a timeline.
    pub const KEYS: [&'static str; 17] = [
        "delay",
        "jitter",
        "distribution",
        "delay_correlation",
        "loss",
        "loss_correlation",
        "loss_gemodel",
        "rate",
        "burst",
        "queue",
        "duplicate",
        "duplicate_correlation",
        "reorder",
        "gap",
        "reorder_correlation",
        "corrupt",
        "corrupt_correlation",
    ];

    /// The field of this name.
    pub fn field(&mut self, key: &str) -> Option<&mut Option<String>> {
        Some(match key {
            "delay" => &mut self.delay,
            "jitter" => &mut self.jitter,
            "distribution" => &mut self.distribution,
            "delay_correlation" => &mut self.delay_correlation,
            "loss" => &mut self.loss,
            "loss_correlation" => &mut self.loss_correlation,
            "loss_gemodel" => &mut self.loss_gemodel,
            "rate" => &mut self.rate,
            "burst" => &mut self.burst,
            "queue" => &mut self.queue,
            "duplicate" => &mut self.duplicate,
            "duplicate_correlation" => &mut self.duplicate_correlation,
            "reorder" => &mut self.reorder,
            "gap" => &mut self.gap,
            "reorder_correlation" => &mut self.reorder_correlation,
            "corrupt" => &mut self.corrupt,
            "corrupt_correlation" => &mut self.corrupt_correlation,
            _ => return None,
        })
    }

    /// `true` if every field is absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Fields of an impairment that the texts are about.
    #[must_use]
    pub fn fields(&self) -> Vec<ImpairmentField> {
        use ImpairmentField::{Corruption, Duplication, Latency, Loss, Queue, Rate, Reordering};
        let texts = [
            (Latency, [&self.delay, &self.jitter, &self.distribution, &self.delay_correlation]),
            (Loss, [&self.loss, &self.loss_correlation, &self.loss_gemodel, &None]),
            (Rate, [&self.rate, &self.burst, &None, &None]),
            (Queue, [&self.queue, &None, &None, &None]),
            (Duplication, [&self.duplicate, &self.duplicate_correlation, &None, &None]),
            (Reordering, [&self.reorder, &self.gap, &self.reorder_correlation, &None]),
            (Corruption, [&self.corrupt, &self.corrupt_correlation, &None, &None]),
        ];
        let named = texts.into_iter().filter(|(_, texts)| texts.iter().any(|text| text.is_some()));
        named.map(|(field, _)| field).collect()
    }

    /// The impairment.
    ///
    /// # Errors
    /// The first invalid field, or one that needs another.
    pub fn impairment(&self) -> Result<Impairment, ParseError> {
        Ok(Impairment {
            latency: self.latency()?,
            loss: self.loss()?,
            rate: self.rate()?,
            queue: read("queue", &self.queue, quantity::queue_limit)?.map(queue).transpose()?,
            duplication: self.duplication()?,
            reordering: self.reordering()?,
            corruption: self.corruption()?,
        })
    }

    fn latency(&self) -> Result<Option<Latency>, ParseError> {
        let delay = read("delay", &self.delay, quantity::duration_ns)?;
        let jitter = read("jitter", &self.jitter, quantity::duration_ns)?;
        let correlation = read("delay_correlation", &self.delay_correlation, quantity::share)?;
        let distribution = self.distribution.as_deref().map(distribution).transpose()?;
        let Some(jitter_ns) = jitter else {
            needs("distribution", &distribution, "jitter")?;
            needs("delay_correlation", &correlation, "jitter")?;
            return Ok(delay.map(|duration_ns| Latency::Constant { duration_ns }));
        };
        Ok(Some(Latency::Stochastic {
            mean_ns: delay.unwrap_or(0),
            jitter_ns,
            distribution: distribution.unwrap_or_default(),
            correlation,
        }))
    }

    fn loss(&self) -> Result<Option<Loss>, ParseError> {
        let percent = read("loss", &self.loss, quantity::percent)?;
        let correlation = read("loss_correlation", &self.loss_correlation, quantity::share)?;
        let chain = read("loss_gemodel", &self.loss_gemodel, gemodel)?;
        match (percent, chain) {
            (Some(_), Some(_)) => Err(ParseError {
                key: "loss_gemodel",
                reason: "found beside loss, allowed one model of loss".to_owned(),
            }),
            (None, chain) => {
                needs("loss_correlation", &correlation, "loss")?;
                Ok(chain)
            }
            (Some(pct), None) => Ok(Some(Loss::Bernoulli { pct, correlation })),
        }
    }

    fn rate(&self) -> Result<Option<Rate>, ParseError> {
        let burst = read("burst", &self.burst, quantity::size_bytes)?;
        let Some(bps) = read("rate", &self.rate, quantity::rate_bps)? else {
            needs("burst", &burst, "rate")?;
            return Ok(None);
        };
        let burst_bytes = match burst {
            None => derived_burst_bytes(bps),
            Some(bytes) => small("burst", bytes)?,
        };
        Ok(Some(Rate { bps, burst_bytes }))
    }

    fn duplication(&self) -> Result<Option<Duplication>, ParseError> {
        let (key, word) = ("duplicate_correlation", &self.duplicate_correlation);
        let correlation = read(key, word, quantity::share)?;
        let Some(pct) = read("duplicate", &self.duplicate, quantity::percent)? else {
            return needs(key, &correlation, "duplicate").map(|()| None);
        };
        Ok(Some(Duplication { pct, correlation }))
    }

    fn reordering(&self) -> Result<Option<Reordering>, ParseError> {
        let (key, word) = ("reorder_correlation", &self.reorder_correlation);
        let correlation = read(key, word, quantity::share)?;
        let gap = read("gap", &self.gap, gap)?;
        let Some(pct) = read("reorder", &self.reorder, quantity::percent)? else {
            needs(key, &correlation, "reorder")?;
            return needs("gap", &gap, "reorder").map(|()| None);
        };
        Ok(Some(Reordering { pct, gap: gap.unwrap_or(NonZeroU32::MIN), correlation }))
    }

    fn corruption(&self) -> Result<Option<Corruption>, ParseError> {
        let (key, word) = ("corrupt_correlation", &self.corrupt_correlation);
        let correlation = read(key, word, quantity::share)?;
        let Some(pct) = read("corrupt", &self.corrupt, quantity::percent)? else {
            return needs(key, &correlation, "corrupt").map(|()| None);
        };
        Ok(Some(Corruption { pct, correlation }))
    }
}

fn read<T>(
    key: &'static str,
    word: &Option<String>,
    how: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, ParseError> {
    let read = word.as_deref().map(how).transpose();
    read.map_err(|reason| ParseError { key, reason })
}

fn needs<T>(key: &'static str, found: &Option<T>, other: &str) -> Result<(), ParseError> {
    match found {
        None => Ok(()),
        Some(_) => {
            Err(ParseError { key, reason: format!("found without {other}, allowed beside it") })
        }
    }
}

fn small(key: &'static str, value: u64) -> Result<u32, ParseError> {
    u32::try_from(value).map_err(|_| ParseError {
        key,
        reason: format!("found {value}, allowed up to {}", u32::MAX),
    })
}

fn queue(limit: Limit) -> Result<Queue, ParseError> {
    let (unit, value) = match limit {
        Limit::Packets(value) => (QueueUnit::Packets, value),
        Limit::Bytes(value) => (QueueUnit::Bytes, value),
    };
    let value = small("queue", value)?;
    Ok(Queue { limit: QueueLimit { unit, value } })
}

fn distribution(name: &str) -> Result<Distribution, ParseError> {
    Ok(match name.trim() {
        "uniform" => Distribution::Uniform {},
        "normal" => Distribution::Normal {},
        "pareto" => Distribution::Pareto {},
        "paretonormal" => Distribution::ParetoNormal {},
        table => {
            groundwave_impair::check_table_name("distribution", table).map_err(|_| ParseError {
                key: "distribution",
                reason: format!(
                    "found {table:?}, allowed uniform, normal, pareto, \
                         paretonormal, or the name of a table (1 to 64 of a-z, 0-9, _ and -)"
                ),
            })?;
            Distribution::Table { name: table.to_owned() }
        }
    })
}

fn gemodel(text: &str) -> Result<Loss, String> {
    let shares: Result<Vec<f64>, String> = text.split_whitespace().map(quantity::share).collect();
    let (p, r, one_minus_h, one_minus_k) = match shares?[..] {
        [p, r] => (p, r, 0.0, 1.0),
        [p, r, bad] => (p, r, 0.0, bad),
        [p, r, good, bad] => (p, r, good, bad),
        _ => {
            return Err(format!("found {text:?}, allowed two to four shares, \"p r [1-h [1-k]]\""));
        }
    };
    Ok(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k })
}

fn gap(text: &str) -> Result<NonZeroU32, String> {
    let allowed = "a whole number of packets, 1 or more";
    let read = text.trim().parse();
    read.map_err(|_| format!("found {text:?}, allowed {allowed}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(value: serde_json::Value) -> ImpairmentSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn fields_become_an_impairment() {
        let all = spec(json!({
            "delay": "50ms", "jitter": "5ms", "distribution": "normal", "delay_correlation": "25%",
            "loss": "1%", "loss_correlation": "0.5", "rate": "10mbit", "queue": "100packets",
            "duplicate": "0.1%", "reorder": "25%", "gap": "5", "corrupt": "0.01",
        }));
        let meant = serde_json::to_value(all.impairment().unwrap()).unwrap();
        let want = json!({
            "latency": { "kind": "stochastic", "mean": 50_000_000, "jitter": 5_000_000,
                         "distribution": { "kind": "normal" }, "correlation": 0.25 },
            "loss": { "model": "bernoulli", "pct": 1.0, "correlation": 0.5 },
            "rate": { "bps": 10_000_000, "burst_bytes": 20_000 },
            "queue": { "limit": { "unit": "packets", "value": 100 } },
            "duplication": { "pct": 0.1 },
            "reordering": { "pct": 25.0, "gap": 5 },
            "corruption": { "pct": 0.01 },
        });
        assert_eq!(meant, want);
        assert_eq!(ImpairmentSpec::default().impairment(), Ok(Impairment::default()));
    }

    #[test]
    fn bursts_follow_the_rule() {
        assert_eq!(derived_burst_bytes(1_000_000_000), 2_000_000);
        assert_eq!(derived_burst_bytes(64_000), 1514);
        assert_eq!(derived_burst_bytes(u64::MAX), u32::MAX);
        let said = spec(json!({ "rate": "1mbit", "burst": "32kb" }));
        assert_eq!(said.impairment().unwrap().rate.unwrap().burst_bytes, 32_768);
    }

    #[test]
    fn two_state_loss_takes_two_to_four_shares() {
        let of = |text: &str| spec(json!({ "loss_gemodel": text })).impairment();
        let chain = |p, r, one_minus_h, one_minus_k| Loss::GilbertElliott {
            p,
            r,
            one_minus_h,
            one_minus_k,
        };
        assert_eq!(of("1% 10%").unwrap().loss, Some(chain(0.01, 0.1, 0.0, 1.0)));
        let four = of("0.01 0.1 0 0.7").unwrap().loss;
        assert_eq!(four, Some(chain(0.01, 0.1, 0.0, 0.7)));
        assert!(of("1%").is_err());
    }

    #[test]
    fn invalid_fields_are_named() {
        let cases = [
            (json!({ "jitter": "5" }), "invalid jitter: found \"5\""),
            (json!({ "distribution": "normal" }), "invalid distribution: found without jitter"),
            (
                json!({ "jitter": "5ms", "distribution": "No!" }),
                "invalid distribution: found \"No!\"",
            ),
            (json!({ "burst": "32kb" }), "invalid burst: found without rate"),
            (json!({ "gap": "5" }), "invalid gap: found without reorder"),
            (json!({ "reorder": "5%", "gap": "0" }), "invalid gap: found \"0\""),
            (json!({ "loss_correlation": "5%" }), "invalid loss_correlation: found without loss"),
            (json!({ "loss": "1%", "loss_gemodel": "1% 2%" }), "one model of loss"),
            (json!({ "queue": "100" }), "invalid queue: found \"100\""),
            (json!({ "queue": "9999999999p" }), "invalid queue: found 9999999999"),
        ];
        for (value, says) in cases {
            let told = spec(value).impairment().unwrap_err().to_string();
            assert!(told.contains(says), "{told} does not say {says}");
        }
    }

    #[test]
    fn every_key_is_a_field() {
        let mut spec = ImpairmentSpec::default();
        for key in ImpairmentSpec::KEYS {
            *spec.field(key).unwrap() = Some("x".to_owned());
        }
        let written = serde_json::to_value(&spec).unwrap();
        assert_eq!(written.as_object().unwrap().len(), ImpairmentSpec::KEYS.len());
        assert!(spec.field("colour").is_none());
    }
}
