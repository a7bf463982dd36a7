//! Pictures of the ground that were asked for before, within a bound of memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_model::terrain::WebTile;

/// Octets of all cached pictures: some 4,000 of them.
const BYTES_MAX: usize = 64 << 20;

/// Kind of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TileKind {
    /// Heights, transparent where they are not known.
    Heights,
    /// Heights without a gap.
    OpaqueHeights,
    /// Relief.
    Relief,
    /// Relief with heights.
    ReliefHeights,
    /// Relief with heights and contour lines.
    ReliefContours,
}

/// Encoded picture.
#[derive(Debug)]
pub struct TilePicture {
    /// PNG.
    pub png: Vec<u8>,
    /// Digest of its content.
    pub revision: String,
}

#[derive(Debug, Default)]
struct Pictures {
    by_tile: BTreeMap<(TileKind, WebTile), (u64, Arc<TilePicture>)>,
    bytes: usize,
    uses: u64,
    /// Number of times that the ground was replaced.
    renewals: u64,
}

/// Cached pictures; those used longest ago leave first.
#[derive(Debug, Default)]
pub struct TileCache(Mutex<Pictures>);

impl TileCache {
    /// The picture, if it is cached.
    #[must_use]
    pub fn get(&self, kind: TileKind, tile: WebTile) -> Option<Arc<TilePicture>> {
        let mut pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.uses += 1;
        let now = pictures.uses;
        let (used, found) = pictures.by_tile.get_mut(&(kind, tile))?;
        *used = now;
        Some(Arc::clone(found))
    }

    /// Number of times that the ground was replaced, for [`TileCache::add`].
    #[must_use]
    pub fn renewals(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).renewals
    }

    /// Drops all pictures: the ground is another.
    pub fn renew(&self) {
        let mut pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let renewals = pictures.renewals + 1;
        *pictures = Pictures { renewals, ..Pictures::default() };
    }

    /// Adds a picture that was drawn after so many renewals, unless there were more meanwhile.
    pub fn add(&self, kind: TileKind, tile: WebTile, picture: Arc<TilePicture>, renewals: u64) {
        if renewals == self.renewals() {
            self.add_within(kind, tile, picture, BYTES_MAX);
        }
    }

    fn add_within(
        &self,
        kind: TileKind,
        tile: WebTile,
        picture: Arc<TilePicture>,
        bytes_max: usize,
    ) {
        let mut pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.uses += 1;
        pictures.bytes += picture.png.len();
        let entry = (pictures.uses, picture);
        if let Some((_, before)) = pictures.by_tile.insert((kind, tile), entry) {
            pictures.bytes -= before.png.len();
        }
        while pictures.bytes > bytes_max {
            let oldest = pictures.by_tile.iter().min_by_key(|(_, (used, _))| *used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else {
                return;
            };
            if let Some((_, gone)) = pictures.by_tile.remove(&oldest) {
                pictures.bytes -= gone.png.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_holds_and_pictures_used_last_stay() {
        let cache = TileCache::default();
        let tile = |column| WebTile::new(10, column, 0).unwrap();
        let add = |column| {
            let picture = TilePicture { png: vec![0; 10], revision: String::new() };
            cache.add_within(TileKind::Relief, tile(column), Arc::new(picture), 30);
        };
        let is_there = |column| cache.get(TileKind::Relief, tile(column)).is_some();
        (0..3).for_each(add);
        assert!(is_there(0));
        add(3);
        assert!(is_there(0) && !is_there(1) && is_there(2) && is_there(3));
        // The same once more takes no more room.
        add(3);
        assert!(is_there(0) && is_there(2));
        assert!(cache.get(TileKind::Heights, tile(0)).is_none());
    }

    #[test]
    fn pictures_of_replaced_ground_are_dropped_and_late_ones_are_not_added() {
        let cache = TileCache::default();
        let tile = WebTile::new(10, 1, 0).unwrap();
        let add = |renewals| {
            let picture = TilePicture { png: vec![0; 10], revision: String::new() };
            cache.add(TileKind::Relief, tile, Arc::new(picture), renewals);
            cache.get(TileKind::Relief, tile).is_some()
        };
        assert!(add(0));
        cache.renew();
        assert!(cache.get(TileKind::Relief, tile).is_none());
        assert!(!add(0));
        assert!(add(cache.renewals()));
    }
}
