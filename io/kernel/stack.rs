//! The stack of disciplines that an impairment becomes, and the impairment a stack amounts to.
//!
//! `netem` 1: at the root, `tbf` 2: under it, a queue 3: at the bottom. Where the kernel has
//! `netem` it is always there, neutral when nothing asks for it: otherwise adding a delay to a
//! rate would mean a new root, and a new root loses what waits in the old one. For the same reason
//! `tbf` always has a queue of ours under it, so that a limit can be set without a new queue.

use std::sync::Arc;

use groundwave_systems::impair::{
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

/// Our disciplines of one interface, from the root down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// Delay, loss and so on.
    pub netem: Option<Netem>,
    /// The distribution of delays; no kernel shows it.
    pub table: Option<Arc<[i16]>>,
    /// Rate.
    pub tbf: Option<Tbf>,
    /// The queue.
    pub leaf: Option<Fifo>,
}

impl Stack {
    /// Whether there is nothing of ours.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.netem.is_none() && self.tbf.is_none() && self.leaf.is_none()
    }

    /// Where `tbf` hangs, or would.
    #[must_use]
    pub fn under_netem(&self) -> Handle {
        match self.netem {
            Some(_) => Handle::new(1, 1),
            None => Handle::ROOT,
        }
    }

    /// Where the queue hangs, or would.
    #[must_use]
    pub fn under_tbf(&self) -> Handle {
        match self.tbf {
            Some(_) => Handle::new(2, 1),
            None => self.under_netem(),
        }
    }

    /// Whether the queue is only what `tbf` would have made by itself.
    #[must_use]
    pub fn leaf_is_derived(&self) -> bool {
        match (&self.tbf, &self.leaf) {
            (Some(tbf), Some(leaf)) => leaf.unit == QueueUnit::Bytes && leaf.limit == tbf.limit,
            _ => false,
        }
    }
}

/// The stack for `impairment` on `link`; `table` is that of its distribution, if it needs one.
///
/// # Errors
/// [`KernelError::Unsupported`] for what the kernel lacks or was not turned on.
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
    let asked = queue.map(|limit| Fifo {
        unit: limit.unit,
        limit: limit.value,
    });
    let derived = tbf.map(|tbf| Fifo {
        unit: QueueUnit::Bytes,
        limit: tbf.limit,
    });
    Ok(Stack {
        netem: capabilities.netem.then(|| plan_netem(impairment)),
        table,
        tbf,
        leaf: asked.or(derived),
    })
}

fn supported(impairment: &Impairment, capabilities: &Capabilities) -> Result<(), KernelError> {
    let extensions = capabilities.extensions;
    let refused = |what: &str, module: Option<&str>| {
        Err(KernelError::Unsupported {
            what: what.to_owned(),
            module: module.map(str::to_owned),
        })
    };
    let asked = [
        ("latency", impairment.latency.is_some()),
        ("loss", impairment.loss.is_some()),
        ("duplication", impairment.duplication.is_some()),
        ("reordering", impairment.reordering.is_some()),
        ("corruption", impairment.corruption.is_some()),
    ];
    if let Some((what, _)) = asked
        .iter()
        .find(|(_, asked)| *asked && !capabilities.netem)
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
        Some(Latency::Stochastic {
            distribution: Distribution::ParetoNormal {},
            ..
        }) if !extensions.paretonormal => refused("the distribution paretonormal", None),
        _ => Ok(()),
    }
}

fn plan_netem(impairment: &Impairment) -> Netem {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let correlated = |correlation: Option<f64>| correlation.map_or(0, probability);
    let mut netem = Netem {
        limit: netem_limit(impairment),
        ..Netem::default()
    };
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
        // The kernel wants h, the chance to survive Bad, and 1-k, the chance to be lost in Good;
        // the interface calls the latter one_minus_h and the chance to be lost in Bad one_minus_k.
        Some(Loss::GilbertElliott {
            p,
            r,
            one_minus_h,
            one_minus_k,
        }) => {
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
    // Half up: the shaper counts bytes.
    let bytes_per_s = rate.bps / 8 + u64::from(rate.bps % 8 >= 4);
    let limit = shaper_limit(rate, queue);
    Tbf::new(bytes_per_s, rate.burst_bytes, link.frame_bytes(), limit)
}

/// The impairment that `stack` amounts to. Where the kernel's numbers leave a choice (a zero, a
/// distribution, a burst whose last bytes the kernel does not keep) and `asked` would have become
/// the very same numbers, the choice is that of `asked`.
#[must_use]
pub fn impairment_from_stack(stack: &Stack, asked: Option<(&Impairment, &Stack)>) -> Impairment {
    let mut impairment = stack
        .netem
        .as_ref()
        .map_or_else(Impairment::default, |netem| {
            let asked = asked.and_then(|(words, plan)| Some((words, plan.netem.as_ref()?)));
            read_netem(netem, asked)
        });
    impairment.rate = stack.tbf.map(|tbf| {
        let asked = asked.and_then(|(words, plan)| Some((words.rate?, plan.tbf?)));
        let unwrapped = asked.map_or(tbf, |(_, plan)| tbf.unwrapped(&plan));
        let same = |plan: &Tbf| {
            plan.rate == tbf.rate
                && plan.buffer_ticks.abs_diff(unwrapped.buffer_ticks) <= plan.slack_ticks()
        };
        Rate {
            bps: tbf.rate.saturating_mul(8),
            burst_bytes: match asked {
                Some((rate, plan)) if same(&plan) => rate.burst_bytes,
                _ => tbf::bytes(tbf.buffer_ticks, tbf.rate),
            },
        }
    });
    let asked_queue = asked.and_then(|(words, _)| words.queue);
    impairment.queue = stack
        .leaf
        .filter(|_| asked_queue.is_some() || !stack.leaf_is_derived())
        .map(|leaf| Queue {
            limit: QueueLimit {
                unit: leaf.unit,
                value: leaf.limit,
            },
        });
    impairment
}

fn read_netem(netem: &Netem, asked: Option<(&Impairment, &Netem)>) -> Impairment {
    let correlation = |raw: u32, asked: Option<f64>| match (raw, asked) {
        (0, None) => None,
        _ => Some(fraction(raw, 1.0)),
    };
    let words = asked.map(|(words, _)| words);
    let loss = words.and_then(|words| words.loss.as_ref());
    let duplication = words.and_then(|words| words.duplication);
    let reordering = words.and_then(|words| words.reordering);
    let corruption = words.and_then(|words| words.corruption);
    Impairment {
        latency: read_latency(netem, asked),
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

fn read_latency(netem: &Netem, asked: Option<(&Impairment, &Netem)>) -> Option<Latency> {
    let words = asked.and_then(|(words, _)| words.latency.as_ref());
    let whole = |ns: i64| u64::try_from(ns).unwrap_or(0);
    if netem.jitter_ns == 0 {
        let duration_ns = whole(netem.latency_ns);
        return (duration_ns != 0 || words.is_some()).then_some(Latency::Constant { duration_ns });
    }
    let (distribution, correlation) = match words {
        Some(Latency::Stochastic {
            distribution,
            correlation,
            ..
        }) => (distribution.clone(), *correlation),
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

fn read_loss(netem: &Netem, words: Option<&Loss>) -> Option<Loss> {
    if let Some([p, r, survives_bad, lost_in_good]) = netem.gemodel {
        return Some(Loss::GilbertElliott {
            p: fraction(p, 1.0),
            r: fraction(r, 1.0),
            one_minus_h: fraction(lost_in_good, 1.0),
            one_minus_k: fraction(u32::MAX - survives_bad, 1.0),
        });
    }
    let asked = match words {
        Some(Loss::Bernoulli { correlation, .. }) => Some(*correlation),
        _ => None,
    };
    let correlated = netem.loss_corr != 0 || asked.flatten().is_some();
    (netem.loss != 0 || asked.is_some()).then(|| Loss::Bernoulli {
        pct: fraction(netem.loss, 100.0),
        correlation: correlated.then(|| fraction(netem.loss_corr, 1.0)),
    })
}
