//! Requests that change disciplines and filters of an interface with rules, or without.

use std::collections::{BTreeMap, BTreeSet};

use super::bands::{PRIO, ROOT, prio_options};
use super::filter::{FLOWER, FilterMessage, FilterRequest, RuleFilter};
use super::placed::PlacedQdiscs;
use super::query::InterfaceQdiscs;
use super::stack::{Layout, Stack};
use super::steps::steps;
use super::target::{BandsTarget, Target};
use super::{Handle, Request, Verb};

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
