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
    /// Clutter at the same points; `None` where none is known, which is not "no clutter".
    pub clutter: Option<&'a PathClutter<'a>>,
}

/// Clutter at the points of a [`PathProfile`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathClutter<'a> {
    /// Heights of buildings and trees above the ground, m, 0 or more, one for each point; the
    /// representative height of the category where no other is known.
    pub height_agl_m: &'a [f64],
    /// Category of the ground at each point.
    pub cover: &'a [GroundCover],
}

/// Category of the ground, with representative heights (ITU-R P.1812-8, table 2; ITU-R P.452-18, table 4).
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

/// Reason for refusing the clutter of a profile.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum InvalidClutter {
    /// Another number of points than the heights have.
    #[error("invalid clutter of a profile: found {found} points, allowed {allowed}")]
    Points {
        /// Points of the clutter: the fewer of heights and categories.
        found: usize,
        /// Points of the profile.
        allowed: usize,
    },
    /// A height out of range.
    #[error("invalid clutter height of point {index}: found {height_agl_m} m, allowed 0 to 1000 m")]
    Height {
        /// The first such point.
        index: usize,
        /// Height, m above ground.
        height_agl_m: f64,
    },
}

/// Maximum height of clutter, m above ground.
const CLUTTER_AGL_MAX_M: f64 = 1_000.0;

impl GroundCover {
    /// Representative height of clutter, m above ground.
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

    /// The clutter, one height and category for each point; `None` where none is known.
    ///
    /// # Errors
    /// [`InvalidClutter`] for another number of points or a height out of range.
    pub fn clutter(&self) -> Result<Option<&'a PathClutter<'a>>, InvalidClutter> {
        let Some(clutter) = self.clutter else { return Ok(None) };
        let allowed = self.elevation_msl_m.len();
        let lengths = [clutter.height_agl_m.len(), clutter.cover.len()];
        if lengths != [allowed; 2] {
            return Err(InvalidClutter::Points { found: lengths[0].min(lengths[1]), allowed });
        }
        let range = 0.0..=CLUTTER_AGL_MAX_M;
        let outside = clutter.height_agl_m.iter().position(|height_m| !range.contains(height_m));
        match outside {
            Some(index) => {
                Err(InvalidClutter::Height { index, height_agl_m: clutter.height_agl_m[index] })
            }
            None => Ok(Some(clutter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clutter_needs_a_height_and_a_category_for_each_point() {
        let elevation_msl_m = [10.0, 20.0, 30.0];
        let bare = PathProfile::bare(100.0, &elevation_msl_m);
        assert_eq!((bare.intervals(), bare.distance_m(), bare.clutter()), (2, 200.0, Ok(None)));
        let cover = [GroundCover::Open, GroundCover::UrbanOrForest, GroundCover::Water];
        let height_agl_m = cover.map(GroundCover::height_agl_m);
        let clutter = PathClutter { height_agl_m: &height_agl_m, cover: &cover };
        let covered = PathProfile { clutter: Some(&clutter), ..bare };
        assert_eq!(covered.clutter(), Ok(Some(&clutter)));
        let few = PathClutter { cover: &cover[..2], ..clutter };
        let error = PathProfile { clutter: Some(&few), ..bare }.clutter().unwrap_err();
        assert_eq!(error, InvalidClutter::Points { found: 2, allowed: 3 });
        for height_m in [-1.0, 1_000.5, f64::NAN] {
            let heights_m = [0.0, height_m, 0.0];
            let odd = PathClutter { height_agl_m: &heights_m, cover: &cover };
            let error = PathProfile { clutter: Some(&odd), ..bare }.clutter().unwrap_err();
            assert!(error.to_string().contains("clutter height of point 1"), "{error}");
        }
    }
}
