//! Evaluation of a link: the terrain profile between two stations, and both directions over it.

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkBudget;
use crate::radio::budget::{BothWays, Workspace, evaluate_both};
use crate::radio::path_loss::BATCH;
use crate::radio::{BadValue, Environment, LinkResult, Model, Station, Surroundings};
use crate::terrain::{COVER_STEP_M, GeoPoint, Path, Profile, Terrain};

/// Fewest samples of a profile: on a short path the models still need a shape.
pub const SAMPLES_MIN: usize = 32;

/// Maximum number of samples of a profile; more would sample a long path finer than it can matter to a model
/// whose statistics come from 245 of them.
pub const SAMPLES_MAX: usize = 1024;

/// Metres of one arc-second along a meridian, mean.
const ARC_SECOND_M: f64 = 30.87;

/// Spacing over ground without tiles, m.
const BARE_SPACING_M: f64 = 500.0;

/// Links that one task evaluates: some 5 us each, so that the cost of a task, and of preparing the
/// pairs of stations among them, is small beside them.
pub const LINKS_PER_TASK: usize = BATCH;

/// Spacing of samples that [`samples_for`] takes by itself for paths from a point, m.
#[must_use]
pub fn post_spacing_m(terrain: &dyn Terrain, from: GeoPoint) -> f64 {
    terrain.resolution_arcsec(from).map_or(BARE_SPACING_M, |arcsec| arcsec * ARC_SECOND_M)
}

/// Spacing of samples that paths from a point have under a model where none is stated, m: that of the posts, and
/// [`COVER_STEP_M`] over ground with posts for a model with buildings and trees along its paths. The edge nearest an
/// antenna decides its loss: by posts of 3" in place of 1" of the same surface it differed by up to 2.4 dB.
#[must_use]
pub fn spacing_under_m(model: Model, terrain: &dyn Terrain, from: GeoPoint) -> f64 {
    match terrain.resolution_arcsec(from) {
        Some(_) if model.get().uses_clutter() => COVER_STEP_M,
        _ => post_spacing_m(terrain, from),
    }
}

/// Number of samples of the profile of a path: one per post of the terrain, or per `spacing_m`,
/// within [`SAMPLES_MIN`] and [`SAMPLES_MAX`].
#[must_use]
pub fn samples_for(
    terrain: &dyn Terrain,
    from: GeoPoint,
    distance_m: f64,
    spacing_m: Option<f64>,
) -> usize {
    let spacing_m = spacing_m.unwrap_or_else(|| post_spacing_m(terrain, from));
    // A ratio beyond usize saturates, and the clamp holds it.
    ((distance_m / spacing_m).ceil() as usize).saturating_add(1).clamp(SAMPLES_MIN, SAMPLES_MAX)
}

/// Everything a link's budget depends on.
pub struct Inputs<'a> {
    /// Source of terrain heights.
    pub terrain: &'a dyn Terrain,
    /// Propagation settings.
    pub environment: &'a Environment,
    /// Packet length, bytes.
    pub packet_bytes: u32,
    /// Spacing of samples, m; absent takes that of [`spacing_under_m`].
    pub spacing_m: Option<f64>,
}

/// Buffers of a thread, so that a link allocates nothing.
#[derive(Default)]
struct Scratch {
    path: Option<Path>,
    profiles: Vec<Profile>,
    workspace: Workspace,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Measures the ground from `a` to `b`, with `samples` samples or as many as [`samples_for`] gives.
#[must_use]
pub fn trace(inputs: &Inputs<'_>, a: GeoPoint, b: GeoPoint, samples: Option<usize>) -> Profile {
    let path = Path::between(a, b);
    let mut profile = Profile::default();
    trace_into(inputs, a, &path, samples, &mut profile);
    profile
}

fn trace_into(
    inputs: &Inputs<'_>,
    a: GeoPoint,
    path: &Path,
    samples: Option<usize>,
    profile: &mut Profile,
) {
    let by_spacing = || {
        let Inputs { terrain, environment, spacing_m, .. } = *inputs;
        let own_m = || spacing_under_m(environment.model, terrain, a);
        let spacing_m = spacing_m.unwrap_or_else(own_m);
        samples_for(terrain, a, path.distance_m(), Some(spacing_m))
    };
    profile.trace(inputs.terrain, path, samples.unwrap_or_else(by_spacing));
}

/// Evaluates both directions over a measured profile; returns the results from `a` to `b` and
/// back.
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn judge(
    inputs: &Inputs<'_>,
    profile: &Profile,
    a: (GeoPoint, &Station),
    b: (GeoPoint, &Station),
    workspace: &mut Workspace,
) -> Result<(LinkResult, LinkResult), BadValue> {
    let undulation_m = [inputs.terrain.undulation_m(a.0), inputs.terrain.undulation_m(b.0)];
    let (environment, bytes) = (inputs.environment, inputs.packet_bytes);
    evaluate_both(profile, undulation_m, a.1, b.1, environment, bytes, workspace)
}

/// Both directions at one share of links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Share of links like this one, percent.
    pub percent: f64,
    /// Received power exceeded in that share, dBm: from `a` to `b` and back.
    pub rx_power_dbm: [f64; 2],
    /// Link margin exceeded in that share, dB: from `a` to `b` and back.
    pub link_margin_db: [f64; 2],
}

/// Both directions at one share of links.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPercentile {
    /// Share of links like this one, percent.
    pub percent: f64,
    /// Received power exceeded in that share, from the sender to the receiver, dBm.
    pub rx_power_dbm: f64,
    /// Link margin exceeded in that share, from the sender to the receiver, dB.
    pub link_margin_db: f64,
    /// Received power of the reverse direction, dBm.
    pub reverse_rx_power_dbm: f64,
    /// Link margin of the reverse direction, dB.
    pub reverse_link_margin_db: f64,
}

impl From<Percentile> for LinkPercentile {
    fn from(one: Percentile) -> Self {
        let [rx_power_dbm, reverse_rx_power_dbm] = one.rx_power_dbm;
        let [link_margin_db, reverse_link_margin_db] = one.link_margin_db;
        Self {
            percent: one.percent,
            rx_power_dbm,
            link_margin_db,
            reverse_rx_power_dbm,
            reverse_link_margin_db,
        }
    }
}

/// Received power and link margin of both directions exceeded in 10, 50 and 90 % of links like this one.
#[must_use]
pub fn percentiles(there: &LinkResult, back: &LinkResult) -> [Percentile; 3] {
    let results = [there, back];
    std::array::from_fn(|at| {
        let rx_power_dbm = results.map(|result| {
            let prediction = &result.prediction;
            prediction.rx_power_dbm + prediction.deciles_db()[at]
        });
        let link_margin_db = [0, 1].map(|way| {
            let result = results[way];
            result.margin.link_margin_db + rx_power_dbm[way] - result.receiver.rx_power_dbm
        });
        Percentile { percent: [10.0, 50.0, 90.0][at], rx_power_dbm, link_margin_db }
    })
}

/// An end of a link.
pub(crate) type End<'a> = (GeoPoint, &'a Station);

/// [`trace`] and [`judge`] in one, without allocating: the two alone give the same bits, and so do the
/// world's links ([`budgets`]).
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn score(
    inputs: &Inputs<'_>,
    a: End<'_>,
    b: End<'_>,
) -> Result<(LinkResult, LinkResult), BadValue> {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.trace(inputs, &[[a, b]], &[0]);
        let Scratch { profiles, workspace, .. } = scratch;
        judge(inputs, &profiles[0], a, b, workspace)
    })
}

/// Evaluates links, each as [`score`] does, to the bit, and hands the budgets to `each` in any order; one
/// that [`score`] refuses gets [`LinkBudget::not_computable`], and the others are not held up by it. Links
/// between like stations are prepared and evaluated together, as cells of a coverage are.
pub fn budgets(
    inputs: &Inputs<'_>,
    links: &[[End<'_>; 2]],
    mut each: impl FnMut(usize, LinkBudget),
) {
    let mut rest: Vec<usize> = (0..links.len()).collect();
    let cover =
        |link: usize| links[link].map(|(at, _)| Surroundings::from(inputs.terrain.cover_kind(at)));
    let covers: Vec<_> = match inputs.terrain.has_cover() {
        true => rest.iter().map(|link| cover(*link)).collect(),
        false => vec![[Surroundings::Unknown; 2]; links.len()],
    };
    SCRATCH.with_borrow_mut(|scratch| {
        while let Some(&first) = rest.first() {
            let [(_, a), (_, b)] = links[first];
            let (environment, bytes) = (inputs.environment, inputs.packet_bytes);
            let cover = covers[first];
            let pair = BothWays::new([a, b], cover, environment, bytes, &mut scratch.workspace);
            let Ok(pair) = pair else {
                let [(from, _), (to, _)] = links[first];
                let distance_m = Path::between(from, to).distance_m();
                each(first, LinkBudget::not_computable(distance_m));
                rest.remove(0);
                continue;
            };
            let mut alike = Vec::new();
            rest.retain(|&link| {
                let [(_, a), (_, b)] = links[link];
                let is_like = covers[link] == cover && pair.is_between(a, b);
                let like = alike.len() < BATCH && is_like;
                like.then(|| alike.push(link));
                !like
            });
            scratch.evaluate(inputs, &pair, links, &alike, &mut each);
        }
    });
}

impl Scratch {
    /// Measures the ground of the links with the numbers `chosen` into the first profiles.
    fn trace(&mut self, inputs: &Inputs<'_>, links: &[[End<'_>; 2]], chosen: &[usize]) {
        let count = self.profiles.len().max(chosen.len());
        self.profiles.resize_with(count, Profile::default);
        for (profile, &link) in self.profiles.iter_mut().zip(chosen) {
            let [(a, _), (b, _)] = links[link];
            let path = self.path.get_or_insert_with(|| Path::between(a, a));
            path.set_between(a, b);
            trace_into(inputs, a, path, None, profile);
        }
    }

    /// Evaluates the links with the numbers `alike`, all between stations like those of `pair`.
    fn evaluate(
        &mut self,
        inputs: &Inputs<'_>,
        pair: &BothWays<'_>,
        links: &[[End<'_>; 2]],
        alike: &[usize],
        each: &mut impl FnMut(usize, LinkBudget),
    ) {
        self.trace(inputs, links, alike);
        let profiles = self.profiles.iter().zip(alike);
        let paths = profiles.map(|(profile, &link)| {
            let undulation_m = links[link].map(|(at, _)| inputs.terrain.undulation_m(at));
            (profile, undulation_m)
        });
        let paths: Vec<_> = paths.collect();
        pair.evaluate_all(&paths, &mut self.workspace, |number, result| {
            let budget = match result {
                Ok((there, back)) => LinkBudget::of(&there, &back),
                Err(_) => LinkBudget::not_computable(paths[number].0.distance_m),
            };
            each(alike[number], budget);
        });
    }
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
