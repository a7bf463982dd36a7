//! Differences of a stack that no comparison of parameters finds.

use groundwave_impair::{DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, Value};

use super::stack::{BANDS, Stack, UNDER_NETEM};
use super::{Handle, Qdisc};

/// Two-state loss in force although the extension is disabled.
pub(super) fn two_states(stack: &Stack, extensions: Extensions) -> Option<DivergenceItem> {
    let there = stack.netem.is_some_and(|netem| netem.gemodel.is_some());
    (there && !extensions.gilbert_elliott).then(|| DivergenceItem {
        layer: "netem".to_owned(),
        field: "loss.model".to_owned(),
        requested: None,
        observed: Some(Value::Text("gilbert-elliott".to_owned())),
        kind: DivergenceKind::Unsupported,
        message: "the kernel holds loss of the model gilbert-elliott, which is not turned on"
            .to_owned(),
    })
}

/// A discipline of another program in words.
pub(super) fn describe(qdisc: &Qdisc) -> String {
    format!("{} {} of another program", qdisc.kind, qdisc.handle)
}

/// The distribution of delays, which the kernel does not report.
pub(super) fn distribution(
    seen: &Impairment,
    requested: Option<&Impairment>,
) -> Option<DivergenceItem> {
    let Some(Latency::Stochastic { distribution, .. }) = &seen.latency else {
        return None;
    };
    if requested.is_some() && distribution.kind() == "uniform" {
        return None;
    }
    let requested = requested.map(|_| Value::Text(distribution.kind().to_owned()));
    Some(DivergenceItem {
        layer: "netem".to_owned(),
        field: "latency.distribution".to_owned(),
        requested,
        observed: None,
        kind: DivergenceKind::Unverifiable,
        message: "the kernel does not show how delays are distributed".to_owned(),
    })
}

/// A discipline of another program.
pub(super) fn foreign(qdisc: &Qdisc) -> DivergenceItem {
    let layer = match qdisc.parent {
        Handle::ROOT => "root",
        UNDER_NETEM => "tbf",
        parent if parent.major() == BANDS => "band",
        _ => "queue",
    };
    DivergenceItem {
        layer: layer.to_owned(),
        field: "kind".to_owned(),
        requested: None,
        observed: Some(Value::Text(format!("{} {}", qdisc.kind, qdisc.handle))),
        kind: DivergenceKind::Foreign,
        message: format!("{} is left in place", describe(qdisc)),
    }
}

/// A discipline that hardware carries out.
pub(super) fn offloaded(qdisc: &Qdisc) -> DivergenceItem {
    DivergenceItem {
        layer: qdisc.kind.clone(),
        field: "offload".to_owned(),
        requested: None,
        observed: Some(Value::Text("hardware".to_owned())),
        kind: DivergenceKind::Unverifiable,
        message: format!("{} {} is done by hardware", qdisc.kind, qdisc.handle),
    }
}
