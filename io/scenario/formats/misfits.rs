//! Heights above mean sea level that the ground of a run does not fit.

use groundwave_model::terrain::GeoPoint;

/// Heights above sea level of which the ground is unknown, or above the antenna.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Misfits {
    unknown: usize,
    below: usize,
    deepest_m: f64,
}

impl Misfits {
    /// Those of positions with a height above mean sea level, m, over the ground of `elevation_msl_m`.
    pub fn of(
        heights: impl IntoIterator<Item = (GeoPoint, f64)>,
        elevation_msl_m: impl Fn(GeoPoint) -> Option<f64>,
    ) -> Self {
        let mut misfits = Self::default();
        for (at, height_msl_m) in heights {
            match elevation_msl_m(at) {
                None => misfits.unknown += 1,
                Some(ground_m) if height_msl_m < ground_m => {
                    misfits.below += 1;
                    misfits.deepest_m = misfits.deepest_m.max(ground_m - height_msl_m);
                }
                Some(_) => {}
            }
        }
        misfits
    }

    /// Reasons with their counts.
    #[must_use]
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let below = format!(
            "a height above sea level below the ground (by up to {:.0} m): on the ground",
            self.deepest_m
        );
        let unknown =
            "a height above sea level where the ground is unknown: taken above ground at 0 m";
        let all = [(below, self.below), (unknown.to_owned(), self.unknown)];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
