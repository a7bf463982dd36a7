//! Budgets: recomputed for links whose ends or air changed, and for no others.

use std::cell::RefCell;

use bevy_ecs::prelude::*;
use groundwave_engine::parallel;

use super::commands::Limits;
use super::components::{Ends, LinkBudget, LinkFrom, LinkTo, LinksIn, LinksOut};
use crate::radio::budget::{Workspace, evaluate_both};
use crate::radio::{BadValue, Environment, LinkResult, Station};
use crate::site::{Air, Ground, Position, Standing};
use crate::terrain::{GeoPoint, Path, Profile, Terrain};

/// Fewest samples of a profile: on a short path the models still need a shape.
pub const SAMPLES_MIN: usize = 32;

/// Most samples of a profile; more would sample a long path finer than it can matter to a model
/// whose statistics come from 245 of them.
pub const SAMPLES_MAX: usize = 1024;

/// Metres of one arc-second along a meridian, mean.
const ARC_SECOND_M: f64 = 30.87;

/// Spacing over ground without tiles, m.
const BARE_SPACING_M: f64 = 500.0;

/// Links one task evaluates: some 20 us each, so that a task outweighs its own cost.
const LINKS_PER_TASK: usize = 16;

/// Spacing of samples that [`samples_for`] takes by itself for paths from a point, m.
#[must_use]
pub fn post_spacing_m(terrain: &dyn Terrain, from: GeoPoint) -> f64 {
    terrain
        .resolution_arcsec(from)
        .map_or(BARE_SPACING_M, |arcsec| arcsec * ARC_SECOND_M)
}

/// How many samples the profile of a path gets: one per post of the terrain, or per
/// `spacing_m`, within [`SAMPLES_MIN`] and [`SAMPLES_MAX`].
#[must_use]
pub fn samples_for(
    terrain: &dyn Terrain,
    from: GeoPoint,
    distance_m: f64,
    spacing_m: Option<f64>,
) -> usize {
    let spacing_m = spacing_m.unwrap_or_else(|| post_spacing_m(terrain, from));
    // A ratio beyond usize saturates, and the clamp holds it.
    ((distance_m / spacing_m).ceil() as usize)
        .saturating_add(1)
        .clamp(SAMPLES_MIN, SAMPLES_MAX)
}

/// Everything a link's budget depends on.
pub struct Inputs<'a> {
    /// The ground between the ends.
    pub terrain: &'a dyn Terrain,
    /// The air between the ends.
    pub environment: &'a Environment,
    /// Packet length, bytes.
    pub packet_bytes: u32,
    /// Spacing of samples, m; absent takes the terrain's.
    pub spacing_m: Option<f64>,
}

thread_local! {
    /// Buffers of this thread, so that a link allocates nothing.
    static SCRATCH: RefCell<(Option<Path>, Profile, Workspace)> = RefCell::default();
}

/// Measures the ground from `a` to `b`, with `samples` samples or as many as [`samples_for`] says.
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
    let by_posts = || samples_for(inputs.terrain, a, path.distance_m(), inputs.spacing_m);
    profile.trace(inputs.terrain, path, samples.unwrap_or_else(by_posts));
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
    let undulation_m = [
        inputs.terrain.undulation_m(a.0),
        inputs.terrain.undulation_m(b.0),
    ];
    let (environment, bytes) = (inputs.environment, inputs.packet_bytes);
    evaluate_both(
        profile,
        undulation_m,
        a.1,
        b.1,
        environment,
        bytes,
        workspace,
    )
}

/// [`trace`] and [`judge`] in one, without allocating: the function behind the world's links. The
/// two alone give the same bits.
///
/// # Errors
/// The first [`BadValue`] in the stations or the environment.
pub fn score(
    inputs: &Inputs<'_>,
    a: (GeoPoint, &Station),
    b: (GeoPoint, &Station),
) -> Result<(LinkResult, LinkResult), BadValue> {
    SCRATCH.with_borrow_mut(|(path, profile, workspace)| {
        let path = path.get_or_insert_with(|| Path::between(a.0, a.0));
        path.set_between(a.0, b.0);
        trace_into(inputs, a.0, path, None, profile);
        judge(inputs, profile, a, b, workspace)
    })
}

type Moved = Or<(Changed<Position>, Changed<Standing>)>;

/// Rewrites the budgets whose inputs changed since the last tick.
pub fn budget_links(
    moved: Query<(Option<&LinksOut>, Option<&LinksIn>), Moved>,
    begun: Query<Entity, Added<Ends>>,
    nodes: Query<(&Position, &Standing)>,
    all: Query<Entity, With<Ends>>,
    mut links: Query<(&LinkFrom, &LinkTo, &mut LinkBudget)>,
    air: Res<Air>,
    limits: Res<Limits>,
    ground: Res<Ground>,
) {
    let mut stale: Vec<Entity> = if air.is_changed() || limits.is_changed() {
        all.iter().collect()
    } else {
        let of_moved = moved.iter().flat_map(|(out, into)| {
            let out = out.map(|links| links.iter()).into_iter().flatten();
            out.chain(into.map(|links| links.iter()).into_iter().flatten())
        });
        of_moved.chain(begun.iter()).collect()
    };
    if stale.is_empty() {
        return;
    }
    stale.sort_unstable();
    stale.dedup();
    let inputs = Inputs {
        terrain: &*ground.0,
        environment: &air.0,
        packet_bytes: limits.packet_bytes,
        spacing_m: limits.sample_spacing_m,
    };
    let mut work: Vec<_> = stale
        .iter()
        .map(|&link| {
            let (from, to, _) = links.get(link).expect("a stale link exists");
            let end = |node| nodes.get(node).expect("a link ends at nodes");
            (link, end(from.0), end(to.0), None)
        })
        .collect();
    parallel::for_each(&mut work, LINKS_PER_TASK, |(_, a, b, result)| {
        let outcome = score(&inputs, (a.0.0, &a.1.0), (b.0.0, &b.1.0));
        // Commands checked every value; a link without a result would be a lie.
        let (forward, backward) = outcome.expect("stations and air were validated");
        *result = Some(LinkBudget::of(&forward, &backward));
    });
    for (link, _, _, result) in work {
        let (_, _, mut budget) = links.get_mut(link).expect("a stale link exists");
        budget.set_if_neq(result.expect("every link was evaluated"));
    }
}
