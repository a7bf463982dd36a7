//! What an interface holds, in words, and what there is to say about it.

use groundwave_systems::impair::{
    DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, Surroundings, Value, Warning,
    compare, warnings,
};

use super::qdisc_params::qdisc_params;
use super::query::InterfaceQdiscs;
use super::stack::{Stack, impairment_from_stack};
use super::{Handle, KernelError, Link, Qdisc};

/// What an interface holds, and how that differs from what was last asked of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The impairment in force.
    pub impairment: Impairment,
    /// How it differs from what was last asked.
    pub divergence: Vec<DivergenceItem>,
    /// What the kernel does silently.
    pub warnings: Vec<Warning>,
}

impl Reading {
    /// What `sight` amounts to, beside the words and disciplines that were last asked for.
    pub(super) fn of(
        sight: &InterfaceQdiscs,
        asked: Option<(&Impairment, &Stack)>,
        extensions: Extensions,
    ) -> Self {
        let impairment = impairment_from_stack(&sight.stack, asked);
        let mut divergence = Vec::new();
        if let Some((_, plan)) = asked {
            divergence = compare(
                &qdisc_params(plan, None),
                &qdisc_params(&sight.stack, Some(plan)),
            );
        }
        divergence.extend(distribution(&impairment, asked.map(|(words, _)| words)));
        divergence.extend(two_states(&sight.stack, extensions));
        divergence.extend(sight.foreign.as_ref().map(foreign));
        let by_hardware = sight.ours.iter().filter(|qdisc| qdisc.offloaded);
        divergence.extend(by_hardware.map(offloaded));
        let surroundings = Surroundings {
            mtu_bytes: sight.link.mtu_bytes,
            gso_bytes_max: sight.link.gso_bytes_max,
            header_bytes: Link::HEADER_BYTES,
        };
        Self {
            warnings: warnings(&impairment, &surroundings),
            impairment,
            divergence,
        }
    }
}

/// Two-state loss in force, though nobody turned it on here.
fn two_states(stack: &Stack, extensions: Extensions) -> Option<DivergenceItem> {
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

pub(super) fn named(qdisc: &Qdisc) -> String {
    format!("{} {} of another program", qdisc.kind, qdisc.handle)
}

/// What was asked and refused for not being supported.
pub(super) fn refused(err: &KernelError) -> Option<DivergenceItem> {
    let (KernelError::Unsupported { what, .. } | KernelError::Table { name: what, .. }) = err
    else {
        return None;
    };
    let layer = if what == "rate" { "tbf" } else { "netem" };
    Some(DivergenceItem {
        layer: layer.to_owned(),
        field: what
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned(),
        requested: Some(Value::Text(what.clone())),
        observed: None,
        kind: DivergenceKind::Unsupported,
        message: format!("asked for and not in force: {err}"),
    })
}

/// What the kernel never shows: how delays are distributed.
fn distribution(seen: &Impairment, asked: Option<&Impairment>) -> Option<DivergenceItem> {
    let Some(Latency::Stochastic { distribution, .. }) = &seen.latency else {
        return None;
    };
    if asked.is_some() && distribution.kind() == "uniform" {
        return None;
    }
    let requested = asked.map(|_| Value::Text(distribution.kind().to_owned()));
    Some(DivergenceItem {
        layer: "netem".to_owned(),
        field: "latency.distribution".to_owned(),
        requested,
        observed: None,
        kind: DivergenceKind::Unverifiable,
        message: "the kernel does not show how delays are distributed".to_owned(),
    })
}

fn foreign(qdisc: &Qdisc) -> DivergenceItem {
    let layer = match qdisc.parent {
        Handle::ROOT => "root",
        parent if parent.major() == 1 => "tbf",
        _ => "queue",
    };
    DivergenceItem {
        layer: layer.to_owned(),
        field: "kind".to_owned(),
        requested: None,
        observed: Some(Value::Text(format!("{} {}", qdisc.kind, qdisc.handle))),
        kind: DivergenceKind::Foreign,
        message: format!("{} is left in place", named(qdisc)),
    }
}

fn offloaded(qdisc: &Qdisc) -> DivergenceItem {
    DivergenceItem {
        layer: qdisc.kind.clone(),
        field: "offload".to_owned(),
        requested: None,
        observed: Some(Value::Text("hardware".to_owned())),
        kind: DivergenceKind::Unverifiable,
        message: format!("{} {} is done by hardware", qdisc.kind, qdisc.handle),
    }
}
