//! Path-loss models: the attenuation of terrain over free space, by a registry of models.
//!
//! A model is a file beside this one with a [`PathLossModel`], and its line in
//! `path_loss_models!`. Links, coverage, the command line, schemas, plots and listings take it
//! from there.
//!
//! Every method of [`PathLossModel`] is required, so that a model without one does not compile; of
//! [`PreparedModel`] the attenuation of one path is. Settings of a model are a structure in its file
//! (`settings!`), inputs common to all are those of [`Direction`]:
//!
//! ```compile_fail,E0046
//! use groundwave_model::radio::path_loss::{
//!     Direction, HeightRanges, PathLossModel, PreparedModel, ShareRanges, Validity,
//! };
//! use groundwave_model::radio::Warning;
//!
//! struct WithoutCitation;
//!
//! impl PathLossModel for WithoutCitation {
//!     fn name(&self) -> &'static str { "without_citation" }
//!     fn label(&self) -> &'static str { "no citation" }
//!     fn description(&self) -> &'static str { "A model without `source`." }
//!     fn version(&self) -> &'static str { "1" }
//!     fn settings(&self) -> &'static [&'static str] { &[] }
//!     fn shares(&self) -> ShareRanges { ShareRanges::NONE }
//!     fn validity(&self) -> Validity { Validity::UNLIMITED }
//!     fn heights(&self) -> HeightRanges { HeightRanges::UNLIMITED }
//!     fn uses_terrain(&self) -> bool { false }
//!     fn uses_clutter(&self) -> bool { false }
//!     fn includes_surroundings(&self) -> bool { false }
//!     fn includes_gases(&self) -> bool { false }
//!     fn prepare(&self, _: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
//!         Err(Warning::ModelOutOfRange)
//!     }
//! }
//! ```

mod batch;
mod cost231_hata;
mod delta_bullington;
mod direction;
mod extended_hata;
mod free_space;
mod hata_mobile;
mod heights;
mod itm;
mod p1812;
mod p528;
mod registry;
mod shares;
#[cfg(test)]
pub(crate) mod tests;

pub use batch::{BATCH, PathBatch, ProfileRows, QUANTILES};
pub use direction::{Direction, SettingValues, Settings};
pub use heights::HeightRanges;
pub use itm::ItmSettings;
pub use registry::{FALLBACK_MODEL, Model};
pub use shares::{NotModelled, Share, ShareRanges};

use std::fmt::Debug;
use std::ops::RangeInclusive;

use groundwave_propagation::itm as itm_model;
use groundwave_propagation::profile::PathProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::warning::{Warning, Warnings};

/// A path-loss model.
pub trait PathLossModel: Sync {
    /// Name in scenarios, on the wire and in logs: lower case with underscores, unique.
    fn name(&self) -> &'static str;

    /// Label in plots and tables.
    fn label(&self) -> &'static str;

    /// One sentence for schemas and help texts.
    fn description(&self) -> &'static str;

    /// Edition, reported with every result.
    fn version(&self) -> &'static str;

    /// Citation of the publication that defines the model.
    fn source(&self) -> &'static str;

    /// Fields of [`Environment`](super::Environment) that the model reads: [`Settings::NAMES`] of its
    /// settings. Their schema is that of the environment
    /// ([`Environment::settings_schema`](super::Environment::settings_schema)).
    fn settings(&self) -> &'static [&'static str];

    /// Ranges of the shares of time, locations and situations: of each that [`Self::settings`] names. Beyond
    /// them the nearest share counts, with the warning [`Warning::ShareNotModelled`].
    fn shares(&self) -> ShareRanges;

    /// Range of frequencies and distances, with the warning outside of it. There
    /// [`FALLBACK_MODEL`] is used instead; beyond the longest distance its attenuation is not below that of the
    /// model at this distance.
    fn validity(&self) -> Validity;

    /// Heights of antennas over which the model is valid. Beside them it has those at the limit and hands over
    /// to [`FALLBACK_MODEL`] ([`HeightRanges::share`]). A model that refuses heights by itself
    /// ([`Self::prepare`]) has [`HeightRanges::UNLIMITED`].
    fn heights(&self) -> HeightRanges;

    /// True if the attenuation depends on terrain.
    fn uses_terrain(&self) -> bool;

    /// True if the attenuation depends on clutter along the path. For other models
    /// [`PathProfile::clutter`] may be absent, and is not read.
    fn uses_clutter(&self) -> bool;

    /// True if the attenuation includes the buildings and trees around both ends
    /// ([`Direction::surroundings`]), described or not: no other loss of clutter is added.
    fn includes_surroundings(&self) -> bool;

    /// True if the model has the absorption of air along its rays ([`Attenuation::gases_db`]): that of uniform
    /// air is not added.
    fn includes_gases(&self) -> bool;

    /// Prepares one direction of a pair of stations for many paths.
    ///
    /// # Errors
    /// The warning that explains why the model is not valid for the direction.
    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning>;
}

/// A path-loss model prepared for one direction of a pair of stations, with the settings of the
/// environment: shares of time, locations and situations are among them where a model has any.
pub trait PreparedModel: Debug + Send + Sync {
    /// Attenuation over one path, with the intermediate results of a report.
    ///
    /// # Errors
    /// The warning that explains why the model has no value for the path.
    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning>;

    /// [`Self::attenuation`] over each of `profiles`, to the bit and in their order. `batch` is working
    /// memory for models that compute paths together.
    ///
    /// # Errors
    /// Each as [`Self::attenuation`].
    fn attenuations(
        &self,
        profiles: &[PathProfile<'_>],
        batch: &mut PathBatch,
    ) -> Vec<Result<Attenuation, Warning>> {
        let _ = batch;
        profiles.iter().map(|profile| self.attenuation(profile)).collect()
    }

    /// Share of the model between these antennas, [0, 1]; the rest is that of [`FALLBACK_MODEL`].
    fn share(&self) -> f64 {
        1.0
    }

    /// Measures the profiles of `rows` into their lanes of `batch`, whose attenuation follows by
    /// [`Self::attenuate`]. A lane the model has no value for stays unmeasured. By default each path is
    /// computed here, by [`Self::attenuation`].
    fn measure(&self, rows: &ProfileRows<'_>, batch: &mut PathBatch) {
        for (lane, profile) in rows.iter() {
            if let Ok(attenuation) = self.attenuation(profile) {
                batch.set(lane, &attenuation);
            }
        }
    }

    /// Inputs of ITM as plain numbers, for evaluation on other processors; by default `None`: another model.
    fn itm_constants(&self) -> Option<itm_model::PlainConstants> {
        None
    }

    /// Computes total and median of the attenuation of all measured lanes of `batch`, as
    /// [`Self::attenuation`] does, and its standard deviation; not finite where the model has no value.
    /// By default empty: [`Self::measure`] has computed them.
    fn attenuate(&self, batch: &mut PathBatch) {
        let _ = batch;
    }
}

/// A model takes over from [`FALLBACK_MODEL`] from its shortest distance to so many times that.
pub const TAKEOVER_RATIO: f64 = 2.0;

/// A model hands over to [`FALLBACK_MODEL`] up to its longest distance, from this part of it on. Less than
/// [`TAKEOVER_RATIO`], because its published curves end there.
pub const FAR_RATIO: f64 = 1.05;

/// Frequencies, distances and ground for which a model is valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Validity {
    /// Frequencies, MHz; outside, [`Warning::ModelOutOfRange`] is reported.
    pub frequency_mhz: RangeInclusive<f64>,
    /// Lengths of paths, m.
    pub distance_m: RangeInclusive<f64>,
    /// Warning outside of `distance_m`.
    pub distance_warning: Warning,
    /// True if the model is valid over a surface with buildings and trees in posts of 5 m or finer.
    pub fine_surface: bool,
}

impl Validity {
    /// Every frequency and distance.
    pub const UNLIMITED: Self = Self {
        frequency_mhz: 0.0..=f64::INFINITY,
        distance_m: 0.0..=f64::INFINITY,
        distance_warning: Warning::ModelOutOfRange,
        fine_surface: true,
    };

    /// The warning for a path outside of the range.
    ///
    /// # Errors
    /// That warning; the distance is checked first.
    pub fn check(
        &self,
        frequency_mhz: f64,
        distance_m: f64,
        is_fine_surface: bool,
    ) -> Result<(), Warning> {
        if !self.distance_m.contains(&distance_m) {
            Err(self.distance_warning)
        } else if is_fine_surface && !self.fine_surface {
            Err(Warning::FineSurface)
        } else if self.frequency_mhz.contains(&frequency_mhz) {
            Ok(())
        } else {
            Err(Warning::ModelOutOfRange)
        }
    }

    /// Length of a path as the model computes it, m: the longest distance beyond that.
    #[must_use]
    pub fn limited_m(&self, distance_m: f64) -> f64 {
        let longest_m = *self.distance_m.end();
        if distance_m > longest_m { longest_m } else { distance_m }
    }

    /// The path as the model computes it: with the same points, but no longer than the longest distance.
    #[must_use]
    pub fn limited<'a>(&self, profile: PathProfile<'a>) -> PathProfile<'a> {
        let longest_m = *self.distance_m.end();
        if profile.distance_m() <= longest_m {
            return profile;
        }
        let longest = PathProfile { step_m: longest_m / profile.intervals() as f64, ..profile };
        if longest.distance_m() <= longest_m {
            longest
        } else {
            PathProfile { step_m: longest.step_m.next_down(), ..profile }
        }
    }

    /// Length of a path from which the model needs [`FALLBACK_MODEL`] no longer, up to its far end, m.
    #[must_use]
    pub fn takeover_m(&self) -> f64 {
        TAKEOVER_RATIO * *self.distance_m.start()
    }

    /// Share of the model in the attenuation of a path of `distance_m`, [0, 1]; the rest is that of
    /// [`FALLBACK_MODEL`]. It rises with the logarithm of the distance from 0 at the shortest one to 1 at
    /// [`TAKEOVER_RATIO`] times that, where both models are valid: without it, every map has a step on the
    /// circle where they meet. The hybrid model of WINNF-TS-0112 (R2-SGN-04) joins its models by the logarithm
    /// of the distance as well. It falls again to 0 at the longest distance ([`Self::far_share`]).
    #[must_use]
    pub fn share(&self, distance_m: f64) -> f64 {
        let far_share = self.far_share(distance_m);
        if far_share < 1.0 || distance_m >= self.takeover_m() {
            return far_share;
        }
        let shortest_m = *self.distance_m.start();
        (libm::log2(distance_m / shortest_m) / libm::log2(TAKEOVER_RATIO)).clamp(0.0, 1.0)
    }

    /// Share of the model towards its longest distance, [0, 1]: 1 up to the [`FAR_RATIO`]th part of that, 0 from
    /// there on. For the rest the larger loss of the two models counts, that of this one at its longest distance:
    /// the loss does not fall with the distance.
    #[must_use]
    pub fn far_share(&self, distance_m: f64) -> f64 {
        let longest_m = *self.distance_m.end();
        if distance_m <= longest_m / FAR_RATIO {
            return 1.0;
        }
        (libm::log2(longest_m / distance_m) / libm::log2(FAR_RATIO)).clamp(0.0, 1.0)
    }
}

/// Attenuation over free space along one path, by a model. Terms that a model does not have are
/// absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Attenuation {
    /// Median attenuation, dB.
    pub reference_attenuation_db: Option<f64>,
    /// Addition for the shares of time, locations and situations, dB; limited so that it and the reference together are not
    /// negative.
    pub variability_db: Option<f64>,
    /// Diffraction loss, dB.
    pub diffraction_loss_db: Option<f64>,
    /// Absorption of oxygen and water vapour along the rays, dB, of a model that has it.
    pub gases_db: Option<[f64; 2]>,
    /// Attenuation at the median of time and locations with all terms, dB, 0 or more; absent where the model
    /// has one value for all.
    pub median_db: Option<f64>,
    /// Standard deviation of the model in time and over locations, dB; 0 where it has none.
    pub sigma_db: f64,
    /// Propagation mode; absent where the clearance of the ray decides it.
    pub mode: Option<PropagationMode>,
    /// Terrain parameters of ITM.
    pub itm: Option<ItmTerrain>,
    /// Warnings of the model.
    pub warnings: Warnings,
}

impl Attenuation {
    /// Sum of the terms, dB.
    #[must_use]
    pub fn total_db(&self) -> f64 {
        self.reference_attenuation_db.unwrap_or(0.0)
            + self.variability_db.unwrap_or(0.0)
            + self.diffraction_loss_db.unwrap_or(0.0)
            + self.gases_db.map_or(0.0, |[oxygen_db, vapour_db]| oxygen_db + vapour_db)
    }

    /// Sum of the terms and the same at the median of time and locations, dB, as [`PathBatch`] has them.
    #[must_use]
    pub(crate) fn quantiles_db(&self) -> [f64; QUANTILES] {
        [self.total_db(), self.median_total_db()]
    }

    /// The attenuation with an addition to the sum of the terms and to the median, dB.
    #[must_use]
    pub(crate) fn with_addition(&self, [total_db, median_db]: [f64; QUANTILES]) -> Self {
        Self {
            reference_attenuation_db: Some(self.reference_attenuation_db.unwrap_or(0.0) + total_db),
            median_db: Some(self.median_total_db() + median_db),
            ..*self
        }
    }

    /// A share of this attenuation and the rest of another, term by term, so that the terms add up.
    #[must_use]
    pub(crate) fn blended(&self, share: f64, other: &Self) -> Self {
        let rest = 1.0 - share;
        let term = |own: Option<f64>, other: Option<f64>| match (own, other) {
            (None, None) => None,
            (own, other) => Some(share * own.unwrap_or(0.0) + rest * other.unwrap_or(0.0)),
        };
        let mut warnings = self.warnings.union(other.warnings);
        warnings.insert(Warning::ModelsBlended);
        Self {
            reference_attenuation_db: term(
                self.reference_attenuation_db,
                other.reference_attenuation_db,
            ),
            variability_db: term(self.variability_db, other.variability_db),
            diffraction_loss_db: term(self.diffraction_loss_db, other.diffraction_loss_db),
            gases_db: match (self.gases_db, other.gases_db) {
                (None, None) => None,
                (own, other) => Some([0, 1].map(|gas| {
                    let of = |gases_db: Option<[f64; 2]>| gases_db.map_or(0.0, |db| db[gas]);
                    share * of(own) + rest * of(other)
                })),
            },
            median_db: Some(share * self.median_total_db() + rest * other.median_total_db()),
            sigma_db: share * self.sigma_db + rest * other.sigma_db,
            mode: self.mode,
            itm: self.itm,
            warnings,
        }
    }

    /// The same at the median of time and locations, dB.
    #[must_use]
    pub fn median_total_db(&self) -> f64 {
        self.median_db.unwrap_or_else(|| self.total_db())
    }
}

/// Dominant propagation mode of a path.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PropagationMode {
    /// Line of sight.
    LineOfSight,
    /// Diffraction over terrain.
    Diffraction,
    /// Tropospheric scatter.
    Troposcatter,
}

/// Intermediates of ITM; each pair is (transmitter, receiver).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItmTerrain {
    /// Distance to the radio horizon, m.
    pub horizon_distance_m: [f64; 2],
    /// Elevation of the radio horizon, rad.
    pub horizon_angle_rad: [f64; 2],
    /// Effective antenna height, m.
    pub effective_height_m: [f64; 2],
    /// Terrain irregularity delta-h, m.
    pub terrain_irregularity_m: f64,
}
