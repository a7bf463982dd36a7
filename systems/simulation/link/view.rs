//! Views of links and their settings.

use bevy_ecs::prelude::*;
use groundwave_engine::Section;
use groundwave_model::id::NodeId;
use groundwave_model::link::{LinkBudget, LinkKey, ProbeDelivery};
use serde::Serialize;

use super::changes::PredictedChanges;
use super::commands::Limits;
use super::components::{AdminDown, Endpoints, Links, Predicted};

/// A link, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinkView {
    /// The end with the lower id.
    pub a: NodeId,
    /// The end with the higher id.
    pub b: NodeId,
    /// `true` if it was taken down by command.
    pub severed: bool,
    /// Link budget of both directions.
    pub budget: LinkBudget,
    /// Delivery of probes, where the settings have one and the link carries data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeDelivery>,
}

/// Redraws the link section when any link changed, was added or was removed.
pub(super) fn publish_links(
    links: Res<Links>,
    changed: PredictedChanges,
    taken_down: Query<(), Added<AdminDown>>,
    mut restored: RemovedComponents<AdminDown>,
    mut out_of_range: RemovedComponents<Predicted>,
    budgets: Query<(&Predicted, Has<AdminDown>)>,
    limits: Res<Limits>,
    mut section: ResMut<Section<Vec<LinkView>>>,
) {
    let removed = restored.read().count() + out_of_range.read().count() > 0;
    let is_same_set =
        !removed && !links.is_changed() && taken_down.is_empty() && !limits.is_changed();
    if is_same_set && changed.is_empty() {
        return;
    }
    let view = |key: LinkKey, link: Entity| {
        let (predicted, severed) = budgets.get(link).ok()?;
        let probe = limits.probe.and_then(|probe| probe.delivery(&predicted.0));
        Some(LinkView { a: key.a(), b: key.b(), severed, budget: predicted.0, probe })
    };
    let patch = || {
        let mut views = Vec::clone(&section.share());
        for (link, Endpoints(key)) in changed.iter() {
            let at = views.binary_search_by_key(&(key.a(), key.b()), |view| (view.a, view.b));
            // A pair that is back in range has no view.
            views[at.ok()?] = view(key, link)?;
        }
        Some(views)
    };
    let views = is_same_set.then(patch).flatten().unwrap_or_else(|| {
        let mut views = Vec::with_capacity(links.len());
        views.extend(links.iter().filter_map(|(key, link)| view(key, link)));
        views
    });
    section.redraw(views);
}

pub(super) fn publish_limits(limits: Res<Limits>, mut section: ResMut<Section<Limits>>) {
    if limits.is_changed() {
        section.redraw(limits.clone());
    }
}
