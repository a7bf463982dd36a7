//! Links: which pairs of nodes might hear each other, and how well they do.

mod changes;
mod commands;
mod components;
mod pairs;
#[cfg(test)]
mod position_tests;
mod positions;
mod predict;
mod state;
#[cfg(test)]
mod tests;
mod view;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Phase};

use crate::site::Position;

pub(crate) use changes::PredictedChanges;
pub(crate) use commands::recorded_link;
pub use commands::{FailLink, Limits, RestoreLink, SetLimits, UPDATE_DISTANCE_M_MAX};
pub use components::{
    AdminDown, Endpoints, LinkFrom, LinkPosition, LinkTo, Links, LinksIn, LinksOut, OutOfRange,
    Predicted, Retained,
};
pub use view::LinkView;

pub use groundwave_model::link::{
    Direction, Inputs, LinkBudget, LinkKey, OVER_HORIZON_M, Percentile, Probe, ProbeDelivery,
    ProbeRate, Reach, SAMPLES_MAX, SAMPLES_MIN, coverage_radius_m, judge, percentiles,
    post_spacing_m, samples_for, score, trace,
};

/// Marks a world whose nodes are looked at and whose links are not: no pair is made, no budget computed.
#[derive(Debug, Clone, Copy, Resource)]
pub struct NodesOnly;

/// Links between nodes, their budgets, and how they are taken down.
pub fn link(engine: &mut Builder) {
    engine.world().register_required_components::<Position, LinkPosition>();
    engine.world().add_observer(positions::leave_placeholder);
    engine
        .resource(Links::default())
        .resource(Limits::default())
        .resource(OutOfRange::default())
        .resource(pairs::Pairs::default())
        .section::<Vec<LinkView>>()
        .section::<Limits>()
        .state::<Limits>()
        .state::<state::DownLinks>()
        .state::<state::LinkPositions>()
        .command::<SetLimits>()
        .command::<FailLink>()
        .command::<RestoreLink>()
        .systems(
            Phase::Plan,
            (
                positions::follow_positions,
                pairs::pair_nodes.run_if(not(resource_exists::<NodesOnly>)),
            )
                .chain(),
        )
        .systems(Phase::Propagate, predict::predict_links)
        .systems(
            Phase::Publish,
            (view::publish_links, view::publish_limits, pairs::clear_out_of_range),
        );
}
