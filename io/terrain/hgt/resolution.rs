//! Sizes of tiles, and the rows of posts around latitudes.

use std::ops::Range;

use thiserror::Error;

/// Spacing of the posts of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolution {
    /// 1201 x 1201 posts, about 90 m apart.
    ThreeArcSeconds,
    /// 3601 x 3601 posts, about 30 m apart.
    OneArcSecond,
}

impl Resolution {
    /// Both, coarsest first.
    pub const ALL: [Self; 2] = [Self::ThreeArcSeconds, Self::OneArcSecond];
    /// Size of the largest tile (bytes): nothing longer is ever decoded.
    pub const MAX_BYTES: u64 = Self::OneArcSecond.bytes();

    /// Posts along one side.
    #[must_use]
    pub const fn side(self) -> usize {
        match self {
            Self::ThreeArcSeconds => 1201,
            Self::OneArcSecond => 3601,
        }
    }

    /// Size of a decoded tile (bytes): 2,884,802 or 25,934,402.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        let side = self.side() as u64;
        2 * side * side
    }

    /// Spacing (arc-seconds).
    #[must_use]
    pub const fn arcsec(self) -> f64 {
        match self {
            Self::ThreeArcSeconds => 3.0,
            Self::OneArcSecond => 1.0,
        }
    }

    /// Memory of some decoded rows, bytes: every post is kept twice.
    #[must_use]
    pub fn memory_bytes(self, rows: &Range<usize>) -> u64 {
        (rows.len() * self.side() * size_of::<[i16; 2]>()) as u64
    }

    /// All rows of a decoded tile, from the north: each of posts and those south of them.
    #[must_use]
    pub fn rows(self) -> Range<usize> {
        0..self.side() - 1
    }

    /// The rows around positions between two fractions of the way from the southern to the northern edge,
    /// and one more on each side, so that rounding does not matter.
    #[must_use]
    pub fn rows_around(self, [south, north]: [f64; 2]) -> Range<usize> {
        let Range { end, .. } = self.rows();
        let from_north = |share: f64| (1.0 - share.clamp(0.0, 1.0)) * end as f64;
        let first = from_north(north).floor() as usize;
        let last = from_north(south).ceil() as usize;
        first.saturating_sub(1)..(last + 1).min(end)
    }

    /// Ends of the way from the southern to the northern edge around which these rows lie, as
    /// [`Resolution::rows_around`] chooses them; infinite at an edge.
    pub(super) fn held_by(self, rows: &Range<usize>) -> [f64; 2] {
        let Range { end, .. } = self.rows();
        let from_south = |row: usize| (end - row) as f64 / end as f64;
        let south = if rows.end == end { f64::NEG_INFINITY } else { from_south(rows.end - 1) };
        let north = if rows.start == 0 { f64::INFINITY } else { from_south(rows.start + 1) };
        [south, north]
    }

    /// The resolution whose tiles have this size.
    #[must_use]
    pub fn from_bytes(bytes: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.bytes() == bytes)
    }
}

/// A number of bytes that no tile has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "invalid size of a tile: found {found_bytes} bytes, allowed {} (3 arc-seconds) or {} (1 arc-second)",
    Resolution::ThreeArcSeconds.bytes(),
    Resolution::OneArcSecond.bytes()
)]
pub struct WrongSize {
    /// The size that was found.
    pub found_bytes: u64,
}
