//! The stack of disciplines of an impairment, and the impairment of a stack.
//!
//! `netem` 6757: at the root, `tbf` 6758: under it, a queue 6759: at the bottom. The handles are of this
//! program's own: `1:` is what every tutorial and many a script uses. A kernel with `netem` always
//! gets it, neutral if unused: adding a delay to a rate would otherwise need a new root, which
//! drops the packets of the old one. For the same reason `tbf` always has an own queue under it,
//! so that a limit can be set without a new queue.

use std::sync::Arc;

use groundwave_impair::{
    Capabilities, Distribution, Impairment, ImpairmentField, Latency, Loss, Queue, QueueLimit,
    QueueUnit, Rate,
};

use super::fifo::Fifo;
use super::limits::shaper_limit;
use super::netem::Netem;
use super::netem_plan;
use super::tbf::{self, Tbf};
use super::{Handle, KernelError, Link};

/// First of the numbers of own disciplines: "gW" in ASCII.
const OWN: u16 = 0x6757;
/// Handle of `netem`.
pub const NETEM: Handle = Handle::new(OWN, 0);
/// Class of `netem` in which `tbf` or the queue is.
pub const UNDER_NETEM: Handle = Handle::new(OWN, 1);
/// Handle of `tbf`.
pub const TBF: Handle = Handle::new(OWN + 1, 0);
/// Class of `tbf` in which the queue is.
pub const UNDER_TBF: Handle = Handle::new(OWN + 1, 1);
/// Handle of the queue.
pub const LEAF: Handle = Handle::new(OWN + 2, 0);
/// Handle of a queue in the place of one with the first handle: the kernel replaces a discipline by one
/// of another kind in one step only if their handles differ.
pub const SECOND_LEAF: Handle = Handle::new(OWN + 3, 0);

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
            Some(_) => UNDER_NETEM,
            None => Handle::ROOT,
        }
    }

    /// Parent of the queue.
    #[must_use]
    pub fn under_tbf(&self) -> Handle {
        match self.tbf {
            Some(_) => UNDER_TBF,
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
        netem: capabilities.netem.then(|| netem_plan::plan(impairment)),
        table,
        tbf,
        leaf: requested.or(derived),
        second_leaf: false,
    })
}

fn supported(impairment: &Impairment, capabilities: &Capabilities) -> Result<(), KernelError> {
    let extensions = capabilities.extensions;
    let unsupported = |what: &str, module: Option<&str>| {
        Err(KernelError::Unsupported { what: what.to_owned(), module: module.map(str::to_owned) })
    };
    let by_netem =
        |field: &ImpairmentField| !matches!(field, ImpairmentField::Rate | ImpairmentField::Queue);
    let mut fields = ImpairmentField::ALL.into_iter().filter(by_netem);
    if let Some(field) = fields.find(|field| field.is_in(impairment) && !capabilities.netem) {
        return unsupported(field.name(), Some("sch_netem"));
    }
    if impairment.rate.is_some() && !capabilities.tbf {
        return unsupported("rate", Some("sch_tbf"));
    }
    if matches!(impairment.loss, Some(Loss::GilbertElliott { .. })) && !extensions.gilbert_elliott {
        return unsupported("loss of the model gilbert-elliott", None);
    }
    match &impairment.latency {
        Some(Latency::Stochastic { distribution: Distribution::ParetoNormal {}, .. })
            if !extensions.paretonormal =>
        {
            unsupported("the distribution paretonormal", None)
        }
        _ => Ok(()),
    }
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
        netem_plan::read(netem, requested.map(|(spec, _)| spec))
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
    let requested_queue = requested.and_then(|(spec, _)| spec.queue);
    impairment.queue = stack
        .leaf
        .filter(|_| requested_queue.is_some() || !stack.leaf_is_derived())
        .map(|leaf| Queue { limit: QueueLimit { unit: leaf.unit, value: leaf.limit } });
    impairment
}
