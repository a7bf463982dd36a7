//! The certain part of a prediction, ready to be asked for quantiles.

use serde::{Deserialize, Serialize};

use super::constants::{Constants, check_air};
use super::longley_rice::{attenuation, doubts};
use super::path::Path;
use super::{Invalid, PropagationMode, Quantile, Spread, Warnings};
use crate::numeric::{Kernel, log10, vectorised};

/// Everything about a path that no quantile changes. Pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Mode that determines the attenuation.
    pub mode: PropagationMode,
    /// Path length, km.
    pub distance_km: f64,
    /// Surface refractivity at the height of the path, N-units.
    pub n_s: f64,
    /// Curvature of the effective earth γ_e, 1/m.
    pub curvature_per_m: f64,
    /// Terrain irregularity Δh, m.
    pub delta_h_m: f64,
    /// Reference attenuation relative to free space, dB, 0 or more.
    pub a_ref_db: f64,
    /// Free-space basic transmission loss, dB.
    pub a_fs_db: f64,
    /// Effective antenna heights, m.
    pub effective_height_m: [f64; 2],
    /// Horizon distances, m.
    pub horizon_distance_m: [f64; 2],
    /// Horizon elevation angles, rad.
    pub horizon_angle_rad: [f64; 2],
    /// Doubts, but for those a quantile adds; see [`Reference::warnings_at`].
    pub warnings: Warnings,
    /// Variability of the attenuation about the reference.
    pub spread: Spread,
}

impl Reference {
    /// Attenuation relative to free space not exceeded at `quantile`, dB. Negative where a
    /// signal above that of free space is asked for.
    #[must_use]
    pub fn attenuation_db(&self, quantile: Quantile) -> f64 {
        self.spread.attenuation_db(self.a_ref_db, quantile)
    }

    /// Basic transmission loss not exceeded at `quantile`, dB: attenuation and free space. This
    /// is NTIA's `A__db`.
    #[must_use]
    pub fn basic_transmission_loss_db(&self, quantile: Quantile) -> f64 {
        self.attenuation_db(quantile) + self.a_fs_db
    }

    /// All doubts about the loss at `quantile`.
    #[must_use]
    pub fn warnings_at(&self, quantile: Quantile) -> Warnings {
        self.warnings | self.spread.warnings(quantile)
    }

    /// The loss at `quantile`, with its doubts and the reference it was taken from.
    #[must_use]
    pub fn predict(self, quantile: Quantile) -> Prediction {
        Prediction {
            basic_transmission_loss_db: self.basic_transmission_loss_db(quantile),
            warnings: self.warnings_at(quantile),
            reference: self,
        }
    }

    /// The reference of a `path` in the medium of `constants`, on which `warnings` were given
    /// already.
    pub(super) fn of(
        path: &Path,
        constants: &Constants,
        warnings: Warnings,
    ) -> Result<Self, Invalid> {
        check_air(path.n_s, path.earth_radius_m)?;
        constants.check()?;
        // Not for the width, but for its fused operations, which are calls elsewhere.
        Ok(vectorised(Formulas { path, constants, warnings }))
    }
}

/// The formulas of one path.
struct Formulas<'a> {
    path: &'a Path,
    constants: &'a Constants,
    warnings: Warnings,
}

impl Kernel for Formulas<'_> {
    type Output = Reference;

    #[inline(always)]
    fn run(self) -> Reference {
        let Self { path, constants, warnings } = self;
        let result = attenuation(path, constants);
        let mut warnings = warnings | doubts(path);
        let defined = result.a_ref_db.is_finite();
        warnings.note(!defined, Warnings::ATTENUATION_UNDEFINED);
        Reference {
            mode: result.mode(),
            distance_km: path.distance_m / 1e3,
            n_s: path.n_s,
            curvature_per_m: 1.0 / path.earth_radius_m,
            delta_h_m: path.delta_h_m,
            a_ref_db: if defined { result.a_ref_db } else { 0.0 },
            a_fs_db: constants.free_space_db + 20.0 * log10(path.distance_m / 1000.0),
            effective_height_m: path.effective_height_m,
            horizon_distance_m: path.horizon_distance_m,
            horizon_angle_rad: path.horizon_angle_rad,
            warnings,
            spread: Spread::new(
                constants,
                path.distance_m,
                path.effective_height_m,
                path.delta_h_m,
            ),
        }
    }
}

/// A reference and the loss at one quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Basic transmission loss, dB.
    pub basic_transmission_loss_db: f64,
    /// All doubts about it.
    pub warnings: Warnings,
    /// Intermediate values.
    pub reference: Reference,
}
