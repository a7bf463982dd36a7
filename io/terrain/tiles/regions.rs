//! Squares of a directory whose ground is known.

use groundwave_model::terrain::{GeoPoint, KnownGround, TileId};

use super::{Slot, TileDirectory};

impl TileDirectory {
    /// Squares with a tile that is not damaged, as far as is known, from south to north.
    pub(super) fn squares(&self) -> Vec<KnownGround> {
        self.tiles.iter().filter_map(square).collect()
    }
}

fn square((id, slot): (&TileId, &Slot)) -> Option<KnownGround> {
    // A damaged tile counts as missing from its first use on.
    if slot.fault.get().is_some() {
        return None;
    }
    let resolution = match slot.facts.get() {
        Some(facts) => facts.resolution,
        None => slot.claimed(*id)?,
    };
    let (south, west) = (f64::from(id.south_deg()), f64::from(id.west_deg()));
    Some(KnownGround {
        south_west: GeoPoint::new(south, west).ok()?,
        north_east: GeoPoint::new(south + 1.0, west + 1.0).ok()?,
        resolution_arcsec: Some(resolution.arcsec()),
        source: format!("SRTM {id}"),
    })
}
