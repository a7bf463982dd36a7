//! Sources of a set of terrain samples, reported with every result.

use serde::{Serialize, Serializer};

use super::{HeightKind, HeightKinds, TileId};

/// A profile rarely crosses more tiles than this; more move to the heap.
const INLINE_TILES: usize = 8;

/// A sorted set of tiles that stays off the heap while it is small, because one is made for
/// every profile.
#[derive(Clone, Default)]
pub struct TileSet {
    inline: [TileId; INLINE_TILES],
    inline_len: usize,
    /// Holds the whole set once it outgrew `inline`, and is empty before.
    spilled: Vec<TileId>,
}

impl TileSet {
    /// The tiles, sorted, each once.
    #[must_use]
    pub fn as_slice(&self) -> &[TileId] {
        if self.spilled.is_empty() { &self.inline[..self.inline_len] } else { &self.spilled }
    }

    /// Adds a tile; adding it again changes nothing.
    pub fn insert(&mut self, tile: TileId) {
        let Err(place) = self.as_slice().binary_search(&tile) else {
            return;
        };
        if self.spilled.is_empty() && self.inline_len < INLINE_TILES {
            self.inline.copy_within(place..self.inline_len, place + 1);
            self.inline[place] = tile;
            self.inline_len += 1;
            return;
        }
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline);
        }
        self.spilled.insert(place, tile);
    }
}

impl PartialEq for TileSet {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl std::fmt::Debug for TileSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.as_slice()).finish()
    }
}

impl Serialize for TileSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.as_slice())
    }
}

/// Sources of a set of samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TerrainUse {
    /// Tiles that supplied at least one sample.
    pub tiles: TileSet,
    /// Samples with a void among the posts around them. Where only some posts are void the
    /// others are used alone; where all are, the sample has no value of its own.
    pub void_samples: u32,
    /// Samples where no readable tile lies.
    pub missing_samples: u32,
    /// The coarsest post spacing among `tiles` (arc-seconds); `None` without tiles.
    pub resolution_arcsec: Option<f64>,
    /// Kinds of the heights.
    #[serde(skip)]
    pub kinds: HeightKinds,
}

impl TerrainUse {
    /// Notes that a tile of SRTM of the given post spacing (arc-seconds) was used.
    pub fn note_tile(&mut self, tile: TileId, resolution_arcsec: f64) {
        self.note(tile, resolution_arcsec, HeightKind::SRTM);
    }

    /// Notes that heights of a kind and post spacing (arc-seconds) were used in a square degree.
    pub fn note(&mut self, tile: TileId, resolution_arcsec: f64, kind: HeightKind) {
        self.tiles.insert(tile);
        self.kinds.insert(kind);
        self.note_resolution(Some(resolution_arcsec));
    }

    /// Adds what `other` used to what `self` used.
    pub fn merge(&mut self, other: &Self) {
        for &tile in other.tiles.as_slice() {
            self.tiles.insert(tile);
        }
        self.void_samples = self.void_samples.saturating_add(other.void_samples);
        self.missing_samples = self.missing_samples.saturating_add(other.missing_samples);
        self.kinds = self.kinds.union(other.kinds);
        self.note_resolution(other.resolution_arcsec);
    }

    /// True if every sample came from posts that all hold a height.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.void_samples == 0 && self.missing_samples == 0
    }

    fn note_resolution(&mut self, resolution_arcsec: Option<f64>) {
        let Some(new) = resolution_arcsec else {
            return;
        };
        self.resolution_arcsec = Some(self.resolution_arcsec.map_or(new, |old| old.max(new)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(west: i32) -> TileId {
        TileId::new(0, west).unwrap()
    }

    #[test]
    fn a_tile_set_stays_sorted_and_unique_at_every_size() {
        for size in [0, 1, 8, 9, 40] {
            let mut set = TileSet::default();
            for k in 0..size {
                // 17 and 40 share no factor, so this visits every tile, out of order.
                set.insert(tile((k * 17) % 40));
                set.insert(tile((k * 17) % 40));
            }
            let mut expected: Vec<_> = (0..size).map(|k| tile((k * 17) % 40)).collect();
            expected.sort_unstable();
            assert_eq!(set.as_slice(), expected);
        }
    }

    #[test]
    fn merging_adds_counts_and_keeps_the_coarsest_spacing() {
        let mut a = TerrainUse { void_samples: 2, ..TerrainUse::default() };
        a.note_tile(tile(3), 1.0);
        let mut b = TerrainUse { missing_samples: u32::MAX, ..TerrainUse::default() };
        b.note_tile(tile(1), 3.0);
        b.note_tile(tile(3), 1.0);
        let mut both = a.clone();
        both.merge(&b);
        both.merge(&b);
        assert_eq!(both.tiles.as_slice(), [tile(1), tile(3)]);
        assert_eq!((both.void_samples, both.missing_samples), (2, u32::MAX));
        assert_eq!(both.resolution_arcsec, Some(3.0));
        assert!(!both.is_clean());
        a.merge(&TerrainUse::default());
        assert_eq!(a.resolution_arcsec, Some(1.0));
        let json = serde_json::to_value(&a).unwrap();
        assert_eq!(json["tiles"], serde_json::json!(["N00E003"]));
    }
}
