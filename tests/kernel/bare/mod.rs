//! A kernel without netem, until the module is loaded.

use std::process::Command;

use groundwave_impair::FailureKind;
use groundwave_kernel::{KernelError, Options};
use groundwave_test_data::fetched;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    BARE,
    latency_names_the_missing_module: fake, vm;
}

fn latency_names_the_missing_module(bed: &mut Bed) {
    if !bed.is_real() {
        *bed = Bed::fake(groundwave_kernel::Fake::new(&["port1"]).without("netem"));
    }
    let can = bed.shaper().capabilities().clone();
    assert!(!can.netem && can.tbf && can.pfifo && can.bfifo, "{can:?}");
    assert_eq!(can.missing.len(), 1, "{can:?}");
    assert_eq!(
        (can.missing[0].kind.as_str(), can.missing[0].module.as_str()),
        ("netem", "sch_netem")
    );
    assert_eq!(can.distributions(), [""; 0]);

    let shaped = impairment(json!({"rate": {"bps": 8_000_000, "burst_bytes": 16_000},
        "queue": {"limit": {"unit": "packets", "value": 20}}}));
    assert_eq!(bed.apply(&shaped).unwrap().impairment, shaped);
    for setting in [
        json!({"latency": {"kind": "constant", "duration": 20_000_000}}),
        json!({"loss": {"model": "bernoulli", "pct": 1.0}}),
        json!({"duplication": {"pct": 1.0}}),
        json!({"corruption": {"pct": 1.0}, "rate": {"bps": 9_000_000, "burst_bytes": 16_000}}),
    ] {
        let error = bed.apply(&impairment(setting)).unwrap_err();
        let KernelError::Unsupported { module, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(module.as_deref(), Some("sch_netem"), "{error}");
        assert_eq!(error.failure().kind, FailureKind::Unsupported);
        assert_eq!(bed.read().unwrap().impairment, shaped);
    }
    if bed.is_real() {
        load("netem");
        bed.restart(Options::default()).unwrap();
        assert!(bed.shaper().capabilities().netem);
        let slow = impairment(json!({"latency": {"kind": "constant", "duration": 20_000_000}}));
        assert!(agrees(&bed.apply(&slow).unwrap()));
    }
}

/// Loads the modules of a set.
fn load(set: &str) {
    let folder = fetched("kernel").join("modules").join(set);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let mut command = Command::new("/bin/busybox");
        let loaded = command.arg("insmod").arg(&path).status().unwrap();
        assert!(loaded.success(), "{}", path.display());
    }
}
