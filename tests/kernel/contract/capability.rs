//! Capabilities of the kernel, found by probing.

use groundwave_impair::FailureKind;
use groundwave_kernel::KernelError;
use serde_json::json;

use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    CONTRACT,
    the_whole_kernel_does_it_all: fake, vm, newer;
    this_machine_gives_its_capabilities: host;
    probing_leaves_nothing: fake, host, vm, newer;
}

fn the_whole_kernel_does_it_all(bed: &mut Bed) {
    let can = bed.shaper().capabilities();
    assert!(can.netem && can.tbf && can.pfifo && can.bfifo, "{can:?}");
    assert_eq!(can.missing, []);
    assert_eq!(can.distributions(), ["uniform", "normal", "pareto"]);
    if bed.is_real() {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(can.backend_version, release.trim());
    }
}

/// On any kernel of this machine: rate and queue work, and latency does or names its module.
fn this_machine_gives_its_capabilities(bed: &mut Bed) {
    let can = bed.shaper().capabilities().clone();
    assert!(can.tbf && can.pfifo && can.bfifo, "{can:?}");
    let shaped = impairment(json!({"rate": {"bps": 8_000_000, "burst_bytes": 16_000},
        "queue": {"limit": {"unit": "packets", "value": 20}}}));
    assert!(agrees(&bed.apply(&shaped).unwrap()));
    let slow = impairment(json!({"latency": {"kind": "constant", "duration": 20_000_000}}));
    println!("netem: {}, release {}", can.netem, can.backend_version);
    if can.netem {
        assert!(agrees(&bed.apply(&slow).unwrap()));
        return;
    }
    assert!(can.missing.iter().any(|missing| missing.module == "sch_netem"), "{can:?}");
    let error = bed.apply(&slow).unwrap_err();
    assert!(
        matches!(&error, KernelError::Unsupported { module: Some(module), .. } if module == "sch_netem"),
        "{error:?}"
    );
    assert_eq!(error.failure().kind, FailureKind::Unsupported);
    assert_eq!(bed.read().unwrap().impairment, shaped, "the refusal changed nothing");
}

fn probing_leaves_nothing(bed: &mut Bed) {
    assert_eq!(bed.stack(), []);
    assert_eq!(bed.read().unwrap().impairment, impairment(json!({})));
}
