//! Predicted budgets: recomputed for links whose inputs changed, and for no others.

use bevy_ecs::prelude::*;
use groundwave_engine::parallel;
use groundwave_model::link::{Inputs, LINKS_PER_TASK, LinkBudget, budgets};

use super::changes::PredictedChanges;
use super::commands::Limits;
use super::components::{LinkFrom, LinkPosition, LinkTo, LinksIn, LinksOut, Predicted};
use crate::site::{StationConfig, WorldEnvironment, WorldTerrain};

type Moved = Or<(Changed<LinkPosition>, Changed<StationConfig>)>;

/// Rewrites the budgets whose inputs changed since the last tick.
pub(super) fn predict_links(
    moved: Query<(Option<&LinksOut>, Option<&LinksIn>), Moved>,
    all: Query<Entity, With<Predicted>>,
    nodes: Query<(&LinkPosition, &StationConfig)>,
    mut links: ParamSet<(PredictedChanges, Query<(&LinkFrom, &LinkTo, &mut Predicted)>)>,
    environment: Res<WorldEnvironment>,
    limits: Res<Limits>,
    terrain: Res<WorldTerrain>,
) {
    let is_all = environment.is_changed() || limits.is_changed() || terrain.is_changed();
    let mut stale: Vec<Entity> = if is_all {
        all.iter().collect()
    } else {
        let of_moved = moved.iter().flat_map(|(out, into)| {
            let out = out.map(|links| links.iter()).into_iter().flatten();
            out.chain(into.map(|links| links.iter()).into_iter().flatten())
        });
        // Writes of this system are no changes to it, so that these are the links added.
        let added = links.p0();
        of_moved.chain(added.iter().map(|(link, _)| link)).collect()
    };
    if stale.is_empty() {
        return;
    }
    stale.sort_unstable();
    stale.dedup();
    let inputs = Inputs {
        terrain: &*terrain.0,
        environment: &environment.0,
        packet_bytes: limits.packet_bytes,
        spacing_m: limits.sample_spacing_m,
    };
    let node = |entity| {
        let (position, station) = nodes.get(entity).expect("a link ends at nodes");
        (position.0.expect("positions were followed"), &station.0)
    };
    let mut links = links.p1();
    // A link that is out of range has no budget.
    let pairs = stale.into_iter().filter_map(|link| {
        let (from, to, _) = links.get(link).ok()?;
        let ends = [node(from.0), node(to.0)];
        Some((link, ends, LinkBudget::default()))
    });
    let mut pairs: Vec<_> = pairs.collect();
    parallel::for_each_chunk(&mut pairs, LINKS_PER_TASK, |pairs| {
        let ends: Vec<_> = pairs.iter().map(|(_, ends, _)| *ends).collect();
        budgets(&inputs, &ends, |number, budget| pairs[number].2 = budget);
    });
    for (link, _, budget) in pairs {
        if let Ok((.., mut predicted)) = links.get_mut(link) {
            predicted.set_if_neq(Predicted(budget));
        }
    }
}
