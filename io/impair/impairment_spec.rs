//! An impairment as texts with units: the form of the command line, timelines and presets.
//!
//! [`KNOBS`] declares each text once. Structure, keys, reading, printing and the options of the command
//! line follow from it.

use std::num::NonZeroU32;

use groundwave_impair::{
    Corruption, Distribution, Duplication, Impairment, ImpairmentField, Latency, Loss, Queue, Rate,
    Reordering,
};
use serde::{Deserialize, Serialize};

use super::knob::impairment_knobs;
use super::knob_value::{LIMIT, NAME, PACKETS, PERCENT, RATE, SHARE, SHARES, SIZE, TIME};

pub use super::knob::{Beside, Knob, ParseError};

impairment_knobs! {
    /// An impairment, each value a text with its unit; what has none is not impaired.
    ImpairmentSpec {
        delay: TIME of Latency, Beside::Alone, "One-way delay: 50ms" =>
            |it, duration_ns| set(&mut it.latency, Latency::Constant { duration_ns }),
            |it| it.latency.as_ref().map(Latency::mean_ns);

        jitter: TIME of Latency, Beside::Joins("delay"), "Jitter, deviation from the delay: 5ms" =>
            |it, jitter_ns| {
                let mean_ns = it.latency.as_ref().map_or(0, Latency::mean_ns);
                let distribution = Distribution::default();
                let correlation = None;
                set(
                    &mut it.latency,
                    Latency::Stochastic { mean_ns, jitter_ns, distribution, correlation },
                )
            },
            |it| match it.latency {
                Some(Latency::Stochastic { jitter_ns, .. }) => Some(jitter_ns),
                _ => None,
            };

        distribution: NAME of Latency, Beside::Needs("jitter"),
            "Distribution of the jitter: uniform, normal, pareto, or a table of the daemon" =>
            |it, value| match &mut it.latency {
                Some(Latency::Stochastic { distribution, .. }) => {
                    *distribution = value;
                    Some(())
                }
                _ => None,
            },
            |it| match &it.latency {
                Some(Latency::Stochastic { distribution, .. }) => Some(distribution.clone()),
                _ => None,
            };

        delay_correlation: SHARE of Latency, Beside::Needs("jitter"),
            "Correlation of successive delays: 25%" =>
            |it, share| match &mut it.latency {
                Some(Latency::Stochastic { correlation, .. }) => set(correlation, share),
                _ => None,
            },
            |it| match it.latency {
                Some(Latency::Stochastic { correlation, .. }) => correlation,
                _ => None,
            };

        loss: PERCENT of Loss, Beside::Alone, "Packet loss: 1%" =>
            |it, pct| set(&mut it.loss, Loss::Bernoulli { pct, correlation: None }),
            |it| match it.loss {
                Some(Loss::Bernoulli { pct, .. }) => Some(pct),
                _ => None,
            };

        loss_correlation: SHARE of Loss, Beside::Needs("loss"),
            "Correlation of successive losses: 25%" =>
            |it, share| match &mut it.loss {
                Some(Loss::Bernoulli { correlation, .. }) => set(correlation, share),
                _ => None,
            },
            |it| match it.loss {
                Some(Loss::Bernoulli { correlation, .. }) => correlation,
                _ => None,
            };

        loss_gemodel: SHARES of Loss, Beside::Replaces("loss"),
            "Gilbert-Elliott loss, four fractions \"p r 1-h 1-k\"; the last two are optional" =>
            |it, [p, r, one_minus_h, one_minus_k]| match it.loss {
                None => set(&mut it.loss, Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }),
                Some(_) => None,
            },
            |it| match it.loss {
                Some(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }) => {
                    Some([p, r, one_minus_h, one_minus_k])
                }
                _ => None,
            };

        rate: RATE of Rate, Beside::Alone, "Data rate limit: 10mbit" =>
            |it, bps| set(&mut it.rate, Rate { bps, burst_bytes: derived_burst_bytes(bps) }),
            |it| it.rate.map(|rate| rate.bps);

        burst: SIZE of Rate, Beside::Refines("rate"),
            "Burst of the rate limit: 32kb [default: 2 * bit/s / 1000 bytes, at least one frame of the interface]" =>
            |it, bytes| it.rate.as_mut().map(|rate| rate.burst_bytes = bytes),
            |it| {
                let Rate { bps, burst_bytes } = it.rate?;
                (burst_bytes != derived_burst_bytes(bps)).then_some(burst_bytes)
            };

        queue: LIMIT of Queue, Beside::Alone, "Queue limit: 100packets, 64kb" =>
            |it, limit| set(&mut it.queue, Queue { limit }),
            |it| it.queue.map(|queue| queue.limit);

        duplicate: PERCENT of Duplication, Beside::Alone, "Packet duplication: 0.1%" =>
            |it, pct| set(&mut it.duplication, Duplication { pct, correlation: None }),
            |it| it.duplication.map(|share| share.pct);

        duplicate_correlation: SHARE of Duplication, Beside::Needs("duplicate"),
            "Correlation of successive duplications: 25%" =>
            |it, share| set(&mut it.duplication.as_mut()?.correlation, share),
            |it| it.duplication?.correlation;

        reorder: PERCENT of Reordering, Beside::Alone,
            "Packet reordering, of each --gap-th packet: 25%" =>
            |it, pct| {
                let gap = NonZeroU32::MIN;
                set(&mut it.reordering, Reordering { pct, gap, correlation: None })
            },
            |it| it.reordering.map(|share| share.pct);

        gap: PACKETS of Reordering, Beside::Needs("reorder"),
            "Packets between candidates of reordering [default: 1]" =>
            |it, gap| it.reordering.as_mut().map(|share| share.gap = gap),
            |it| it.reordering.map(|share| share.gap);

        reorder_correlation: SHARE of Reordering, Beside::Needs("reorder"),
            "Correlation of successive reorderings: 50%" =>
            |it, share| set(&mut it.reordering.as_mut()?.correlation, share),
            |it| it.reordering?.correlation;

        corrupt: PERCENT of Corruption, Beside::Alone,
            "Packet corruption by a single-bit error: 0.01%" =>
            |it, pct| set(&mut it.corruption, Corruption { pct, correlation: None }),
            |it| it.corruption.map(|share| share.pct);

        corrupt_correlation: SHARE of Corruption, Beside::Needs("corrupt"),
            "Correlation of successive corruptions: 25%" =>
            |it, share| set(&mut it.corruption.as_mut()?.correlation, share),
            |it| it.corruption?.correlation;
    }
}

fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    *place = Some(value);
    Some(())
}

/// Ethernet header, bytes.
const HEADER_BYTES: u32 = 14;

/// Smallest derived burst, bytes: one Ethernet frame with its header.
pub const BURST_BYTES_MIN: u64 = 1514;

/// The burst of a rate without one, bytes: 2 · bps / 1000 bytes, which is 16 ms of
/// data, and at least one Ethernet frame.
#[must_use]
pub fn derived_burst_bytes(bps: u64) -> u32 {
    let bytes = (bps / 500).max(BURST_BYTES_MIN);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Raises a burst that was derived from its rate to a frame of an interface with this MTU, bytes: a smaller
/// bucket drops every full frame.
pub fn fit_derived_burst(impairment: &mut Impairment, mtu_bytes: u32) {
    let Some(rate) = &mut impairment.rate else { return };
    if rate.burst_bytes == derived_burst_bytes(rate.bps) {
        rate.burst_bytes = rate.burst_bytes.max(mtu_bytes.saturating_add(HEADER_BYTES));
    }
}

#[cfg(test)]
mod tests {
    use groundwave_impair::Impairment;
    use serde_json::json;

    use super::*;

    fn spec(value: serde_json::Value) -> ImpairmentSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn texts_give_impairment() {
        let all = spec(json!({
            "delay": "50ms", "jitter": "5ms", "distribution": "normal", "delay_correlation": "25%",
            "loss": "1%", "loss_correlation": "0.5", "rate": "10mbit", "queue": "100packets",
            "duplicate": "0.1%", "reorder": "25%", "gap": "5", "corrupt": "0.01",
        }));
        let impairment = serde_json::to_value(all.impairment().unwrap()).unwrap();
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
        assert_eq!(impairment, want);
        assert_eq!(ImpairmentSpec::default().impairment(), Ok(Impairment::default()));
    }

    #[test]
    fn rate_without_burst_gives_derived_one() {
        assert_eq!(derived_burst_bytes(1_000_000_000), 2_000_000);
        assert_eq!(derived_burst_bytes(64_000), 1514);
        assert_eq!(derived_burst_bytes(u64::MAX), u32::MAX);
        let burst_bytes = |bps, burst_bytes, mtu_bytes| {
            let rate = Some(Rate { bps, burst_bytes });
            let mut impairment = Impairment { rate, ..Impairment::default() };
            fit_derived_burst(&mut impairment, mtu_bytes);
            impairment.rate.unwrap().burst_bytes
        };
        assert_eq!([1_500, 9_000].map(|mtu| burst_bytes(64_000, 1_514, mtu)), [1_514, 9_014]);
        assert_eq!(burst_bytes(10_000_000, 20_000, 9_000), 20_000);
        assert_eq!(burst_bytes(64_000, 2_000, 9_000), 2_000, "as asked for");
        let own = spec(json!({ "rate": "1mbit", "burst": "32kb" }));
        assert_eq!(own.impairment().unwrap().rate.unwrap().burst_bytes, 32_768);
    }

    #[test]
    fn two_to_four_shares_give_two_state_loss() {
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
    fn invalid_text_gives_key_and_reason() {
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
        for (value, part) in cases {
            let message = spec(value).impairment().unwrap_err().to_string();
            assert!(message.contains(part), "{message} does not contain {part}");
        }
    }

    #[test]
    fn every_key_gives_field() {
        let mut spec = ImpairmentSpec::default();
        for key in ImpairmentSpec::KEYS {
            *spec.field(key).unwrap() = Some("x".to_owned());
        }
        let written = serde_json::to_value(&spec).unwrap();
        assert_eq!(written.as_object().unwrap().len(), ImpairmentSpec::KEYS.len());
        assert!(spec.field("colour").is_none());
    }
}
