//! Commands of `tc` that stand for an impairment have its effect.

use groundwave_kernel::{TcCommands, Verb, tc_commands};
use serde_json::{Value, json};

use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::{NEAR, try_tool};

arms! {
    CONTRACT,
    rate_and_queue: host, vm, newer;
    every_field: vm, newer;
}

/// Options of the disciplines, as `tc` shows them; of the size of a frame, which only a peak rate uses, it
/// rounds to another tick.
fn options(bed: &Bed) -> Vec<Value> {
    let mut qdiscs = bed.qdiscs_of_tc();
    for qdisc in &mut qdiscs {
        let all = qdisc.as_object_mut().unwrap();
        all.retain(|key, _| {
            ["kind", "handle", "parent", "root", "options"].contains(&key.as_str())
        });
        if let Some(options) = qdisc["options"].as_object_mut() {
            options.remove("seed");
        }
    }
    qdiscs
}

/// `tc` and the shaper leave the same disciplines; the shaper, asked for the same, changes nothing.
fn same(bed: &mut Bed, setting: &Value) -> Result<(), String> {
    let setting = impairment(setting.clone());
    let netem = bed.shaper().capabilities().netem;
    bed.apply(&setting).unwrap();
    let by_shaper = options(bed);
    bed.clear().unwrap();
    let TcCommands { commands, omissions } = tc_commands(NEAR, &setting, netem).unwrap();
    for command in &commands {
        let arguments = command.strip_prefix("tc ").unwrap();
        try_tool("tc", arguments).map_err(|error| format!("{command}: {error}"))?;
    }
    let by_tc = options(bed);
    // `tc` shows less of it than there is.
    let in_force = bed.read().unwrap().impairment;
    bed.requests();
    let reading = bed.apply(&setting).unwrap();
    let requests = bed.requests();
    bed.clear().unwrap();
    let none = tc_commands(NEAR, &impairment(json!({})), netem).unwrap();
    assert_eq!(none.commands, [format!("tc qdisc del dev {NEAR} root")]);
    if !omissions.is_empty() {
        assert!(by_tc != by_shaper || in_force != setting, "{omissions:?}");
        return Ok(());
    }
    if by_tc != by_shaper {
        return Err(format!("{commands:#?}: {by_tc:?} instead of {by_shaper:?}"));
    }
    if !agrees(&reading) {
        return Err(format!("{:?}", reading.divergence));
    }
    // Only the shaper sends the distribution, and the time of a frame, which `tc` does not show.
    match requests.iter().all(|(verb, _)| *verb == Verb::Change) && options(bed).is_empty() {
        true => Ok(()),
        false => Err(format!("{commands:#?}: then {requests:?}")),
    }
}

fn all_same(bed: &mut Bed, settings: &[Value]) {
    let failed = |setting: &Value| Some(format!("{setting}: {}", same(bed, setting).err()?));
    let failures: Vec<String> = settings.iter().filter_map(failed).collect();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        settings.len(),
        failures.join("\n")
    );
}

fn rate_and_queue(bed: &mut Bed) {
    let queue = |unit: &str, value: u32| json!({"limit": {"unit": unit, "value": value}});
    let rate = |bps: u64, burst_bytes: u32| json!({"bps": bps, "burst_bytes": burst_bytes});
    all_same(
        bed,
        &[
            json!({"rate": rate(10_000_000, 20_000), "queue": queue("packets", 77)}),
            json!({"rate": rate(10_000_000, 20_000)}),
            json!({"rate": rate(64_000, 1_600)}),
            json!({"rate": rate(9_999, 1_514)}),
            json!({"rate": rate(123_456_789, 31_337)}),
            json!({"rate": rate(1_000_000_000, 2_000_000)}),
            json!({"rate": rate(40_000_000_000, 80_000_000)}),
            json!({"rate": rate(8_000, 4_000_000), "queue": queue("bytes", 5_000_000)}),
            json!({"rate": rate(1_000_000, 5_000), "queue": queue("bytes", 70_000)}),
            json!({"queue": queue("packets", 20)}),
            json!({"queue": queue("bytes", 20_000)}),
        ],
    );
}

fn every_field(bed: &mut Bed) {
    bed.extend();
    let latency = |kind: &str| {
        json!({"kind": "stochastic", "mean": 50_000_000, "jitter": 2_500_000,
            "distribution": {"kind": kind}})
    };
    let delay = |duration: u64| json!({"kind": "constant", "duration": duration});
    all_same(
        bed,
        &[
            json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 2_500_000,
                    "correlation": 0.25, "distribution": {"kind": "uniform"}},
                "loss": {"model": "gilbert-elliott", "p": 0.01, "r": 0.3, "one_minus_h": 0.0,
                    "one_minus_k": 1.0},
                "duplication": {"pct": 0.5}, "reordering": {"pct": 25.0, "gap": 5},
                "corruption": {"pct": 0.1, "correlation": 0.5},
                "rate": {"bps": 10_000_000, "burst_bytes": 20_000},
                "queue": {"limit": {"unit": "bytes", "value": 70_000}}}),
            json!({"loss": {"model": "bernoulli", "pct": 7.5}}),
            json!({"loss": {"model": "bernoulli", "pct": 100.0}}),
            json!({"loss": {"model": "bernoulli", "pct": 0.000_001}}),
            json!({"loss": {"model": "bernoulli", "pct": 33.333_333}}),
            json!({"loss": {"model": "bernoulli", "pct": 5.0, "correlation": 0.3}}),
            json!({"loss": {"model": "bernoulli", "pct": 0.0, "correlation": 0.3}}),
            json!({"loss": {"model": "bernoulli", "pct": 0.0}}),
            json!({"loss": {"model": "gilbert-elliott", "p": 0.02, "r": 0.25, "one_minus_h": 0.001,
                "one_minus_k": 0.75}}),
            json!({"loss": {"model": "gilbert-elliott", "p": 0.0, "r": 1.0, "one_minus_h": 0.0,
                "one_minus_k": 0.0}}),
            json!({"latency": delay(50_000_000)}),
            json!({"latency": delay(1)}),
            json!({"latency": delay(123_456_789)}),
            json!({"latency": delay(0)}),
            json!({"latency": delay(5_000_000_000)}),
            json!({"latency": {"kind": "stochastic", "mean": 0, "jitter": 2_500_000,
                "distribution": {"kind": "uniform"}}}),
            json!({"latency": {"kind": "stochastic", "mean": 20_000_000, "jitter": 0,
                "correlation": 0.5, "distribution": {"kind": "normal"}}}),
            json!({"latency": latency("uniform")}),
            json!({"latency": latency("normal")}),
            json!({"latency": latency("pareto")}),
            json!({"latency": latency("paretonormal")}),
            json!({"duplication": {"pct": 1.5, "correlation": 0.1}}),
            json!({"duplication": {"pct": 0.0}}),
            json!({"corruption": {"pct": 0.0, "correlation": 0.5}}),
            json!({"latency": delay(10_000_000), "reordering": {"pct": 25.0, "gap": 1,
                "correlation": 0.5}}),
            json!({"reordering": {"pct": 25.0, "gap": 5}}),
            json!({"latency": delay(10_000_000), "reordering": {"pct": 0.0, "gap": 5}}),
            json!({"reordering": {"pct": 0.0, "gap": 1}}),
        ],
    );
}
