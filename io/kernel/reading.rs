//! State of an interface as an impairment, with divergence and warnings.

use groundwave_impair::{
    DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, Surroundings, Value, Warning,
    compare, rounding_warnings, warnings,
};

use super::bands::requested_rules;
use super::divergence_items::{distribution, foreign, offloaded, two_states};
use super::qdisc_params::qdisc_params;
use super::query::InterfaceQdiscs;
use super::rules_reading::{rules_divergence, rules_in_force, with_rules};
use super::stack::impairment_from_stack;
use super::target::Target;
use super::{KernelError, Link, Redirection};

/// State of an interface, compared with the last request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The impairment in force.
    pub impairment: Impairment,
    /// Differences from the last request.
    pub divergence: Vec<DivergenceItem>,
    /// Silent effects of the kernel.
    pub warnings: Vec<Warning>,
    /// MTU of the interface, bytes.
    pub mtu_bytes: u32,
}

impl Reading {
    /// `true` of an interface without an impairment, a divergence or a warning.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        let Self { impairment, divergence, warnings, mtu_bytes: _ } = self;
        impairment.is_empty() && divergence.is_empty() && warnings.is_empty()
    }

    /// The state `current`, compared with the last requested specification and disciplines. Without a
    /// request, rules have the names, and jitter the distribution, that equal ones had in `earlier` requests.
    pub(super) fn of(
        current: &InterfaceQdiscs,
        requested: Option<(&Impairment, &Target)>,
        earlier: &[Impairment],
        extensions: Extensions,
    ) -> Self {
        let earlier = if requested.is_none() { earlier } else { &[] };
        let main = requested.map(|(spec, target)| (spec, &target.stack));
        let requested_rules =
            requested.and_then(|(spec, target)| Some((requested_rules(spec)?, target)));
        let rest = impairment_from_stack(&current.stack, main);
        let earlier_rules: Vec<_> =
            earlier.iter().filter_map(super::bands::requested_rules).collect();
        let rules = rules_in_force(current, requested_rules, &earlier_rules);
        let mut impairment = with_rules(rest, rules);
        // The latest last: it counts.
        for request in earlier.iter().rev() {
            copy_distribution(request, &mut impairment);
        }
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
        divergence.extend(redirection(current.link.redirection));
        let by_hardware = current.ours.iter().filter(|qdisc| qdisc.offloaded);
        divergence.extend(by_hardware.map(offloaded));
        let surroundings = Surroundings {
            mtu_bytes: current.link.mtu_bytes,
            gso_bytes_max: current.link.gso_bytes_max,
            header_bytes: Link::HEADER_BYTES,
        };
        let mut warnings = warnings(&impairment, &surroundings);
        warnings.extend(requested.iter().flat_map(|(spec, _)| rounding_warnings(spec)));
        Self { warnings, impairment, divergence, mtu_bytes: current.link.mtu_bytes }
    }
}

/// Copies the distribution of a jitter, which a kernel does not report, to an equal one; so in rules of the same
/// name.
fn copy_distribution(from: &Impairment, to: &mut Impairment) {
    if let (
        Some(Latency::Stochastic { mean_ns, jitter_ns, distribution, .. }),
        Some(Latency::Stochastic {
            mean_ns: own_mean_ns,
            jitter_ns: own_jitter_ns,
            distribution: own,
            ..
        }),
    ) = (&from.latency, &mut to.latency)
        && (mean_ns, jitter_ns) == (&*own_mean_ns, &*own_jitter_ns)
    {
        own.clone_from(distribution);
    }
    let rules = |impairment: &Impairment| impairment.rules.clone().unwrap_or_default().0;
    let earlier = rules(from);
    for rule in to.rules.iter_mut().flat_map(|rules| &mut rules.0) {
        let same = earlier.iter().find(|other| other.name == rule.name);
        if let (Some(other), Some(own)) =
            (same.and_then(|other| other.impairment.as_ref()), &mut rule.impairment)
        {
            copy_distribution(other, own);
        }
    }
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

/// Layer of the redirection of incoming traffic.
pub(super) const REDIRECT: &str = "redirect";

/// Incoming traffic that does not pass the device with its impairment.
fn redirection(redirection: Redirection) -> Option<DivergenceItem> {
    let (field, requested, observed, message) = match redirection {
        Redirection::InForce => return None,
        Redirection::Missing => (
            "kind",
            "mirred",
            None,
            "redirect kind: asked for mirred, the kernel holds nothing: incoming traffic is not impaired",
        ),
        Redirection::DeviceGone => (
            "device",
            "ifb",
            None,
            "redirect device: incoming traffic is redirected to a device that does not exist any more: \
             all of it is dropped; the next change creates the device, and clear ends the redirection",
        ),
        Redirection::DeviceDown => (
            "device",
            "up",
            Some("down"),
            "redirect device: the device of the incoming traffic is down: all of it is dropped; the next \
             change sets it up",
        ),
    };
    let value = |text: &str| Value::Text(text.to_owned());
    Some(DivergenceItem {
        layer: REDIRECT.to_owned(),
        field: field.to_owned(),
        requested: Some(value(requested)),
        observed: observed.map(value),
        kind: DivergenceKind::Differs,
        message: message.to_owned(),
    })
}
