//! One SRTM tile in memory: a square of heights over one degree.
//!
//! Format: the SRTM user's guide ("SRTM Topography", NASA/USGS): signed 16-bit
//! big-endian metres above EGM96, row by row from the north-west corner, the outer rows and
//! columns shared with the neighbours. The guide defines one void, -32768; products in use have -32767 and
//! 32767 too. What is no height of the Earth ([`super::heights`]) becomes a void when a tile is decoded,
//! so that readers of tiles handle one void only, and is counted in a [`Census`].

use std::ops::Range;

use groundwave_files::hex::hex;
use groundwave_model::terrain::{Curve, HeightKind, TileId};
use sha2::{Digest, Sha256};

use super::gather::{self, LANES, Square, Track, VOID};
use super::sea::surface_m;

mod census;
mod decode;
mod resolution;

pub use census::{Census, Doubt};
pub use resolution::{Resolution, WrongSize};

/// The heights of one tile, or of some of its rows: only positions between those may be read from
/// it then, see [`Tile::holds`].
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    resolution: Resolution,
    /// Rows of `pairs` that were decoded; the others are zeros.
    rows: Range<usize>,
    /// Ends of the way from the southern to the northern edge whose positions need no others; infinite
    /// where the edge itself is held.
    own_edges: [f64; 2],
    /// Each post but those of the southernmost row with the one south of it, row by row from the
    /// north.
    pairs: Vec<[i16; 2]>,
    has_voids: bool,
    census: Census,
    /// Upper bound of the absolute heights, m.
    greatest_m: f64,
    kind: HeightKind,
}

/// A height between four posts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Height (m above mean sea level); NaN when every post that matters is void.
    pub elevation_msl_m: f64,
    /// True if a post that matters is void.
    pub has_void: bool,
}

/// Result of [`Tile::bilinear_run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Positions read.
    pub positions: usize,
    /// Those of them with a void among the posts that matter.
    pub voids: u32,
}

impl Tile {
    /// The same with heights of another kind.
    #[must_use]
    pub fn of_kind(self, kind: HeightKind) -> Self {
        Self { kind, ..self }
    }

    /// True if the posts are there for all positions between two fractions of the way from the southern
    /// to the northern edge. What is no number lies nowhere.
    #[must_use]
    #[inline]
    pub fn holds(&self, [south, north]: [f64; 2]) -> bool {
        let outside = (south < self.own_edges[0]) | (north > self.own_edges[1]);
        !outside
    }

    /// Number of leading latitudes, deg, that need no other rows in a tile with this southern edge.
    fn held_run(&self, south_deg: f64, lat_deg: &[f64]) -> usize {
        if self.rows == self.resolution.rows() {
            return lat_deg.len();
        }
        let is_held = |lat_deg: &&f64| self.holds([**lat_deg - south_deg; 2]);
        lat_deg.iter().take_while(is_held).count()
    }

    /// The same of a tile with the sea bed: water has its surface, see [`super::sea`].
    #[must_use]
    pub fn with_water(mut self, id: TileId) -> Self {
        let (side, cells) = (self.resolution.side(), self.cells());
        let [south_deg, west_deg] = [id.south_deg(), id.west_deg()].map(f64::from);
        for row in self.rows.clone() {
            for column in 0..side {
                let lon_deg = west_deg + column as f64 / cells;
                for (end, post) in self.pairs[row * side + column].iter_mut().enumerate() {
                    if *post == VOID || *post >= 0 {
                        continue;
                    }
                    let lat_deg = south_deg + 1.0 - (row + end) as f64 / cells;
                    *post = surface_m(f64::from(*post), lat_deg, lon_deg) as i16;
                }
            }
        }
        self
    }

    /// Kind of the heights.
    #[must_use]
    pub fn kind(&self) -> HeightKind {
        self.kind
    }

    /// Height of the post nearest to a position, as [`Tile::bilinear`] takes it; NaN in a void.
    #[must_use]
    pub fn nearest(&self, north: f64, east: f64) -> f64 {
        let cells = self.cells();
        let (y, x) = (clamp(north * cells, cells), clamp(east * cells, cells));
        let (row, column) = ((cells - y).round(), x.round());
        let post = self.post_m(row as usize, column as usize);
        post.map_or(f64::NAN, f64::from)
    }

    /// Counts of the posts that were decoded.
    #[must_use]
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// True if the octets of the posts are in the wrong order, as far as that can be determined.
    #[must_use]
    pub fn is_swapped(&self) -> bool {
        self.census.is_swapped(|| self.different_heights())
    }

    /// Number of different heights.
    fn different_heights(&self) -> usize {
        let side = self.resolution.side();
        let pairs = &self.pairs[self.rows.start * side..self.rows.end * side];
        let mut present = vec![false; 1 << 16];
        for &post in pairs.as_flattened() {
            present[usize::from(post.cast_unsigned())] = true;
        }
        present[usize::from(VOID.cast_unsigned())] = false;
        present.into_iter().filter(|present| *present).count()
    }

    /// SHA-256 digest of the posts as a plain `.hgt` file holds them, voids as -32768.
    #[must_use]
    pub fn digest(&self) -> String {
        let side = self.resolution.side();
        let last = self.pairs.len().saturating_sub(side);
        let mut hasher = Sha256::new();
        let mut row = Vec::with_capacity(2 * side);
        let rows = self.pairs.chunks(side).map(|pairs| (pairs, 0));
        for (pairs, end) in rows.chain([(&self.pairs[last..], 1)]) {
            row.clear();
            row.extend(pairs.iter().flat_map(|pair| pair[end].to_be_bytes()));
            hasher.update(&row);
        }
        hex(&hasher.finalize())
    }

    /// Spacing of the posts.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// The post in `row` from the north and `column` from the west; `None` off the tile and
    /// for a void.
    #[must_use]
    pub fn post_m(&self, row: usize, column: usize) -> Option<i16> {
        let side = self.resolution.side();
        if row >= side || column >= side {
            return None;
        }
        let pair_row = row.min(side - 2);
        let post = self.pairs[pair_row * side + column][row - pair_row];
        (post != VOID).then_some(post)
    }

    /// Copies the posts of `row` from the north, from `column` from the west on; voids are [`VOID`]. What lies
    /// off the tile is left as it is.
    pub(super) fn copy_row(&self, row: usize, column: usize, posts: &mut [i16]) {
        let side = self.resolution.side();
        let pair_row = row.min(side - 2);
        let end = (column + posts.len()).min(side);
        let Some(pairs) = self.pairs.get(pair_row * side + column..pair_row * side + end) else {
            return;
        };
        for (post, pair) in posts.iter_mut().zip(pairs) {
            *post = pair[(row - pair_row).min(1)];
        }
    }

    /// Bilinear height at `north` and `east`, the fractions in [0, 1] of the way from the
    /// southern to the northern and from the western to the eastern edge. Fractions outside are
    /// taken at the edge.
    #[must_use]
    pub fn bilinear(&self, north: f64, east: f64) -> Reading {
        let cells = self.cells();
        self.read(self.locate(north * cells, east * cells))
    }

    /// Bilinear heights (m) of the leading positions that lie on this tile, whose south-west
    /// corner is (`south_deg`, `west_deg`) and which owns its southern and western edge; NaN
    /// where [`Tile::bilinear`] gives NaN. Stops at the first position elsewhere or not held. The slices have
    /// one length.
    pub fn bilinear_run(
        &self,
        [south_deg, west_deg]: [f64; 2],
        lat_deg: &[f64],
        lon_deg: &[f64],
        elevation_msl_m: &mut [f64],
    ) -> Run {
        let lat_deg = &lat_deg[..self.held_run(south_deg, lat_deg)];
        let lon_deg = &lon_deg[..lat_deg.len()];
        let elevation_msl_m = &mut elevation_msl_m[..lat_deg.len()];
        let square = self.square_at([south_deg, west_deg]);
        let mut run = Run::default();
        while run.positions < lat_deg.len() {
            let at = run.positions;
            let filled =
                gather::fill(square, &lat_deg[at..], &lon_deg[at..], &mut elevation_msl_m[at..]);
            run.positions += filled;
            // One by one over the block that holds a void or the way off the tile.
            for i in run.positions..lat_deg.len().min(run.positions + LANES) {
                let (north, east) = (lat_deg[i] - south_deg, lon_deg[i] - west_deg);
                if !((0.0..1.0).contains(&north) & (0.0..1.0).contains(&east)) {
                    return run;
                }
                let reading = self.at([south_deg, west_deg], lat_deg[i], lon_deg[i]);
                elevation_msl_m[i] = reading.elevation_msl_m;
                run.voids += u32::from(reading.has_void);
                run.positions += 1;
            }
        }
        run
    }

    /// Memory of its posts, bytes: up to 5.8 or 52 MB.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.resolution.memory_bytes(&self.rows)
    }

    /// Upper bound of its absolute heights, m.
    #[must_use]
    pub fn greatest_m(&self) -> f64 {
        self.greatest_m
    }

    /// For positions in degrees, the corner being given.
    fn square_at(&self, corner_deg: [f64; 2]) -> Square<'_> {
        self.square(corner_deg, self.cells())
    }

    /// For positions in posts from the corner.
    fn square_in_posts(&self) -> Square<'_> {
        self.square([0.0; 2], 1.0)
    }

    fn square(&self, [south, west]: [f64; 2], scale: f64) -> Square<'_> {
        Square {
            pairs: &self.pairs,
            side: self.resolution.side(),
            scale,
            south,
            west,
            has_voids: self.has_voids,
        }
    }

    /// Fills heights at the positions of a curve from number `first` on, `count` of them or a few
    /// more, in a tile whose corner is given, deg, up to the first position elsewhere or the first
    /// void; `elevation_msl_m` ends with the last position. `inside` states that the tile [`surrounds`]
    /// the curve. How many it filled.
    pub fn follow(
        &self,
        [south_deg, west_deg]: [f64; 2],
        curve: &Curve,
        inside: bool,
        first: usize,
        elevation_msl_m: &mut [f64],
        count: usize,
    ) -> usize {
        let corner_deg = [south_deg, west_deg];
        let (track, square) = if inside {
            let track = Track::in_posts(curve, corner_deg, self.cells());
            (track, self.square_in_posts())
        } else {
            (Track::in_degrees(curve), self.square_at(corner_deg))
        };
        let filled = gather::follow(square, &track, first, elevation_msl_m, count);
        if filled >= count {
            return filled;
        }
        if inside {
            let rest = &mut elevation_msl_m[filled..];
            return filled + self.read_track(square, &track, first + filled, rest);
        }
        // One by one on the way off the tile.
        let until = elevation_msl_m.len().min(filled + LANES);
        for i in filled..until {
            let [lat_deg, lon_deg] = curve.position(first + i);
            let (north, east) = (lat_deg - south_deg, lon_deg - west_deg);
            if !((0.0..1.0).contains(&north) & (0.0..1.0).contains(&east)) {
                return i;
            }
            let reading = self.at(corner_deg, lat_deg, lon_deg);
            if reading.has_void || !reading.elevation_msl_m.is_finite() {
                return i;
            }
            elevation_msl_m[i] = reading.elevation_msl_m;
        }
        until
    }

    /// Fills heights at the positions of a track in posts from number `first` on, up to the first void:
    /// those of a rest too short for [`gather::follow`], or all where the processor has no vectors for
    /// it. How many it filled.
    fn read_track(
        &self,
        square: Square<'_>,
        track: &Track,
        first: usize,
        heights_m: &mut [f64],
    ) -> usize {
        const TOGETHER: usize = 64;
        let (mut north, mut east) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let all = heights_m.len();
        for (chunk, heights_m) in heights_m.chunks_mut(TOGETHER).enumerate() {
            let (north, east) = (&mut north[..heights_m.len()], &mut east[..heights_m.len()]);
            track.positions(first + chunk * TOGETHER, north, east);
            let filled = gather::fill(square, north, east, heights_m);
            for i in filled..heights_m.len() {
                let reading = self.read(self.locate(north[i], east[i]));
                if reading.has_void {
                    return chunk * TOGETHER + i;
                }
                heights_m[i] = reading.elevation_msl_m;
            }
        }
        all
    }

    /// The reading at a position on the tile whose corner is given. These are the very operations
    /// of [`gather::fill`].
    #[inline]
    fn at(&self, [south_deg, west_deg]: [f64; 2], lat_deg: f64, lon_deg: f64) -> Reading {
        let cells = self.cells();
        self.read(self.locate((lat_deg - south_deg) * cells, (lon_deg - west_deg) * cells))
    }

    /// Posts from one edge to the other, less one.
    fn cells(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "at most 3601")]
        let cells = (self.resolution.side() - 1) as f64;
        cells
    }

    /// The cell a position lies in, given in posts from the south-western corner.
    #[inline]
    fn locate(&self, y: f64, x: f64) -> Corner {
        let (side, cells) = (self.resolution.side(), self.cells());
        let (y, x) = (clamp(y, cells), clamp(x, cells));
        // The far edges belong to the last cells, at fraction 1.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 3600")]
        let [row, column] = [y, x].map(|posts| (posts as u32).min(side as u32 - 2));
        Corner {
            start: (side - 2 - row as usize) * side + column as usize,
            v: y - f64::from(row),
            u: x - f64::from(column),
        }
    }

    /// The posts around a cell: north-west, north-east, south-west, south-east.
    #[inline]
    fn around(&self, start: usize) -> [i16; 4] {
        match self.pairs.get(start..start + 2) {
            Some(&[[nw, sw], [ne, se]]) => [nw, ne, sw, se],
            // Unreachable: `locate` stays on the tile.
            _ => [VOID; 4],
        }
    }

    fn read(&self, corner: Corner) -> Reading {
        let posts = self.around(corner.start);
        if posts.contains(&VOID) {
            return around_voids(posts, corner);
        }
        Reading { elevation_msl_m: blend(posts, corner), has_void: false }
    }
}

/// True if a tile with its corner at `south_deg` and `west_deg` contains a curve between these latitudes
/// and longitudes with a margin above rounding, so that no position needs to be checked.
#[must_use]
pub fn surrounds([south_deg, west_deg]: [f64; 2], [lat, lon]: [[f64; 2]; 2]) -> bool {
    // Far more than rounding makes of a position, deg.
    const ROOM_DEG: f64 = 1e-9;
    let within =
        |[low, high]: [f64; 2], edge: f64| low > edge + ROOM_DEG && high < edge + 1.0 - ROOM_DEG;
    within(lat, south_deg) && within(lon, west_deg)
}

/// Location of a position: its cell's north-western post and the fractions of the distance
/// northwards (`v`) and eastwards (`u`) through it.
#[derive(Debug, Clone, Copy, Default)]
struct Corner {
    start: usize,
    v: f64,
    u: f64,
}

/// Into [0, `top`]. Unlike `f64::clamp` this turns NaN into 0 and is two instructions.
#[inline]
fn clamp(value: f64, top: f64) -> f64 {
    let raised = if value > 0.0 { value } else { 0.0 };
    if raised < top { raised } else { top }
}

#[inline]
fn blend(posts: [i16; 4], Corner { v, u, .. }: Corner) -> f64 {
    let [nw, ne, sw, se] = posts.map(f64::from);
    let top = (ne - nw) * u + nw;
    let bottom = (se - sw) * u + sw;
    (top - bottom) * v + bottom
}

/// Bilinear weights over the posts that hold a height, made to add up to 1 again. A void post
/// of weight 0 (the position lies on an edge or a post) does not matter.
#[cold]
fn around_voids(posts: [i16; 4], Corner { v, u, .. }: Corner) -> Reading {
    let weights = [v * (1.0 - u), v * u, (1.0 - v) * (1.0 - u), (1.0 - v) * u];
    let (mut sum, mut weight_sum, mut has_void) = (0.0, 0.0, false);
    for (post, weight) in posts.into_iter().zip(weights) {
        if post == VOID {
            has_void |= weight > 0.0;
        } else {
            sum += weight * f64::from(post);
            weight_sum += weight;
        }
    }
    // Without any weight left this is 0 / 0, the NaN that is wanted.
    Reading { elevation_msl_m: sum / weight_sum, has_void }
}

#[cfg(test)]
#[path = "hgt_tests.rs"]
mod tests;
