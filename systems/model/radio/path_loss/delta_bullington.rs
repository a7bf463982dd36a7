//! Free space and delta-Bullington diffraction (ITU-R P.526).

use groundwave_propagation::bullington;
use groundwave_propagation::bullington::{DiffractionPath, delta_bullington};
use groundwave_propagation::profile::PathProfile;
use groundwave_propagation::spherical_earth::Ground;

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, Settings, ShareRanges,
    Validity,
};
use crate::radio::fresnel::EARTH_RADIUS_M;
use crate::radio::warning::{Warning, Warnings};

/// Shorter paths have nothing between their ends, m.
const SHORTEST_M: f64 = 1.0;

settings! {
    /// Settings of delta-Bullington diffraction.
    struct DiffractionSettings {
        /// Effective Earth radius factor.
        k_factor: f64,
        /// Relative permittivity of the ground.
        permittivity: f64,
        /// Conductivity of the ground, S/m.
        conductivity_s_m: f64,
    }
}

/// Delta-Bullington diffraction over free space.
#[derive(Debug)]
pub(super) struct DeltaBullington;

impl PathLossModel for DeltaBullington {
    fn name(&self) -> &'static str {
        "delta_bullington"
    }

    fn label(&self) -> &'static str {
        "delta-Bullington"
    }

    fn description(&self) -> &'static str {
        "Free space plus the delta-Bullington diffraction loss of ITU-R P.526."
    }

    fn version(&self) -> &'static str {
        "ITU-R P.526-15 + P.525-4"
    }

    fn source(&self) -> &'static str {
        "Recommendation ITU-R P.526-15, 2019, section 4.5.2"
    }

    fn settings(&self) -> &'static [&'static str] {
        DiffractionSettings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges::NONE
    }

    fn validity(&self) -> Validity {
        Validity::UNLIMITED
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
        let settings: DiffractionSettings = direction.settings();
        let [tx_agl_m, rx_agl_m] = direction.antenna_agl_m;
        Ok(Box::new(PreparedDiffraction(DiffractionPath {
            frequency_mhz: direction.frequency_mhz,
            effective_earth_radius_m: settings.k_factor * EARTH_RADIUS_M,
            tx_agl_m,
            rx_agl_m,
            polarization: direction.polarization,
            ground: Ground {
                relative_permittivity: settings.permittivity,
                conductivity_s_m: settings.conductivity_s_m,
            },
            sea_share: 0.0,
        })))
    }
}

#[derive(Debug)]
struct PreparedDiffraction(DiffractionPath);

impl PreparedDiffraction {
    /// Diffraction loss, dB, 0 or more; `None` where it has no value.
    fn loss_db(&self, path: &PathProfile<'_>) -> Option<f64> {
        let profile = bullington::Profile::equally_spaced(path.step_m, path.elevation_msl_m);
        let loss_db = delta_bullington(&profile.ok()?, &self.0).ok()?.loss_db;
        loss_db.is_finite().then_some(loss_db.max(0.0))
    }
}

impl PreparedModel for PreparedDiffraction {
    fn attenuation(&self, path: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let loss_db = self.loss_db(path);
        let mut warnings = Warnings::default();
        // Ends at one place have nothing between them; any other refusal is reported.
        warnings
            .note(loss_db.is_none() && path.distance_m() >= SHORTEST_M, Warning::ModelOutOfRange);
        Ok(Attenuation {
            diffraction_loss_db: Some(loss_db.unwrap_or(0.0)),
            warnings,
            ..Attenuation::default()
        })
    }
}
