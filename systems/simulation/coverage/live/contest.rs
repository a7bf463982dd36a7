//! Cells of layers with losses of another processor in which two transmitters have nearly one margin.

use bevy_ecs::prelude::*;

use super::super::losses::EngineUse;
use super::super::{Grid, Layer, Window};
use super::{Raster, Stale, Transmitter};
use crate::site::WorldTerrain;

/// Margins nearer than this may change places, hundredths of dB: each is off by one at most.
const CONTEST_CDB: i32 = 2;

/// Transmitter whose layer was computed from losses of another processor in this step.
#[derive(Resource, Default)]
pub(super) struct Fresh(pub Option<Entity>);

/// Evaluates the cells exactly in which the fresh layer and another one could change places.
pub(super) fn settle_contests(
    raster: Res<Raster>,
    ground: Res<WorldTerrain>,
    mut fresh: ResMut<Fresh>,
    mut engine_use: Option<ResMut<EngineUse>>,
    mut layers: Query<(Entity, &Transmitter, &mut Layer, Has<Stale>)>,
) {
    let (Some(entity), Some(engine_use)) = (fresh.0.take(), &mut engine_use) else {
        return;
    };
    let (grid, terrain) = (&raster.0, &*ground.0);
    let Ok((_, _, layer, _)) = layers.get(entity) else { return };
    let own = layer.clone();
    let mut contested = Vec::new();
    for (other, transmitter, mut layer, is_stale) in &mut layers {
        // A stale layer is compared when it is fresh.
        if other == entity || is_stale {
            continue;
        }
        let cells = near(&own, &layer, grid);
        layer.settle(&transmitter.setup, grid, terrain, &cells);
        contested.extend(cells);
    }
    contested.sort_unstable();
    contested.dedup();
    engine_use.counts.decisions += contested.len() as u64;
    if let Ok((_, transmitter, mut layer, _)) = layers.get_mut(entity) {
        layer.settle(&transmitter.setup, grid, terrain, &contested);
    }
}

/// Ascending index of the cells in which two layers have nearly one margin.
fn near(one: &Layer, other: &Layer, grid: &Grid) -> Vec<u32> {
    let Window { row, column, rows, columns } = one.window.intersection(other.window);
    let places = (row..row + rows)
        .flat_map(|row| (column..column + columns).map(move |column| [row, column]));
    let is_near = |[row, column]: &[u32; 2]| {
        let margins_cdb = [one, other].map(|layer| layer.margin_cdb(*row, *column));
        let [Some(one_cdb), Some(other_cdb)] = margins_cdb else { return false };
        (one_cdb - other_cdb).abs() <= CONTEST_CDB
    };
    places.filter(is_near).map(|[row, column]| row * grid.columns() + column).collect()
}
