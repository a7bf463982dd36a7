//! Decoded tiles within a memory budget; the least recently used go first.
//!
//! Not by a cache crate, as the blocks of GeoTIFF files are: each lookup in one records the
//! entry, in memory that all threads share, and their policies are made for thousands of small
//! entries. Here are a few of 6 or 52 MB, read by all threads at once, once for some curves that
//! are read together. Reading a tile that is kept writes nothing but the number of its users; use is
//! noted in steps of decoded tiles, which is all the order that a choice among them needs.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use groundwave_model::terrain::TileId;
use tracing::warn;

use super::super::hgt::{Resolution, Tile};
use super::super::name::Packing;
use super::super::read::HgtError;
use super::{FAULT_TARGET, Slot, TileDirectory};

/// A decoded tile, while it is kept.
///
/// Locks are taken in this order: that of decoding, [`Pool::tiles`], those of tiles, which nobody keeps
/// for longer than a clone takes.
#[derive(Debug, Default)]
pub(super) struct Residency {
    /// Locked by who decodes the tile, until it is among the tiles in memory.
    decoding: Mutex<()>,
    tile: RwLock<Option<Arc<Tile>>>,
    /// The same after it was evicted, while somebody still reads it.
    evicted: Mutex<Weak<Tile>>,
    /// Time of its last use: twice the number of tiles decoded by then, and 1 more unless it was
    /// the last of them itself.
    used: AtomicU64,
}

/// Properties of a file, the same at each decoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Facts {
    pub resolution: Resolution,
    file: FileState,
}

/// A file is read again as long as it is this one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// Tiles in memory.
#[derive(Debug)]
pub(super) struct Pool {
    budget_bytes: u64,
    /// Latitudes between which positions are expected, deg.
    expected_deg: OnceLock<[f64; 2]>,
    /// Number of tiles decoded so far.
    decoded: AtomicU64,
    tiles: Mutex<Tiles>,
}

#[derive(Debug, Default)]
struct Tiles {
    /// Each with its memory, bytes.
    entries: Vec<(TileId, u64)>,
    /// Memory of those and of what is being decoded.
    bytes: u64,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            budget_bytes: u64::MAX,
            expected_deg: OnceLock::new(),
            decoded: AtomicU64::new(0),
            tiles: Mutex::default(),
        }
    }
}

impl Slot {
    /// The tile, if the posts between these latitudes are kept.
    fn tile(&self, decoded: u64, latitudes: [f64; 2]) -> Option<Arc<Tile>> {
        let tile_slot = self.residency.tile.read();
        let tile_slot = tile_slot.unwrap_or_else(PoisonError::into_inner);
        let tile = tile_slot.as_ref().filter(|tile| tile.holds(latitudes))?.clone();
        let now = 2 * decoded + 1;
        if self.residency.used.load(Ordering::Relaxed) != now {
            self.residency.used.store(now, Ordering::Relaxed);
        }
        Some(tile)
    }

    /// Keeps a tile.
    fn hold(&self, tile: &Arc<Tile>) {
        let tile_slot = self.residency.tile.write();
        *tile_slot.unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(tile));
    }

    /// The tile, if it was evicted while somebody read it: decoded again it would be there twice.
    fn still_read(&self) -> Option<Arc<Tile>> {
        let evicted = self.residency.evicted.lock();
        evicted.unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Decodes the file; again only as long as it is the same.
    fn read_same(&self, id: TileId, latitudes: Option<[f64; 2]>) -> Result<Tile, HgtError> {
        // An absent file is an error of reading.
        let file = fs::metadata(&self.path).ok().map(|metadata| FileState {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        });
        if let (Some(facts), Some(file)) = (self.facts.get(), file)
            && facts.file != file
        {
            let path = self.path.clone();
            return Err(HgtError::Changed { path });
        }
        let tile = self.read(id, latitudes)?;
        if let Some(file) = file {
            let resolution = tile.resolution();
            let _ = self.facts.set(Facts { resolution, file });
        }
        Ok(tile)
    }
}

impl TileDirectory {
    /// The same, keeping decoded tiles of so many bytes at most. Those in use at a moment may come on
    /// top where they do not fit.
    #[must_use]
    pub fn with_budget(mut self, budget_bytes: u64) -> Self {
        self.pool.budget_bytes = budget_bytes;
        self
    }

    /// Number of times that a tile was decoded.
    #[must_use]
    pub fn decoded_count(&self) -> u64 {
        self.pool.decoded.load(Ordering::Relaxed)
    }

    /// Memory of the tiles that are kept, bytes.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        let tiles = self.pool.tiles.lock();
        tiles.unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Sets the latitudes between which positions are expected, deg; the first call counts. Of plain
    /// files only the rows between them are decoded, and all once a position lies elsewhere.
    pub fn expect(&self, lat_deg: [f64; 2]) {
        let _ = self.pool.expected_deg.set(lat_deg);
    }

    /// The tile with the posts between two fractions of the way from its southern to its northern edge,
    /// decoded now if they are not kept; `None` when it is absent or damaged.
    pub(super) fn tile(&self, id: TileId, latitudes: [f64; 2]) -> Option<Arc<Tile>> {
        let slot = self.tiles.get(&id)?;
        let tile = slot.tile(self.pool.decoded.load(Ordering::Relaxed), latitudes);
        tile.or_else(|| self.decode(id, slot, latitudes))
    }

    /// The rows to be decoded of a tile, as latitudes: those expected where they are enough; else all.
    fn expected(&self, id: TileId, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
        let expected_deg = self.pool.expected_deg.get()?;
        let [south, north] = expected_deg.map(|lat_deg| lat_deg - f64::from(id.south_deg()));
        (south <= low.max(0.0) && high.min(1.0) <= north).then_some([south, north])
    }

    #[cold]
    fn decode(&self, id: TileId, slot: &Slot, latitudes: [f64; 2]) -> Option<Arc<Tile>> {
        let decoding = slot.residency.decoding.lock();
        let _decoding = decoding.unwrap_or_else(PoisonError::into_inner);
        let decoded = self.pool.decoded.load(Ordering::Relaxed);
        if let Some(tile) = slot.tile(decoded, latitudes) {
            return Some(tile);
        }
        if slot.fault.get().is_some() {
            return None;
        }
        self.forget(id, slot);
        if let Some(tile) = slot.still_read().filter(|tile| tile.holds(latitudes)) {
            let bytes = tile.memory_bytes();
            self.reserve(bytes);
            slot.hold(&tile);
            self.settle(bytes, Some((id, bytes)));
            return Some(tile);
        }
        let claimed = slot.claimed(id).unwrap_or(Resolution::OneArcSecond);
        let is_plain = slot.packing == Packing::Plain;
        let expected = self.expected(id, latitudes).filter(|_| is_plain);
        let rows = expected.map_or_else(|| claimed.rows(), |around| claimed.rows_around(around));
        let reserved = claimed.memory_bytes(&rows);
        self.reserve(reserved);
        let tile = match slot.read_same(id, expected) {
            Ok(tile) => Arc::new(tile),
            Err(error) => {
                warn!(target: FAULT_TARGET, %error, tile = %id, "terrain tile counts as missing");
                let _ = slot.fault.set(error);
                self.settle(reserved, None);
                return None;
            }
        };
        let decoded = 1 + self.pool.decoded.fetch_add(1, Ordering::Relaxed);
        slot.residency.used.store(2 * decoded, Ordering::Relaxed);
        slot.hold(&tile);
        self.settle(reserved, Some((id, tile.memory_bytes())));
        Some(tile)
    }

    /// Forgets a tile of which too few rows are kept; it is being decoded.
    fn forget(&self, id: TileId, slot: &Slot) {
        let tiles = self.pool.tiles.lock();
        let mut tiles = tiles.unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = tiles.entries.iter().position(|(other, _)| *other == id) {
            let (_, freed) = tiles.entries.remove(place);
            tiles.bytes -= freed;
            let tile_slot = slot.residency.tile.write();
            *tile_slot.unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Evicts tiles until one that is being decoded fits the budget.
    fn reserve(&self, bytes: u64) {
        let tiles = self.pool.tiles.lock();
        let mut tiles = tiles.unwrap_or_else(PoisonError::into_inner);
        tiles.bytes += bytes;
        self.drop_oldest(&mut tiles);
    }

    /// Replaces what was reserved by the tile that came of it.
    fn settle(&self, reserved: u64, tile: Option<(TileId, u64)>) {
        let tiles = self.pool.tiles.lock();
        let mut tiles = tiles.unwrap_or_else(PoisonError::into_inner);
        tiles.bytes -= reserved;
        if let Some((id, bytes)) = tile {
            tiles.bytes += bytes;
            tiles.entries.push((id, bytes));
            // Others may have reserved more than there was.
            self.drop_oldest(&mut tiles);
        }
    }

    /// Drops tiles until the others fit.
    fn drop_oldest(&self, tiles: &mut Tiles) {
        // The first of the least, so that of those used in one step the one decoded first goes.
        let used = |(id, _): &(TileId, u64)| {
            let slot = self.tiles.get(id);
            slot.map_or(0, |slot| slot.residency.used.load(Ordering::Relaxed))
        };
        while tiles.bytes > self.pool.budget_bytes {
            let oldest = (0..tiles.entries.len()).min_by_key(|at| used(&tiles.entries[*at]));
            let Some(oldest) = oldest else { return };
            let (id, freed) = tiles.entries.remove(oldest);
            tiles.bytes -= freed;
            if let Some(slot) = self.tiles.get(&id) {
                let tile_slot = slot.residency.tile.write();
                let mut tile_slot = tile_slot.unwrap_or_else(PoisonError::into_inner);
                let evicted = slot.residency.evicted.lock();
                let mut evicted = evicted.unwrap_or_else(PoisonError::into_inner);
                *evicted = tile_slot.take().as_ref().map_or_else(Weak::new, Arc::downgrade);
            }
        }
    }

    /// SHA-256 digest of a tile's posts, worked out once.
    pub(super) fn digest(&self, id: TileId) -> Option<String> {
        let slot = self.tiles.get(&id)?;
        if let Some(digest) = slot.digest.get() {
            return Some(digest.clone());
        }
        let tile = self.tile(id, [0.0, 1.0])?;
        Some(slot.digest.get_or_init(|| tile.digest()).clone())
    }

    /// Tiles that could not be decoded when they were used, from south to north.
    #[must_use]
    pub fn faults(&self) -> Vec<(TileId, &HgtError)> {
        let faults = self.tiles.iter().filter_map(|(id, slot)| Some((*id, slot.fault.get()?)));
        faults.collect()
    }

    /// Decodes every tile that was not yet once and keeps none, so that a command can refuse a damaged
    /// directory before it starts.
    ///
    /// # Errors
    /// The first tile, from south to north, that cannot be decoded.
    pub fn check(&self) -> Result<(), HgtError> {
        for (id, slot) in &self.tiles {
            match (slot.fault.get(), slot.facts.get()) {
                (Some(error), _) => return Err(error.clone()),
                (None, Some(_)) => {}
                (None, None) => drop(slot.read(*id, None)?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
