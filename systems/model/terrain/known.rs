//! Knowledge of the ground below a path: one rule for verdicts, exit codes, cells, interfaces and the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TerrainUse;

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

#[cfg(test)]
mod tests {
    use super::*;

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
