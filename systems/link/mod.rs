//! Links: which pairs of nodes might hear each other, and how well they do.

mod budget;
mod commands;
mod components;
mod pairs;
mod range;
mod state;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Phase, Section};

pub use budget::{
    Inputs, SAMPLES_MAX, SAMPLES_MIN, judge, post_spacing_m, samples_for, score, trace,
};
pub use commands::{FailLink, Limits, RestoreLink, SetLimits};
pub use components::{
    Direction, Ends, Link, LinkBudget, LinkFrom, LinkTo, Links, LinksIn, LinksOut, Severed,
};
pub(crate) use pairs::Neighbourhood;
pub use range::{OVER_HORIZON_M, Reach};

use crate::snapshot::LinkView;

/// Links between nodes, their budgets, and how they are cut.
pub fn link(engine: &mut Builder) {
    engine
        .resource(Links::default())
        .resource(Limits::default())
        .resource(Severed::default())
        .resource(Neighbourhood::default())
        .section::<Vec<LinkView>>()
        .section::<Limits>()
        .state::<Limits>()
        .state::<state::Cuts>()
        .command::<SetLimits>()
        .command::<FailLink>()
        .command::<RestoreLink>()
        .systems(Phase::Plan, pairs::pair_nodes)
        .systems(Phase::Propagate, budget::budget_links)
        .systems(Phase::Publish, (publish_links, publish_limits));
}

/// Redraws the link section when any link changed, came or went.
fn publish_links(
    links: Res<Links>,
    severed: Res<Severed>,
    changed: Query<(), Changed<LinkBudget>>,
    budgets: Query<&LinkBudget>,
    mut section: ResMut<Section<Vec<LinkView>>>,
) {
    if !links.is_changed() && !severed.is_changed() && changed.is_empty() {
        return;
    }
    let view = |(ends, entity): (Ends, Entity)| LinkView {
        a: ends.a(),
        b: ends.b(),
        severed: severed.0.contains(&ends),
        budget: *budgets.get(entity).expect("a link requires its budget"),
    };
    section.redraw(links.iter().map(view).collect());
}

fn publish_limits(limits: Res<Limits>, mut section: ResMut<Section<Limits>>) {
    if limits.is_changed() {
        section.redraw(limits.clone());
    }
}

#[cfg(test)]
mod tests;
