//! Links: which pairs of nodes might hear each other, and how well they do.

mod commands;
mod components;
mod pairs;
mod predict;
mod state;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, Phase};

pub use commands::{FailLink, Limits, RestoreLink, SetLimits};
pub use components::{
    Endpoints, Link, LinkFrom, LinkTo, Links, LinksIn, LinksOut, Predicted, Severed,
};
pub use view::LinkView;

pub use crate::model::link::{
    Direction, Inputs, LinkBudget, LinkKey, OVER_HORIZON_M, Reach, SAMPLES_MAX, SAMPLES_MIN, judge,
    post_spacing_m, samples_for, score, trace,
};

/// Links between nodes, their budgets, and how they are cut.
pub fn link(engine: &mut Builder) {
    engine
        .resource(Links::default())
        .resource(Limits::default())
        .resource(Severed::default())
        .resource(pairs::Pairs::default())
        .section::<Vec<LinkView>>()
        .section::<Limits>()
        .state::<Limits>()
        .state::<state::Cuts>()
        .command::<SetLimits>()
        .command::<FailLink>()
        .command::<RestoreLink>()
        .systems(Phase::Plan, pairs::pair_nodes)
        .systems(Phase::Propagate, predict::predict_links)
        .systems(Phase::Publish, (view::publish_links, view::publish_limits));
}
