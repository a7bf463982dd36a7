//! What the path takes: free space, terrain, air, rain and cover.

use super::environment::{Environment, Model};
use super::fresnel::Clearance;
use super::geometry::{SHORTEST_M, View};
use super::prepare::Prepared;
use super::result::{Geometry, ItmTerrain, Losses, PropagationMode};
use super::surroundings::{Clutter, ClutterCategory};
use super::warning::{Warning, Warnings};
use crate::propagation::bullington::{self, DiffractionPath, delta_bullington};
use crate::propagation::clutter::{self, ClutterSite, terrestrial_clutter_loss_db};
use crate::propagation::free_space::free_space_loss_db;
use crate::propagation::itm;
use crate::propagation::outage::RainFading;
use crate::propagation::spherical_earth::Ground;
use crate::propagation::vegetation::woodland_loss_db;

/// ITM holds from here on, m.
pub(super) const ITM_SHORTEST_M: f64 = 1_000.0;

/// From here on P.2108 allows its statistical loss at both ends, km.
const CLUTTER_BOTH_ENDS_KM: f64 = 1.0;

/// Losses of a path, with the model that made them.
#[derive(Debug, Clone)]
pub(super) struct PathLoss {
    pub model: Model,
    pub model_version: &'static str,
    pub mode: PropagationMode,
    pub itm: Option<ItmTerrain>,
    pub losses: Losses,
    pub warnings: Warnings,
}

impl Model {
    /// Edition of the model.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Itm => "NTIA ITM 1.4 + ITU-R P.525-4",
            Self::DeltaBullington => "ITU-R P.526-15 + P.525-4",
            Self::FreeSpace => "ITU-R P.525-4",
        }
    }
}

/// Adds up what the path takes. Never less than free space: where ITM's quantile says so, it is
/// limited and the result warns.
pub(super) fn path_loss(
    link: &Prepared<'_>,
    view: &View<'_>,
    geometry: &Geometry,
    clearance: &Clearance,
) -> PathLoss {
    let slant_m = geometry.slant_range_m.max(SHORTEST_M);
    let mut path = PathLoss {
        model: Model::FreeSpace,
        model_version: "",
        mode: PropagationMode::LineOfSight,
        itm: None,
        losses: Losses {
            free_space_loss_db: free_space_loss_db(slant_m, link.frequency_mhz),
            gas_oxygen_db: link.gas.oxygen_db_km * slant_m * 1e-3,
            gas_water_vapour_db: link.gas.water_vapour_db_km * slant_m * 1e-3,
            rain_loss_db: rain_loss_db(link, slant_m * 1e-3),
            rain_rate_mm_h: link.env.rain_rate_mm_h,
            other_loss_db: link.env.other_loss_db,
            ..Losses::default()
        },
        warnings: link.warnings,
    };
    path.terrain(link, view, clearance);
    path.cover(link, view.distance_m * 1e-3);
    path.calibrate(link, view.distance_m);
    path.model_version = path.model.version();
    path.losses.excess_loss_db = path.losses.excess_sum_db();
    path.losses.total_path_loss_db = path.losses.sum_db();
    path
}

impl PathLoss {
    /// Applies the calibration offset; the path loss stays at or above free space.
    fn calibrate(&mut self, link: &Prepared<'_>, distance_m: f64) {
        let Some(calibration) = &link.env.calibration else {
            return;
        };
        let asked_db = calibration.loss_db(link.frequency_mhz, distance_m);
        if asked_db == 0.0 {
            return;
        }
        let least_db = -self.losses.excess_sum_db();
        self.warnings.insert(Warning::Calibrated);
        self.warnings
            .note(asked_db < least_db, Warning::BelowFreeSpaceClamped);
        self.losses.calibration_db = Some(asked_db.max(least_db));
    }

    /// Terrain by the model asked for, or by the one that stands in.
    fn terrain(&mut self, link: &Prepared<'_>, view: &View<'_>, clearance: &Clearance) {
        let doubt = match link.env.model {
            Model::FreeSpace => return,
            Model::DeltaBullington => None,
            Model::Itm if view.distance_m < ITM_SHORTEST_M => Some(Warning::DistanceBelow1Km),
            Model::Itm => match self.irregular_terrain(link, view) {
                Ok(()) => return,
                Err(doubt) => Some(doubt),
            },
        };
        if let Some(doubt) = doubt {
            self.warnings.insert(doubt);
        }
        self.delta_bullington(link, view, clearance);
    }

    /// ITM: reference attenuation plus what the quantile adds. Refuses with what is to be doubted:
    /// inputs outside the model (frequency outside 20 MHz to 20 GHz, antenna outside 0.5 to
    /// 3000 m, exotic terrain), or formulas without a value.
    fn irregular_terrain(&mut self, link: &Prepared<'_>, view: &View<'_>) -> Result<(), Warning> {
        let profile = itm::PathProfile {
            step_m: view.step_m,
            elevation_msl_m: view.elevation_msl_m,
        };
        let reference = link.itm.and_then(|itm| itm.reference(&profile).ok());
        let (Some(reference), Some(quantile)) = (reference, link.quantile) else {
            return Err(Warning::ModelOutOfRange);
        };
        if reference
            .warnings
            .contains(itm::Warnings::ATTENUATION_UNDEFINED)
        {
            return Err(Warning::ItmAttenuationUndefined);
        }
        let attenuation_db = reference.attenuation_db(quantile);
        if !attenuation_db.is_finite() {
            return Err(Warning::ModelOutOfRange);
        }
        self.warnings.insert_itm(reference.warnings_at(quantile));
        self.warnings
            .note(attenuation_db < 0.0, Warning::BelowFreeSpaceClamped);
        self.model = Model::Itm;
        self.mode = match reference.mode {
            itm::PropagationMode::LineOfSight => PropagationMode::LineOfSight,
            itm::PropagationMode::Diffraction => PropagationMode::Diffraction,
            itm::PropagationMode::Troposcatter => PropagationMode::Troposcatter,
        };
        self.losses.reference_attenuation_db = Some(reference.a_ref_db);
        self.losses.variability_db = Some(attenuation_db.max(0.0) - reference.a_ref_db);
        self.losses.troposcatter_loss_db =
            (self.mode == PropagationMode::Troposcatter).then_some(reference.a_ref_db);
        self.itm = Some(ItmTerrain {
            horizon_distance_m: reference.horizon_distance_m,
            horizon_angle_rad: reference.horizon_angle_rad,
            effective_height_m: reference.effective_height_m,
            terrain_irregularity_m: reference.delta_h_m,
        });
        Ok(())
    }

    /// Delta-Bullington diffraction; free space alone when the ends coincide.
    fn delta_bullington(&mut self, link: &Prepared<'_>, view: &View<'_>, clearance: &Clearance) {
        let loss_db = diffraction_db(link, view.step_m, view.elevation_msl_m);
        self.model = Model::DeltaBullington;
        self.losses.diffraction_loss_db = Some(loss_db.unwrap_or(0.0));
        // LinkKey at one place have nothing between them; anything else is a refusal to disclose.
        self.warnings.note(
            loss_db.is_none() && view.distance_m >= SHORTEST_M,
            Warning::ModelOutOfRange,
        );
        if !clearance.line_of_sight {
            self.mode = PropagationMode::Diffraction;
        }
    }

    /// Clutter at the two ends and woodland between them.
    fn cover(&mut self, link: &Prepared<'_>, distance_km: f64) {
        let clutter_db = clutter_db(link, distance_km);
        self.warnings
            .note(clutter_db.is_none(), Warning::ClutterOutOfRange);
        [self.losses.clutter_tx_db, self.losses.clutter_rx_db] = clutter_db.unwrap_or([0.0; 2]);
        self.losses.vegetation_db = vegetation_db(link);
    }
}

/// Delta-Bullington diffraction over terrain, dB, 0 or more; `None` where it has no value.
pub(super) fn diffraction_db(
    link: &Prepared<'_>,
    step_m: f64,
    elevation_msl_m: &[f64],
) -> Option<f64> {
    let [tx_agl_m, rx_agl_m] = link.terrain_agl_m;
    let path = DiffractionPath {
        frequency_mhz: link.frequency_mhz,
        effective_earth_radius_m: link.env.k_factor * super::fresnel::EARTH_RADIUS_M,
        tx_agl_m,
        rx_agl_m,
        polarization: link.tx.antenna.polarization,
        ground: Ground {
            relative_permittivity: link.env.permittivity,
            conductivity_s_m: link.env.conductivity_s_m,
        },
    };
    let profile = bullington::Profile::equally_spaced(step_m, elevation_msl_m).ok()?;
    let loss_db = delta_bullington(&profile, &path).ok()?.loss_db;
    loss_db.is_finite().then_some(loss_db.max(0.0))
}

/// Clutter at the two ends, dB; `None` where the model asked for does not speak.
pub(super) fn clutter_db(link: &Prepared<'_>, distance_km: f64) -> Option<[f64; 2]> {
    let frequency_ghz = link.frequency_mhz * 1e-3;
    let heights = [link.tx.height_agl_m, link.rx.height_agl_m];
    match link.env.clutter {
        None => Some([0.0; 2]),
        Some(Clutter::HeightGain { .. }) => heights_gain_db(link, frequency_ghz, heights),
        Some(Clutter::Statistical {
            below_height_m,
            location_percent,
        }) => statistical_db(
            frequency_ghz,
            distance_km,
            location_percent,
            heights,
            below_height_m,
        ),
    }
}

/// Woodland, dB.
pub(super) fn vegetation_db(link: &Prepared<'_>) -> f64 {
    link.env.vegetation.map_or(0.0, |wood| {
        woodland_loss_db(
            wood.depth_m,
            wood.specific_attenuation_db_m,
            wood.maximum_attenuation_db,
        )
        .unwrap_or(0.0)
    })
}

/// Rain falling now: specific attenuation over the effective length of P.530, never longer than
/// the path, dB. Paths beyond 1000 km are taken as 1000 km.
pub(super) fn rain_loss_db(link: &Prepared<'_>, length_km: f64) -> f64 {
    let Some(rain) = link.rain.filter(|_| link.env.rain_rate_mm_h > 0.0) else {
        return 0.0;
    };
    let (length_km, rate) = (length_km.min(1_000.0), link.env.rain_rate_mm_h);
    let fading = RainFading::new(length_km, link.frequency_mhz * 1e-3, rate, &rain);
    let Ok((fading, gamma)) = fading.and_then(|f| Ok((f, rain.specific_attenuation_db_km(rate)?)))
    else {
        return 0.0;
    };
    gamma * fading.effective_length_km.min(length_km)
}

/// Antenna heights terrain is judged from: the height-gain correction of P.2108 starts at the top
/// of the clutter.
pub(super) fn terrain_heights_m(env: &Environment, height_agl_m: [f64; 2]) -> [f64; 2] {
    let top_m = match env.clutter {
        Some(Clutter::HeightGain {
            category,
            representative_height_m,
        }) => site(category, representative_height_m).height_m,
        _ => 0.0,
    };
    height_agl_m.map(|height_m| height_m.max(top_m))
}

/// Surroundings as P.2108 section 3.1 reads them.
fn site(category: ClutterCategory, representative_height_m: Option<f64>) -> ClutterSite {
    let category = match category {
        ClutterCategory::WaterSea => clutter::ClutterCategory::WaterSea,
        ClutterCategory::OpenRural => clutter::ClutterCategory::OpenRural,
        ClutterCategory::Suburban => clutter::ClutterCategory::Suburban,
        ClutterCategory::Urban => clutter::ClutterCategory::Urban,
        ClutterCategory::TreesForest => clutter::ClutterCategory::TreesForest,
        ClutterCategory::DenseUrban => clutter::ClutterCategory::DenseUrban,
    };
    let usual = ClutterSite::from(category);
    ClutterSite {
        height_m: representative_height_m.unwrap_or(usual.height_m),
        ..usual
    }
}

/// Height-gain loss at both ends, dB; `None` outside 0.03 to 3 GHz or on the ground itself.
fn heights_gain_db(link: &Prepared<'_>, frequency_ghz: f64, heights: [f64; 2]) -> Option<[f64; 2]> {
    let Some(Clutter::HeightGain {
        category,
        representative_height_m,
    }) = link.env.clutter
    else {
        return None;
    };
    let site = site(category, representative_height_m);
    let at = |height| {
        site.height_gain_loss_db(frequency_ghz, height)
            .ok()
            .map(|loss| loss.max(0.0))
    };
    Some([at(heights[0])?, at(heights[1])?])
}

/// Statistical loss at the ends below `below_height_m`, dB; `None` outside the model. Between
/// 0.25 and 1 km it counts once, at the lower end.
fn statistical_db(
    frequency_ghz: f64,
    distance_km: f64,
    location_percent: f64,
    heights: [f64; 2],
    below_height_m: f64,
) -> Option<[f64; 2]> {
    let mut within = heights.map(|height| height < below_height_m);
    if within == [false; 2] {
        return Some([0.0; 2]);
    }
    if within == [true; 2] && distance_km < CLUTTER_BOTH_ENDS_KM {
        within = [heights[0] < heights[1], heights[0] >= heights[1]];
    }
    let loss_db = terrestrial_clutter_loss_db(frequency_ghz, distance_km, location_percent).ok()?;
    Some(within.map(|inside| if inside { loss_db.max(0.0) } else { 0.0 }))
}
