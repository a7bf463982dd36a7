//! Commands of `tc` that stand for an impairment have its effect.

use groundwave_kernel::tc_commands;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::{NEAR, tool};

arms! {
    CONTRACT,
    rate_and_queue: host, vm;
    every_field: vm;
}

/// `tc` and the shaper leave the same disciplines; the shaper, asked for the same, changes nothing.
fn same(bed: &mut Bed, setting: serde_json::Value) {
    let setting = impairment(setting);
    let netem = bed.shaper().capabilities().netem;
    let commands = tc_commands(NEAR, &setting, netem).unwrap();
    for command in &commands {
        tool("tc", command.strip_prefix("tc ").unwrap());
    }
    let by_tc = bed.stack();
    assert_eq!(by_tc.len(), commands.len(), "{commands:?}");
    bed.requests();
    let reading = bed.apply(&setting).unwrap();
    assert!(agrees(&reading), "{:?}", reading.divergence);
    println!("{commands:#?}: then {:?}", bed.requests());
    assert_eq!(bed.stack(), by_tc);
    bed.clear().unwrap();
    let none = tc_commands(NEAR, &impairment(json!({})), netem).unwrap();
    assert_eq!(none, [format!("tc qdisc del dev {NEAR} root")]);
}

fn rate_and_queue(bed: &mut Bed) {
    same(
        bed,
        json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 77}}}),
    );
}

fn every_field(bed: &mut Bed) {
    bed.extend();
    same(
        bed,
        json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 2_500_000,
                "correlation": 0.25, "distribution": {"kind": "uniform"}},
            "loss": {"model": "gilbert-elliott", "p": 0.01, "r": 0.3, "one_minus_h": 0.0,
                "one_minus_k": 1.0},
            "duplication": {"pct": 0.5}, "reordering": {"pct": 25.0, "gap": 5},
            "corruption": {"pct": 0.1, "correlation": 0.5},
            "rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "bytes", "value": 70_000}}}),
    );
    same(bed, json!({"loss": {"model": "bernoulli", "pct": 7.5}}));
}
