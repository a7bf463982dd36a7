//! Which changes are made in place.

use groundwave_io::kernel::Verb;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    CONTRACT,
    same_layers_are_changed_in_place: fake, uml;
    the_same_shaper_is_changed_in_place: fake, host, uml;
    new_layers_are_counted: fake, uml;
}

fn same_layers_are_changed_in_place(bed: &mut Bed) {
    let asked = |step: u32| {
        impairment(json!({
            "latency": {"kind": "constant", "duration": 1_000_000 * (step + 1)},
            "loss": {"model": "bernoulli", "pct": step},
            "rate": {"bps": 1_000_000 * (step + 1), "burst_bytes": 2000 + step},
            "queue": {"limit": {"unit": "packets", "value": 10 + step}},
        }))
    };
    bed.apply(&asked(0)).unwrap();
    bed.requests();
    for step in 1..20 {
        let reading = bed.apply(&asked(step)).unwrap();
        assert_eq!(reading.impairment, asked(step));
        assert!(agrees(&reading), "{:?}", reading.divergence);
    }
    let requests = bed.requests();
    assert!(requests.len() >= 19, "{requests:?}");
    assert!(
        requests.iter().all(|(verb, _)| *verb == Verb::Change),
        "{requests:?}"
    );
}

fn the_same_shaper_is_changed_in_place(bed: &mut Bed) {
    let asked = |step: u32| {
        impairment(json!({
            "rate": {"bps": 1_000_000 * (step + 1), "burst_bytes": 2000 + step},
            "queue": {"limit": {"unit": "packets", "value": 10 + step}},
        }))
    };
    bed.apply(&asked(0)).unwrap();
    bed.requests();
    for step in 1..20 {
        // The kernel rewrites the limit of a leaf when the shaper above it changes.
        assert_eq!(bed.apply(&asked(step)).unwrap().impairment, asked(step));
    }
    let requests = bed.requests();
    assert!(requests.len() >= 19, "{requests:?}");
    assert!(
        requests.iter().all(|(verb, _)| *verb == Verb::Change),
        "{requests:?}"
    );
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
    let made: Vec<_> = requests
        .iter()
        .filter(|(verb, _)| *verb == Verb::Create)
        .collect();
    assert!(!made.is_empty(), "{requests:?}");
    assert!(
        !requests.contains(&(Verb::Delete, "netem")),
        "the delay line keeps its packets: {requests:?}"
    );
    assert_eq!(bed.stats().unwrap().resets_total, before);
}
