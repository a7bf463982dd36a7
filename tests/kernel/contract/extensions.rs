//! Capabilities of the kernel beyond the interface: refused until they are enabled.

use groundwave_kernel::KernelError;
use serde_json::{Value, json};

use super::fields::tc_agrees;
use crate::bed::{Bed, agrees, arms, impairment};

arms! {
    CONTRACT,
    off_by_default: fake, vm, newer;
    enabled_extensions_are_applied: fake, vm, newer;
}

fn both() -> [Value; 2] {
    [
        json!({"loss": {"model": "gilbert-elliott", "p": 0.01, "r": 0.25,
            "one_minus_h": 0.001, "one_minus_k": 0.75}}),
        json!({"latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 5_000_000,
            "distribution": {"kind": "paretonormal"}}}),
    ]
}

fn off_by_default(bed: &mut Bed) {
    let before = impairment(json!({"latency": {"kind": "constant", "duration": 20_000_000}}));
    bed.apply(&before).unwrap();
    for setting in both() {
        let error = bed.apply(&impairment(setting)).unwrap_err();
        assert!(matches!(error, KernelError::Unsupported { module: None, .. }), "{error:?}");
        assert_eq!(bed.read().unwrap().impairment, before);
    }
    assert!(!bed.shaper().capabilities().distributions().contains(&"paretonormal"));
}

fn enabled_extensions_are_applied(bed: &mut Bed) {
    bed.extend();
    let can = bed.shaper().capabilities();
    assert!(can.extensions.gilbert_elliott && can.distributions().contains(&"paretonormal"));
    for setting in both() {
        let setting = impairment(setting);
        let after = bed.apply(&setting).unwrap();
        assert_eq!(after.impairment, setting);
        assert!(agrees(&after), "{:?}", after.divergence);
        if bed.is_real() {
            let qdiscs = bed.qdiscs_of_tc();
            tc_agrees(&qdiscs, &setting);
        }
    }
}
