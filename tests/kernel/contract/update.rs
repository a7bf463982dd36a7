//! Which changes are made in place.

use std::time::Duration;

use groundwave_impair::LinkStats;
use groundwave_kernel::{Counters, Verb};
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::{NEAR, Traffic};

arms! {
    CONTRACT,
    same_layers_are_changed_in_place: fake, vm, newer;
    the_same_shaper_is_changed_in_place: fake, host, vm, newer;
    new_layers_are_counted: fake, vm, newer;
    counters_survive_new_layers: fake, host, vm, newer;
    netem_holds_the_queue_below: host, vm, newer;
}

fn same_layers_are_changed_in_place(bed: &mut Bed) {
    let setting = |step: u32| {
        impairment(json!({
            "latency": {"kind": "constant", "duration": 1_000_000 * (step + 1)},
            "loss": {"model": "bernoulli", "pct": step},
            "rate": {"bps": 1_000_000 * (step + 1), "burst_bytes": 2000 + step},
            "queue": {"limit": {"unit": "packets", "value": 10 + step}},
        }))
    };
    bed.apply(&setting(0)).unwrap();
    bed.requests();
    for step in 1..20 {
        let reading = bed.apply(&setting(step)).unwrap();
        assert_eq!(reading.impairment, setting(step));
        assert!(agrees(&reading), "{:?}", reading.divergence);
    }
    let requests = bed.requests();
    assert!(requests.len() >= 19, "{requests:?}");
    assert!(requests.iter().all(|(verb, _)| *verb == Verb::Change), "{requests:?}");
}

fn the_same_shaper_is_changed_in_place(bed: &mut Bed) {
    let setting = |step: u32| {
        impairment(json!({
            "rate": {"bps": 1_000_000 * (step + 1), "burst_bytes": 2000 + step},
            "queue": {"limit": {"unit": "packets", "value": 10 + step}},
        }))
    };
    bed.apply(&setting(0)).unwrap();
    bed.requests();
    for step in 1..20 {
        // The kernel rewrites the limit of a leaf when the shaper above it changes.
        assert_eq!(bed.apply(&setting(step)).unwrap().impairment, setting(step));
    }
    let requests = bed.requests();
    assert!(requests.len() >= 19, "{requests:?}");
    assert!(requests.iter().all(|(verb, _)| *verb == Verb::Change), "{requests:?}");
}

fn new_layers_are_counted(bed: &mut Bed) {
    let latency = json!({"kind": "constant", "duration": 20_000_000});
    let slow = impairment(json!({"latency": latency}));
    let shaped = impairment(json!({"latency": latency,
        "rate": {"bps": 1_000_000, "burst_bytes": 2000}}));
    bed.apply(&slow).unwrap();
    let before = bed.stats().unwrap().resets_total;
    bed.requests();
    bed.apply(&shaped).unwrap();
    let requests = bed.requests();
    let creations: Vec<_> = requests.iter().filter(|(verb, _)| *verb == Verb::Create).collect();
    assert!(!creations.is_empty(), "{requests:?}");
    assert!(
        !requests.contains(&(Verb::Delete, "netem")),
        "the delay line keeps its packets: {requests:?}"
    );
    assert_eq!(bed.stats().unwrap().resets_total, before);
}

/// More packets than the queue holds, all of which are over when this returns.
fn overflow(bed: &mut Bed) {
    if let Some(fake) = bed.model() {
        let dropped = Counters { packets: 60, bytes: 60_000, drops: 40, ..Counters::default() };
        for kind in ["netem", "tbf", "pfifo"] {
            fake.set_counters(NEAR, kind, dropped);
        }
        return;
    }
    let traffic = Traffic {
        count: 100,
        every: Duration::ZERO,
        frame_bytes: 1000,
        quiet: Duration::from_millis(300),
    };
    bed.wire.as_mut().unwrap().measure(traffic);
}

fn counters_survive_new_layers(bed: &mut Bed) {
    let queue = |unit: &str, value: u32| json!({"limit": {"unit": unit, "value": value}});
    let rate = json!({"bps": 1_000_000, "burst_bytes": 2000});
    let shaped = impairment(json!({"rate": rate, "queue": queue("packets", 10)}));
    bed.apply(&shaped).unwrap();
    overflow(bed);
    let drops = |stats: &LinkStats| {
        [
            stats.drops_total,
            stats.impairment_drops_total,
            stats.rate_drops_total,
            stats.queue_drops_total,
        ]
    };
    let before = bed.stats().unwrap();
    assert!(before.queue_drops_total > 0, "{before:?}");
    // A queue of another unit, no queue, a shaper that comes and goes.
    for next in [
        json!({"rate": rate, "queue": queue("bytes", 10_000)}),
        json!({"rate": rate}),
        json!({"rate": rate, "queue": queue("packets", 10)}),
        json!({"queue": queue("packets", 10)}),
        json!({"rate": rate, "queue": queue("packets", 10)}),
    ] {
        let reading = bed.apply(&impairment(next.clone())).unwrap();
        assert!(agrees(&reading), "{:?}", reading.divergence);
        let after = bed.stats().unwrap();
        assert_eq!(drops(&after), drops(&before), "after {next}");
    }
}

/// netem counts the packets below it as its own: a queue above its default limit holds all the same.
fn netem_holds_the_queue_below(bed: &mut Bed) {
    let setting = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000},
        "queue": {"limit": {"unit": "packets", "value": 8000}}}));
    assert!(agrees(&bed.apply(&setting).unwrap()));
    let traffic = Traffic {
        count: 3000,
        every: Duration::ZERO,
        frame_bytes: 100,
        quiet: Duration::from_millis(500),
    };
    let arrivals = bed.wire.as_mut().unwrap().measure(traffic);
    let stats = bed.stats().unwrap();
    println!("a queue of 8000 packets: {} of 3000 arrived", arrivals.len());
    assert_eq!((arrivals.len(), stats.drops_total), (3000, 0), "{stats:?}");
}
