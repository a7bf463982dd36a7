//! Knowledge of the ground below a path: one rule for verdicts, exit codes, cells, interfaces and the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GeoPoint, Terrain, TerrainUse};

/// Maximum share of the samples of a path without a height of their own; above it the ground of the path is
/// unknown. A policy: a gap of that share can hide an obstacle that decides the link.
pub const UNKNOWN_RATIO_MAX: f64 = 0.05;

/// Knowledge of the ground below a path.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PathGround {
    /// Every sample has a height of its own.
    #[default]
    Known,
    /// Up to 5 % of the samples, but no end, lie in voids or off the tiles: heights are assumed there, and
    /// the prediction has a wider spread.
    Partial,
    /// More of the samples, or an end, lie in voids or off the tiles: there is no verdict.
    Unknown,
}

impl PathGround {
    /// Knowledge of the ground of a path with these heights (m, NaN where there is none) before its gaps are
    /// filled.
    #[must_use]
    pub fn of(used: &TerrainUse, elevation_msl_m: &[f64]) -> Self {
        if used.is_clean() {
            return Self::Known;
        }
        let samples = elevation_msl_m.len() as f64;
        let unknown = f64::from(used.void_samples) + f64::from(used.missing_samples);
        let ends = [elevation_msl_m.first(), elevation_msl_m.last()];
        let has_ends = ends.into_iter().flatten().all(|height_m| !height_m.is_nan());
        match has_ends && unknown <= UNKNOWN_RATIO_MAX * samples {
            true => Self::Partial,
            false => Self::Unknown,
        }
    }

    /// Name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Partial => "partial",
            Self::Unknown => "unknown",
        }
    }

    /// True where a verdict has a ground to rest on.
    #[must_use]
    pub fn is_enough(self) -> bool {
        self != Self::Unknown
    }
}

/// Message about positions for which [`is_swapped`] is true.
pub const SWAPPED: &str = "no position lies on the terrain, but all would with latitude and longitude swapped; are \
                           they in the wrong order?";

/// Positions that are compared with known ground: enough to show the order of all.
const POSITIONS_COMPARED: usize = 1_000;

/// True if positions seem to have latitude and longitude in the wrong order: none of them lies on known ground,
/// and all would with both swapped. Both orders are possible between -90 and 90 degrees, so the positions stay as
/// they are; a message has the question.
#[must_use]
pub fn is_swapped(terrain: &dyn Terrain, positions: &[GeoPoint]) -> bool {
    let positions = &positions[..positions.len().min(POSITIONS_COMPARED)];
    let regions = terrain.known_ground();
    let is_known = |at: GeoPoint| {
        regions.iter().any(|region| {
            let (low, high) = (region.south_west, region.north_east);
            (low.lat_deg()..=high.lat_deg()).contains(&at.lat_deg())
                && (low.lon_deg()..=high.lon_deg()).contains(&at.lon_deg())
        })
    };
    let swapped = |at: &GeoPoint| GeoPoint::new(at.lon_deg(), at.lat_deg()).is_ok_and(is_known);
    !positions.is_empty()
        && !positions.iter().any(|at| is_known(*at))
        && positions.iter().all(swapped)
}

#[cfg(test)]
mod tests {
    use super::super::{Flat, KnownGround, TerrainSource};
    use super::*;

    /// Ground between 57 and 58 degrees north, 11 and 12 degrees east.
    struct Square;

    impl Terrain for Square {
        fn sample(&self, _: &[f64], _: &[f64], _: &mut [f64]) -> TerrainUse {
            TerrainUse::default()
        }

        fn undulation_m(&self, _: GeoPoint) -> f64 {
            0.0
        }

        fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
            None
        }

        fn describe(&self) -> TerrainSource {
            TerrainSource::default()
        }

        fn known_ground(&self) -> Vec<KnownGround> {
            let corner = |lat_deg, lon_deg| GeoPoint::new(lat_deg, lon_deg).unwrap();
            let (south_west, north_east) = (corner(57.0, 11.0), corner(58.0, 12.0));
            vec![KnownGround {
                south_west,
                north_east,
                ..KnownGround::everywhere("square".to_owned())
            }]
        }
    }

    #[test]
    fn positions_that_lie_on_the_ground_only_when_swapped_seem_swapped() {
        for (positions, expected) in [
            (&[(11.5, 57.5), (11.9, 57.1)][..], true),
            (&[(57.5, 11.5)], false),
            (&[(11.5, 57.5), (57.5, 11.5)], false),
            (&[(11.5, 57.5), (11.5, 59.0)], false),
            (&[(11.5, 157.5)], false),
            (&[], false),
        ] {
            let positions: Vec<GeoPoint> =
                positions.iter().map(|(lat, lon)| GeoPoint::new(*lat, *lon).unwrap()).collect();
            assert_eq!(is_swapped(&Square, &positions), expected, "{positions:?}");
            assert!(!is_swapped(&Flat::default(), &positions), "{positions:?}");
        }
    }

    fn of(voids: u32, missing: u32, elevation_msl_m: &[f64]) -> PathGround {
        let used =
            TerrainUse { void_samples: voids, missing_samples: missing, ..TerrainUse::default() };
        PathGround::of(&used, elevation_msl_m)
    }

    #[test]
    fn voids_and_missing_tiles_count_alike_up_to_a_share() {
        let mut heights_m = [1.0; 100];
        assert_eq!(of(0, 0, &heights_m), PathGround::Known);
        for (voids, missing) in [(1, 0), (0, 1), (5, 0), (0, 5), (2, 3)] {
            assert_eq!(of(voids, missing, &heights_m), PathGround::Partial);
        }
        for (voids, missing) in [(6, 0), (0, 6), (3, 3), (u32::MAX, u32::MAX)] {
            assert_eq!(of(voids, missing, &heights_m), PathGround::Unknown);
        }
        heights_m[50] = f64::NAN;
        assert_eq!(of(1, 0, &heights_m), PathGround::Partial);
    }

    #[test]
    fn an_end_without_a_height_is_not_enough() {
        for end in [0, 99] {
            let mut heights_m = [1.0; 100];
            heights_m[end] = f64::NAN;
            let ground = of(1, 0, &heights_m);
            assert!(!ground.is_enough(), "{end}: {ground:?}");
        }
    }
}
