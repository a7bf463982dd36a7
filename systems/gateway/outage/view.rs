//! View of outages.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};

use super::components::{Outage, OutageId, OutageKind};

/// Outages, oldest first.
pub type Outages = BTreeMap<OutageId, Outage>;

/// Publishes outages where one changed.
pub(super) fn publish_outages(
    changed: Query<(&OutageId, &Outage), Changed<Outage>>,
    index: Res<Index<OutageKind>>,
    mut section: ResMut<Section<Outages>>,
) {
    if changed.is_empty() && index.departed().is_empty() {
        return;
    }
    let mut outages = Outages::clone(&section.share());
    for id in index.departed() {
        outages.remove(id);
    }
    for (id, outage) in &changed {
        outages.insert(*id, outage.clone());
    }
    section.redraw(outages);
}
