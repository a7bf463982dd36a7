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

use std::collections::{BTreeMap, BTreeSet};

use groundwave_impair::{Impairment, Rule, Rules, equal};

use super::filter::{FLOWER, FilterMessage, FilterRequest, RuleFilter};
use super::qdisc_params::qdisc_params;
use super::query::{InterfaceQdiscs, PlacedQdiscs, classify};
use super::stack::{BANDS, Layout, Stack};
use super::steps::{Target, steps};
use super::{Handle, Kernel, KernelError, Link, Qdisc, Request, Verb};

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

/// Desired stacks of the rules and their filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BandsTarget {
    /// Stacks by band; that of the rest is beside.
    pub bands: BTreeMap<u16, Target>,
    /// Filters, in order of their preference.
    pub filters: Vec<RuleFilter>,
}

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

/// Reads the bands of an interface with this `root`.
///
/// # Errors
/// When a discipline or filter cannot be read or decoded.
pub async fn read_bands<K: Kernel>(
    kernel: &mut K,
    link: Link,
    root: Qdisc,
) -> Result<InterfaceQdiscs, KernelError> {
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
    let PlacedQdiscs { stack, ours, foreign } = bands.remove(&REST).unwrap_or_default();
    let bands = Some(Bands { root, bands, filters });
    Ok(InterfaceQdiscs { link, stack, ours, foreign, bands })
}

/// Requests that change an interface, in order: those of filters come last.
#[derive(Debug, Default)]
pub struct AllSteps {
    /// Requests for disciplines.
    pub disciplines: Vec<Request>,
    /// Requests for filters.
    pub filters: Vec<FilterRequest>,
}

/// The requests that change the disciplines and filters `from` into those of `to`.
#[must_use]
pub fn all_steps(from: &InterfaceQdiscs, to: &Target) -> AllSteps {
    let index = from.link.index;
    match (&from.bands, &to.bands) {
        (None, None) => {
            let disciplines = steps(index, &from.stack, to);
            AllSteps { disciplines, filters: Vec::new() }
        }
        (None, Some(goal)) => {
            let verb = if from.is_empty() { Verb::Create } else { Verb::Replace };
            let mut disciplines = vec![root(index, verb)];
            disciplines.extend(band_steps(index, &BTreeMap::new(), goal));
            disciplines.extend(steps(index, &Stack::at(to.stack.layout), to));
            AllSteps { disciplines, filters: filter_steps(index, &[], goal) }
        }
        (Some(bands), None) => {
            let mut disciplines = steps(index, &Stack::default(), to);
            match disciplines.first_mut() {
                // In one step: no packet passes without a discipline in between.
                Some(first) => first.verb = Verb::Replace,
                None => disciplines.push(Request {
                    handle: bands.root.handle,
                    options: None,
                    ..root(index, Verb::Delete)
                }),
            }
            AllSteps { disciplines, filters: Vec::new() }
        }
        (Some(bands), Some(goal)) => {
            let mut disciplines = Vec::new();
            if bands.root.options != prio_options() {
                disciplines.push(root(index, Verb::Change));
            }
            disciplines.extend(band_steps(index, &bands.bands, goal));
            disciplines.extend(steps(index, &from.stack, to));
            AllSteps { disciplines, filters: filter_steps(index, &bands.filters, goal) }
        }
    }
}

fn root(index: u32, verb: Verb) -> Request {
    let options = Some(prio_options());
    Request { verb, index, handle: ROOT, parent: Handle::ROOT, kind: PRIO, options }
}

/// Requests for the bands of rules.
fn band_steps(index: u32, from: &BTreeMap<u16, PlacedQdiscs>, goal: &BandsTarget) -> Vec<Request> {
    let numbers: BTreeSet<_> = from.keys().chain(goal.bands.keys()).copied().collect();
    let requests = numbers.into_iter().flat_map(|number| {
        let nothing = Stack::at(Layout::band(number));
        let none = Target { stack: nothing.clone(), ..Target::default() };
        let before = from.get(&number).map_or(&nothing, |placed| &placed.stack);
        steps(index, before, goal.bands.get(&number).unwrap_or(&none))
    });
    requests.collect()
}

/// Handles of the filters of a preference: a filter with other keys is made beside the one that it takes
/// the place of, so that packets always meet one of them.
const HANDLES: [u32; 2] = [1, 2];

/// Requests for the filters of rules; those of other programs at other preferences stay.
fn filter_steps(index: u32, from: &[FilterMessage], goal: &BandsTarget) -> Vec<FilterRequest> {
    let request = |(preference, protocol), handle, options| FilterRequest {
        index,
        parent: ROOT,
        preference,
        handle,
        protocol,
        kind: FLOWER,
        options,
    };
    let mut requests = Vec::new();
    for filter in &goal.filters {
        let place = (filter.preference(), filter.protocol());
        let mut present = from.iter().filter(|one| one.preference == place.0);
        let present = present.next();
        let before = present.and_then(RuleFilter::read);
        if before.as_ref() == Some(filter) {
            continue;
        }
        let options = Some(filter.options());
        match (present, before) {
            (None, _) => requests.push(request(place, HANDLES[0], options)),
            (Some(present), Some(before)) if before.selector == filter.selector => {
                requests.push(request(place, present.handle, options));
            }
            (Some(present), _) => {
                let other = HANDLES.into_iter().find(|handle| *handle != present.handle);
                requests.push(request(place, other.unwrap_or_default(), options));
                requests.push(request((place.0, present.protocol), present.handle, None));
            }
        }
    }
    let is_kept = |before: &RuleFilter| {
        goal.filters.iter().any(|one| one.preference() == before.preference())
    };
    for present in from {
        let before = RuleFilter::read(present);
        if before.is_some_and(|before| !is_kept(&before)) {
            let place = (present.preference, present.protocol);
            requests.push(request(place, present.handle, None));
        }
    }
    requests
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

    /// The disciplines and filters of an interface as read, for a rollback.
    #[must_use]
    pub fn read_all(current: &InterfaceQdiscs) -> Self {
        let bands = current.bands.as_ref().map(|bands| {
            let targets = bands.bands.iter().filter(|(_, placed)| !placed.stack.is_empty());
            BandsTarget {
                bands: targets
                    .map(|(number, placed)| (*number, Self::read(placed.stack.clone())))
                    .collect(),
                filters: bands.filters.iter().filter_map(RuleFilter::read).collect(),
            }
        });
        Self { bands, ..Self::read(current.stack.clone()) }
    }
}
