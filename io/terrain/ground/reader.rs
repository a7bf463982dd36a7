//! Samples of a ground of several sources, one after the other.

use std::sync::atomic::Ordering;

use groundwave_model::terrain::{Posts, TerrainUse, TileId};

use super::Ground;
use crate::raster::{Reading, RecentBlocks};

/// Cells of the candidates in a degree.
const CELLS: f64 = 128.0;

/// Sources finer than tiles by less than this share come after them.
const FINER: f64 = 0.99;

/// Most steps from one raster to the next for posts that the first lacks: a corner has two neighbours.
const DEPTH_MAX: usize = 2;

/// Source that may have a height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Candidate {
    Raster(u32),
    Tiles,
}

/// Height of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum At {
    /// The height, m; true if a post that matters has none.
    Height(f64, bool),
    /// Posts without a height.
    Void,
    /// No source reaches there.
    Missing,
}

/// Reader of samples that lie near each other.
pub(super) struct Reader<'a> {
    ground: &'a Ground,
    /// Cell of the candidates.
    cell: [f64; 2],
    candidates: Vec<Candidate>,
    numbers: Vec<u32>,
    blocks: RecentBlocks,
    noted: Option<(Candidate, TileId)>,
    /// Sources used so far.
    pub used: TerrainUse,
}

impl<'a> Reader<'a> {
    pub fn new(ground: &'a Ground) -> Self {
        Self {
            ground,
            cell: [f64::NAN; 2],
            candidates: Vec::new(),
            numbers: Vec::new(),
            blocks: RecentBlocks::default(),
            noted: None,
            used: TerrainUse::default(),
        }
    }

    /// Sources near a position, the finest first.
    fn choose(&mut self, lat_deg: f64, lon_deg: f64) {
        let cell = [(lat_deg * CELLS).floor(), (lon_deg * CELLS).floor()];
        if cell == self.cell {
            return;
        }
        self.cell = cell;
        let [south, west] = cell.map(|cell| cell / CELLS);
        let [north, east] = [south, west].map(|edge| edge + 1.0 / CELLS);
        let area = [south, west, north, east];
        let tiles_arcsec = self.ground.tiles.spacing_arcsec(lat_deg, lon_deg);
        self.ground.candidates(area, tiles_arcsec, &mut self.numbers, &mut self.candidates);
    }

    /// The height at a position; the longitude may be unwrapped.
    pub fn at(&mut self, lat_deg: f64, lon_deg: f64) -> At {
        let lon_deg = wrapped(lon_deg);
        self.choose(lat_deg, lon_deg);
        let mut is_void = false;
        for index in 0..self.candidates.len() {
            let candidate = self.candidates[index];
            let mut blocks = std::mem::take(&mut self.blocks);
            let reading = self.read(&mut blocks, candidate, [lat_deg, lon_deg], 0);
            self.blocks = blocks;
            match reading {
                Reading::Height(height_m, has_void) => {
                    self.note(candidate, lat_deg, lon_deg);
                    return At::Height(height_m, has_void);
                }
                Reading::Void => is_void = true,
                Reading::Outside => {}
            }
        }
        match is_void {
            true => At::Void,
            false => At::Missing,
        }
    }

    /// Spacing of the posts around a position, arc-seconds; none where no source reaches.
    pub fn resolution_arcsec(&mut self, lat_deg: f64, lon_deg: f64) -> Option<f64> {
        self.choose(lat_deg, lon_deg);
        let mut of_void = None;
        for index in 0..self.candidates.len() {
            let candidate = self.candidates[index];
            let mut blocks = std::mem::take(&mut self.blocks);
            let reading = self.read(&mut blocks, candidate, [lat_deg, lon_deg], 0);
            self.blocks = blocks;
            if reading == Reading::Outside {
                continue;
            }
            let arcsec = self.spacing_arcsec(candidate, lat_deg, lon_deg);
            if matches!(reading, Reading::Height(..)) {
                return arcsec;
            }
            of_void = of_void.or(arcsec);
        }
        of_void
    }

    fn spacing_arcsec(&self, candidate: Candidate, lat_deg: f64, lon_deg: f64) -> Option<f64> {
        match candidate {
            Candidate::Raster(number) => Some(self.ground.mosaic.raster(number).resolution_arcsec),
            Candidate::Tiles => self.ground.tiles.spacing_arcsec(lat_deg, lon_deg),
        }
    }

    /// Height of one source, whose missing posts others supply.
    fn read(
        &self,
        blocks: &mut RecentBlocks,
        of: Candidate,
        at: [f64; 2],
        depth: usize,
    ) -> Reading {
        let ground = self.ground;
        match of {
            Candidate::Tiles => ground.tiles.read(at, ground.posts),
            Candidate::Raster(number) => {
                let beyond = |blocks: &mut RecentBlocks, [lat_deg, lon_deg]: [f64; 2]| {
                    if depth == DEPTH_MAX {
                        return None;
                    }
                    // The post may lie in another cell.
                    let at = [lat_deg, wrapped(lon_deg)];
                    let tiles_arcsec = ground.tiles.spacing_arcsec(at[0], at[1]);
                    let (mut numbers, mut others) = (Vec::new(), Vec::new());
                    let area = [at[0], at[1], at[0], at[1]];
                    ground.candidates(area, tiles_arcsec, &mut numbers, &mut others);
                    let others = others.into_iter().filter(|other| *other != of);
                    let height = |reading| match reading {
                        Reading::Height(height_m, false) => Some(height_m),
                        _ => None,
                    };
                    others
                        .into_iter()
                        .find_map(|other| height(self.read(blocks, other, at, depth + 1)))
                };
                ground.mosaic.read(blocks, number, at, ground.posts, beyond)
            }
        }
    }

    /// Notes a source that supplied a height.
    fn note(&mut self, candidate: Candidate, lat_deg: f64, lon_deg: f64) {
        let Some(square) = TileId::containing(lat_deg.min(89.999_999), lon_deg) else {
            return;
        };
        if self.noted == Some((candidate, square)) {
            return;
        }
        self.noted = Some((candidate, square));
        match candidate {
            Candidate::Raster(number) => {
                let raster = self.ground.mosaic.raster(number);
                raster.is_used.store(true, Ordering::Relaxed);
                self.used.note(square, raster.resolution_arcsec, raster.kind);
            }
            Candidate::Tiles => self.ground.tiles.note(lat_deg, lon_deg, &mut self.used),
        }
    }
}

/// Longitude within [-180, 180), deg.
fn wrapped(lon_deg: f64) -> f64 {
    match (-180.0..180.0).contains(&lon_deg) {
        true => lon_deg,
        false => (lon_deg + 180.0).rem_euclid(360.0) - 180.0,
    }
}

impl Ground {
    /// Sources that reach into an area, the finest first, where tiles have a spacing.
    fn candidates(
        &self,
        area_deg: [f64; 4],
        mut tiles_arcsec: Option<f64>,
        numbers: &mut Vec<u32>,
        candidates: &mut Vec<Candidate>,
    ) {
        // Without a tile of its own, a position on an edge may be known to a neighbour.
        let is_last = tiles_arcsec.is_none();
        self.mosaic.within(area_deg, numbers);
        candidates.clear();
        for &number in &*numbers {
            let arcsec = self.mosaic.raster(number).resolution_arcsec;
            if tiles_arcsec.is_some_and(|tiles| arcsec >= tiles * FINER) {
                candidates.push(Candidate::Tiles);
                tiles_arcsec = None;
            }
            candidates.push(Candidate::Raster(number));
        }
        if tiles_arcsec.is_some() || is_last {
            candidates.push(Candidate::Tiles);
        }
    }
}

impl super::TileDirectory {
    /// Height at a position.
    fn read(&self, [lat_deg, lon_deg]: [f64; 2], posts: Posts) -> Reading {
        match self.reading(lat_deg, lon_deg, posts) {
            None => Reading::Outside,
            Some(reading) if reading.elevation_msl_m.is_nan() => Reading::Void,
            Some(reading) => Reading::Height(reading.elevation_msl_m, reading.has_void),
        }
    }
}
