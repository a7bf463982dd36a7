//! Links and their settings as readers see them.

use bevy_ecs::prelude::*;
use groundwave_engine::Section;
use serde::Serialize;

use super::commands::Limits;
use super::components::{Links, Predicted, Severed};
use crate::model::id::NodeId;
use crate::model::link::{LinkBudget, LinkKey};

/// A link, in both directions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkView {
    /// The end with the lower id.
    pub a: NodeId,
    /// The end with the higher id.
    pub b: NodeId,
    /// Whether it was cut by command.
    pub severed: bool,
    /// What gets through.
    pub budget: LinkBudget,
}

/// Redraws the link section when any link changed, came or went.
pub(super) fn publish_links(
    links: Res<Links>,
    severed: Res<Severed>,
    changed: Query<(), Changed<Predicted>>,
    budgets: Query<&Predicted>,
    mut section: ResMut<Section<Vec<LinkView>>>,
) {
    if !links.is_changed() && !severed.is_changed() && changed.is_empty() {
        return;
    }
    let view = |(key, entity): (LinkKey, Entity)| LinkView {
        a: key.a(),
        b: key.b(),
        severed: severed.0.contains(&key),
        budget: budgets.get(entity).expect("a link requires it").0,
    };
    section.redraw(links.iter().map(view).collect());
}

pub(super) fn publish_limits(limits: Res<Limits>, mut section: ResMut<Section<Limits>>) {
    if limits.is_changed() {
        section.redraw(limits.clone());
    }
}
