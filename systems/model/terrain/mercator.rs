//! Squares of the Web Mercator tiling and the ground under them.
//!
//! Tiling: OGC 17-083r4, "Two Dimensional Tile Matrix Set", annex D.1 (WebMercatorQuad): zoom 0 is one
//! square of 256 by 256 pixels, each zoom halves the pixels, rows count from the north.

mod smooth;

use std::f64::consts::PI;

use groundwave_values::parallel;

use super::{GeoPoint, Terrain};

/// Pixels along a side of a square.
pub const TILE_SIDE: usize = 256;

/// Pixels along a side of [`TileGround`]: one more beyond each edge.
pub const GROUND_SIDE: usize = TILE_SIDE + 2;

/// Zooms at which the ground is read: below, a square spans more posts than a request may load.
pub const ZOOM: [u8; 2] = [7, 15];

/// Radius of the sphere of the projection, m.
const RADIUS_M: f64 = 6_378_137.0;

/// Samples along each side of a pixel, at most.
const SAMPLES_MAX: f64 = 4.0;

/// Spacing of the samples in a pixel, m: that of the posts of coarse tiles.
const SPACING_M: f64 = 90.0;

/// Rows that one task reads.
const ROWS_PER_TASK: usize = 16;

/// Square of the tiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebTile {
    zoom: u8,
    column: u32,
    row: u32,
}

impl WebTile {
    /// Square at a zoom within [`ZOOM`], in a column from the west and a row from the north; `None`
    /// where there is none.
    #[must_use]
    pub fn new(zoom: u8, column: u32, row: u32) -> Option<Self> {
        let [least, most] = ZOOM;
        let squares = 1_u32.checked_shl(u32::from(zoom))?;
        let exists = (least..=most).contains(&zoom) && column < squares && row < squares;
        exists.then_some(Self { zoom, column, row })
    }

    /// Length of the whole tiling along a side, pixels.
    fn whole(self) -> f64 {
        TILE_SIDE as f64 * f64::from(1_u32 << self.zoom)
    }

    /// Longitude of a distance from the western edge, in pixels, deg; unwrapped.
    fn lon_deg(self, pixels: f64) -> f64 {
        (f64::from(self.column) * TILE_SIDE as f64 + pixels) / self.whole() * 360.0 - 180.0
    }

    /// Latitude of a distance from the northern edge, in pixels, deg.
    fn lat_deg(self, pixels: f64) -> f64 {
        let down = (f64::from(self.row) * TILE_SIDE as f64 + pixels) / self.whole();
        libm::atan(libm::sinh(PI * (1.0 - 2.0 * down))).to_degrees()
    }

    /// Edges: south, west, north, east, deg.
    #[must_use]
    pub fn edges_deg(self) -> [f64; 4] {
        let side = TILE_SIDE as f64;
        [self.lat_deg(side), self.lon_deg(0.0), self.lat_deg(0.0), self.lon_deg(side)]
    }

    /// Size of a pixel on the ground at a distance from the northern edge, in pixels, m.
    fn pixel_m(self, pixels: f64) -> f64 {
        2.0 * PI * RADIUS_M / self.whole() * libm::cos(self.lat_deg(pixels).to_radians())
    }

    /// Ground under the square: the mean of the samples under each pixel, read on the compute pool.
    #[must_use]
    pub fn ground(self, terrain: &dyn Terrain) -> TileGround {
        let middle_m = self.pixel_m(TILE_SIDE as f64 / 2.0);
        let samples = (middle_m / SPACING_M).ceil().clamp(1.0, SAMPLES_MAX) as usize;
        let mut rows: Vec<_> = (0..GROUND_SIDE).map(|row| (row, Vec::new())).collect();
        parallel::for_each(&mut rows, ROWS_PER_TASK, |(row, heights)| {
            *heights = self.row(terrain, *row, samples);
        });
        TileGround {
            elevation_msl_m: rows.into_iter().flat_map(|(_, heights)| heights).collect(),
            pixel_m: (0..GROUND_SIDE).map(|row| self.pixel_m(row as f64 - 0.5)).collect(),
        }
    }

    /// Heights of a row of [`TileGround`].
    fn row(self, terrain: &dyn Terrain, row: usize, samples: usize) -> Vec<f32> {
        let count = GROUND_SIDE * samples;
        let place = |index: usize| (index as f64 + 0.5) / samples as f64 - 1.0;
        let lon_deg: Vec<_> = (0..count).map(|index| self.lon_deg(place(index))).collect();
        let (mut sums, mut counts) = (vec![0.0; GROUND_SIDE], vec![0_usize; GROUND_SIDE]);
        let mut heights_m = vec![f64::NAN; count];
        for part in 0..samples {
            let lat_deg = vec![self.lat_deg(place(row * samples + part)); count];
            let used = terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
            if used.missing_samples as usize == count {
                // Heights, if there are any, are assumed.
                continue;
            }
            for (index, height_m) in heights_m.iter().enumerate().filter(|(_, m)| m.is_finite()) {
                sums[index / samples] += height_m;
                counts[index / samples] += 1;
            }
        }
        // Pixels more than half of which is known.
        let most = samples * samples / 2;
        let mean = |(sum, count): (&f64, &usize)| match *count > most {
            true => (sum / *count as f64) as f32,
            false => f32::NAN,
        };
        sums.iter().zip(&counts).map(mean).collect()
    }
}

/// Ground under a square and one pixel beyond its edges.
#[derive(Debug, Clone, PartialEq)]
pub struct TileGround {
    /// Heights above mean sea level, m, row by row from the north-west, [`GROUND_SIDE`] each; NaN where
    /// the ground is not known.
    pub elevation_msl_m: Vec<f32>,
    /// Size of a pixel of each row on the ground, m.
    pub pixel_m: Vec<f64>,
}

impl TileGround {
    /// Height in a row and a column of the square itself, m; NaN where it is not known.
    #[must_use]
    pub fn height_m(&self, row: usize, column: usize) -> f32 {
        self.elevation_msl_m[(row + 1) * GROUND_SIDE + column + 1]
    }

    /// True if no pixel of the square is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        (0..TILE_SIDE).all(|row| (0..TILE_SIDE).all(|column| self.height_m(row, column).is_nan()))
    }
}

/// Rectangle of known ground.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownGround {
    /// South-western corner.
    pub south_west: GeoPoint,
    /// North-eastern corner.
    pub north_east: GeoPoint,
    /// Spacing of the posts, arc-seconds; `None` for ground that is said to be flat.
    pub resolution_arcsec: Option<f64>,
    /// Source of the heights, for example `SRTM N57E011`.
    pub source: String,
}

impl KnownGround {
    /// The whole Earth, by `source`.
    #[must_use]
    pub fn everywhere(source: String) -> Self {
        let corner =
            |lat_deg, lon_deg| GeoPoint::new(lat_deg, lon_deg).expect("a corner of the map");
        Self {
            south_west: corner(-90.0, -180.0),
            north_east: corner(90.0, 180.0),
            resolution_arcsec: None,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Flat, NoTerrain, TerrainSource, TerrainUse};
    use super::*;

    /// Ground as high as its longitude in thousandths of a degree, unknown north of 57.5 degrees.
    struct Ramp;

    impl Terrain for Ramp {
        fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], heights_m: &mut [f64]) -> TerrainUse {
            for (at, height_m) in heights_m.iter_mut().enumerate() {
                *height_m = match lat_deg[at] < 57.5 {
                    true => lon_deg[at] * 1e3,
                    false => f64::NAN,
                };
            }
            TerrainUse::default()
        }

        fn undulation_m(&self, _at: GeoPoint) -> f64 {
            0.0
        }

        fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
            None
        }

        fn describe(&self) -> TerrainSource {
            Flat::default().describe()
        }
    }

    #[test]
    fn squares_lie_where_the_standard_puts_them() {
        // Zoom 10, column 542, row 310: mercantile 1.2.1 gives these bounds.
        let tile = WebTile::new(10, 542, 310).unwrap();
        let expected = [57.515_822_6, 10.546_875, 57.704_147_2, 10.898_437_5];
        for (edge_deg, expected) in tile.edges_deg().into_iter().zip(expected) {
            assert!((edge_deg - expected).abs() < 1e-6, "{edge_deg}, not {expected}");
        }
        assert_eq!(WebTile::new(10, 1024, 0), None);
        assert_eq!(WebTile::new(6, 0, 0), None);
        assert_eq!(WebTile::new(16, 0, 0), None);
        assert_eq!(WebTile::new(200, 0, 0), None);
    }

    #[test]
    fn heights_belong_to_the_middles_of_pixels() {
        for zoom in [8, 13] {
            let squares = f64::from(1_u32 << zoom);
            let column = ((11.5 + 180.0) / 360.0 * squares) as u32;
            // The row of 57.5 degrees: its southern part is known.
            let row = (0.303_792_757 * squares) as u32;
            let tile = WebTile::new(zoom, column, row).unwrap();
            let [_, west, _, east] = tile.edges_deg();
            let ground = tile.ground(&Ramp);
            for place in [0, 100, 255] {
                let expected = (west + (place as f64 + 0.5) * (east - west) / 256.0) * 1e3;
                let height_m = f64::from(ground.height_m(255, place));
                assert!((height_m - expected).abs() < 0.01, "{height_m}, not {expected}");
            }
            assert!(ground.height_m(0, 7).is_nan());
            assert!(ground.pixel_m.iter().all(|&m| m > 0.0));
        }
    }

    #[test]
    fn unknown_ground_is_no_height() {
        // Its northern edge is at 57.704, its southern at 57.516: all of it is unknown.
        let tile = WebTile::new(10, 542, 310).unwrap();
        assert!(tile.ground(&Ramp).is_unknown());
        assert!(tile.ground(&NoTerrain::default()).is_unknown());
        let flat = tile.ground(&Flat { elevation_msl_m: 7.0 });
        assert!(!flat.is_unknown());
        assert!(flat.elevation_msl_m.iter().all(|&m| m == 7.0));
        // One row below: the southern part is known.
        let ground = WebTile::new(10, 542, 311).unwrap().ground(&Ramp);
        assert!(ground.height_m(0, 0).is_nan() && !ground.height_m(255, 0).is_nan());
    }
}
