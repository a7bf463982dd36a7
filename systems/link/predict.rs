//! Predicted budgets: recomputed for links whose inputs changed, and for no others.

use std::collections::BTreeSet;

use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;

use super::changes::PredictedChanges;
use super::commands::Limits;
use super::components::{LinkFrom, LinkTo, LinksIn, LinksOut, Predicted};
use crate::model::link::{Inputs, LINKS_PER_TASK, LinkBudget, score};
use crate::site::{Position, StationConfig, WorldEnvironment, WorldTerrain};

type Moved = Or<(Changed<Position>, Changed<StationConfig>)>;

/// Rewrites the budgets whose inputs changed since the last tick.
pub(super) fn predict_links(
    moved: Query<(Option<&LinksOut>, Option<&LinksIn>), Moved>,
    all: Query<Entity, With<Predicted>>,
    nodes: Query<(&Position, &StationConfig)>,
    mut links: ParamSet<(
        PredictedChanges,
        Query<(&LinkFrom, &LinkTo, &mut Predicted)>,
    )>,
    environment: Res<WorldEnvironment>,
    limits: Res<Limits>,
    terrain: Res<WorldTerrain>,
) {
    let stale: BTreeSet<Entity> = if environment.is_changed() || limits.is_changed() {
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
    let inputs = Inputs {
        terrain: &*terrain.0,
        environment: &environment.0,
        packet_bytes: limits.packet_bytes,
        spacing_m: limits.sample_spacing_m,
    };
    let node = |entity| {
        let (position, station) = nodes.get(entity).expect("a link ends at nodes");
        (position.0, &station.0)
    };
    links
        .p1()
        .par_iter_many_unique_mut(stale)
        .batching_strategy(BatchingStrategy::new().max_batch_size(LINKS_PER_TASK))
        .for_each(|link| {
            // A link that is out of range has no budget.
            let Ok((from, to, mut predicted)) = link else {
                return;
            };
            let outcome = score(&inputs, node(from.0), node(to.0));
            let (forward, backward) = outcome.expect("stations and environment were validated");
            predicted.set_if_neq(Predicted(LinkBudget::of(&forward, &backward)));
        });
}
