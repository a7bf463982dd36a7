//! Views of measurements.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_values::persistent::PersistentMap;
use serde::{Serialize, Serializer};

use super::components::LinkMeasurements;
use super::values::{LevelView, LinkDirection};
use crate::site::NodeKind;

/// The last measurements by direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels(pub(super) PersistentMap<LinkDirection, LevelView>);

impl Levels {
    /// In id order of senders, then of receivers.
    pub fn iter(&self) -> impl Iterator<Item = &LevelView> {
        self.0.values()
    }

    /// Last measurement of a direction.
    #[must_use]
    pub fn get(&self, way: LinkDirection) -> Option<&LevelView> {
        self.0.get(&way)
    }

    /// Number of measured directions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if no direction was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// As a list.
impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.values())
    }
}

/// Enters what was measured since the last tick, and removes what was measured of nodes that left.
pub(super) fn publish_levels(
    nodes: Res<Index<NodeKind>>,
    changed: Query<&LinkMeasurements, Changed<LinkMeasurements>>,
    mut section: ResMut<Section<Levels>>,
) {
    let departed = nodes.departed();
    if changed.is_empty() && (departed.is_empty() || section.share().is_empty()) {
        return;
    }
    // The map shares what did not change.
    let mut levels = section.share().0.clone();
    if !departed.is_empty() {
        let departed_end =
            |(from, to): &&LinkDirection| departed.contains(from) || departed.contains(to);
        for direction in section.share().0.keys().filter(departed_end) {
            levels.remove(direction);
        }
    }
    for level in changed.iter().flat_map(|component| component.0).flatten() {
        if levels.get(&(level.from, level.to)) != Some(&level) {
            levels.insert((level.from, level.to), level);
        }
    }
    section.redraw(Levels(levels));
}
