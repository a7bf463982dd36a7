//! Tables of a sweep: its sites, the places that matter, the choice of sites.

use std::fmt::Write;

use groundwave_model::radio::{Assumptions, Effect, Verdict};
use groundwave_sweep::{NoAnswer, Summary, VariantSummary};
use groundwave_text::{Align, Table};

use super::output;

/// Line on the difference between covered and likely areas.
pub fn likely(assumptions: &Assumptions) -> String {
    let receivers = match assumptions.left_out.contains(&Effect::Clutter) {
        true => "; surroundings of the receivers unknown",
        false => "",
    };
    format!("covered: by the model's link margin; likely: works with 50 % or more{receivers}")
}

/// Warning of sites that no receiver decodes.
pub fn undecodable(summary: &Summary) -> Option<String> {
    let names: Vec<&str> = summary.undecodable_sites.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        let names = output::some_of(&names);
        format!(
            "the receiver cannot decode {names}: another channel or waveform, no coverage; see \
             [coverage.receiver] radio"
        )
    })
}

/// Appends the tables of a variant.
pub fn sites(out: &mut String, variant: &VariantSummary) {
    if let Some(air) = &variant.interference {
        let _ = writeln!(
            out,
            "\namong interference: {:.1} km² covered, {:.1} % of known; a link works in {:.1} % of places",
            air.covered_km2, air.covered_percent, air.served_percent
        );
    }
    let mut table = Table::new(&[
        ("site", Align::Left),
        ("covered km²", Align::Right),
        ("best server km²", Align::Right),
        ("only server km²", Align::Right),
    ]);
    for site in &variant.sites {
        table.row([
            site.name.clone(),
            format!("{:.1}", site.covered_km2),
            format!("{:.1}", site.best_server_km2),
            format!("{:.1}", site.only_server_km2),
        ]);
    }
    let _ = write!(out, "\n{}", output::table(&table, None));
    let mut table = Table::new(&[
        ("place", Align::Left),
        ("weight", Align::Right),
        ("server", Align::Left),
        ("verdict", Align::Left),
    ]);
    for point in &variant.points {
        let why = point.no_answer.map_or("", NoAnswer::text);
        let verdict = point.verdict.map_or(why, |verdict: Verdict| output::verdict(verdict));
        let server = point.best_server.clone().unwrap_or_else(|| "–".to_owned());
        table.row([point.name.clone(), point.weight.to_string(), server, verdict.to_owned()]);
    }
    if !table.is_empty() {
        let _ = write!(out, "\n{}", output::table(&table, Some(3)));
    }
    if let Some(choice) = &variant.choice {
        let names: Vec<_> =
            choice.sites.iter().map(|site| format!("{} (+{:.1})", site.name, site.gain)).collect();
        let covered = choice.sites.last().map_or(0.0, |site| site.covered);
        let _ = writeln!(
            out,
            "\nbuild first: {}: {covered:.1} of {:.1} {} (no choice reaches more than {:.1})",
            names.join(", "),
            choice.all_sites,
            choice.of,
            choice.upper_bound
        );
    }
}
