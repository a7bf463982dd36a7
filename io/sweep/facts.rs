//! Facts below a map: model, transmitters, receiver, ground.

use groundwave_model::radio::Station;
use groundwave_model::sweep::Variant;
use groundwave_model::terrain::TerrainSource;
use groundwave_scenario::coverage::Interference;

use super::plan::Plan;
use super::product::{Product, Wanted};
use super::site_marks::{antenna_name, eirp_dbm};

/// Names that are listed; more are counted.
const NAMES_MAX: usize = 4;

/// Facts on a variant, a paragraph each. The date is that of the sweep's order, if it was given: no clock
/// is read, so that the same inputs give the same bytes.
pub(super) fn facts(
    plan: &Plan,
    variant: &Variant,
    source: &TerrainSource,
    wanted: &Wanted,
) -> Vec<String> {
    let transmitters: Vec<Station> =
        plan.sites.iter().map(|site| variant.apply(&site.station)).collect();
    let receivers: Vec<&Station> = plan.sites.iter().map(|site| &site.receiver).collect();
    let model = plan.environment.model.get();
    let date = wanted.date.as_deref().map(|date| format!("; date: {date}")).unwrap_or_default();
    let sender =
        |value: fn(&Station) -> f64, unit: &str| span(transmitters.iter().map(value), unit);
    let antennas = |stations: &mut dyn Iterator<Item = &Station>| {
        names(stations.map(|station| antenna_name(&station.antenna)))
    };
    let first = format!(
        "Path-loss model: {} ({}); frequency: {}{date}",
        model.label(),
        model.version(),
        sender(|station| station.radio.frequency_mhz, "MHz"),
    );
    let second = format!(
        "Transmitters: EIRP {} at boresight ({} conducted); antenna {}, {} above ground (AGL)",
        sender(eirp_dbm, "dBm"),
        sender(|station| station.radio.tx_power_dbm, "dBm"),
        antennas(&mut transmitters.iter()),
        sender(|station| station.height_agl_m, "m"),
    );
    let third = format!(
        "Receiver: antenna {}, {} above ground (AGL){}",
        antennas(&mut receivers.iter().copied()),
        span(receivers.iter().map(|station| station.height_agl_m), "m"),
        ground(source)
    );
    let mut facts = vec![first, second, third];
    if wanted.any(&Product::OF_AIR) {
        facts.push(interference(plan, &wanted.interference));
    }
    facts
}

/// Interference assumed between the sites.
fn interference(plan: &Plan, interference: &Interference) -> String {
    let duties = plan.sites.iter().map(|site| interference.duty_percent_of(&site.name));
    format!(
        "Interference: from sites within {} km of a cell, which transmit {} of the time; \
         correlation of shadowing {}",
        plan.radius_m / 1e3,
        span(duties, "%"),
        interference.shadowing_correlation
    )
}

/// Ground and vertical datum of the terrain.
fn ground(source: &TerrainSource) -> String {
    let kinds: Vec<String> = source.sources.iter().map(|source| source.summary()).collect();
    if kinds.is_empty() {
        return format!("; ground: {}", source.name);
    }
    format!("; ground heights: {}", names(kinds.into_iter()))
}

/// The range of some values with their unit: `20 m`, `15 to 25 m`.
fn span(values: impl Iterator<Item = f64>, unit: &str) -> String {
    let start = [f64::INFINITY, f64::NEG_INFINITY];
    let [low, high] = values.fold(start, |[low, high], value| [value.min(low), value.max(high)]);
    let number = |value: f64| groundwave_raster::scene::scale::trimmed(value, 3);
    if low == high {
        return format!("{} {unit}", number(low));
    }
    format!("{} to {} {unit}", number(low), number(high))
}

/// Different names in the order in which they come first, as many as a line holds.
fn names(all: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_names_are_short() {
        assert_eq!(span([20.0, 20.0].into_iter(), "m"), "20 m");
        assert_eq!(span([25.0, 15.5].into_iter(), "m"), "15.5 to 25 m");
        assert_eq!(span([-0.5, 3.0].into_iter(), "dBm"), "−0.5 to 3 dBm");
        let list = |names_: &[&str]| names(names_.iter().map(|&name| name.to_owned()));
        assert_eq!(list(&["a", "b", "a"]), "a, b");
        assert_eq!(list(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
    }
}
