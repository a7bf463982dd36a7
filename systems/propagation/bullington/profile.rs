//! A terrain profile as the diffraction formulas read it.

/// Reasons for refusing a profile.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// A path has two ends.
    #[error("profile of {points} points has no two ends")]
    TooShort {
        /// Points given.
        points: usize,
    },
    /// The two arrays differ in length.
    #[error("profile of {elevations} elevations has {distances} distances")]
    Mismatch {
        /// Length of the distance array.
        distances: usize,
        /// Length of the elevation array.
        elevations: usize,
    },
    /// Distances start elsewhere than at 0, do not ascend strictly, or are not finite.
    #[error("distance of profile point {index} does not ascend from zero")]
    Distance {
        /// The first offending point.
        index: usize,
    },
    /// The step is not a positive finite number.
    #[error("profile step {step_m} m is not a positive finite number")]
    Step {
        /// Value found.
        step_m: f64,
    },
    /// An elevation is infinite or `NaN`.
    #[error("elevation of profile point {index} is not finite")]
    Elevation {
        /// The first offending point.
        index: usize,
    },
    /// Another number of clutter heights than there are points.
    #[error("profile of {points} points has {heights} heights of clutter")]
    Clutter {
        /// Points of the profile.
        points: usize,
        /// Heights of clutter.
        heights: usize,
    },
    /// A height of clutter is negative, infinite or `NaN`.
    #[error("clutter of profile point {index} is not a height of 0 m or more")]
    ClutterHeight {
        /// The first offending point.
        index: usize,
    },
}

#[derive(Debug, Clone, Copy)]
enum Spacing<'a> {
    Step(f64),
    At(&'a [f64]),
}

/// Elevations along a path from transmitter to receiver, ends included. Borrowed, checked once:
/// at least two points, distances ascending from zero, everything finite.
#[derive(Debug, Clone, Copy)]
pub struct Profile<'a> {
    spacing: Spacing<'a>,
    elevation_msl_m: &'a [f64],
    clutter_agl_m: Option<&'a [f64]>,
}

impl<'a> Profile<'a> {
    /// Points at given distances, m, of which the first is 0.
    ///
    /// # Errors
    /// [`ProfileError`] as its variants say.
    pub fn new(distance_m: &'a [f64], elevation_msl_m: &'a [f64]) -> Result<Self, ProfileError> {
        if distance_m.len() != elevation_msl_m.len() {
            return Err(ProfileError::Mismatch {
                distances: distance_m.len(),
                elevations: elevation_msl_m.len(),
            });
        }
        let mut last = 0.0;
        for (index, &distance) in distance_m.iter().enumerate() {
            let ascends = if index == 0 { distance == 0.0 } else { distance > last };
            if !ascends || !distance.is_finite() {
                return Err(ProfileError::Distance { index });
            }
            last = distance;
        }
        Self::checked(Spacing::At(distance_m), elevation_msl_m)
    }

    /// Points every `step_m` metres.
    ///
    /// # Errors
    /// [`ProfileError`] as its variants say.
    pub fn equally_spaced(step_m: f64, elevation_msl_m: &'a [f64]) -> Result<Self, ProfileError> {
        if !(step_m > 0.0 && step_m.is_finite()) {
            return Err(ProfileError::Step { step_m });
        }
        Self::checked(Spacing::Step(step_m), elevation_msl_m)
    }

    fn checked(spacing: Spacing<'a>, elevation_msl_m: &'a [f64]) -> Result<Self, ProfileError> {
        let points = elevation_msl_m.len();
        if points < 2 {
            return Err(ProfileError::TooShort { points });
        }
        if let Some(index) = elevation_msl_m.iter().position(|h| !h.is_finite()) {
            return Err(ProfileError::Elevation { index });
        }
        Ok(Self { spacing, elevation_msl_m, clutter_agl_m: None })
    }

    /// The same with clutter at each point, m above ground. What stands at the two ends is below or beside
    /// the antennas and obstructs nothing.
    ///
    /// # Errors
    /// [`ProfileError::Clutter`] and [`ProfileError::ClutterHeight`].
    pub fn with_clutter(self, clutter_agl_m: &'a [f64]) -> Result<Self, ProfileError> {
        let (points, heights) = (self.elevation_msl_m.len(), clutter_agl_m.len());
        if points != heights {
            return Err(ProfileError::Clutter { points, heights });
        }
        if let Some(index) = clutter_agl_m.iter().position(|h| !(0.0..f64::INFINITY).contains(h)) {
            return Err(ProfileError::ClutterHeight { index });
        }
        Ok(Self { clutter_agl_m: Some(clutter_agl_m), ..self })
    }

    /// Distance of point `index` from the transmitter, m.
    #[expect(clippy::cast_precision_loss, reason = "a profile has far fewer than 2^52 points")]
    pub(crate) fn distance_m(&self, index: usize) -> f64 {
        match self.spacing {
            Spacing::Step(step_m) => step_m * index as f64,
            Spacing::At(distance_m) => distance_m[index],
        }
    }

    /// Distance between the ends, m.
    #[must_use]
    pub fn length_m(&self) -> f64 {
        self.distance_m(self.elevation_msl_m.len() - 1)
    }

    /// Ground under the transmitter and under the receiver, m above mean sea level.
    #[must_use]
    pub fn ends_msl_m(&self) -> (f64, f64) {
        let last = self.elevation_msl_m.len() - 1;
        (self.elevation_msl_m[0], self.elevation_msl_m[last])
    }

    /// (distance m, elevation m) of every point.
    pub(crate) fn points(
        &self,
    ) -> impl ExactSizeIterator<Item = (f64, f64)> + DoubleEndedIterator + '_ {
        let point = |(index, &h): (usize, &f64)| (self.distance_m(index), h);
        self.elevation_msl_m.iter().enumerate().map(point)
    }

    /// (distance m, elevation m) of the points between the ends.
    pub(crate) fn interior(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> + '_ {
        self.points().skip(1).take(self.elevation_msl_m.len() - 2)
    }

    /// The same with the clutter on top; `None` without clutter.
    pub(super) fn obstructions(&self) -> Option<impl Iterator<Item = (f64, f64)> + '_> {
        let clutter = self.clutter_agl_m?.iter().skip(1);
        Some(self.interior().zip(clutter).map(|((distance, h), &r)| (distance, h + r)))
    }
}
