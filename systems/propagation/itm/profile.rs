//! Limits of the model on profiles.

use super::Invalid;
use super::invalid::within;
use crate::numeric::{all_within, sum};
use crate::profile::PathProfile;

/// Maximum length of a path, m: half-way round the earth.
pub const MAX_DISTANCE_M: f64 = 20_040e3;

/// Minimum spacing of profile points, m.
pub const MIN_STEP_M: f64 = 0.01;

/// Maximum elevation, up or down from mean sea level, m.
pub const MAX_ELEVATION_M: f64 = 20e3;

impl PathProfile<'_> {
    /// Checks the number of points, their spacing, the length and every elevation.
    #[inline(always)]
    pub(super) fn check(&self) -> Result<(), Invalid> {
        self.check_shape()?;
        self.check_heights()
    }

    /// Checks the number of points, their spacing and the length.
    #[inline(always)]
    pub(super) fn check_shape(&self) -> Result<(), Invalid> {
        if self.elevation_msl_m.len() < 2 {
            return Err(Invalid::ProfilePoints(self.elevation_msl_m.len()));
        }
        within(self.step_m, MIN_STEP_M, f64::MAX, Invalid::ProfileStep)?;
        within(self.distance_m(), 0.0, MAX_DISTANCE_M, Invalid::PathDistance)
    }

    /// Checks every elevation.
    #[inline(always)]
    pub(super) fn check_heights(&self) -> Result<(), Invalid> {
        // `NaN` is not credible either.
        if all_within(self.elevation_msl_m, MAX_ELEVATION_M) {
            return Ok(());
        }
        self.find_incredible()
    }

    #[cold]
    fn find_incredible(&self) -> Result<(), Invalid> {
        let credible = |value: &f64| value.abs() <= MAX_ELEVATION_M;
        let (index, &value) = (self.elevation_msl_m.iter().enumerate())
            .find(|(_, e)| !credible(e))
            .expect("one was counted");
        Err(Invalid::Elevation { index, value })
    }

    /// Mean elevation, m above mean sea level, without the first and last tenth of the path.
    #[inline(always)]
    pub(super) fn mean_msl_m(&self) -> f64 {
        let intervals = self.intervals();
        let tenth = (0.1 * intervals as f64) as usize;
        let middle = &self.elevation_msl_m[tenth..=intervals - tenth];
        sum(middle) / middle.len() as f64
    }
}
