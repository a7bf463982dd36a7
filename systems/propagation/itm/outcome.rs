//! Predictions for many paths at one quantile, each with its intermediate values.

use super::batch::{BATCH, Batch, Losses};
use super::longley_rice::doubts;
use super::point_to_point::Buffers;
use super::quick_pfl::SIDE_BY_SIDE;
use super::{Prepared, PropagationMode, Quantile, Reference, Warnings};
use crate::profile::PathProfile;

/// A prediction for one path. Pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Mode that determines the attenuation.
    pub mode: PropagationMode,
    /// Reference attenuation relative to free space, dB, 0 or more.
    pub a_ref_db: f64,
    /// Attenuation relative to free space not exceeded at the quantile, dB; may be negative.
    pub attenuation_db: f64,
    /// The same at the median of time and locations, dB.
    pub median_db: f64,
    /// Standard deviation in time and over locations, dB.
    pub sigma_db: f64,
    /// Horizon distances, m.
    pub horizon_distance_m: [f64; 2],
    /// Horizon elevation angles, rad.
    pub horizon_angle_rad: [f64; 2],
    /// Effective antenna heights, m.
    pub effective_height_m: [f64; 2],
    /// Terrain irregularity Δh, m.
    pub delta_h_m: f64,
    /// All doubts. With [`Warnings::ATTENUATION_UNDEFINED`] both attenuations are without meaning.
    pub warnings: Warnings,
}

/// Working memory for batches of paths.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Paths that are computed side by side.
    pub paths: Batch,
    /// Their losses.
    pub losses: Losses,
    /// Buffers of the geometry of one path.
    pub buffers: Buffers,
}

impl Reference {
    /// The prediction at `quantile`.
    pub fn outcome(&self, quantile: Quantile) -> Outcome {
        Outcome {
            mode: self.mode,
            a_ref_db: self.a_ref_db,
            attenuation_db: self.attenuation_db(quantile),
            median_db: self.attenuation_db(quantile.median_of_situation()),
            sigma_db: self.spread.sigma_db(),
            horizon_distance_m: self.horizon_distance_m,
            horizon_angle_rad: self.horizon_angle_rad,
            effective_height_m: self.effective_height_m,
            delta_h_m: self.delta_h_m,
            warnings: self.warnings_at(quantile),
        }
    }
}

impl Prepared {
    /// Predictions for `profiles`, in their order and bit for bit those of [`Prepared::reference`] and
    /// [`Reference::outcome`]; `None` where the former gives an error.
    pub fn outcomes(
        &self,
        profiles: &[PathProfile<'_>],
        quantile: Quantile,
        workspace: &mut Workspace,
    ) -> Vec<Option<Outcome>> {
        let mut outcomes = Vec::with_capacity(profiles.len());
        for profiles in profiles.chunks(BATCH) {
            let Workspace { paths, losses, buffers } = workspace;
            let mut measured = [false; BATCH];
            for first in (0..profiles.len()).step_by(SIDE_BY_SIDE) {
                let row = |row: usize| profiles.get(first + row).copied();
                let rows = std::array::from_fn(row);
                let row_paths = self.measure(rows, [false; SIDE_BY_SIDE], buffers);
                for (lane, path) in (first..).zip(row_paths) {
                    if let Some(path) = path {
                        paths.set(lane, path);
                        measured[lane] = true;
                    }
                }
            }
            let quantiles = [quantile, quantile.median_of_situation()];
            self.batch(paths, quantiles, &measured, losses);
            let outcome = |lane| self.outcome_in(lane, quantile, paths, losses);
            outcomes.extend((0..profiles.len()).map(|lane| measured[lane].then(|| outcome(lane))));
        }
        outcomes
    }

    /// The prediction in a place of a batch whose losses were computed.
    fn outcome_in(
        &self,
        place: usize,
        quantile: Quantile,
        paths: &Batch,
        losses: &Losses,
    ) -> Outcome {
        let path = paths.path(losses, place, self.antenna_agl_m);
        let reference = losses.reference(place);
        let mut warnings = self.warnings_at(quantile) | doubts(&path);
        let undefined = !reference.a_ref_db.is_finite();
        warnings.note(undefined, Warnings::ATTENUATION_UNDEFINED);
        Outcome {
            mode: reference.mode(),
            a_ref_db: reference.a_ref_db,
            attenuation_db: losses.attenuation_db[0][place],
            median_db: losses.attenuation_db[1][place],
            sigma_db: losses.sigma_db[place],
            horizon_distance_m: path.horizon_distance_m,
            horizon_angle_rad: path.horizon_angle_rad,
            effective_height_m: path.effective_height_m,
            delta_h_m: path.delta_h_m,
            warnings,
        }
    }
}
