//! Another processor in the coverages of this module: its losses, and how much of the work it did.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_model::coverage::{KnownCounts, LossSource};

/// Source of losses in place of the exact evaluation.
#[derive(Resource, Debug)]
pub(super) struct Losses(pub Arc<dyn LossSource>);

/// Work of another processor in a coverage. Written by the systems that evaluate cells.
#[derive(Resource, Debug, Clone, PartialEq, Eq)]
pub struct EngineUse {
    /// Name of the processor and its driver.
    pub name: String,
    /// Cells within the radius of a site, by how they were evaluated.
    pub counts: KnownCounts,
    /// First reason for the exact evaluation of sites.
    pub fallback: Option<String>,
}

impl EngineUse {
    pub(super) fn note(&mut self, reason: String) {
        self.fallback.get_or_insert(reason);
    }
}

/// Has the cells of a world evaluated with the losses of `source`.
pub(super) fn insert(world: &mut World, source: Arc<dyn LossSource>) {
    let (name, counts) = (source.name(), KnownCounts::default());
    world.insert_resource(EngineUse { name, counts, fallback: None });
    world.insert_resource(Losses(source));
}
