//! Terrain from an array of heights, north up, in degrees.

use groundwave_model::terrain::{GeoPoint, KnownGround, Posts, Terrain, TerrainSource, TerrainUse};
use serde::Deserialize;

use crate::Invalid;

/// Maximum number of heights.
pub const POSTS_MAX: usize = 1 << 28;

/// Part of a cell around posts at a pole that may lie beyond it, deg.
const POLE_SLACK_DEG: f64 = 0.5;

/// Georeference of an array of heights, row by row from the north-west.
///
/// The bounds are the outer edges of its cells, as GDAL has them: heights hold for the centres of cells. Positions
/// between centres are interpolated between four of them; beyond the outermost centres the nearest row or column
/// counts, outside the bounds there is no height.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// Western edge, deg, [-180, 180].
    pub west_deg: f64,
    /// Southern edge, deg; cells around posts at a pole may reach half a degree beyond it.
    pub south_deg: f64,
    /// Eastern edge, deg, beyond the western one; up to 540 across the antimeridian.
    pub east_deg: f64,
    /// Northern edge, deg.
    pub north_deg: f64,
    /// Rows, 1 or more.
    pub rows: u32,
    /// Columns, 1 or more.
    pub columns: u32,
    /// Height of the geoid above the ellipsoid, m, the same everywhere, [-1000, 1000]; absent, unknown.
    #[serde(default)]
    pub undulation_m: Option<f64>,
}

/// Terrain of an array of heights, m above mean sea level; NaN is a void.
#[derive(Debug, Clone, Copy)]
pub struct Elevation<H> {
    extent: Extent,
    heights_msl_m: H,
    cell_height_deg: f64,
    cell_width_deg: f64,
}

impl Extent {
    fn check(&self) -> Result<(), Invalid> {
        let Self { west_deg, south_deg, east_deg, north_deg, .. } = *self;
        let is_on_earth = (-180.0..=180.0).contains(&west_deg)
            && south_deg >= -90.0 - POLE_SLACK_DEG
            && north_deg <= 90.0 + POLE_SLACK_DEG
            && south_deg < north_deg
            && west_deg < east_deg
            && east_deg - west_deg <= 360.0;
        if !is_on_earth {
            let value = format!("{west_deg}, {south_deg}, {east_deg}, {north_deg}");
            let allowed = "west, south, east, north in degrees on the Earth, south below north, west before east";
            return Err(Invalid::new("elevation", value, allowed));
        }
        if self.rows == 0 || self.columns == 0 {
            let value = format!("{} x {}", self.rows, self.columns);
            return Err(Invalid::new("elevation", value, "1 or more rows and columns"));
        }
        match self.undulation_m {
            Some(value) if !(-1_000.0..=1_000.0).contains(&value) => {
                Err(Invalid::new("elevation.undulation_m", value, "-1000 to 1000"))
            }
            _ => Ok(()),
        }
    }
}

impl<H: AsRef<[f32]>> Elevation<H> {
    /// Terrain of `heights_msl_m`.
    ///
    /// # Errors
    /// When the extent is not on the Earth, or the array has another number of heights.
    pub fn new(extent: Extent, heights_msl_m: H) -> Result<Self, Invalid> {
        extent.check()?;
        let heights = heights_msl_m.as_ref();
        let count = extent.rows as usize * extent.columns as usize;
        if heights.len() != count || count > POSTS_MAX {
            let value = format!("{} heights", heights.len());
            let allowed =
                format!("{} x {} = {count}, up to {POSTS_MAX}", extent.rows, extent.columns);
            return Err(Invalid::new("heights", value, allowed));
        }
        if let Some(index) = heights.iter().position(|height_m| height_m.abs() > 20_000.0) {
            let value = format!("{} at {index}", heights[index]);
            return Err(Invalid::new("heights", value, "-20000 to 20000 m, NaN for voids"));
        }
        Ok(Self {
            extent,
            heights_msl_m,
            cell_height_deg: (extent.north_deg - extent.south_deg) / f64::from(extent.rows),
            cell_width_deg: (extent.east_deg - extent.west_deg) / f64::from(extent.columns),
        })
    }

    /// Row and column of a position, counted from the centres of the first ones; `None` outside.
    fn place(&self, lat_deg: f64, lon_deg: f64) -> Option<[f64; 2]> {
        let extent = &self.extent;
        let turns = ((lon_deg - extent.west_deg) / 360.0).floor();
        let east_deg = lon_deg - 360.0 * turns;
        let is_inside = (extent.south_deg..=extent.north_deg).contains(&lat_deg)
            && (extent.west_deg..=extent.east_deg).contains(&east_deg);
        let row = (extent.north_deg - lat_deg) / self.cell_height_deg - 0.5;
        let column = (east_deg - extent.west_deg) / self.cell_width_deg - 0.5;
        is_inside.then_some([row, column])
    }

    /// Height at a place, NaN in a void; the number of voids among the posts that count.
    fn height_m(&self, [row, column]: [f64; 2]) -> (f64, usize) {
        let split = |place: f64, count: u32| {
            let place = place.clamp(0.0, f64::from(count - 1));
            let first = place.floor();
            let next = (first + 1.0).min(f64::from(count - 1));
            (first as usize, next as usize, place - first)
        };
        let (north, south, down) = split(row, self.extent.rows);
        let (west, east, across) = split(column, self.extent.columns);
        let (columns, heights) = (self.extent.columns as usize, self.heights_msl_m.as_ref());
        let posts = [(north, west), (north, east), (south, west), (south, east)]
            .map(|(row, column)| f64::from(heights[row * columns + column]));
        let weights = [
            (1.0 - down) * (1.0 - across),
            (1.0 - down) * across,
            down * (1.0 - across),
            down * across,
        ];
        let voids = posts.iter().zip(weights);
        let voids = voids.filter(|(post, weight)| post.is_nan() && *weight > 0.0).count();
        let (mut sum, mut weight) = (0.0, 0.0);
        for (post, share) in posts.iter().zip(weights) {
            if !post.is_nan() {
                sum += post * share;
                weight += share;
            }
        }
        match voids {
            0 => (sum, 0),
            // Voids alone have no height; otherwise the other posts stand for them.
            _ if weight > 0.0 => (sum / weight, voids),
            _ => (f64::NAN, voids),
        }
    }
}

impl<H: AsRef<[f32]> + Send + Sync> Terrain for Elevation<H> {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let mut used = TerrainUse::default();
        for ((lat_deg, lon_deg), out) in lat_deg.iter().zip(lon_deg).zip(elevation_msl_m) {
            let Some(place) = self.place(*lat_deg, *lon_deg) else {
                *out = f64::NAN;
                used.missing_samples += 1;
                continue;
            };
            let (height_m, voids) = self.height_m(place);
            *out = height_m;
            used.void_samples += u32::from(voids > 0);
        }
        used
    }

    fn undulation_m(&self, _: GeoPoint) -> f64 {
        self.extent.undulation_m.unwrap_or(0.0)
    }

    fn has_geoid(&self) -> bool {
        self.extent.undulation_m.is_some()
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.place(at.lat_deg(), at.lon_deg()).map(|_| self.cell_height_deg * 3_600.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: format!("array of {} x {} heights", self.extent.rows, self.extent.columns),
            has_geoid: self.has_geoid(),
            tiles_used: None,
            sources: Vec::new(),
            land_cover: Vec::new(),
            posts: Posts::Interpolated,
        }
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        Vec::new()
    }
}
