//! A change that fails half-way leaves what was.

use groundwave_impair::Impairment;
use groundwave_kernel::KernelError;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    CONTRACT,
    whatever_fails_the_stack_is_the_old_one: fake, vm, newer;
    whatever_fails_the_shaper_is_the_old_one: fake, host, vm, newer;
}

/// Changes from each to each, with every request on the way spoilt in turn.
fn all_ways(bed: &mut Bed, states: &[Impairment]) {
    let mut failures = 0;
    for before in states {
        for after in states.iter().filter(|after| *after != before) {
            bed.clear().unwrap();
            bed.apply(before).unwrap();
            bed.requests();
            bed.apply(after).unwrap();
            let steps = bed.requests().len();
            assert!(steps > 0, "{before:?} became {after:?} by nothing");
            for nth in 1..=steps {
                bed.apply(before).unwrap();
                let stack = bed.stack();
                bed.spoil(nth);
                let outcome = bed.apply(after);
                bed.spoil(0);
                let Err(error) = outcome else {
                    panic!("request {nth} of {steps} was refused, and nobody noticed");
                };
                assert!(matches!(error, KernelError::Rejected { .. }), "{error:?}");
                failures += 1;
                let remainder = bed.read().unwrap();
                assert_eq!(
                    remainder.impairment, *before,
                    "request {nth} of {steps} towards {after:?} failed: {error}"
                );
                assert!(agrees(&remainder), "{:?}", remainder.divergence);
                assert_eq!(bed.stack(), stack);
            }
        }
    }
    println!("{failures} requests refused, as many times the stack was the old one");
}

fn whatever_fails_the_stack_is_the_old_one(bed: &mut Bed) {
    all_ways(
        bed,
        &[
            impairment(json!({"latency": {"kind": "constant", "duration": 20_000_000}})),
            impairment(json!({"loss": {"model": "bernoulli", "pct": 1.5},
                "queue": {"limit": {"unit": "packets", "value": 10}}})),
            impairment(json!({"latency": {"kind": "constant", "duration": 30_000_000},
                "rate": {"bps": 1_000_000, "burst_bytes": 2000},
                "queue": {"limit": {"unit": "packets", "value": 77}}})),
            impairment(json!({"latency": {"kind": "constant", "duration": 40_000_000},
                "rate": {"bps": 9_000_000, "burst_bytes": 9000},
                "queue": {"limit": {"unit": "bytes", "value": 77_000}}})),
            impairment(json!({"rate": {"bps": 2_000_000, "burst_bytes": 4000}})),
        ],
    );
}

fn whatever_fails_the_shaper_is_the_old_one(bed: &mut Bed) {
    all_ways(
        bed,
        &[
            impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000},
                "queue": {"limit": {"unit": "packets", "value": 77}}})),
            impairment(json!({"rate": {"bps": 2_000_000, "burst_bytes": 4000},
                "queue": {"limit": {"unit": "bytes", "value": 77_000}}})),
            impairment(json!({"queue": {"limit": {"unit": "packets", "value": 5}}})),
        ],
    );
}
