//! Without CAP_NET_ADMIN nothing changes, and the answer has the reason.

use groundwave_impair::FailureKind;
use groundwave_kernel::KernelError;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use serde_json::json;

use crate::bed::{Bed, arms, impairment};

arms! {
    CONTRACT,
    without_the_capability_nothing_changes: fake, host, vm, newer;
}

/// Takes CAP_NET_ADMIN from this thread, or from the model's caller.
fn deny(bed: &Bed) {
    if let Some(model) = bed.model() {
        model.set_denied(true);
        return;
    }
    let mut sets = capabilities(None).unwrap();
    sets.effective.remove(CapabilitySet::NET_ADMIN);
    sets.permitted.remove(CapabilitySet::NET_ADMIN);
    set_capabilities(None, sets).unwrap();
}

fn without_the_capability_nothing_changes(bed: &mut Bed) {
    let before = impairment(json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000}}));
    bed.apply(&before).unwrap();
    let stack = bed.stack();
    deny(bed);
    let denied = |error: KernelError| {
        assert!(matches!(error, KernelError::Permission { .. }), "{error:?}");
        assert_eq!(error.failure().kind, FailureKind::Denied);
        assert!(error.to_string().contains("CAP_NET_ADMIN"), "{error}");
    };
    let other = impairment(json!({"rate": {"bps": 2_000_000, "burst_bytes": 2000}}));
    denied(bed.apply(&other).unwrap_err());
    denied(bed.clear().unwrap_err());
    assert_eq!(bed.read().unwrap().impairment, before);
    assert_eq!(bed.stack(), stack);
}
