//! Land cover: buildings and trees on the ground, at positions and along paths.

use serde::Serialize;

/// Maximum distance between points of land cover along a path, m. The edge nearest an antenna decides the
/// loss: with points farther apart than 30 m it would depend on the posts of the terrain, by 10 dB and more.
pub const COVER_STEP_M: f64 = 30.0;

/// Maximum number of points of land cover along a path: beyond 600 km they lie farther apart.
const COVER_POINTS_MAX: usize = 20_001;

/// Data set of land cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverSource {
    /// Name, for example `ESA WorldCover`.
    pub name: String,
    /// Attribution that results must carry; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

/// Land cover at a position.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cover {
    /// Kind of the buildings and trees.
    pub kind: CoverKind,
    /// Their height, m above ground, 0 to 1000.
    pub height_agl_m: f32,
}

/// Kinds of land cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverKind {
    /// No source reaches the position.
    #[default]
    Unknown,
    /// Open ground or a surface of water, without trees.
    Open,
    /// Trees.
    Forest,
    /// Detached buildings, and built-up ground of unstated density.
    Suburban,
    /// Closed rows of buildings.
    Urban,
    /// High buildings.
    DenseUrban,
}

impl CoverKind {
    /// All kinds, each at the place of its number.
    pub const ALL: [Self; 6] =
        [Self::Unknown, Self::Open, Self::Forest, Self::Suburban, Self::Urban, Self::DenseUrban];
}

/// Points of land cover along a path of `distance_m`, both ends included.
#[must_use]
pub(crate) fn cover_points(distance_m: f64) -> usize {
    // A ratio beyond usize saturates.
    let intervals = (distance_m / COVER_STEP_M).ceil() as usize;
    intervals.saturating_add(1).clamp(2, COVER_POINTS_MAX)
}

/// Heights of land cover, m above ground; NaN where it is unknown.
pub(crate) fn clutter_heights_agl_m(cover: &[Cover]) -> impl Iterator<Item = f64> + '_ {
    cover.iter().map(|cover| match cover.kind {
        CoverKind::Unknown => f64::NAN,
        _ => f64::from(cover.height_agl_m),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_at_most_thirty_metres_apart() {
        for distance_m in [0.0, 1.0, 30.0, 30.1, 4_000.0, 599e3] {
            let points = cover_points(distance_m);
            let step_m = distance_m / (points - 1) as f64;
            assert!(step_m <= COVER_STEP_M && points >= 2, "{distance_m}: {points}");
        }
        assert_eq!(cover_points(20e6), COVER_POINTS_MAX);
        assert_eq!(cover_points(f64::NAN), 2);
    }

    #[test]
    fn each_kind_has_the_number_of_its_place() {
        for (number, kind) in CoverKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }
}
