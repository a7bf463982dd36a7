//! The Irregular Terrain Model, point to point.

use groundwave_propagation::itm;
use groundwave_propagation::itm::{Measured, Outcome, Prepared, Quantile, Workspace};
use groundwave_propagation::profile::PathProfile;

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, ItmTerrain, PathBatch, PathLossModel, PreparedModel,
    ProfileRows, PropagationMode, QUANTILES, Settings, ShareRanges, Validity,
};
use crate::radio::climate::Climate;
use crate::radio::warning::{Warning, Warnings};

/// Shortest path the model is valid for, m.
const SHORTEST_M: f64 = 1_000.0;

/// Range of the shares of the environment, all of which the model has, percent.
const SHARE_PERCENT: [f64; 2] = [0.1, 99.9];

settings! {
    /// Settings of ITM.
    pub struct ItmSettings {
        /// Radio climate.
        climate: Climate,
        /// Minimum monthly surface refractivity reduced to sea level N0, N-units, [250, 400].
        refractivity_n_units: f64,
        /// Relative permittivity of the ground, [1, 100].
        permittivity: f64,
        /// Conductivity of the ground, S/m, [1e-5, 10].
        conductivity_s_m: f64,
        /// Share of time the loss is not exceeded, percent, [0.1, 99.9].
        time_percent: f64,
        /// Share of locations the loss is not exceeded, percent, [0.1, 99.9].
        location_percent: f64,
        /// Share of situations the loss is not exceeded, percent, [0.1, 99.9].
        situation_percent: f64,
    }
}

impl ItmSettings {
    /// Medium of a path. Broadcast mode keeps time, location and situation apart, so that each of the
    /// three percentages has the meaning of its field.
    fn medium(&self, direction: &Direction) -> itm::Medium {
        itm::Medium {
            n_0: self.refractivity_n_units,
            epsilon: self.permittivity,
            sigma_s_m: self.conductivity_s_m,
            climate: self.climate.into(),
            frequency_mhz: direction.frequency_mhz,
            polarization: direction.polarization,
            mdvar: itm::Mdvar {
                mode: itm::VariabilityMode::Broadcast,
                without_location: false,
                without_situation: false,
            },
        }
    }

    /// Quantile of the loss; the median where a percentage is out of range.
    fn quantile(&self) -> Quantile {
        Quantile::new(self.time_percent, self.location_percent, self.situation_percent)
            .unwrap_or(Quantile::MEDIAN)
    }
}

/// NTIA Irregular Terrain Model.
#[derive(Debug)]
pub(super) struct IrregularTerrain;

impl PathLossModel for IrregularTerrain {
    fn name(&self) -> &'static str {
        "itm"
    }

    fn label(&self) -> &'static str {
        "ITM"
    }

    fn description(&self) -> &'static str {
        "NTIA Irregular Terrain Model, point to point."
    }

    fn version(&self) -> &'static str {
        "NTIA ITM 1.4 + ITU-R P.525-4"
    }

    fn source(&self) -> &'static str {
        "G. A. Hufford, The ITS Irregular Terrain Model, version 1.2.2: The Algorithm, NTIA, 1995"
    }

    fn settings(&self) -> &'static [&'static str] {
        ItmSettings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges {
            time_percent: Some(SHARE_PERCENT),
            location_percent: Some(SHARE_PERCENT),
            situation_percent: Some(SHARE_PERCENT),
        }
    }

    fn validity(&self) -> Validity {
        Validity {
            frequency_mhz: 20.0..=20_000.0,
            distance_m: SHORTEST_M..=f64::INFINITY,
            distance_warning: Warning::DistanceBelow1Km,
            // Its horizons and terrain irregularity are those of open country, not of walls.
            fine_surface: false,
        }
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::UNLIMITED
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn uses_clutter(&self) -> bool {
        false
    }

    fn includes_surroundings(&self) -> bool {
        false
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let settings: ItmSettings = direction.settings();
        let model = Prepared::new(&settings.medium(direction), direction.antenna_agl_m)
            .map_err(|_| Warning::ModelOutOfRange)?;
        Ok(Box::new(PreparedItm { model, quantile: settings.quantile() }))
    }
}

/// ITM prepared for one direction, at one quantile.
#[derive(Debug)]
struct PreparedItm {
    model: Prepared,
    quantile: Quantile,
}

impl PreparedModel for PreparedItm {
    /// Reference attenuation plus the addition of the quantile. No value for inputs outside the
    /// model (terrain too high or too steep) and where its formulas are undefined.
    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let reference = self.model.reference(profile).map_err(|_| Warning::ModelOutOfRange)?;
        attenuation(&reference.outcome(self.quantile))
    }

    fn attenuations(
        &self,
        profiles: &[PathProfile<'_>],
        batch: &mut PathBatch,
    ) -> Vec<Result<Attenuation, Warning>> {
        let outcomes = self.model.outcomes(profiles, self.quantile, batch.workspace());
        let attenuations = outcomes.into_iter().map(|outcome| {
            let outcome = outcome.ok_or(Warning::ModelOutOfRange)?;
            attenuation(&outcome)
        });
        attenuations.collect()
    }

    fn measure(&self, rows: &ProfileRows<'_>, batch: &mut PathBatch) {
        let (measured, clear, .., workspace) = batch.parts::<Workspace>();
        let Workspace { paths, buffers, .. } = workspace;
        let row_paths = self.model.measure(rows.profiles, rows.credible, buffers);
        for (lane, path) in (rows.first..).zip(row_paths) {
            if let Some(path) = path {
                paths.set(lane, path);
                measured[lane] = true;
                clear[lane] = is_clear(path);
            }
        }
    }

    fn itm_constants(&self) -> Option<itm::PlainConstants> {
        self.model.plain([self.quantile, self.quantile.median_of_situation()])
    }

    fn attenuate(&self, batch: &mut PathBatch) {
        let (measured, _, attenuation_db, sigma_db, workspace) = batch.parts::<Workspace>();
        let Workspace { paths, losses, .. } = workspace;
        let quantiles = [self.quantile, self.quantile.median_of_situation()];
        self.model.batch(paths, quantiles, measured, losses);
        for lane in (0..super::BATCH).filter(|lane| measured[*lane]) {
            let defined =
                losses.a_ref_db[lane].is_finite() && losses.attenuation_db[0][lane].is_finite();
            sigma_db[lane] = losses.sigma_db[lane];
            for quantile in 0..QUANTILES {
                let loss_db = losses.attenuation_db[quantile][lane].max(0.0);
                attenuation_db[quantile][lane] = if defined { loss_db } else { f64::NAN };
            }
        }
    }
}

impl From<Climate> for itm::Climate {
    fn from(climate: Climate) -> Self {
        match climate {
            Climate::Equatorial => Self::Equatorial,
            Climate::ContinentalSubtropical => Self::ContinentalSubtropical,
            Climate::MaritimeSubtropical => Self::MaritimeSubtropical,
            Climate::Desert => Self::Desert,
            Climate::ContinentalTemperate => Self::ContinentalTemperate,
            Climate::MaritimeTemperateLand => Self::MaritimeTemperateLand,
            Climate::MaritimeTemperateSea => Self::MaritimeTemperateSea,
        }
    }
}

/// The terms of a prediction.
fn attenuation(outcome: &Outcome) -> Result<Attenuation, Warning> {
    let undefined = itm::Warnings::ATTENUATION_UNDEFINED;
    if outcome.warnings.contains(undefined) {
        return Err(Warning::ItmAttenuationUndefined);
    }
    if !outcome.attenuation_db.is_finite() {
        return Err(Warning::ModelOutOfRange);
    }
    let mut warnings = Warnings::default();
    warnings.insert_itm(outcome.warnings);
    warnings.note(outcome.attenuation_db < 0.0, Warning::BelowFreeSpaceClamped);
    Ok(Attenuation {
        reference_attenuation_db: Some(outcome.a_ref_db),
        variability_db: Some(outcome.attenuation_db.max(0.0) - outcome.a_ref_db),
        diffraction_loss_db: None,
        gases_db: None,
        median_db: Some(outcome.median_db.max(0.0)),
        sigma_db: outcome.sigma_db,
        mode: Some(match outcome.mode {
            itm::PropagationMode::LineOfSight => PropagationMode::LineOfSight,
            itm::PropagationMode::Diffraction => PropagationMode::Diffraction,
            itm::PropagationMode::Troposcatter => PropagationMode::Troposcatter,
        }),
        itm: Some(ItmTerrain {
            horizon_distance_m: outcome.horizon_distance_m,
            horizon_angle_rad: outcome.horizon_angle_rad,
            effective_height_m: outcome.effective_height_m,
            terrain_irregularity_m: outcome.delta_h_m,
        }),
        warnings,
    })
}

/// True if no terrain stands above the ray.
fn is_clear(path: &Measured) -> bool {
    let [tx_m, rx_m] = path.horizon_distance_m;
    tx_m >= path.distance_m && rx_m >= path.distance_m
}
