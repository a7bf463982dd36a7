//! State of an interface as an impairment, with divergence and warnings.

use groundwave_impair::{
    DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, Surroundings, Value, Warning,
    compare, warnings,
};

use super::bands::requested_rules;
use super::qdisc_params::qdisc_params;
use super::query::InterfaceQdiscs;
use super::rules_reading::{rules_divergence, rules_in_force, with_rules};
use super::stack::{BANDS, Stack, UNDER_NETEM, impairment_from_stack};
use super::steps::Target;
use super::{Handle, KernelError, Link, Qdisc};

/// State of an interface, compared with the last request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The impairment in force.
    pub impairment: Impairment,
    /// Differences from the last request.
    pub divergence: Vec<DivergenceItem>,
    /// Silent effects of the kernel.
    pub warnings: Vec<Warning>,
}

impl Reading {
    /// The state `current`, compared with the last requested specification and disciplines.
    pub(super) fn of(
        current: &InterfaceQdiscs,
        requested: Option<(&Impairment, &Target)>,
        extensions: Extensions,
    ) -> Self {
        let main = requested.map(|(spec, target)| (spec, &target.stack));
        let requested_rules =
            requested.and_then(|(spec, target)| Some((requested_rules(spec)?, target)));
        let rest = impairment_from_stack(&current.stack, main);
        let impairment = with_rules(rest, rules_in_force(current, requested_rules));
        let mut divergence = Vec::new();
        if let Some((_, plan)) = main {
            divergence =
                compare(&qdisc_params(plan, None), &qdisc_params(&current.stack, Some(plan)));
        }
        let is_requested = requested.is_some();
        let rules = rules_divergence(current, is_requested, requested_rules, extensions);
        divergence.extend(rules);
        divergence.extend(distribution(&impairment, requested.map(|(spec, _)| spec)));
        divergence.extend(two_states(&current.stack, extensions));
        divergence.extend(current.foreign.as_ref().map(foreign));
        divergence.extend(current.link.is_idle.then(idle));
        let by_hardware = current.ours.iter().filter(|qdisc| qdisc.offloaded);
        divergence.extend(by_hardware.map(offloaded));
        let surroundings = Surroundings {
            mtu_bytes: current.link.mtu_bytes,
            gso_bytes_max: current.link.gso_bytes_max,
            header_bytes: Link::HEADER_BYTES,
        };
        Self { warnings: warnings(&impairment, &surroundings), impairment, divergence }
    }
}

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

pub(super) fn describe(qdisc: &Qdisc) -> String {
    format!("{} {} of another program", qdisc.kind, qdisc.handle)
}

/// A request refused as unsupported.
pub(super) fn refused(err: &KernelError) -> Option<DivergenceItem> {
    let (KernelError::Unsupported { what, .. } | KernelError::Table { name: what, .. }) = err
    else {
        return None;
    };
    let layer = if what == "rate" { "tbf" } else { "netem" };
    Some(DivergenceItem {
        layer: layer.to_owned(),
        field: what.split_whitespace().next().unwrap_or_default().to_owned(),
        requested: Some(Value::Text(what.clone())),
        observed: None,
        kind: DivergenceKind::Unsupported,
        message: format!("requested and not in force: {err}"),
    })
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

/// Layer of the redirection of incoming traffic.
pub(super) const REDIRECT: &str = "redirect";

/// Incoming traffic that is not redirected to its device.
fn idle() -> DivergenceItem {
    DivergenceItem {
        layer: REDIRECT.to_owned(),
        field: "kind".to_owned(),
        requested: Some(Value::Text("mirred".to_owned())),
        observed: None,
        kind: DivergenceKind::Differs,
        message: "redirect kind: asked for mirred, the kernel holds nothing: incoming traffic is \
                  not impaired"
            .to_owned(),
    }
}

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
