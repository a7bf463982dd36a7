//! Square degrees around positions.

use std::sync::Arc;

use groundwave_model::terrain::TileId;

use super::super::hgt::Tile;

/// The square a sample falls into, kept from one sample to the next.
pub(super) struct Cell {
    pub south_deg: f64,
    /// Not wrapped, so that the longitudes of a path need not be.
    pub west_deg: f64,
    pub tile: Option<(TileId, Arc<Tile>)>,
}

impl Cell {
    /// Number of leading positions, at least the first, in this square without a tile.
    /// On its edges a neighbour may have the height, so the run ends before them.
    pub fn missing_run(&self, lat_deg: &[f64], lon_deg: &[f64]) -> usize {
        let stays = |(lat, lon): (&f64, &f64)| {
            let (north, east) = (lat - self.south_deg, lon - self.west_deg);
            (0.0..1.0).contains(&north)
                & (0.0..1.0).contains(&east)
                & !((north == 0.0) | (east == 0.0))
        };
        let rest = lat_deg.iter().zip(lon_deg).skip(1);
        1 + rest.take_while(|&position| stays(position)).count()
    }
}

/// Largest integer not above `degrees`, without the call that the oldest processors need.
#[inline]
pub(super) fn floor(degrees: f64) -> f64 {
    let whole = degrees as i32;
    let cut = f64::from(whole);
    if whole == i32::MAX || whole == i32::MIN || degrees.is_nan() {
        degrees.floor()
    } else if cut > degrees {
        cut - 1.0
    } else {
        cut
    }
}
