//! Results on stdout about links: verdicts, gaps of terrain, assumptions, pictures.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use groundwave_model::radio::{Assumptions, Basis, CalibratedBy, Expectation, Verdict};
use groundwave_model::terrain::{PathGround, SWAPPED, Terrain, is_swapped};
use groundwave_raster::scene;
use groundwave_scenario::Scenario;
use groundwave_setup::terrain::{REMEDY, VOIDS_REMEDY};
use groundwave_simulation::link::LinkView;
use indicatif::ProgressBar;

pub use groundwave_command::file_identity::{named, refuse_shared};
pub use groundwave_command::output::*;

/// Writes a picture, SVG or PNG by the ending of its file.
pub fn picture(path: &Path, svg: &str) -> Result<(), Failure> {
    let failed = |err: &dyn std::error::Error| {
        Failure::Input(format!("write picture {}: {err}", path.display()))
    };
    let extension = path.extension().unwrap_or_default();
    let is_known = ["png", "svg"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    if !is_known {
        let path = path.display();
        let what = format!("invalid ending of a picture: found {path}, allowed .svg, .png");
        return Err(Failure::Input(what));
    }
    if extension.eq_ignore_ascii_case("png") {
        let bitmap = scene::Bitmap::from_svg(svg).map_err(|err| failed(&err))?;
        return write_whole(path, &bitmap.to_png().map_err(|err| failed(&err))?);
    }
    write_whole(path, svg.as_bytes())
}

/// Lines on what a prediction assumes and, where there is one, on its calibration `profile`.
pub fn assumed(assumptions: &Assumptions, profile: Option<String>) -> String {
    let profile = profile.map(|profile| format!("calibration profile: {profile}"));
    std::iter::once(format!("assumed: {assumptions}"))
        .chain(profile)
        .map(|line| format!("{}\n", faint(&line)))
        .collect()
}

/// Name of the calibration profile, in quotes, with what it was fitted with where that differs.
pub fn profile_name(assumptions: &Assumptions) -> Option<String> {
    assumptions.calibration.as_ref().map(CalibratedBy::title)
}

/// Warns of heights that the ground does not fit, and gives the hint for a faster run.
pub fn advise(scenario: &Scenario, terrain: &dyn Terrain, output: Output) {
    for misfit in scenario.misfits(|at| terrain.elevation_msl_m(at)) {
        note(&warning(&misfit));
    }
    if let Some(hint) = scenario.update_distance_hint().filter(|_| !output.json) {
        note(&faint(&hint));
    }
}

/// Warns where the nodes seem to have latitude and longitude swapped.
pub fn warn_of_swapped(snapshot: &Snapshot, terrain: &dyn Terrain) {
    let positions: Vec<_> = snapshot.nodes.iter().map(|node| node.position).collect();
    if is_swapped(terrain, &positions) {
        note(&warning(SWAPPED));
    }
}

/// Name of the verdict of a link over `ground`.
pub fn verdict_over(ground: PathGround, model_verdict: Verdict) -> &'static str {
    match ground.is_enough() {
        true => verdict(model_verdict),
        false => NO_TERRAIN,
    }
}

/// Knowledge that the intervals of links rest on, the most frequent first: `surroundings unknown (12 links), terrain
/// known (1 link)`; `None` without links.
pub fn bases(expectations: impl Iterator<Item = Expectation>) -> Option<String> {
    let mut counts: BTreeMap<Basis, usize> = BTreeMap::new();
    for one in expectations {
        *counts.entry(one.basis).or_default() += 1;
    }
    let mut order: Vec<(Basis, usize)> = counts.into_iter().collect();
    order.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let part = |(basis, count): &(Basis, usize)| {
        format!("{} ({count} link{})", basis.short(), if *count == 1 { "" } else { "s" })
    };
    let parts: Vec<String> = order.iter().map(part).collect();
    (!parts.is_empty()).then(|| format!("{}: {}", Expectation::BASIS, parts.join(", ")))
}

/// Links whose profiles have samples without terrain data or in voids, as a warning with the ways out of it.
pub fn gaps(snapshot: &Snapshot, remedy: &str) -> Option<String> {
    let count = |has_gap: &dyn Fn(&LinkView) -> bool| {
        let links = snapshot.links.iter();
        links.filter(|link| has_gap(link)).count()
    };
    let is_unknown = |link: &LinkView| link.budget.ground == PathGround::Unknown;
    let missing = count(&|link| is_unknown(link) && link.budget.missing_samples > 0);
    let voids = count(&|link| is_unknown(link) && link.budget.missing_samples == 0);
    let partial = count(&|link| link.budget.ground == PathGround::Partial);
    let mut parts = Vec::new();
    let all = snapshot.links.len();
    if missing > 0 {
        parts.push(without_ground(missing, all, remedy));
    }
    if voids > 0 {
        parts.push(format!(
            "voids of the tiles under {voids} of {all} links: they assume heights interpolated across them; \
             {VOIDS_REMEDY}"
        ));
    }
    if partial > 0 {
        parts.push(format!("{partial} links cross short gaps of the tiles, interpolated"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Sentence about links without terrain data.
pub fn missing_links(missing: usize, all: usize) -> String {
    without_ground(missing, all, REMEDY)
}

fn without_ground(missing: usize, all: usize, remedy: &str) -> String {
    format!(
        "no terrain data under {missing} of {all} links: they assume ground at sea level; {remedy}"
    )
}

/// Name of a verdict.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Excellent => "excellent",
        Verdict::Good => "good",
        Verdict::Marginal => "marginal",
        Verdict::Poor => "poor",
        Verdict::NoLink => "no link",
    }
}

/// A progress bar of the units of a sweep.
pub fn units_progress(units: usize) -> ProgressBar {
    progress(
        units as u64,
        "{bar:30} {pos}/{len} units  {per_sec}  {elapsed} elapsed, {eta} left  {msg}",
    )
}

/// Counts a unit.
pub fn advance(progress: &ProgressBar, is_stored: bool) {
    progress.inc(1);
    if is_stored {
        // The speed of the rest does not follow from units found on disk.
        progress.reset_eta();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_counted_the_most_frequent_first() {
        let of = |basis| Expectation {
            basis,
            ground: PathGround::Known,
            rx_power_interval_dbm: [-120.0, -80.0],
            link_prob: 0.5,
        };
        let all = [Basis::Terrain, Basis::SurroundingsUnknown, Basis::SurroundingsUnknown];
        let line = "rests on: surroundings unknown (2 links), terrain known (1 link)";
        assert_eq!(bases(all.into_iter().map(of)).as_deref(), Some(line));
        assert_eq!(bases(std::iter::empty()), None);
    }
}
