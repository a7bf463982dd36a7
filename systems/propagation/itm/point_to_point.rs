//! Point-to-point mode: the terrain between the antennas is known.

use super::batch::{BATCH, Batch, Losses, QUANTILES};
use super::constants::{Constants, check_air};
use super::quick_pfl::{Measured, SIDE_BY_SIDE, measure};
use super::roughness::{NO_SAMPLES, SampleBuffer};
use super::variability::{deviates, extremes};
use super::{Invalid, Medium, Prediction, Quantile, Reference, Warnings};
use crate::numeric::{Kernel, vectorised};
use crate::profile::PathProfile;

/// A medium and two antennas made ready for many paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prepared {
    n_0: f64,
    pub(super) antenna_agl_m: [f64; 2],
    constants: Constants,
    warnings: Warnings,
}

impl Prepared {
    /// Prepares `medium` for antennas `antenna_agl_m` (transmitter, receiver) above ground, m,
    /// 0.5 to 3000.
    ///
    /// # Errors
    /// [`Invalid`], for the first input found outside its range.
    pub fn new(medium: &Medium, antenna_agl_m: [f64; 2]) -> Result<Self, Invalid> {
        let warnings = medium.check(antenna_agl_m)?;
        Ok(Self { n_0: medium.n_0, antenna_agl_m, constants: Constants::new(medium), warnings })
    }

    /// The part of the prediction for `profile` that does not depend on the quantile. The work is
    /// linear in the number of points; nothing is allocated.
    ///
    /// # Errors
    /// [`Invalid`], for the first input found outside its range, or where the terrain is so high
    /// or the ground such that the model does not apply.
    pub fn reference(&self, profile: &PathProfile) -> Result<Reference, Invalid> {
        let path = self.measured(profile)?.path(self.antenna_agl_m);
        Reference::of(&path, &self.constants, self.warnings)
    }

    /// Measures of `profiles` for [`Prepared::batch`], bit for bit those of each alone. `None` for
    /// those left out and those of which [`Prepared::reference`] would give an error. Heights of a
    /// `credible` profile are not looked at for it.
    pub fn measure<'b>(
        &self,
        mut profiles: [Option<PathProfile<'_>>; SIDE_BY_SIDE],
        credible: [bool; SIDE_BY_SIDE],
        buffers: &'b mut Buffers,
    ) -> [Option<&'b Measured>; SIDE_BY_SIDE] {
        if self.constants.check().is_err() {
            return [None; SIDE_BY_SIDE];
        }
        for (profile, credible) in profiles.iter_mut().zip(credible) {
            *profile = profile.filter(|profile| profile.check_shape().is_ok());
            *profile = profile.filter(|profile| credible || profile.check_heights().is_ok());
        }
        let Buffers { samples, measured } = buffers;
        vectorised(Measure {
            profiles: &profiles,
            n_0: self.n_0,
            antenna_agl_m: self.antenna_agl_m,
            samples,
            measured,
        });
        let mut measures = [None; SIDE_BY_SIDE];
        for (path, of) in measured.iter().enumerate() {
            if profiles[path].is_some() && check_air(of.n_s, of.earth_radius_m).is_ok() {
                measures[path] = Some(of);
            }
        }
        measures
    }

    pub(super) fn constants(&self) -> &Constants {
        &self.constants
    }

    pub(super) fn n_0(&self) -> f64 {
        self.n_0
    }

    /// The doubts about every path at `quantile`.
    pub(super) fn warnings_at(&self, quantile: Quantile) -> Warnings {
        self.warnings | extremes(quantile, self.constants.mdvar.mode)
    }

    #[inline]
    fn measured(&self, profile: &PathProfile) -> Result<Measured, Invalid> {
        profile.check()?;
        let mut measured = Measured::NONE;
        vectorised(Measure {
            profiles: &[Some(*profile)],
            n_0: self.n_0,
            antenna_agl_m: self.antenna_agl_m,
            samples: &mut [NO_SAMPLES; 2],
            measured: std::array::from_mut(&mut measured),
        });
        Ok(measured)
    }

    /// Attenuations of many paths at some quantiles: in each place of `batch` that is `used` what
    /// [`Prepared::reference`] and [`Reference::attenuation_db`] give for it, to the bit.
    pub fn batch(
        &self,
        batch: &Batch,
        quantiles: [Quantile; QUANTILES],
        used: &[bool; BATCH],
        losses: &mut Losses,
    ) {
        let mode = self.constants.mdvar.mode;
        batch.losses(
            self.antenna_agl_m,
            &self.constants,
            quantiles.map(|quantile| deviates(quantile, mode)),
            used,
            losses,
        );
    }
}

const _: () = assert!(BATCH.is_multiple_of(8), "whole vectors");

/// Buffers for paths measured side by side.
#[derive(Debug, Clone)]
pub struct Buffers {
    samples: Box<[SampleBuffer; 2]>,
    measured: [Measured; SIDE_BY_SIDE],
}

impl Default for Buffers {
    fn default() -> Self {
        Self { samples: Box::new([NO_SAMPLES; 2]), measured: [Measured::NONE; SIDE_BY_SIDE] }
    }
}

/// The work on some profiles.
struct Measure<'a, const N: usize> {
    profiles: &'a [Option<PathProfile<'a>>; N],
    n_0: f64,
    antenna_agl_m: [f64; 2],
    samples: &'a mut [SampleBuffer; 2],
    /// Results, in place: they are too many to be moved.
    measured: &'a mut [Measured; N],
}

impl<const N: usize> Kernel for Measure<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { profiles, n_0, antenna_agl_m, samples, measured } = self;
        measure(profiles, n_0, antenna_agl_m, samples, measured);
    }
}

/// The part of a point-to-point prediction that does not depend on the quantile.
///
/// Antenna heights are above ground, m, 0.5 to 3000. For many paths see [`Prepared`].
///
/// # Errors
/// [`Invalid`], for the first input found outside its range, or where the terrain is so high or
/// the ground such that the model does not apply.
pub fn reference(
    profile: &PathProfile,
    h_tx_agl_m: f64,
    h_rx_agl_m: f64,
    medium: &Medium,
) -> Result<Reference, Invalid> {
    Prepared::new(medium, [h_tx_agl_m, h_rx_agl_m])?.reference(profile)
}

/// Basic transmission loss over a known terrain profile, not exceeded at `quantile`. See
/// [`reference()`], which is the better choice for more than one quantile.
///
/// # Errors
/// As [`reference()`].
pub fn point_to_point(
    profile: &PathProfile,
    h_tx_agl_m: f64,
    h_rx_agl_m: f64,
    medium: &Medium,
    quantile: Quantile,
) -> Result<Prediction, Invalid> {
    Ok(reference(profile, h_tx_agl_m, h_rx_agl_m, medium)?.predict(quantile))
}
