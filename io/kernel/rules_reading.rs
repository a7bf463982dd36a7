//! Rules in force, and their differences from the requested ones.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_impair::{
    DivergenceItem, DivergenceKind, Extensions, Impairment, Rule, RuleStats, Rules, Value, compare,
};

use super::bands::{BANDS_COUNT, Bands, EXCLUDED, PRIO, REST, bands_of, filters_of};
use super::divergence_items::{distribution, foreign, offloaded, two_states};
use super::filter::{FilterMessage, RuleFilter};
use super::placed::PlacedQdiscs;
use super::qdisc_params::qdisc_params;
use super::query::InterfaceQdiscs;
use super::stack::{BANDS, Stack, impairment_from_stack};
use super::target::Target;

/// Requested rules with their disciplines.
pub type RequestedRules<'r> = Option<(&'r Rules, &'r Target)>;

/// Numbers of the bands that the rules of a request or of a kernel use.
fn is_band(number: u16) -> bool {
    (EXCLUDED..REST).contains(&number) && number < BANDS_COUNT
}

/// The rules that the filters and bands of an interface make up; `None` without bands. Names, which a
/// kernel does not have, are those of the requested rules with the same filters, or else of `earlier` ones:
/// the first that has all filters in force, otherwise the first.
#[must_use]
pub fn rules_in_force(
    current: &InterfaceQdiscs,
    requested: RequestedRules<'_>,
    earlier: &[&Rules],
) -> Option<Rules> {
    let bands = current.bands.as_ref()?;
    let mut by_number: BTreeMap<u16, Vec<RuleFilter>> = BTreeMap::new();
    for filter in bands.filters.iter().filter_map(RuleFilter::read) {
        if filter.class.major() == BANDS && is_band(filter.class.minor()) {
            by_number.entry(filter.rule).or_default().push(filter);
        }
    }
    let expected = requested.map(|(rules, _)| filters_of(rules)).unwrap_or_default();
    let in_force: Vec<_> = by_number.values().flatten().collect();
    let has_all = |rules: &&&Rules| filters_of(rules).iter().collect::<Vec<_>>() == in_force;
    let named = earlier.iter().find(has_all).or(earlier.first()).copied();
    let named_filters = named.map(filters_of).unwrap_or_default();
    let earlier_rule = |number: u16, filters: &[RuleFilter]| {
        let own: Vec<_> = named_filters.iter().filter(|filter| filter.rule == number).collect();
        let same = filters.iter().collect::<Vec<_>>() == own;
        named.and_then(|rules| rules.0.get(usize::from(number) - 1)).filter(|_| same)
    };
    let rules = by_number.into_iter().map(|(number, filters)| {
        let own: Vec<_> = expected.iter().filter(|filter| filter.rule == number).collect();
        let same = filters.iter().collect::<Vec<_>>() == own;
        let requested_rule =
            requested.and_then(|(rules, _)| rules.0.get(usize::from(number) - 1)).filter(|_| same);
        let named_rule = requested_rule.or_else(|| earlier_rule(number, &filters));
        let band = filters[0].class.minor();
        let exclude = band == EXCLUDED;
        let target = requested_rule.and_then(|rule| {
            let target = requested?.1.bands.as_ref()?.bands.get(&band)?;
            Some((rule.impairment.as_ref()?, &target.stack))
        });
        let nothing = PlacedQdiscs::default();
        let placed = bands.bands.get(&band).unwrap_or(&nothing);
        Rule {
            name: named_rule.map_or_else(|| format!("rule{number}"), |rule| rule.name.clone()),
            selector: match (named_rule, &filters[..]) {
                (Some(rule), _) => rule.selector,
                (None, [filter]) => filter.alone(),
                (None, _) => filters[0].selector,
            },
            exclude,
            impairment: (!exclude).then(|| impairment_from_stack(&placed.stack, target)),
        }
    });
    Some(Rules(rules.collect()))
}

/// Differences of the rules in force from the requested ones. Without a request only what belongs to
/// other programs is one.
#[must_use]
pub fn rules_divergence(
    current: &InterfaceQdiscs,
    is_requested: bool,
    requested: RequestedRules<'_>,
    extensions: Extensions,
) -> Vec<DivergenceItem> {
    let mut items = Vec::new();
    let nothing = Bands::default();
    let bands = current.bands.as_ref().unwrap_or(&nothing);
    let has_bands = current.bands.is_some();
    if is_requested && requested.is_some() != has_bands {
        items.push(differs("root", "kind", [requested.is_some(), has_bands].map(root_text)));
    }
    let expected = requested.map(|(rules, _)| filters_of(rules)).unwrap_or_default();
    items.extend(filter_items(&bands.filters, &expected, requested));
    let name_of = |band: u16| {
        let requested =
            requested.and_then(|(rules, _)| bands_of(rules).find(|(at, _)| *at == band));
        match requested {
            _ if band == EXCLUDED => "excluded traffic".to_owned(),
            Some((_, rule)) => format!("rule {}", rule.name),
            None => format!("band {band:x}"),
        }
    };
    let targets = requested.and_then(|(_, target)| target.bands.as_ref());
    let of_targets = targets.iter().flat_map(|targets| targets.bands.keys());
    let numbers: BTreeSet<_> = of_targets.chain(bands.bands.keys()).copied().collect();
    for number in numbers {
        let placed = bands.bands.get(&number).cloned().unwrap_or_default();
        let target = targets.and_then(|targets| targets.bands.get(&number));
        let stack = target.map(|target| &target.stack);
        let mut own = Vec::new();
        if is_requested {
            let none = Stack::default();
            let plan = stack.unwrap_or(&none);
            own.extend(compare(&qdisc_params(plan, None), &qdisc_params(&placed.stack, stack)));
        }
        let rule = requested.and_then(|(rules, _)| bands_of(rules).find(|(at, _)| *at == number));
        let spec = rule.and_then(|(_, rule)| rule.impairment.as_ref());
        let in_force = impairment_from_stack(&placed.stack, spec.zip(stack));
        own.extend(distribution(&in_force, spec));
        own.extend(two_states(&placed.stack, extensions));
        own.extend(placed.foreign.as_ref().map(foreign));
        own.extend(placed.ours.iter().filter(|qdisc| qdisc.offloaded).map(offloaded));
        let name = name_of(number);
        items.extend(own.into_iter().map(|item| DivergenceItem {
            layer: format!("{name}: {}", item.layer),
            message: format!("{name}: {}", item.message),
            ..item
        }));
    }
    items
}

fn root_text(has_bands: bool) -> Option<String> {
    has_bands.then(|| format!("{PRIO} {BANDS:x}:"))
}

/// Differences of the filters.
fn filter_items(
    observed: &[FilterMessage],
    expected: &[RuleFilter],
    requested: RequestedRules<'_>,
) -> Vec<DivergenceItem> {
    let text = |filter: &RuleFilter| {
        let version = if filter.ipv4 { "IPv4" } else { "IPv6" };
        format!("{version} {} to {}", filter.selector, filter.class)
    };
    let text_of = |message: &FilterMessage| {
        let foreign = || format!("{} {:x}", message.kind, message.preference);
        RuleFilter::read(message).as_ref().map_or_else(foreign, text)
    };
    let mut items = Vec::new();
    for filter in expected {
        let mut at = observed.iter().filter(|one| one.preference == filter.preference());
        let at = at.next();
        if at.and_then(RuleFilter::read).as_ref() == Some(filter) {
            continue;
        }
        let rule = requested.and_then(|(rules, _)| rules.0.get(usize::from(filter.rule) - 1));
        let name = rule.map(|rule| rule.name.as_str()).unwrap_or_default();
        let sides = [Some(text(filter)), at.map(text_of)];
        items.push(differs(&format!("rule {name}"), "match", sides));
    }
    for message in observed {
        let is_expected = expected.iter().any(|filter| filter.preference() == message.preference);
        let is_own = requested.is_none() && RuleFilter::read(message).is_some();
        if is_expected || is_own {
            continue;
        }
        items.push(DivergenceItem {
            layer: "filter".to_owned(),
            field: "match".to_owned(),
            requested: None,
            observed: Some(Value::Text(text_of(message))),
            kind: DivergenceKind::Foreign,
            message: format!("filter {} of another program is left in place", text_of(message)),
        });
    }
    items
}

fn differs(layer: &str, field: &str, sides: [Option<String>; 2]) -> DivergenceItem {
    let [requested, observed] = sides;
    let text = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
    DivergenceItem {
        layer: layer.to_owned(),
        field: field.to_owned(),
        kind: DivergenceKind::Differs,
        message: format!(
            "{layer} {field}: asked for {}, the kernel holds {}",
            text(&requested),
            text(&observed)
        ),
        requested: requested.map(Value::Text),
        observed: observed.map(Value::Text),
    }
}

/// Counters of the rules in force.
#[must_use]
pub fn rule_stats(current: &InterfaceQdiscs, rules: Option<&Rules>) -> Vec<RuleStats> {
    let (Some(bands), Some(rules)) = (&current.bands, rules) else {
        return Vec::new();
    };
    let mut names: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for (band, rule) in bands_of(rules) {
        names.entry(band).or_default().push(rule.name.clone());
    }
    let stats = names.into_iter().map(|(band, names)| {
        let first = bands.bands.get(&band).and_then(|placed| placed.ours.first());
        let counters = first.map(|qdisc| qdisc.counters).unwrap_or_default();
        RuleStats {
            names,
            packets_total: counters.packets,
            bytes_total: counters.bytes,
            drops_total: counters.drops.into(),
            backlog_packets: counters.backlog_packets,
        }
    });
    stats.collect()
}

/// The impairment of a direction with the rules in force.
#[must_use]
pub fn with_rules(rest: Impairment, rules: Option<Rules>) -> Impairment {
    Impairment { rules: rules.filter(|rules| !rules.0.is_empty()), ..rest }
}
