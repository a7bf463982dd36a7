//! Names of one-degree tiles.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// A one-degree tile, named by its south-west corner as SRTM names it: `N57E011` covers
/// 57 to 58 degrees north and 11 to 12 degrees east. Ordered from south to north, then west
/// to east.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    south_deg: i8,
    west_deg: i16,
}

/// Reason for refusing the name of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{name:?} names no tile: a tile is N00 to N89 or S01 to S90 followed by E000 to E179 or \
     W001 to W180"
)]
pub struct BadTileName {
    /// The text as it was found.
    pub name: String,
}

impl TileId {
    /// The tile whose south-west corner is (`south_deg`, `west_deg`), where south is in
    /// -90..=89 and west in -180..=179.
    #[must_use]
    pub fn new(south_deg: i32, west_deg: i32) -> Option<Self> {
        if !(-90..=89).contains(&south_deg) || !(-180..=179).contains(&west_deg) {
            return None;
        }
        Some(Self {
            south_deg: i8::try_from(south_deg).ok()?,
            west_deg: i16::try_from(west_deg).ok()?,
        })
    }

    /// The tile that a position falls into when each tile owns its south and west edge.
    /// The longitude is wrapped; `None` for a latitude outside [-90, 90) and for NaN.
    #[must_use]
    pub fn containing(lat_deg: f64, lon_deg: f64) -> Option<Self> {
        // Wrapping whole degrees is exact, wrapping the position itself would round.
        let west = (lon_deg.floor() + 180.0).rem_euclid(360.0) - 180.0;
        if !(-90.0..90.0).contains(&lat_deg) || !west.is_finite() {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "both are small whole numbers")]
        Self::new(lat_deg.floor() as i32, west as i32)
    }

    /// Latitude of the southern edge (degrees), -90..=89.
    #[must_use]
    pub fn south_deg(self) -> i32 {
        i32::from(self.south_deg)
    }

    /// Longitude of the western edge (degrees), -180..=179.
    #[must_use]
    pub fn west_deg(self) -> i32 {
        i32::from(self.west_deg)
    }
}

impl Default for TileId {
    /// `N00E000`, which fills unused places in a [`super::TileSet`].
    fn default() -> Self {
        Self { south_deg: 0, west_deg: 0 }
    }
}

impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ns, south) =
            if self.south_deg < 0 { ('S', -self.south_deg()) } else { ('N', self.south_deg()) };
        let (ew, west) =
            if self.west_deg < 0 { ('W', -self.west_deg()) } else { ('E', self.west_deg()) };
        write!(f, "{ns}{south:02}{ew}{west:03}")
    }
}

impl FromStr for TileId {
    type Err = BadTileName;

    /// Reads seven characters in any letter case. `S00` and `W000` are refused: they would be
    /// second names for `N00` and `E000`.
    fn from_str(name: &str) -> Result<Self, BadTileName> {
        parse(name.as_bytes()).ok_or_else(|| BadTileName { name: name.to_owned() })
    }
}

fn parse(name: &[u8]) -> Option<TileId> {
    let (lat, lon) = name.split_at_checked(3)?;
    let south = signed::<3>(lat.try_into().ok()?, b'N', b'S')?;
    let west = signed::<4>(lon.try_into().ok()?, b'E', b'W')?;
    TileId::new(south, west)
}

/// A letter and the digits that fill the rest of `text`.
fn signed<const LEN: usize>(text: &[u8; LEN], positive: u8, negative: u8) -> Option<i32> {
    let (letter, digits) = text.split_first()?;
    let mut value = 0;
    for digit in digits {
        value = value * 10 + i32::from(digit.is_ascii_digit().then(|| digit - b'0')?);
    }
    match letter.to_ascii_uppercase() {
        upper if upper == positive => Some(value),
        upper if upper == negative && value > 0 => Some(-value),
        _ => None,
    }
}

impl Serialize for TileId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_reads_back_from_its_name() {
        for south in -90..=89 {
            for west in -180..=179 {
                let tile = TileId::new(south, west).unwrap();
                let name = tile.to_string();
                assert_eq!(name.len(), 7);
                assert_eq!(name.parse(), Ok(tile));
                assert_eq!(name.to_lowercase().parse(), Ok(tile));
            }
        }
        assert_eq!(TileId::new(-1, -180).unwrap().to_string(), "S01W180");
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "N57",
            "N57E11",
            "N57E0111",
            "N38W093T97",
            "X57E011",
            "N57X011",
            "N90E000",
            "S91E000",
            "S00E010",
            "N00W000",
            "N10E180",
            "N10W181",
            "N+7E011",
            "57NE011",
            "é57E01",
        ] {
            let refused = name.parse::<TileId>().unwrap_err();
            assert_eq!(refused.name, name);
        }
    }

    #[test]
    fn positions_fall_into_the_tile_that_owns_their_south_and_west_edge() {
        for (lat, lon, name) in [
            (57.0, 11.0, "N57E011"),
            (-0.5, -0.5, "S01W001"),
            (0.0, 0.0, "N00E000"),
            (-0.0, -0.0, "N00E000"),
            (-90.0, -180.0, "S90W180"),
            (10.0, 180.0, "N10W180"),
            (10.0, 179.99, "N10E179"),
            (10.0, -180.000_000_000_000_03, "N10E179"),
            (10.0, 361.5, "N10E001"),
        ] {
            assert_eq!(TileId::containing(lat, lon).unwrap().to_string(), name);
        }
        for (lat, lon) in
            [(90.0, 0.0), (-90.1, 0.0), (f64::NAN, 0.0), (0.0, f64::NAN), (0.0, f64::INFINITY)]
        {
            assert_eq!(TileId::containing(lat, lon), None);
        }
        assert!(TileId::containing(0.0, 1e300).is_some());
    }
}
