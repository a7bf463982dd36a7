//! A directory of tiles as one piece of ground.
//!
//! Names are read once, at opening; a tile is decoded when a sample falls on it and kept within a
//! memory budget. A tile that turns out damaged behaves like a missing one and is remembered as a
//! fault.
//!
//! A tile owns its southern and western edge. A sample exactly on a shared edge is read from
//! the owner, or from the neighbour that holds the same row or column when there is no owner:
//! so the north pole is the top row of `N89`, and 180 degrees can be read from `E179`.

mod alone;
mod cell;
mod pool;
mod regions;
mod window;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

use groundwave_model::terrain::{
    Curve, CurveRow, GeoPoint, HeightKind, KnownGround, PostWindow, Posts, Terrain, TerrainSource,
    TerrainUse, TileId,
};
use tracing::warn;

use self::cell::{Cell, floor};
use self::pool::{Facts, Pool, Residency};
use super::about::About;
use super::folder::{DirectoryError, Folders, Found, Ignored};
use super::gather::LANES;
use super::hgt::{Resolution, Run, Tile, surrounds};
use super::name::{self, Packing};
use super::read::{HgtError, probe, read_tile};

/// Target of the message about a damaged tile in the log of a service; commands end with the fault as
/// their error instead.
pub const FAULT_TARGET: &str = "groundwave_terrain::fault";

/// A directory of tiles. Safe to share between threads.
#[derive(Debug)]
pub struct TileDirectory {
    tiles: BTreeMap<TileId, Slot>,
    ignored: Vec<Ignored>,
    pool: Pool,
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    /// Name it was published under.
    name: String,
    packing: Packing,
    /// Number of its data set.
    source: usize,
    kind: HeightKind,
    /// True if its heights at sea are those of the bed.
    sea_bed: bool,
    /// Resolution that the file claims; none where it claims no size of a tile.
    claimed: OnceLock<Option<Resolution>>,
    /// The decoded tile while it is kept.
    residency: Residency,
    /// Of the file, since it was decoded first.
    facts: OnceLock<Facts>,
    fault: OnceLock<HgtError>,
    /// Done once what is doubtful about its posts is logged.
    doubt_logged: Once,
    /// True once it supplied a sample.
    is_used: AtomicBool,
    digest: OnceLock<String>,
}

impl TileDirectory {
    /// Reads the names in a directory and those below it. Files that do not look
    /// like tiles are passed over; those that do and cannot be used are in
    /// [`TileDirectory::ignored`]. Of several files of one tile the finest is used, then the
    /// least packed, then the first by name.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let contents = Folders::read(&[path.to_owned()])?;
        let mut directory = Self::of(contents.files, &contents.sources);
        directory.ignored.extend(contents.ignored);
        for ignored in &directory.ignored {
            warn!(path = %ignored.path.display(), reason = %ignored.reason, "terrain file ignored");
        }
        if directory.tiles.is_empty() {
            warn!(path = %path.display(), "terrain directory holds no tile");
        }
        Ok(directory)
    }

    /// Tiles among files, of data sets with numbers.
    pub(super) fn of(files: Vec<Found>, sources: &[About]) -> Self {
        let mut directory =
            Self { tiles: BTreeMap::new(), ignored: Vec::new(), pool: Pool::default() };
        for file in files {
            let about = &sources[file.source];
            directory.admit(file, about.kind(), about.sea_bed);
        }
        directory
    }

    /// Number of tiles available.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    /// Number of tiles that supplied a sample since the directory was opened.
    #[must_use]
    pub fn used_count(&self) -> usize {
        let used = |slot: &&Slot| slot.is_used.load(Ordering::Relaxed);
        self.tiles.values().filter(used).count()
    }

    /// Notes that a tile supplied a sample.
    fn note_use(&self, id: TileId) {
        if let Some(slot) = self.tiles.get(&id)
            // Threads share what is only read.
            && !slot.is_used.load(Ordering::Relaxed)
        {
            slot.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Files that look like tiles and are not used, by path.
    #[must_use]
    pub fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    fn admit(&mut self, Found { path, name, source }: Found, kind: HeightKind, sea_bed: bool) {
        let (id, packing) = match name::parse(&name) {
            None => return,
            Some(Ok(named)) => named,
            Some(Err(error)) => return self.ignore(path, error.to_string()),
        };
        // Also keeps a pipe from being opened, which would wait for ever.
        if !path.is_file() {
            return self.ignore(path, "not a regular file".to_owned());
        }
        let newcomer = Slot {
            path,
            name,
            packing,
            source,
            kind,
            sea_bed,
            claimed: OnceLock::new(),
            residency: Residency::default(),
            facts: OnceLock::new(),
            fault: OnceLock::new(),
            doubt_logged: Once::new(),
            is_used: AtomicBool::new(false),
            digest: OnceLock::new(),
        };
        let Some(holder) = self.tiles.remove(&id) else {
            self.tiles.insert(id, newcomer);
            return;
        };
        let rank = |slot: &Slot| {
            // None, a file that claims no size of a tile, is the lowest.
            (slot.claimed(id), std::cmp::Reverse(slot.packing))
        };
        let (used, unused) =
            if rank(&newcomer) > rank(&holder) { (newcomer, holder) } else { (holder, newcomer) };
        self.ignore(unused.path, format!("{} holds the same tile", used.path.display()));
        self.tiles.insert(id, used);
    }

    fn ignore(&mut self, path: PathBuf, reason: String) {
        self.ignored.push(Ignored { path, reason });
    }

    /// The square around a position: that of the owner, or of a neighbour across an edge the
    /// position lies on; with the posts that positions between two latitudes need there.
    fn cell(&self, lat_deg: f64, lon_deg: f64, [low_deg, high_deg]: [f64; 2]) -> Cell {
        let (south_deg, west_deg) = (floor(lat_deg), floor(lon_deg));
        let (on_south, on_west) = (south_deg == lat_deg, west_deg == lon_deg);
        let squares = [
            (true, 0.0, 0.0),
            (on_south, 1.0, 0.0),
            (on_west, 0.0, 1.0),
            (on_south && on_west, 1.0, 1.0),
        ];
        for (_, down_deg, left_deg) in squares.into_iter().filter(|square| square.0) {
            let (south_deg, west_deg) = (south_deg - down_deg, west_deg - left_deg);
            let Some(id) = TileId::containing(south_deg, west_deg) else {
                continue;
            };
            let latitudes = [low_deg - south_deg, high_deg - south_deg];
            if let Some(tile) = self.tile(id, latitudes) {
                return Cell { south_deg, west_deg, tile: Some((id, tile)) };
            }
        }
        Cell { south_deg, west_deg, tile: None }
    }
}

/// Name of a tile among the files of a terrain, before its id.
const FILE_NAME: &str = "terrain tile ";

/// Curves followed together.
const TOGETHER: usize = 8;

/// Positions of a curve that are read before those of the next.
const STRETCH: usize = 256;

/// A tile under curves that are followed together.
struct Under {
    tile: Arc<Tile>,
    corner_deg: [f64; 2],
    id: TileId,
    /// True once it is noted that it supplied a height.
    is_noted: bool,
}

/// Progress along a curve.
#[derive(Default)]
struct Way {
    /// Heights filled.
    height_count: usize,
    /// Current square: its place among those under the curves, and whether it surrounds this one.
    on: Option<(usize, bool)>,
    /// True if nothing has been read of it yet.
    fresh: bool,
    greatest_m: f64,
    /// True if it came to a void or off the tiles.
    lost: bool,
}

impl TileDirectory {
    /// Follows a curve until `until` heights are filled, or a few more. `squares` has the tiles under the
    /// curves followed with it.
    fn follow(
        &self,
        row: &mut CurveRow<'_>,
        way: &mut Way,
        until: usize,
        squares: &mut Vec<Under>,
    ) {
        let all = row.elevation_msl_m.len();
        // A short rest would be read one by one.
        let until = if until + 2 * LANES > all { all } else { until };
        while way.height_count < until && !way.lost {
            if way.on.is_none() {
                way.on = self.under(row.curve, way.height_count, squares);
                way.fresh = true;
            }
            let Some((place, is_around)) = way.on else {
                way.lost = true;
                return;
            };
            let under = &mut squares[place];
            let (heights, count) =
                (&mut row.elevation_msl_m[way.height_count..], until - way.height_count);
            let filled = under.tile.follow(
                under.corner_deg,
                row.curve,
                is_around,
                1 + way.height_count,
                heights,
                count,
            );
            way.height_count += filled;
            if way.fresh {
                way.fresh = false;
                way.lost = filled == 0;
                way.greatest_m = way.greatest_m.max(under.tile.greatest_m());
                if filled > 0 {
                    if !under.is_noted {
                        under.is_noted = true;
                        self.note_use(under.id);
                    }
                    if let Some(used) = row.used.as_deref_mut() {
                        used.note(under.id, under.tile.resolution().arcsec(), under.tile.kind());
                    }
                }
            }
            if filled < count {
                way.on = None;
            }
        }
    }

    /// Square under the position with number `count`. One in `squares` is not looked up again: threads
    /// would wait for each other to count who holds the tile.
    fn under(
        &self,
        curve: &Curve,
        height_count: usize,
        squares: &mut Vec<Under>,
    ) -> Option<(usize, bool)> {
        let bounds_deg = curve.bounds_deg();
        let lat_bounds_deg = bounds_deg[0];
        let holds = |under: &Under| {
            let latitudes = lat_bounds_deg.map(|lat_deg| lat_deg - under.corner_deg[0]);
            under.tile.holds(latitudes)
        };
        let is_around = |under: &Under| surrounds(under.corner_deg, bounds_deg);
        let around = (squares.iter()).position(|under| is_around(under) && holds(under));
        if let Some(place) = around {
            return Some((place, true));
        }
        let [lat_deg, lon_deg] = curve.position(1 + height_count);
        let owner_deg = [floor(lat_deg), floor(lon_deg)];
        let own = (squares.iter()).position(|under| under.corner_deg == owner_deg && holds(under));
        if let Some(place) = own {
            return Some((place, is_around(&squares[place])));
        }
        let cell = self.cell(lat_deg, lon_deg, lat_bounds_deg);
        let (id, tile) = cell.tile?;
        let under =
            Under { tile, corner_deg: [cell.south_deg, cell.west_deg], id, is_noted: false };
        let is_around = is_around(&under);
        squares.push(under);
        Some((squares.len() - 1, is_around))
    }
}

impl Terrain for TileDirectory {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let samples = lat_deg.len().min(lon_deg.len()).min(elevation_msl_m.len());
        let mut used = TerrainUse::default();
        let mut start = 0;
        while start < samples {
            let cell = self.cell(lat_deg[start], lon_deg[start], [lat_deg[start]; 2]);
            let (lat, lon) = (&lat_deg[start..samples], &lon_deg[start..samples]);
            let elevation = &mut elevation_msl_m[start..samples];
            let Some((id, tile)) = cell.tile else {
                let run = cell.missing_run(lat, lon);
                used.missing_samples += u32::try_from(run).unwrap_or(u32::MAX);
                elevation[..run].fill(f64::NAN);
                start += run;
                continue;
            };
            used.note(id, tile.resolution().arcsec(), tile.kind());
            self.note_use(id);
            let mut run = tile.bilinear_run([cell.south_deg, cell.west_deg], lat, lon, elevation);
            if run.positions == 0 {
                // On an edge that the tile has and does not own.
                let reading = tile.bilinear(lat[0] - cell.south_deg, lon[0] - cell.west_deg);
                elevation[0] = reading.elevation_msl_m;
                run = Run { positions: 1, voids: u32::from(reading.has_void) };
            }
            used.void_samples += run.voids;
            start += run.positions;
        }
        used
    }

    fn sample_curves(&self, rows: &mut [CurveRow<'_>]) {
        for rows in rows.chunks_mut(TOGETHER) {
            let mut ways: [Way; TOGETHER] = Default::default();
            let mut squares = Vec::new();
            let longest = rows.iter().map(|row| row.elevation_msl_m.len()).max();
            let mut until = 0;
            // Stretch by stretch: neighbours read the same posts, which are then at hand.
            while until < longest.unwrap_or(0) {
                until += STRETCH;
                for (row, way) in rows.iter_mut().zip(&mut ways) {
                    self.follow(row, way, until, &mut squares);
                }
            }
            for (row, way) in rows.iter_mut().zip(&ways) {
                let all = !way.lost && way.height_count == row.elevation_msl_m.len();
                row.greatest_m = all.then_some(way.greatest_m);
            }
        }
    }

    fn copy_posts(&self, window: &PostWindow, posts: &mut [i16]) -> bool {
        self.copy_window(window, posts)
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        let lat_deg = at.lat_deg();
        let (_, tile) = self.cell(lat_deg, at.lon_deg(), [lat_deg; 2]).tile?;
        Some(tile.resolution().arcsec())
    }

    fn known_ground(&self) -> Vec<KnownGround> {
        self.squares()
    }

    fn files(&self) -> BTreeMap<String, String> {
        let read = self.tiles.iter().filter_map(|(id, slot)| {
            slot.facts.get()?;
            Some((format!("{FILE_NAME}{id}"), self.digest(*id)?))
        });
        read.collect()
    }

    fn file_digest(&self, name: &str) -> Option<String> {
        let id: TileId = name.strip_prefix(FILE_NAME)?.parse().ok()?;
        self.digest(id)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: match self.tile_count() {
                1 => "1 SRTM tile".to_owned(),
                tiles => format!("{tiles} SRTM tiles"),
            },
            tiles_used: Some(self.used_count()),
            ..TerrainSource::default()
        }
    }
}

#[cfg(test)]
#[path = "tiles_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "curves_tests.rs"]
mod curves_tests;
