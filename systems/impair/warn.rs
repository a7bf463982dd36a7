//! Warnings, before an impairment is applied, of side effects that the kernel does not report.

use super::correlation::effective_prob;
use super::delay_line::line_packets;
use super::field::{Draw, Kind};
use super::observed::Warning;
use super::shape::{Impairment, ImpairmentField, Latency, QueueUnit, Rate};

/// Properties of the interface that an impairment depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// MTU of the interface, bytes, without the link-layer header.
    pub mtu_bytes: u32,
    /// Largest super-packet the interface may be handed, bytes.
    pub gso_bytes_max: u32,
    /// Bytes of the link-layer header.
    pub header_bytes: u32,
}

/// Longest jitter the kernel keeps, ns.
const JITTER_NS_MAX: u64 = i32::MAX as u64;

/// Minimum share that the kernel draws, percent: one of 2^32 - 1 steps.
const SHARE_PCT_MIN: f64 = 100.0 / u32::MAX as f64;

/// Warnings about numbers of a request that the kernel rounds: what is read back does not show them.
#[must_use]
pub fn rounding_warnings(requested: &Impairment) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    warnings.shares(requested);
    if let Some(rate) = &requested.rate {
        warnings.rounded_rate(rate);
    }
    for (place, rule) in requested.rules.iter().flat_map(|rules| &rules.0).enumerate() {
        let own = rule.impairment.as_ref().map(rounding_warnings).unwrap_or_default();
        warnings.0.extend(own.into_iter().map(|warning| of_rule(place, warning)));
    }
    warnings.0
}

/// A warning about the impairment of the rule at a place.
fn of_rule(place: usize, warning: Warning) -> Warning {
    Warning { field: format!("rules[{place}].impairment.{}", warning.field), ..warning }
}

/// Warnings about `impairment` in these `surroundings`, in the order of its fields.
#[must_use]
pub fn warnings(impairment: &Impairment, surroundings: &Surroundings) -> Vec<Warning> {
    let mut warnings = Warnings(Vec::new());
    warnings.latency(impairment);
    warnings.correlations(impairment);
    if let Some(rate) = &impairment.rate {
        warnings.rate(rate, surroundings);
    }
    warnings.queue(impairment, surroundings);
    warnings.super_packets(impairment, surroundings);
    for (place, rule) in impairment.rules.iter().flat_map(|rules| &rules.0).enumerate() {
        warnings.shadow(impairment, place);
        let Some(own) = &rule.impairment else {
            continue;
        };
        let own = self::warnings(own, surroundings).into_iter();
        // Of the interface one warning is enough.
        let own = own.filter(|warning| warning.code != SUPER_PACKETS);
        warnings.0.extend(own.map(|warning| of_rule(place, warning)));
    }
    warnings.0
}

/// Code of the warning about segmentation offload.
const SUPER_PACKETS: &str = "super_packets";

struct Warnings(Vec<Warning>);

impl Warnings {
    fn add(&mut self, code: &str, field: &str, message: String) {
        self.0.push(Warning { code: code.to_owned(), field: field.to_owned(), message });
    }

    /// Warns of a rule that no packet reaches.
    fn shadow(&mut self, impairment: &Impairment, place: usize) {
        let rules = impairment.rules.as_ref().map_or(&[][..], |rules| &rules.0);
        let rule = &rules[place];
        let mut before = rules[..place].iter();
        if let Some(other) = before.find(|other| other.selector.covers(&rule.selector)) {
            let message = format!(
                "no packet reaches the rule {:?}: the rule {:?} before it ({}) applies to all of its packets",
                rule.name, other.name, other.selector
            );
            self.add("rule_shadowed", &format!("rules[{place}].match"), message);
        }
    }

    fn latency(&mut self, impairment: &Impairment) {
        let latency = impairment.latency.as_ref();
        let (mean_ns, jitter_ns) = latency.map_or((0, 0), |l| (l.mean_ns(), l.jitter_ns()));
        if jitter_ns > 0 {
            let message = format!(
                "packets less than {} apart overtake each other",
                ms(2 * u128::from(jitter_ns))
            );
            self.add("jitter_reorders", "latency.jitter", message);
        }
        if jitter_ns > mean_ns {
            let message = format!(
                "jitter {} exceeds the mean {}: delays below zero are zero, so the mean is longer",
                ms(jitter_ns.into()),
                ms(mean_ns.into())
            );
            self.add("jitter_exceeds_mean", "latency.jitter", message);
        }
        if jitter_ns >= JITTER_NS_MAX {
            let message = format!("the kernel keeps at most {JITTER_NS_MAX} ns of jitter");
            self.add("jitter_capped", "latency.jitter", message);
        }
        let line = line_packets(impairment);
        if line.in_flight > line.held && mean_ns > 0 {
            let pps = u128::from(line.held) * 1_000_000_000 / u128::from(mean_ns);
            let message = format!(
                "the delay line holds {} packets: of more than {pps} packets/s, the excess is lost",
                line.held
            );
            self.add("delay_line_full", "latency", message);
        }
        if impairment.reordering.is_some() && mean_ns == 0 {
            let message = "without latency there is nothing to overtake: no packet is reordered";
            self.add("reordering_without_latency", "reordering", message.to_owned());
        }
    }

    /// Shares of less than half a step of the kernel become none.
    fn shares(&mut self, impairment: &Impairment) {
        for field in ImpairmentField::ALL {
            let Some(draw) = field.value(impairment).and_then(Kind::draw) else { continue };
            if draw.pct <= 0.0 || draw.pct >= SHARE_PCT_MIN / 2.0 {
                continue;
            }
            let message = format!(
                "the kernel counts shares in steps of {SHARE_PCT_MIN:.2e} %: {:e} % becomes 0",
                draw.pct
            );
            self.add("share_below_resolution", &format!("{}.pct", field.name()), message);
        }
    }

    /// Correlated draws concentrate around one half, so that fewer of them fall below a small
    /// probability.
    fn correlations(&mut self, impairment: &Impairment) {
        for field in ImpairmentField::ALL {
            let draw = field.value(impairment).and_then(Kind::draw);
            let Some(Draw { pct, correlation: Some(correlation) }) = draw else {
                continue;
            };
            let effective = 100.0 * effective_prob(pct / 100.0, correlation);
            if (effective - pct).abs() < 0.01 * pct.min(100.0 - pct) {
                continue;
            }
            let message = if correlation >= 1.0 {
                "with correlation 1 every packet meets the fate of the first".to_owned()
            } else {
                format!("with correlation {correlation} about {effective:.2} % instead of {pct} %")
            };
            let field = format!("{}.correlation", field.name());
            self.add("correlation_changes_share", &field, message);
        }
        if let Some(Latency::Stochastic { correlation: Some(correlation), jitter_ns: 1.., .. }) =
            impairment.latency
            && correlation > 0.0
        {
            let message = format!(
                "with correlation {correlation} deviations gather around the mean: about {:.0} % \
                 of the jitter asked for",
                100.0 * ((1.0 - correlation) / (1.0 + correlation)).sqrt()
            );
            self.add("correlation_narrows_jitter", "latency.correlation", message);
        }
    }

    fn rate(&mut self, rate: &Rate, surroundings: &Surroundings) {
        let frame_bytes = surroundings.mtu_bytes.saturating_add(surroundings.header_bytes);
        if rate.burst_bytes < frame_bytes {
            let message = format!(
                "a bucket of {} bytes never holds a frame of {frame_bytes} bytes: larger frames \
                 than the bucket are dropped",
                rate.burst_bytes
            );
            self.add("burst_below_frame", "rate.burst_bytes", message);
        }
    }

    fn rounded_rate(&mut self, rate: &Rate) {
        if !rate.bps.is_multiple_of(8) {
            let message = format!(
                "the kernel counts whole bytes per second: {} bit/s is not a multiple of 8",
                rate.bps
            );
            self.add("rate_rounded", "rate.bps", message);
        }
    }

    fn queue(&mut self, impairment: &Impairment, surroundings: &Surroundings) {
        let Some(queue) = impairment.queue else {
            return;
        };
        let frame_bytes =
            u128::from(surroundings.mtu_bytes) + u128::from(surroundings.header_bytes);
        let value = u128::from(queue.limit.value);
        let holds_bytes = match queue.limit.unit {
            QueueUnit::Packets => value * frame_bytes,
            QueueUnit::Bytes => value,
        };
        if holds_bytes < frame_bytes {
            let message = format!("the queue does not hold a frame of {frame_bytes} bytes");
            self.add("queue_below_frame", "queue.limit.value", message);
            return;
        }
        let (Some(rate), Some(latency)) = (&impairment.rate, &impairment.latency) else {
            return;
        };
        let product_bytes = u128::from(rate.bps) * u128::from(latency.mean_ns()) / 8_000_000_000;
        if holds_bytes < product_bytes {
            let message = format!(
                "the queue holds {holds_bytes} bytes, rate times latency is {product_bytes}: one \
                 stream alone does not fill the rate"
            );
            self.add("queue_below_product", "queue.limit.value", message);
        }
    }

    fn super_packets(&mut self, impairment: &Impairment, surroundings: &Surroundings) {
        if impairment.counts_packets() && surroundings.gso_bytes_max > surroundings.mtu_bytes {
            let message = format!(
                "the interface may be handed super-packets of up to {} bytes, and each counts as \
                 one packet; with segmentation offload off it is one frame",
                surroundings.gso_bytes_max
            );
            self.add(SUPER_PACKETS, "interface", message);
        }
    }
}

fn ms(ns: u128) -> String {
    format!("{} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        let impairment: Impairment = serde_json::from_str(text).unwrap();
        impairment.validate().unwrap();
        let surroundings = Surroundings { mtu_bytes: 1500, gso_bytes_max: 1500, header_bytes: 14 };
        let warnings = warnings(&impairment, &surroundings);
        warnings.into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn each_side_effect_gives_warning() {
        let check = |text: &str, expected: &[&str]| assert_eq!(codes(text), expected, "{text}");
        check(r#"{"latency":{"kind":"constant","duration":1000}}"#, &[]);
        check(r#"{"latency":{"kind":"stochastic","mean":9000,"jitter":10}}"#, &["jitter_reorders"]);
        check(
            r#"{"latency":{"kind":"stochastic","mean":9,"jitter":2147483647}}"#,
            &["jitter_reorders", "jitter_exceeds_mean", "jitter_capped"],
        );
        check(r#"{"reordering":{"pct":5,"gap":3}}"#, &["reordering_without_latency"]);
        check(r#"{"loss":{"model":"bernoulli","pct":5,"correlation":0.001}}"#, &[]);
        check(
            r#"{"loss":{"model":"bernoulli","pct":5,"correlation":0.25}}"#,
            &["correlation_changes_share"],
        );
        check(r#"{"latency":{"kind":"constant","duration":600000000}}"#, &[]);
        check(r#"{"latency":{"kind":"constant","duration":700000000}}"#, &["delay_line_full"]);
        check(
            r#"{"latency":{"kind":"constant","duration":3000000000},
                "rate":{"bps":100000000,"burst_bytes":200000}}"#,
            &["delay_line_full"],
        );
        check(r#"{"rate":{"bps":8000,"burst_bytes":1514}}"#, &[]);
        check(r#"{"rate":{"bps":8000,"burst_bytes":1513}}"#, &["burst_below_frame"]);
        let queue = |bytes: u32| {
            format!(
                r#"{{"rate":{{"bps":8000000,"burst_bytes":2000}},
                    "latency":{{"kind":"constant","duration":50000000}},
                    "queue":{{"limit":{{"unit":"bytes","value":{bytes}}}}}}}"#
            )
        };
        check(&queue(50_000), &[]);
        check(&queue(49_999), &["queue_below_product"]);
        check(&queue(1513), &["queue_below_frame"]);
    }

    #[test]
    fn numbers_that_are_rounded_give_warnings_of_the_request() {
        for (text, expected) in [
            (r#"{"loss":{"model":"bernoulli","pct":1.2e-8}}"#, &[][..]),
            (r#"{"duplication":{"pct":1.1e-8}}"#, &["duplication.pct"]),
            (r#"{"rate":{"bps":8000,"burst_bytes":2000}}"#, &[]),
            (r#"{"rate":{"bps":9,"burst_bytes":2000}}"#, &["rate.bps"]),
            (
                r#"{"rules":[{"name":"a","match":{"protocol":"udp"},
                    "impairment":{"loss":{"model":"bernoulli","pct":1e-10}}}]}"#,
                &["rules[0].impairment.loss.pct"],
            ),
        ] {
            let requested: Impairment = serde_json::from_str(text).unwrap();
            let warnings = rounding_warnings(&requested);
            let fields: Vec<_> = warnings.iter().map(|warning| &*warning.field).collect();
            assert_eq!(fields, expected, "{text}");
        }
    }

    #[test]
    fn interface_with_segmentation_offload_gives_warning_where_packets_count() {
        let of = |gso_bytes_max| Surroundings { mtu_bytes: 1500, gso_bytes_max, header_bytes: 14 };
        let text = r#"{"loss":{"model":"bernoulli","pct":1}}"#;
        let lossy: Impairment = serde_json::from_str(text).unwrap();
        assert_eq!(warnings(&lossy, &of(1500)), []);
        assert_eq!(warnings(&lossy, &of(65_536))[0].code, "super_packets");
        assert_eq!(warnings(&Impairment::default(), &of(65_536)), []);
    }
}
