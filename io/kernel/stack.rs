//! The stack of disciplines of an impairment, and the impairment of a stack.
//!
//! `netem` 1: at the root, `tbf` 2: under it, a queue 3: at the bottom. A kernel with `netem` always
//! gets it, neutral if unused: adding a delay to a rate would otherwise need a new root, which
//! drops the packets of the old one. For the same reason `tbf` always has an own queue under it,
//! so that a limit can be set without a new queue.

use std::sync::Arc;

use groundwave_impair::{
    Capabilities, Corruption, Distribution, Duplication, Impairment, Latency, Loss, Queue,
    QueueLimit, QueueUnit, Rate, Reordering,
};

use super::fifo::Fifo;
use super::limits::{netem_limit, shaper_limit};
use super::netem::{Netem, fraction, probability};
use super::tbf::{self, Tbf};
use super::{Handle, KernelError, Link};

/// Handle of `netem`.
pub const NETEM: Handle = Handle::new(1, 0);
/// Handle of `tbf`.
pub const TBF: Handle = Handle::new(2, 0);
/// Handle of the queue.
pub const LEAF: Handle = Handle::new(3, 0);
/// Handle of a queue in the place of one with the first handle: the kernel replaces a discipline by one
/// of another kind in one step only if their handles differ.
pub const SECOND_LEAF: Handle = Handle::new(4, 0);

/// Own disciplines of one interface, from the root down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// Delay, loss, duplication, reordering and corruption.
    pub netem: Option<Netem>,
    /// Distribution of delays, which the kernel does not report.
    pub table: Option<Arc<[i16]>>,
    /// Rate.
    pub tbf: Option<Tbf>,
    /// Queue.
    pub leaf: Option<Fifo>,
    /// Use of the second handle by the queue; only of a stack as read.
    pub second_leaf: bool,
}

impl Stack {
    /// Absence of own disciplines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.netem.is_none() && self.tbf.is_none() && self.leaf.is_none()
    }

    /// Handle of the queue.
    #[must_use]
    pub fn leaf_handle(&self) -> Handle {
        if self.second_leaf { SECOND_LEAF } else { LEAF }
    }

    /// Parent of `tbf`.
    #[must_use]
    pub fn under_netem(&self) -> Handle {
        match self.netem {
            Some(_) => Handle::new(1, 1),
            None => Handle::ROOT,
        }
    }

    /// Parent of the queue.
    #[must_use]
    pub fn under_tbf(&self) -> Handle {
        match self.tbf {
            Some(_) => Handle::new(2, 1),
            None => self.under_netem(),
        }
    }

    /// Equality of the queue with the default one of `tbf`.
    #[must_use]
    pub fn leaf_is_derived(&self) -> bool {
        match (&self.tbf, &self.leaf) {
            (Some(tbf), Some(leaf)) => leaf.unit == QueueUnit::Bytes && leaf.limit == tbf.limit,
            _ => false,
        }
    }
}

/// The stack for `impairment` on `link`; `table` is its distribution of delays, if it needs one.
///
/// # Errors
/// [`KernelError::Unsupported`] for a missing kernel module or a disabled extension.
pub fn plan(
    impairment: &Impairment,
    link: &Link,
    capabilities: &Capabilities,
    table: Option<Arc<[i16]>>,
) -> Result<Stack, KernelError> {
    supported(impairment, capabilities)?;
    if impairment.is_empty() {
        return Ok(Stack::default());
    }
    let queue = impairment.queue.map(|queue| queue.limit);
    let tbf = impairment.rate.map(|rate| plan_tbf(rate, queue, link));
    let requested = queue.map(|limit| Fifo { unit: limit.unit, limit: limit.value });
    let derived = tbf.map(|tbf| Fifo { unit: QueueUnit::Bytes, limit: tbf.limit });
    Ok(Stack {
        netem: capabilities.netem.then(|| plan_netem(impairment)),
        table,
        tbf,
        leaf: requested.or(derived),
        second_leaf: false,
    })
}

fn supported(impairment: &Impairment, capabilities: &Capabilities) -> Result<(), KernelError> {
    let extensions = capabilities.extensions;
    let refused = |what: &str, module: Option<&str>| {
        Err(KernelError::Unsupported { what: what.to_owned(), module: module.map(str::to_owned) })
    };
    let requested = [
        ("latency", impairment.latency.is_some()),
        ("loss", impairment.loss.is_some()),
        ("duplication", impairment.duplication.is_some()),
        ("reordering", impairment.reordering.is_some()),
        ("corruption", impairment.corruption.is_some()),
    ];
    if let Some((what, _)) =
        requested.iter().find(|(_, requested)| *requested && !capabilities.netem)
    {
        return refused(what, Some("sch_netem"));
    }
    if impairment.rate.is_some() && !capabilities.tbf {
        return refused("rate", Some("sch_tbf"));
    }
    if matches!(impairment.loss, Some(Loss::GilbertElliott { .. })) && !extensions.gilbert_elliott {
        return refused("loss of the model gilbert-elliott", None);
    }
    match &impairment.latency {
        Some(Latency::Stochastic { distribution: Distribution::ParetoNormal {}, .. })
            if !extensions.paretonormal =>
        {
            refused("the distribution paretonormal", None)
        }
        _ => Ok(()),
    }
}

fn plan_netem(impairment: &Impairment) -> Netem {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let correlated = |correlation: Option<f64>| correlation.map_or(0, probability);
    let mut netem = Netem { limit: netem_limit(impairment), ..Netem::default() };
    if let Some(latency) = &impairment.latency {
        netem.latency_ns = signed(latency.mean_ns());
        netem.jitter_ns = signed(latency.jitter_ns());
        if let Latency::Stochastic { correlation, .. } = latency {
            netem.delay_corr = correlated(*correlation);
        }
    }
    match impairment.loss {
        Some(Loss::Bernoulli { pct, correlation }) => {
            netem.loss = probability(pct / 100.0);
            netem.loss_corr = correlated(correlation);
        }
        // The kernel takes h, the survival probability in Bad, and 1-k, the loss probability in Good;
        // the interface names the latter one_minus_h and the loss probability in Bad one_minus_k.
        Some(Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }) => {
            let survives_bad = u32::MAX - probability(one_minus_k);
            let lost_in_good = probability(one_minus_h);
            netem.gemodel = Some([probability(p), probability(r), survives_bad, lost_in_good]);
        }
        None => {}
    }
    if let Some(duplication) = impairment.duplication {
        netem.duplicate = probability(duplication.pct / 100.0);
        netem.dup_corr = correlated(duplication.correlation);
    }
    if let Some(reordering) = impairment.reordering {
        netem.gap = reordering.gap.get();
        netem.reorder = probability(reordering.pct / 100.0);
        netem.reorder_corr = correlated(reordering.correlation);
    }
    if let Some(corruption) = impairment.corruption {
        netem.corrupt = probability(corruption.pct / 100.0);
        netem.corrupt_corr = correlated(corruption.correlation);
    }
    netem
}

fn plan_tbf(rate: Rate, queue: Option<QueueLimit>, link: &Link) -> Tbf {
    // Rounded half up: the shaper counts bytes.
    let bytes_per_s = rate.bps / 8 + u64::from(rate.bps % 8 >= 4);
    let limit = shaper_limit(rate, queue);
    Tbf::new(bytes_per_s, rate.burst_bytes, link.frame_bytes(), limit)
}

/// The impairment of `stack`. Where the kernel's numbers are ambiguous (a zero, a distribution, the
/// last bytes of a burst) and `requested` results in the same numbers, that of `requested` is returned.
#[must_use]
pub fn impairment_from_stack(
    stack: &Stack,
    requested: Option<(&Impairment, &Stack)>,
) -> Impairment {
    let mut impairment = stack.netem.as_ref().map_or_else(Impairment::default, |netem| {
        let requested = requested.and_then(|(spec, plan)| Some((spec, plan.netem.as_ref()?)));
        read_netem(netem, requested)
    });
    impairment.rate = stack.tbf.map(|tbf| {
        let requested = requested.and_then(|(spec, plan)| Some((spec.rate?, plan.tbf?)));
        let unwrapped = requested.map_or(tbf, |(_, plan)| tbf.unwrapped(&plan));
        let same = |plan: &Tbf| {
            plan.rate == tbf.rate
                && plan.buffer_ticks.abs_diff(unwrapped.buffer_ticks) <= plan.slack_ticks()
        };
        Rate {
            bps: tbf.rate.saturating_mul(8),
            burst_bytes: match requested {
                Some((rate, plan)) if same(&plan) => rate.burst_bytes,
                _ => tbf::bytes(tbf.buffer_ticks, tbf.rate),
            },
        }
    });
    let asked_queue = requested.and_then(|(spec, _)| spec.queue);
    impairment.queue = stack
        .leaf
        .filter(|_| asked_queue.is_some() || !stack.leaf_is_derived())
        .map(|leaf| Queue { limit: QueueLimit { unit: leaf.unit, value: leaf.limit } });
    impairment
}

fn read_netem(netem: &Netem, requested: Option<(&Impairment, &Netem)>) -> Impairment {
    let correlation = |raw: u32, requested: Option<f64>| match (raw, requested) {
        (0, None) => None,
        _ => Some(fraction(raw, 1.0)),
    };
    let spec = requested.map(|(spec, _)| spec);
    let loss = spec.and_then(|spec| spec.loss.as_ref());
    let duplication = spec.and_then(|spec| spec.duplication);
    let reordering = spec.and_then(|spec| spec.reordering);
    let corruption = spec.and_then(|spec| spec.corruption);
    Impairment {
        latency: read_latency(netem, requested),
        loss: read_loss(netem, loss),
        duplication: (netem.duplicate != 0 || duplication.is_some()).then(|| Duplication {
            pct: fraction(netem.duplicate, 100.0),
            correlation: correlation(netem.dup_corr, duplication.and_then(|d| d.correlation)),
        }),
        reordering: std::num::NonZeroU32::new(netem.gap).map(|gap| Reordering {
            pct: fraction(netem.reorder, 100.0),
            gap,
            correlation: correlation(netem.reorder_corr, reordering.and_then(|r| r.correlation)),
        }),
        corruption: (netem.corrupt != 0 || corruption.is_some()).then(|| Corruption {
            pct: fraction(netem.corrupt, 100.0),
            correlation: correlation(netem.corrupt_corr, corruption.and_then(|c| c.correlation)),
        }),
        ..Impairment::default()
    }
}

fn read_latency(netem: &Netem, requested: Option<(&Impairment, &Netem)>) -> Option<Latency> {
    let spec = requested.and_then(|(spec, _)| spec.latency.as_ref());
    let whole = |ns: i64| u64::try_from(ns).unwrap_or(0);
    if netem.jitter_ns == 0 {
        let duration_ns = whole(netem.latency_ns);
        return (duration_ns != 0 || spec.is_some()).then_some(Latency::Constant { duration_ns });
    }
    let (distribution, correlation) = match spec {
        Some(Latency::Stochastic { distribution, correlation, .. }) => {
            (distribution.clone(), *correlation)
        }
        _ => (Distribution::default(), None),
    };
    let correlated = netem.delay_corr != 0 || correlation.is_some();
    Some(Latency::Stochastic {
        mean_ns: whole(netem.latency_ns),
        jitter_ns: whole(netem.jitter_ns),
        distribution,
        correlation: correlated.then(|| fraction(netem.delay_corr, 1.0)),
    })
}

fn read_loss(netem: &Netem, spec: Option<&Loss>) -> Option<Loss> {
    if let Some([p, r, survives_bad, lost_in_good]) = netem.gemodel {
        return Some(Loss::GilbertElliott {
            p: fraction(p, 1.0),
            r: fraction(r, 1.0),
            one_minus_h: fraction(lost_in_good, 1.0),
            one_minus_k: fraction(u32::MAX - survives_bad, 1.0),
        });
    }
    let requested = match spec {
        Some(Loss::Bernoulli { correlation, .. }) => Some(*correlation),
        _ => None,
    };
    let correlated = netem.loss_corr != 0 || requested.flatten().is_some();
    (netem.loss != 0 || requested.is_some()).then(|| Loss::Bernoulli {
        pct: fraction(netem.loss, 100.0),
        correlation: correlated.then(|| fraction(netem.loss_corr, 1.0)),
    })
}
