//! Desired disciplines and filters of an interface.

use std::collections::BTreeMap;

use groundwave_impair::equal;

use super::filter::RuleFilter;
use super::qdisc_params::qdisc_params;
use super::stack::Stack;
use super::tbf;

/// A desired stack, with parameters that only requests carry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Disciplines.
    pub stack: Stack,
    /// Size of the token bucket, bytes.
    pub burst: u32,
    /// Rules; the stack is then in the band of the traffic that meets none.
    pub bands: Option<BandsTarget>,
}

impl Target {
    /// A stack as read, for a rollback; `burst` is rounded as by the kernel.
    #[must_use]
    pub fn read(stack: Stack) -> Self {
        // Rounded up by half a tick: the kernel then stores the same number of ticks.
        let burst = stack.tbf.map_or(0, |tbf| {
            let down = tbf::bytes(tbf.buffer_ticks, tbf.rate);
            (down..down.saturating_add(2))
                .find(|bytes| tbf::ticks(*bytes, tbf.rate) >= tbf.buffer_ticks)
                .unwrap_or(down)
        });
        Self { stack, burst, bands: None }
    }
}

/// Desired stacks of the rules and their filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BandsTarget {
    /// Stacks by band; that of the rest is beside.
    pub bands: BTreeMap<u16, Target>,
    /// Filters, in order of their preference.
    pub filters: Vec<RuleFilter>,
}

impl Target {
    /// `true` without disciplines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty() && self.bands.is_none()
    }

    /// Equality of this plan with disciplines and filters as read.
    #[must_use]
    pub fn is_same(&self, read: &Self) -> bool {
        let same = |plan: &Stack, read: &Stack| {
            equal(&qdisc_params(plan, None), &qdisc_params(read, Some(plan)))
        };
        let same_bands = match (&self.bands, &read.bands) {
            (None, None) => true,
            (Some(own), Some(read)) => {
                own.filters == read.filters
                    && own.bands.len() == read.bands.len()
                    && own.bands.iter().zip(&read.bands).all(|((number, own), (other, read))| {
                        number == other && same(&own.stack, &read.stack)
                    })
            }
            _ => false,
        };
        same_bands && same(&self.stack, &read.stack)
    }
}
