//! Ground between posts as a smooth surface, for pictures: heights between posts are linear, and their edges
//! would show as facets under a light.

use groundwave_values::parallel;

use super::{GROUND_SIDE, ROWS_PER_TASK, TILE_SIDE, Terrain, TileGround, WebTile};
use crate::terrain::GeoPoint;

/// Maximum step of the lattice, pixels: a part of [`TILE_SIDE`].
const STEP_MAX: usize = 64;

/// Nodes beyond each edge of the square that the spline of a pixel beyond that edge needs.
const NODES_BEYOND: usize = 2;

/// Minimum weight of known nodes with which a height is smoothed.
const WEIGHT_MIN: f64 = 0.5;

/// Lattice of nodes along an axis, whose first is [`NODES_BEYOND`] steps before the edge of the square.
#[derive(Clone, Copy)]
struct Axis {
    /// Distance of nodes, pixels. It divides [`TILE_SIDE`], so that neighbouring squares share nodes.
    step: usize,
}

impl Axis {
    /// Nodes as far apart as posts, rounded down to a power of two.
    fn new(post_pixels: f64) -> Self {
        let step = (post_pixels.clamp(1.0, STEP_MAX as f64) as usize).ilog2();
        Self { step: 1 << step }
    }

    fn nodes(self) -> usize {
        TILE_SIDE / self.step + 2 * NODES_BEYOND + 1
    }

    /// Distance of a node from the edge of the square, pixels.
    fn pixels(self, node: usize) -> f64 {
        (node as f64 - NODES_BEYOND as f64) * self.step as f64
    }

    /// First of the four nodes of a place of [`TileGround`], and their weights: the uniform cubic B-spline
    /// (C. de Boor, "A Practical Guide to Splines", 1978, chapter IX), whose second derivative is continuous.
    fn spline(self, place: usize) -> (usize, [f64; 4]) {
        let at = (place as f64 - 0.5) / self.step as f64;
        let (before, part) = (at.floor(), at - at.floor());
        let rest = 1.0 - part;
        let inner = |t: f64| (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0;
        let weights =
            [rest * rest * rest / 6.0, inner(part), inner(rest), part * part * part / 6.0];
        ((before + NODES_BEYOND as f64) as usize - 1, weights)
    }
}

/// Weighted mean of the known values; NaN where too few are known.
fn mean(values: [f64; 4], weights: [f64; 4]) -> f64 {
    let pairs = values.into_iter().zip(weights).filter(|(value, _)| value.is_finite());
    let (sum, weight) =
        pairs.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    if weight < WEIGHT_MIN { f64::NAN } else { sum / weight }
}

impl WebTile {
    /// `ground` of this square with the heights between posts smoothed by a cubic spline; as it is where pixels
    /// are as coarse as posts. What is unknown stays so.
    #[must_use]
    pub fn smooth(self, terrain: &dyn Terrain, ground: &TileGround) -> TileGround {
        let Some([across, down]) = self.axes(terrain) else { return ground.clone() };
        let lon_deg: Vec<_> =
            (0..across.nodes()).map(|node| self.lon_deg(across.pixels(node))).collect();
        let mut rows: Vec<_> = (0..down.nodes()).map(|node| (node, Vec::new())).collect();
        parallel::for_each(&mut rows, ROWS_PER_TASK, |(node, row)| {
            let lat_deg = vec![self.lat_deg(down.pixels(*node)); lon_deg.len()];
            let mut heights_m = vec![f64::NAN; lon_deg.len()];
            let used = terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
            if used.missing_samples as usize == lon_deg.len() {
                // Heights, if there are any, are assumed.
                heights_m.fill(f64::NAN);
            }
            let along = (0..GROUND_SIDE).map(|place| {
                let (first, weights) = across.spline(place);
                mean(std::array::from_fn(|at| heights_m[first + at]), weights)
            });
            *row = along.collect::<Vec<_>>();
        });
        let mut smooth = ground.clone();
        let lines = smooth.elevation_msl_m.chunks_exact_mut(GROUND_SIDE);
        for (place, line) in lines.enumerate() {
            let (first, weights) = down.spline(place);
            for (column, height_m) in line.iter_mut().enumerate() {
                let mean_m = mean(std::array::from_fn(|at| rows[first + at].1[column]), weights);
                if !height_m.is_nan() && mean_m.is_finite() {
                    *height_m = mean_m as f32;
                }
            }
        }
        smooth
    }

    /// Lattices across and down, as fine as the finest posts of the square; `None` where pixels are as coarse.
    fn axes(self, terrain: &dyn Terrain) -> Option<[Axis; 2]> {
        let [south, west, north, east] = self.edges_deg();
        let centre = [(south + north) / 2.0, (west + east) / 2.0];
        let places = [centre, [south, west], [south, east], [north, west], [north, east]];
        let spacing = places.iter().filter_map(|&[lat_deg, lon_deg]| {
            terrain.resolution_arcsec(GeoPoint::wrapping(lat_deg, lon_deg).ok()?)
        });
        let spacing_arcsec = spacing.reduce(f64::min)?;
        let post_pixels = spacing_arcsec / 3600.0 / 360.0 * self.whole();
        let axes =
            [1.0, libm::cos(centre[0].to_radians())].map(|narrow| Axis::new(post_pixels / narrow));
        axes.iter().any(|axis| axis.step > 1).then_some(axes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{TerrainSource, TerrainUse};
    use super::*;

    /// Posts every 3 arc-seconds with heights by a pattern, linear between them; unknown west of `edge_deg`.
    struct Posts {
        edge_deg: f64,
    }

    impl Terrain for Posts {
        fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], heights_m: &mut [f64]) -> TerrainUse {
            for (at, height_m) in heights_m.iter_mut().enumerate() {
                let [y, x] = [lat_deg[at], lon_deg[at]].map(|deg| deg * 1_200.0);
                let post = |x: f64, y: f64| {
                    let code = (x as i64 * 7 + y as i64 * 13).rem_euclid(17);
                    100.0 + 4.0 * code as f64
                };
                let ([x0, y0], [u, v]) = ([x.floor(), y.floor()], [x.fract(), y.fract()]);
                let along = |y: f64| post(x0, y) * (1.0 - u) + post(x0 + 1.0, y) * u;
                let linear_m = along(y0) * (1.0 - v) + along(y0 + 1.0) * v;
                *height_m = if lon_deg[at] < self.edge_deg { f64::NAN } else { linear_m };
            }
            TerrainUse::default()
        }

        fn undulation_m(&self, _at: GeoPoint) -> f64 {
            0.0
        }

        fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
            Some(3.0)
        }

        fn describe(&self) -> TerrainSource {
            TerrainSource::default()
        }
    }

    const EVERYWHERE: Posts = Posts { edge_deg: -180.0 };

    fn square(zoom: u8) -> WebTile {
        let squares = f64::from(1_u32 << zoom);
        WebTile::new(zoom, ((11.9 + 180.0) / 360.0 * squares) as u32, (0.3025 * squares) as u32)
            .unwrap()
    }

    /// Greatest second difference along a row and along a column, m.
    fn bend_m(ground: &TileGround) -> [f32; 2] {
        let height = |at: usize| ground.elevation_msl_m[at];
        [1, GROUND_SIDE].map(|stride| {
            let middles = (1..GROUND_SIDE - 1)
                .flat_map(|row| (1..GROUND_SIDE - 1).map(move |column| (row, column)));
            let bends = middles.map(|(row, column)| {
                let at = row * GROUND_SIDE + column;
                (height(at - stride) - 2.0 * height(at) + height(at + stride)).abs()
            });
            bends.fold(0.0, f32::max)
        })
    }

    #[test]
    fn facets_between_posts_are_smoothed() {
        for zoom in [14, 15] {
            let tile = square(zoom);
            let ground = tile.ground(&EVERYWHERE);
            let smooth = tile.smooth(&EVERYWHERE, &ground);
            let (before_m, after_m) = (bend_m(&ground), bend_m(&smooth));
            for axis in 0..2 {
                let gain = before_m[axis] / after_m[axis];
                assert!(gain > 3.0 * f32::from(zoom - 13), "zoom {zoom}: {before_m:?} {after_m:?}");
            }
            // The surface goes on through the posts' heights in the mean.
            let mean = |ground: &TileGround| {
                ground.elevation_msl_m.iter().sum::<f32>() / ground.elevation_msl_m.len() as f32
            };
            assert!((mean(&smooth) - mean(&ground)).abs() < 2.0);
        }
    }

    #[test]
    fn neighbouring_squares_agree_on_their_common_edge() {
        let tile = square(15);
        let east = WebTile::new(15, tile.column + 1, tile.row).unwrap();
        let [one, other] =
            [tile, east].map(|tile| tile.smooth(&EVERYWHERE, &tile.ground(&EVERYWHERE)));
        for row in 0..GROUND_SIDE {
            let at = |ground: &TileGround, column: usize| {
                ground.elevation_msl_m[row * GROUND_SIDE + column]
            };
            for (a, b) in [(TILE_SIDE, 0), (TILE_SIDE + 1, 1)] {
                assert!((at(&one, a) - at(&other, b)).abs() < 1e-3, "row {row}");
            }
        }
    }

    #[test]
    fn pixels_as_coarse_as_posts_and_unknown_ground_stay() {
        let coarse = square(10);
        let ground = coarse.ground(&EVERYWHERE);
        assert_eq!(coarse.smooth(&EVERYWHERE, &ground), ground);
        let tile = square(15);
        let [_, west, _, east] = tile.edges_deg();
        let half = Posts { edge_deg: (west + east) / 2.0 };
        let ground = tile.ground(&half);
        let smooth = tile.smooth(&half, &ground);
        for (before, after) in ground.elevation_msl_m.iter().zip(&smooth.elevation_msl_m) {
            assert_eq!(before.is_nan(), after.is_nan());
            assert!(after.is_nan() || (90.0..180.0).contains(after), "{after}");
        }
    }
}
