//! Bands of a direction with rules: `prio` at the root, and a stack in each band.
//!
//! ```text
//! prio 675b: ┬ 675b:1   excluded traffic, which passes first
//!            ├ 675b:2   traffic of the first rule with an impairment: netem ─ tbf ─ queue
//!            ├ …
//!            └ 675b:10  traffic that meets no rule: the impairment of the direction
//! ```
//!
//! Filters of `prio` select bands by the conditions of the rules ([`super::filter`]). Bands of a rule
//! change in place while their structure stays; all 16 bands always exist, so that the root stays.

use std::collections::BTreeMap;

use groundwave_impair::{Impairment, Rule, Rules};

use super::filter::{FilterMessage, RuleFilter};
use super::placed::{PlacedQdiscs, classify};
use super::stack::{BANDS, Layout};
use super::{Handle, Kernel, KernelError, Link, Qdisc};

/// Handle of the discipline of bands.
pub const ROOT: Handle = Handle::new(BANDS, 0);
/// Kind of the discipline of bands.
pub const PRIO: &str = "prio";
/// Number of bands: all that the kernel has.
pub const BANDS_COUNT: u16 = 16;
/// Band of excluded traffic.
pub const EXCLUDED: u16 = 1;
/// Band of traffic that meets no rule.
pub const REST: u16 = BANDS_COUNT;

/// Observed bands.
#[derive(Debug, Clone, Default)]
pub struct Bands {
    /// Discipline at the root.
    pub root: Qdisc,
    /// Disciplines by band; those of the rest are beside.
    pub bands: BTreeMap<u16, PlacedQdiscs>,
    /// Filters, in order of their preference.
    pub filters: Vec<FilterMessage>,
}

/// The rules of an impairment, if there are some.
#[must_use]
pub fn requested_rules(impairment: &Impairment) -> Option<&Rules> {
    impairment.rules.as_ref().filter(|rules| !rules.0.is_empty())
}

/// Band of each rule, in order.
pub fn bands_of(rules: &Rules) -> impl Iterator<Item = (u16, &Rule)> {
    let mut next = EXCLUDED;
    rules.0.iter().map(move |rule| {
        if rule.exclude {
            return (EXCLUDED, rule);
        }
        next += 1;
        (next, rule)
    })
}

/// Filters of rules, in order of their preference.
#[must_use]
pub fn filters_of(rules: &Rules) -> Vec<RuleFilter> {
    let numbers = bands_of(rules).zip(1..);
    let filters = numbers.flat_map(|((band, rule), number)| {
        RuleFilter::of(number, Handle::new(BANDS, band), &rule.selector)
    });
    filters.collect()
}

/// `struct tc_prio_qopt`: number of bands, and the band of each priority of a packet without a filter.
#[must_use]
pub fn prio_options() -> Vec<u8> {
    let mut options = u32::from(BANDS_COUNT).to_ne_bytes().to_vec();
    options.extend([(REST - 1) as u8; 16]);
    options
}

/// Reads the bands of an interface with this `root`: disciplines of the traffic that meets no rule, and those
/// of rules.
///
/// # Errors
/// When a discipline or filter cannot be read or decoded.
pub async fn read_bands<K: Kernel>(
    kernel: &mut K,
    link: &Link,
    root: Qdisc,
) -> Result<(PlacedQdiscs, Bands), KernelError> {
    let layouts: Vec<_> = (EXCLUDED..=REST).map(Layout::band).collect();
    let parents: Vec<_> = layouts.iter().flat_map(|layout| layout.parents()).collect();
    let qdiscs = kernel.get_many(link.index, &parents).await?;
    let (qdiscs, _) = qdiscs.as_chunks::<3>();
    let mut bands = BTreeMap::new();
    for ((number, layout), qdiscs) in (EXCLUDED..).zip(layouts).zip(qdiscs) {
        bands.insert(number, classify(layout, qdiscs.clone())?);
    }
    let mut filters = kernel.filters(link.index, ROOT).await?;
    filters.retain(|filter| filter.handle != 0);
    filters.sort_by_key(|filter| (filter.preference, filter.handle));
    let rest = bands.remove(&REST).unwrap_or_default();
    Ok((rest, Bands { root, bands, filters }))
}
