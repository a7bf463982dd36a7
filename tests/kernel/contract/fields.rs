//! Every field, set, read back, and seen by `tc`.

use groundwave_impair::{Impairment, Latency, Loss, QueueUnit};
use serde_json::{Value, json};

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    CONTRACT,
    every_field_alone: fake, vm, newer;
    all_fields_together: fake, vm, newer;
    rate_and_queue: fake, host, vm, newer;
    limits_of_the_ranges: fake, vm, newer;
    nothing_leaves_nothing: fake, host, vm, newer;
}

/// Sets, reads back, and asks `tc`.
fn holds(bed: &mut Bed, setting: &Impairment) {
    let after = bed.apply(setting).unwrap();
    assert_eq!(after.impairment, *setting, "{setting:?} is not what it became");
    assert!(agrees(&after), "{setting:?}: {:?}", after.divergence);
    let again = bed.read().unwrap();
    assert_eq!(again.impairment, *setting);
    if bed.is_real() {
        let qdiscs = bed.qdiscs_of_tc();
        tc_agrees(&qdiscs, setting);
    }
}

/// Options of the discipline of a kind in the output of `tc`; null without one.
fn options(qdiscs: &[Value], kind: &str) -> Value {
    qdiscs
        .iter()
        .find(|qdisc| qdisc["kind"] == kind)
        .map_or(Value::Null, |qdisc| qdisc["options"].clone())
}

/// Compares `tc`'s words, which have six digits, with what was asked.
pub fn tc_agrees(qdiscs: &[Value], setting: &Impairment) {
    let netem = options(qdiscs, "netem");
    let close = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap_or(0.0);
        assert!(
            (value - expected).abs() <= 1e-5 * expected + 1e-9,
            "{setting:?}: tc sees {value}, not {expected}, in {qdiscs:?}"
        );
    };
    let latency = setting.latency.as_ref();
    // It reads the old fields: whole microseconds, of 32 bits of 64 ns.
    let time = |value: &Value, ns: u64| {
        let seconds = (ns as f64 / 1e9).min(f64::from(u32::MAX) * 64e-9);
        let value = value.as_f64().unwrap_or(0.0);
        assert!(
            (value - seconds).abs() <= 1e-5 * seconds + 1e-6,
            "{setting:?}: tc sees {value} s, not {seconds} s, in {qdiscs:?}"
        );
    };
    time(&netem["delay"]["delay"], latency.map_or(0, Latency::mean_ns));
    time(&netem["delay"]["jitter"], latency.map_or(0, Latency::jitter_ns));
    if let Some(Latency::Stochastic { correlation, .. }) = latency {
        close(&netem["delay"]["correlation"], correlation.unwrap_or(0.0));
    }
    shares_agree(&netem, setting, &close);
    shaper_agrees(qdiscs, setting, &close);
}

/// The part of [`tc_agrees`] about what happens to single packets.
fn shares_agree(netem: &Value, setting: &Impairment, close: &dyn Fn(&Value, f64)) {
    let share = |name: &str, field: &str, pct: f64, correlation: Option<f64>| {
        close(&netem[name][field], pct / 100.0);
        close(&netem[name]["correlation"], correlation.unwrap_or(0.0));
    };
    match setting.loss {
        Some(Loss::Bernoulli { pct, correlation }) => {
            share("loss-random", "loss", pct, correlation)
        }
        Some(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }) => {
            let model = &netem["loss-gemodel"];
            close(&model["p"], p);
            close(&model["r"], r);
            // `tc` calls 1-h the loss in the bad state and 1-k that in the good one.
            close(&model["1-h"], one_minus_k);
            close(&model["1-k"], one_minus_h);
        }
        None => share("loss-random", "loss", 0.0, None),
    }
    let (pct, correlation) = setting.duplication.map_or((0.0, None), |it| (it.pct, it.correlation));
    share("duplicate", "duplicate", pct, correlation);
    let (pct, correlation) = setting.reordering.map_or((0.0, None), |it| (it.pct, it.correlation));
    share("reorder", "reorder", pct, correlation);
    let gap = setting.reordering.map_or(0.0, |it| f64::from(it.gap.get()));
    close(&netem["gap"], gap);
    let (pct, correlation) = setting.corruption.map_or((0.0, None), |it| (it.pct, it.correlation));
    share("corrupt", "corrupt", pct, correlation);
}

/// The part of [`tc_agrees`] about the token bucket and the queue.
fn shaper_agrees(qdiscs: &[Value], setting: &Impairment, close: &dyn Fn(&Value, f64)) {
    let tbf = options(qdiscs, "tbf");
    let bytes_per_second = setting.rate.map_or(0.0, |rate| (rate.bps / 8) as f64);
    close(&tbf["rate"], bytes_per_second);
    let burst = setting.rate.map_or(0.0, |rate| f64::from(rate.burst_bytes));
    // The kernel keeps the bucket in ticks of 64 ns, and `tc` counts those in whole microseconds.
    let slack = bytes_per_second * (2.0 * 64e-9 + 1e-6) + 1.0;
    let seen_burst = tbf["burst"].as_f64().unwrap_or(0.0);
    assert!((seen_burst - burst).abs() <= slack, "{setting:?}: burst {seen_burst}");
    if let Some(queue) = setting.queue {
        let kind = match queue.limit.unit {
            QueueUnit::Packets => "pfifo",
            QueueUnit::Bytes => "bfifo",
        };
        close(&options(qdiscs, kind)["limit"], f64::from(queue.limit.value));
    }
}

fn every_field_alone(bed: &mut Bed) {
    for setting in [
        json!({"latency": {"kind": "constant", "duration": 20_000_001}}),
        json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 10_000_000,
            "distribution": {"kind": "uniform"}, "correlation": 0.25}}),
        json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 10_000_000,
            "distribution": {"kind": "normal"}}}),
        json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 10_000_000,
            "distribution": {"kind": "pareto"}}}),
        json!({"loss": {"model": "bernoulli", "pct": 1.5}}),
        json!({"loss": {"model": "bernoulli", "pct": 30.0, "correlation": 0.5}}),
        json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000}}),
        json!({"queue": {"limit": {"unit": "packets", "value": 77}}}),
        json!({"queue": {"limit": {"unit": "bytes", "value": 77_000}}}),
        json!({"duplication": {"pct": 2.0}}),
        json!({"duplication": {"pct": 2.0, "correlation": 0.1}}),
        json!({"latency": {"kind": "constant", "duration": 10_000_000},
            "reordering": {"pct": 25.0, "gap": 5, "correlation": 0.5}}),
        json!({"corruption": {"pct": 0.1}}),
        json!({"corruption": {"pct": 0.1, "correlation": 0.03}}),
    ] {
        holds(bed, &impairment(setting));
    }
}

fn all_fields_together(bed: &mut Bed) {
    holds(
        bed,
        &impairment(json!({
            "latency": {"kind": "stochastic", "mean": 123_456_789, "jitter": 1_234_567,
                "distribution": {"kind": "normal"}, "correlation": 0.125},
            "loss": {"model": "bernoulli", "pct": 12.5, "correlation": 0.2},
            "rate": {"bps": 8_000_000, "burst_bytes": 16_000},
            "queue": {"limit": {"unit": "bytes", "value": 64_000}},
            "duplication": {"pct": 0.25, "correlation": 0.3},
            "reordering": {"pct": 20.0, "gap": 3, "correlation": 0.4},
            "corruption": {"pct": 0.05, "correlation": 0.5},
        })),
    );
}

fn rate_and_queue(bed: &mut Bed) {
    for setting in [
        json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000}}),
        json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 10}}}),
        json!({"rate": {"bps": 100_000_000, "burst_bytes": 200_000},
            "queue": {"limit": {"unit": "bytes", "value": 100_000}}}),
        json!({"rate": {"bps": 12_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 99}}}),
        json!({"queue": {"limit": {"unit": "packets", "value": 5}}}),
    ] {
        holds(bed, &impairment(setting));
    }
}

fn limits_of_the_ranges(bed: &mut Bed) {
    for setting in [
        // An hour, and beyond 32 bits of nanoseconds.
        json!({"latency": {"kind": "constant", "duration": 3_600_000_000_000_u64}}),
        json!({"latency": {"kind": "constant", "duration": 1}}),
        json!({"loss": {"model": "bernoulli", "pct": 100.0}}),
        json!({"loss": {"model": "bernoulli", "pct": 0.000_01}}),
        json!({"duplication": {"pct": 100.0, "correlation": 1.0}}),
        json!({"corruption": {"pct": 100.0}}),
        json!({"latency": {"kind": "constant", "duration": 1_000_000},
            "reordering": {"pct": 100.0, "gap": 1}}),
        json!({"latency": {"kind": "constant", "duration": 1_000_000},
            "reordering": {"pct": 50.0, "gap": 4_294_967_295_u32}}),
        json!({"rate": {"bps": 40_000_000_000_u64, "burst_bytes": 5_000_000}}),
        json!({"rate": {"bps": 8000, "burst_bytes": 1514}}),
        json!({"queue": {"limit": {"unit": "packets", "value": 4_294_967_295_u32}}}),
    ] {
        let setting = impairment(setting);
        let after = bed.apply(&setting).unwrap();
        assert!(agrees(&after), "{setting:?}: {:?}", after.divergence);
        if bed.is_real() {
            let qdiscs = bed.qdiscs_of_tc();
            tc_agrees(&qdiscs, &setting);
        }
    }
}

fn nothing_leaves_nothing(bed: &mut Bed) {
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000},
        "queue": {"limit": {"unit": "packets", "value": 10}}}));
    bed.apply(&setting).unwrap();
    assert!(!bed.stack().is_empty());
    let after = bed.apply(&Impairment::default()).unwrap();
    assert!(after.impairment.is_empty() && agrees(&after), "{after:?}");
    assert_eq!(bed.stack(), [], "an impairment of nothing is no stack");
    bed.apply(&setting).unwrap();
    let after = bed.clear().unwrap();
    assert!(after.impairment.is_empty() && after.divergence.is_empty(), "{after:?}");
    assert_eq!(bed.stack(), []);
    let again = bed.clear().unwrap();
    assert!(again.impairment.is_empty() && again.divergence.is_empty(), "{again:?}");
}
