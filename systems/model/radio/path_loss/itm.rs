//! The Irregular Terrain Model, point to point.

use groundwave_propagation::itm;
use groundwave_propagation::itm::{Measured, Outcome, Prepared, Quantile, Workspace};
use groundwave_propagation::profile::PathProfile;

use super::{
    Attenuation, Direction, ItmTerrain, PathBatch, PathLossModel, PreparedModel, ProfileRows,
    PropagationMode, QUANTILES, Validity,
};
use crate::radio::environment::Climate;
use crate::radio::warning::{Warning, Warnings};

/// Shortest path the model is valid for, m.
const SHORTEST_M: f64 = 1_000.0;

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
        &[
            "climate",
            "refractivity_n_units",
            "permittivity",
            "conductivity_s_m",
            "time_percent",
            "location_percent",
            "situation_percent",
        ]
    }

    fn validity(&self) -> Validity {
        Validity {
            frequency_mhz: 20.0..=20_000.0,
            distance_m: SHORTEST_M..=f64::INFINITY,
            distance_warning: Warning::DistanceBelow1Km,
        }
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    /// Broadcast mode keeps time, location and situation apart, so that each of the three
    /// percentages of the environment means what it says.
    fn prepare(&self, direction: &Direction<'_>) -> Result<Box<dyn PreparedModel>, Warning> {
        let environment = direction.environment;
        let medium = itm::Medium {
            n_0: environment.refractivity_n_units,
            epsilon: environment.permittivity,
            sigma_s_m: environment.conductivity_s_m,
            climate: environment.climate.into(),
            frequency_mhz: direction.frequency_mhz,
            polarization: direction.polarization,
            mdvar: itm::Mdvar {
                mode: itm::VariabilityMode::Broadcast,
                without_location: false,
                without_situation: false,
            },
        };
        match Prepared::new(&medium, direction.antenna_agl_m) {
            Ok(prepared) => Ok(Box::new(prepared)),
            Err(_) => Err(Warning::ModelOutOfRange),
        }
    }
}

impl PreparedModel for Prepared {
    /// Reference attenuation plus the addition of the quantile. No value for inputs outside the
    /// model (terrain too high or too steep) and where its formulas are undefined.
    fn attenuation(
        &self,
        profile: &PathProfile<'_>,
        quantile: Quantile,
    ) -> Result<Attenuation, Warning> {
        let reference = self.reference(profile).map_err(|_| Warning::ModelOutOfRange)?;
        attenuation(&reference.outcome(quantile))
    }

    fn attenuations(
        &self,
        profiles: &[PathProfile<'_>],
        quantile: Quantile,
        batch: &mut PathBatch,
    ) -> Vec<Result<Attenuation, Warning>> {
        let outcomes = self.outcomes(profiles, quantile, batch.workspace());
        let found = outcomes.into_iter().map(|outcome| {
            let outcome = outcome.ok_or(Warning::ModelOutOfRange)?;
            attenuation(&outcome)
        });
        found.collect()
    }

    fn measure(&self, rows: &ProfileRows<'_>, _: Quantile, batch: &mut PathBatch) {
        let (measured, clear, .., workspace) = batch.parts::<Workspace>();
        let Workspace { paths, buffers, .. } = workspace;
        let found = Prepared::measure(self, rows.profiles, rows.credible, buffers);
        for (lane, found) in (rows.first..).zip(found) {
            if let Some(path) = found {
                paths.set(lane, path);
                measured[lane] = true;
                clear[lane] = is_clear(path);
            }
        }
    }

    fn attenuate(&self, quantiles: [Quantile; QUANTILES], batch: &mut PathBatch) {
        let (measured, _, attenuation_db, sigma_db, workspace) = batch.parts::<Workspace>();
        let Workspace { paths, losses, .. } = workspace;
        self.batch(paths, quantiles, measured, losses);
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
