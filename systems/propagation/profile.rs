//! Terrain along a path, as path-loss models read it: heights, and clutter where it is known.

/// Evenly spaced points from transmitter to receiver, both ends included.
///
/// Each model checks the limits of its own; none changes a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathProfile<'a> {
    /// Distance between points, m, above 0.
    pub step_m: f64,
    /// Heights of the ground at two or more points, m above mean sea level.
    pub elevation_msl_m: &'a [f64],
    /// Clutter along the path; `None` where no source of clutter was read, which differs from heights of
    /// 0 m.
    pub clutter: Option<&'a PathClutter<'a>>,
}

/// Clutter along a [`PathProfile`]: heights, categories or both.
///
/// Two or more points, evenly spaced from transmitter to receiver, both ends included. Their spacing is
/// independent of that of the heights of the ground: land cover is finer than most terrain, and the points
/// nearest an antenna decide the loss. Checked by [`PathProfile::clutter`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathClutter<'a> {
    /// Heights of buildings and trees at each point, m above ground, [0, 1000], NaN where they are unknown;
    /// `None` where the source has categories only ([`GroundCover::height_agl_m`] is their representative
    /// height).
    pub height_agl_m: Option<&'a [f64]>,
    /// Category of the ground at each point; `None` where the source has heights only.
    pub cover: Option<&'a [GroundCover]>,
}

/// Category of the ground (ITU-R P.1812-8, table 2; ITU-R P.2108-1, table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroundCover {
    /// Sea and lakes.
    Water,
    /// Open or rural.
    Open,
    /// Suburban.
    Suburban,
    /// Urban, trees or forest.
    UrbanOrForest,
    /// Dense urban.
    DenseUrban,
}

/// Error of the clutter of a profile.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum InvalidClutter {
    /// Fewer than two points, or heights and categories of different points.
    #[error(
        "invalid clutter of a profile: found {points} points, allowed 2 or more, of heights and categories alike"
    )]
    Points {
        /// Points of the heights or categories of clutter.
        points: usize,
    },
    /// A height out of range.
    #[error("invalid clutter height of point {index}: found {height_agl_m} m, allowed 0 to 1000 m")]
    Height {
        /// Index of the first such point.
        index: usize,
        /// Height, m above ground.
        height_agl_m: f64,
    },
}

/// Maximum height of clutter, m above ground.
const CLUTTER_AGL_MAX_M: f64 = 1_000.0;

impl GroundCover {
    /// Representative height of clutter that is added to a profile, m above ground (ITU-R P.1812-8,
    /// table 2). ITU-R P.2108 takes 10 m around terminals over water and open ground instead.
    #[must_use]
    pub const fn height_agl_m(self) -> f64 {
        match self {
            Self::Water | Self::Open => 0.0,
            Self::Suburban => 10.0,
            Self::UrbanOrForest => 15.0,
            Self::DenseUrban => 20.0,
        }
    }
}

impl<'a> PathProfile<'a> {
    /// Heights every `step_m` metres, without clutter.
    #[inline(always)]
    #[must_use]
    pub const fn bare(step_m: f64, elevation_msl_m: &'a [f64]) -> Self {
        Self { step_m, elevation_msl_m, clutter: None }
    }

    /// Number of intervals between points, 0 without a second point.
    #[inline(always)]
    #[must_use]
    pub const fn intervals(&self) -> usize {
        self.elevation_msl_m.len().saturating_sub(1)
    }

    /// Length of the path, m.
    #[inline(always)]
    #[must_use]
    pub const fn distance_m(&self) -> f64 {
        self.intervals() as f64 * self.step_m
    }

    /// Checked clutter: one height, one category or both for each of its points.
    ///
    /// # Errors
    /// [`InvalidClutter`] for fewer than two points, heights and categories of different points, or a height
    /// that is infinite or out of range.
    pub fn clutter(&self) -> Result<Option<&'a PathClutter<'a>>, InvalidClutter> {
        let Some(clutter) = self.clutter else { return Ok(None) };
        let lengths = [clutter.height_agl_m.map(<[_]>::len), clutter.cover.map(<[_]>::len)];
        let mut lengths = lengths.into_iter().flatten();
        let first = lengths.next().unwrap_or(2);
        if let Some(points) = lengths.chain([first]).find(|points| *points != first || first < 2) {
            return Err(InvalidClutter::Points { points });
        }
        let heights_m = clutter.height_agl_m.unwrap_or_default().iter().enumerate();
        let range = 0.0..=CLUTTER_AGL_MAX_M;
        let is_invalid = |height_m: &f64| !height_m.is_nan() && !range.contains(height_m);
        match heights_m.into_iter().find(|(_, height_m)| is_invalid(height_m)) {
            Some((index, &height_agl_m)) => Err(InvalidClutter::Height { index, height_agl_m }),
            None => Ok(Some(clutter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELEVATION_MSL_M: [f64; 3] = [10.0, 20.0, 30.0];
    const COVER: [GroundCover; 3] =
        [GroundCover::Open, GroundCover::UrbanOrForest, GroundCover::Water];

    fn checked<'a>(
        clutter: &'a PathClutter<'a>,
    ) -> Result<Option<&'a PathClutter<'a>>, InvalidClutter> {
        let bare = PathProfile::bare(100.0, &ELEVATION_MSL_M);
        PathProfile { clutter: Some(clutter), ..bare }.clutter()
    }

    #[test]
    fn bare_profile_has_length_and_no_clutter() {
        let bare = PathProfile::bare(100.0, &ELEVATION_MSL_M);
        assert_eq!((bare.intervals(), bare.distance_m(), bare.clutter()), (2, 200.0, Ok(None)));
        assert_eq!(PathProfile::bare(100.0, &[]).distance_m(), 0.0);
    }

    #[test]
    fn heights_or_categories_alone_pass() {
        let height_agl_m = COVER.map(GroundCover::height_agl_m);
        for heights_m in [None, Some(&height_agl_m[..])] {
            for cover in [None, Some(&COVER[..])] {
                let clutter = PathClutter { height_agl_m: heights_m, cover };
                assert_eq!(checked(&clutter), Ok(Some(&clutter)));
            }
        }
    }

    #[test]
    fn points_are_independent_of_those_of_the_ground() {
        for points in [2, 3, 40] {
            let heights_m = vec![f64::NAN; points];
            let clutter = PathClutter { height_agl_m: Some(&heights_m), cover: None };
            let bare = PathProfile::bare(100.0, &ELEVATION_MSL_M);
            let covered = PathProfile { clutter: Some(&clutter), ..bare };
            assert!(covered.clutter().is_ok(), "{points}");
        }
    }

    #[test]
    fn too_few_or_different_points_give_an_error() {
        let single = PathClutter { cover: Some(&COVER[..1]), ..PathClutter::default() };
        assert_eq!(checked(&single), Err(InvalidClutter::Points { points: 1 }));
        let different = PathClutter { height_agl_m: Some(&[0.0; 4]), cover: Some(&COVER) };
        assert_eq!(checked(&different), Err(InvalidClutter::Points { points: 3 }));
    }

    #[test]
    fn height_out_of_range_gives_an_error() {
        for height_m in [-1.0, 1_000.5, f64::INFINITY] {
            let heights_m = [0.0, height_m, 0.0];
            let clutter = PathClutter { height_agl_m: Some(&heights_m), cover: Some(&COVER) };
            let error = checked(&clutter).unwrap_err().to_string();
            assert!(error.contains("clutter height of point 1"), "{error}");
        }
    }
}
