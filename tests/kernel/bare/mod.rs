//! A kernel without netem, until the module is loaded.

use std::process::Command;

use groundwave_io::kernel::{KernelError, Options};
use groundwave_systems::impair::FailureKind;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    BARE,
    latency_names_the_missing_module: fake, uml;
}

fn latency_names_the_missing_module(bed: &mut Bed) {
    if !bed.is_real() {
        *bed = Bed::fake(groundwave_io::kernel::Fake::new(&["port1"]).without("netem"));
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
    for asked in [
        json!({"latency": {"kind": "constant", "duration": 20_000_000}}),
        json!({"loss": {"model": "bernoulli", "pct": 1.0}}),
        json!({"duplication": {"pct": 1.0}}),
        json!({"corruption": {"pct": 1.0}, "rate": {"bps": 9_000_000, "burst_bytes": 16_000}}),
    ] {
        let error = bed.apply(&impairment(asked)).unwrap_err();
        let KernelError::Unsupported { module, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(module.as_deref(), Some("sch_netem"), "{error}");
        assert_eq!(error.failure().kind, FailureKind::Unsupported);
        assert_eq!(bed.read().unwrap().impairment, shaped);
    }
    if bed.is_real() {
        load("sch_netem");
        bed.restart(Options::default()).unwrap();
        assert!(bed.shaper().capabilities().netem);
        let slow = impairment(json!({"latency": {"kind": "constant", "duration": 20_000_000}}));
        assert!(agrees(&bed.apply(&slow).unwrap()));
    }
}

fn load(module: &str) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let path = format!(
        "/usr/lib/uml/modules/{}/kernel/net/sched/{module}.ko",
        release.trim()
    );
    let loaded = Command::new("/bin/busybox")
        .args(["insmod", &path])
        .status()
        .unwrap();
    assert!(loaded.success(), "{path}");
}
