//! The stack of disciplines of an impairment, and the impairment of a stack.
//!
//! `netem` 6757: at the root, `tbf` 6758: under it, a queue 6759: at the bottom; the same in each band of
//! a direction with rules ([`super::bands`]). The handles are of this
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
/// Number of the discipline of bands, which takes the root where a direction has rules.
pub const BANDS: u16 = OWN + 4;
/// First of the numbers of the disciplines in bands, four for each.
const IN_BANDS: u16 = 0x6760;
/// Handle of `netem` at the root.
pub const NETEM: Handle = Layout::ROOT.netem();
/// Class of that `netem` in which `tbf` or the queue is.
pub const UNDER_NETEM: Handle = Layout::ROOT.class_of_netem();
/// Handle of `tbf` without bands.
pub const TBF: Handle = Layout::ROOT.tbf();
/// Handle of the queue without bands.
pub const LEAF: Handle = Layout::ROOT.leaf(false);

/// Place of a stack on its interface: the parent of its first discipline, and the handles of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Parent of the first discipline.
    pub parent: Handle,
    /// Number of `netem`.
    first: u16,
}

impl Default for Layout {
    fn default() -> Self {
        Self::ROOT
    }
}

impl Layout {
    /// The stack of a direction without rules.
    pub const ROOT: Self = Self { parent: Handle::ROOT, first: OWN };

    /// The stack in a band, 1 to 16.
    #[must_use]
    pub const fn band(number: u16) -> Self {
        Self { parent: Handle::new(BANDS, number), first: IN_BANDS + 4 * number }
    }

    /// Handle of `netem`.
    #[must_use]
    pub const fn netem(self) -> Handle {
        Handle::new(self.first, 0)
    }

    /// Class of `netem` in which `tbf` or the queue is.
    #[must_use]
    pub const fn class_of_netem(self) -> Handle {
        Handle::new(self.first, 1)
    }

    /// Handle of `tbf`.
    #[must_use]
    pub const fn tbf(self) -> Handle {
        Handle::new(self.first + 1, 0)
    }

    /// Class of `tbf` in which the queue is.
    #[must_use]
    pub const fn class_of_tbf(self) -> Handle {
        Handle::new(self.first + 1, 1)
    }

    /// Handle of the queue; the second one is that in the place of one with the first handle: the kernel
    /// replaces a discipline by one of another kind in one step only if their handles differ.
    #[must_use]
    pub const fn leaf(self, second: bool) -> Handle {
        Handle::new(self.first + if second { 3 } else { 2 }, 0)
    }

    /// Possible parents of the disciplines.
    #[must_use]
    pub const fn parents(self) -> [Handle; 3] {
        [self.parent, self.class_of_netem(), self.class_of_tbf()]
    }
}

/// Own disciplines of one interface, from the root down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// Place on the interface.
    pub layout: Layout,
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
    /// No disciplines at a place.
    #[must_use]
    pub fn at(layout: Layout) -> Self {
        Self { layout, ..Self::default() }
    }

    /// Absence of own disciplines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.netem.is_none() && self.tbf.is_none() && self.leaf.is_none()
    }

    /// Handle of the queue.
    #[must_use]
    pub fn leaf_handle(&self) -> Handle {
        self.layout.leaf(self.second_leaf)
    }

    /// Parent of `tbf`.
    #[must_use]
    pub fn under_netem(&self) -> Handle {
        match self.netem {
            Some(_) => self.layout.class_of_netem(),
            None => self.layout.parent,
        }
    }

    /// Parent of the queue.
    #[must_use]
    pub fn under_tbf(&self) -> Handle {
        match self.tbf {
            Some(_) => self.layout.class_of_tbf(),
            None => self.under_netem(),
        }
    }

    /// Equality of the queue with the default one of `tbf`, or of a band without other disciplines.
    #[must_use]
    pub fn leaf_is_derived(&self) -> bool {
        match (&self.tbf, &self.leaf) {
            (Some(tbf), Some(leaf)) => leaf.unit == QueueUnit::Bytes && leaf.limit == tbf.limit,
            (None, Some(leaf)) => {
                self.layout != Layout::ROOT && self.netem.is_none() && *leaf == BAND_QUEUE
            }
            _ => false,
        }
    }
}

/// Queue of a band without other disciplines: that of an interface by default, which counts.
const BAND_QUEUE: Fifo = Fifo { unit: QueueUnit::Packets, limit: 1000 };

/// The stack for `impairment` at `layout` on `link`, without its rules; `table` is its distribution of delays, if it needs one.
///
/// # Errors
/// [`KernelError::Unsupported`] for a missing kernel module or a disabled extension.
pub fn plan(
    layout: Layout,
    impairment: &Impairment,
    link: &Link,
    capabilities: &Capabilities,
    table: Option<Arc<[i16]>>,
) -> Result<Stack, KernelError> {
    supported(impairment, capabilities)?;
    if impairment.is_empty() && layout == Layout::ROOT {
        return Ok(Stack::default());
    }
    // A band changes with its rules anyway, and a kernel takes no duplicating netem beside others.
    let has_netem = match layout {
        Layout::ROOT => capabilities.netem,
        _ => uses_netem(impairment),
    };
    let queue = impairment.queue.map(|queue| queue.limit);
    let tbf = impairment.rate.map(|rate| plan_tbf(rate, queue, link));
    let requested = queue.map(|limit| Fifo { unit: limit.unit, limit: limit.value });
    let derived = tbf.map(|tbf| Fifo { unit: QueueUnit::Bytes, limit: tbf.limit });
    let leaf = requested.or(derived);
    let is_bare = layout != Layout::ROOT && !has_netem;
    Ok(Stack {
        layout,
        netem: has_netem.then(|| netem_plan::plan(impairment)),
        table,
        tbf,
        leaf: leaf.or(is_bare.then_some(BAND_QUEUE)),
        second_leaf: false,
    })
}

/// Fields of an impairment that are those of `netem`.
fn fields_of_netem() -> impl Iterator<Item = ImpairmentField> {
    use ImpairmentField::{Queue, Rate, Rules};
    ImpairmentField::ALL.into_iter().filter(|field| !matches!(field, Rate | Queue | Rules))
}

fn uses_netem(impairment: &Impairment) -> bool {
    fields_of_netem().any(|field| field.is_in(impairment))
}

fn supported(impairment: &Impairment, capabilities: &Capabilities) -> Result<(), KernelError> {
    let extensions = capabilities.extensions;
    let unsupported = |what: &str, module: Option<&str>| {
        Err(KernelError::Unsupported { what: what.to_owned(), module: module.map(str::to_owned) })
    };
    let mut fields = fields_of_netem();
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
