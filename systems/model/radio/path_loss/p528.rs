//! Loss to aircraft over a smooth Earth (ITU-R P.528).

use groundwave_propagation::free_space::free_space_loss_db;
use groundwave_propagation::p528::{
    DISTANCE_KM_MAX, FREQUENCY_MHZ, HEIGHT_M, Mode, Prepared, TIME_PERCENT,
};
use groundwave_propagation::profile::PathProfile;

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, PropagationMode, Settings,
    ShareRanges, Validity,
};
use crate::radio::deciles::sigma_of_deciles_db;
use crate::radio::warning::{Warning, Warnings};

/// Radius of the effective Earth of the Recommendation, m.
const EFFECTIVE_RADIUS_M: f64 = 9_257e3;

/// Terrain that stands so little above the horizon does not count, rad.
const HORIZON_RAD: f64 = 1e-5;

/// Loss below free space that is rounding, dB: the Recommendation has a constant of its own.
const FREE_SPACE_DB: f64 = 0.1;

settings! {
    /// Settings of ITU-R P.528.
    struct P528Settings {
        /// Share of time, percent, 1 to 99.
        time_percent: f64,
    }
}

/// ITU-R P.528 over a smooth Earth at the mean height of the ground along the path.
#[derive(Debug)]
pub(super) struct Aeronautical;

impl PathLossModel for Aeronautical {
    fn name(&self) -> &'static str {
        "p528"
    }

    fn label(&self) -> &'static str {
        "P.528"
    }

    fn description(&self) -> &'static str {
        "ITU-R P.528 to aircraft up to 20 km high over a smooth Earth, 100 MHz to 30 GHz, to 1,800 km."
    }

    fn version(&self) -> &'static str {
        "ITU-R P.528-5"
    }

    fn source(&self) -> &'static str {
        "Recommendation ITU-R P.528-5, 2021, annex 2"
    }

    fn settings(&self) -> &'static [&'static str] {
        P528Settings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges { time_percent: Some(TIME_PERCENT), ..ShareRanges::NONE }
    }

    fn validity(&self) -> Validity {
        Validity {
            frequency_mhz: FREQUENCY_MHZ[0]..=FREQUENCY_MHZ[1],
            distance_m: 0.0..=DISTANCE_KM_MAX * 1e3,
            distance_warning: Warning::ModelOutOfRange,
            fine_surface: true,
        }
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::of_both(HEIGHT_M)
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
        true
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let settings: P528Settings = direction.settings();
        let is_between = |value: f64, [low, high]: [f64; 2]| (low..=high).contains(&value);
        let in_range = is_between(settings.time_percent, TIME_PERCENT)
            && direction.antenna_agl_m.iter().all(|height_m| is_between(*height_m, HEIGHT_M));
        if !in_range {
            return Err(Warning::ModelOutOfRange);
        }
        let prepared = Prepared::new(direction.frequency_mhz, direction.polarization);
        Ok(Box::new(PreparedAeronautical {
            prepared: prepared.map_err(|_| Warning::ModelOutOfRange)?,
            frequency_mhz: direction.frequency_mhz,
            time_percent: settings.time_percent,
            antenna_agl_m: direction.antenna_agl_m,
        }))
    }
}

#[derive(Debug)]
struct PreparedAeronautical {
    prepared: Prepared,
    frequency_mhz: f64,
    time_percent: f64,
    antenna_agl_m: [f64; 2],
}

/// Both ends over the ground of one path.
struct Ends {
    /// Antennas above mean sea level, m.
    antenna_msl_m: [f64; 2],
    /// Antennas above the smooth Earth, m.
    height_m: [f64; 2],
}

impl Ends {
    /// Over the smooth Earth at the mean height of the ground: the sea's where the path crosses the sea, and
    /// that of a plateau on a plateau. An end below it has its height above its own ground. `None` without
    /// ground.
    fn new(antenna_agl_m: [f64; 2], ground_msl_m: &[f64]) -> Option<Self> {
        let (first_m, last_m) = (ground_msl_m.first()?, ground_msl_m.last()?);
        let level_m = ground_msl_m.iter().sum::<f64>() / ground_msl_m.len() as f64;
        let antenna_msl_m = [first_m + antenna_agl_m[0], last_m + antenna_agl_m[1]];
        let height_m = [0, 1].map(|end| {
            let above_m = antenna_msl_m[end] - level_m;
            if above_m > antenna_agl_m[end] { above_m } else { antenna_agl_m[end] }
        });
        Some(Self { antenna_msl_m, height_m })
    }

    /// `true` if terrain hides one end from the other, or, beyond the horizon, stands above the smooth Earth's
    /// horizon of an end.
    fn is_obstructed(&self, profile: &PathProfile<'_>, mode: Mode) -> bool {
        let points = profile.elevation_msl_m;
        let distance_m = profile.distance_m();
        let angle_rad = |from_m: f64, to_m: f64, apart_m: f64| {
            (to_m - from_m) / apart_m - apart_m / (2.0 * EFFECTIVE_RADIUS_M)
        };
        [0, 1].into_iter().any(|end| {
            let own_m = self.antenna_msl_m[end];
            let limit_rad = if mode == Mode::LineOfSight {
                angle_rad(own_m, self.antenna_msl_m[1 - end], distance_m)
            } else {
                -(2.0 * self.height_m[end] / EFFECTIVE_RADIUS_M).sqrt()
            };
            let between = points.iter().enumerate().take(points.len().saturating_sub(1)).skip(1);
            between.into_iter().any(|(point, ground_msl_m)| {
                let along_m = point as f64 * profile.step_m;
                let apart_m = if end == 0 { along_m } else { distance_m - along_m };
                angle_rad(own_m, *ground_msl_m, apart_m) > limit_rad + HORIZON_RAD
            })
        })
    }
}

impl PreparedModel for PreparedAeronautical {
    fn attenuation(&self, profile: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let out_of_range = |_| Warning::ModelOutOfRange;
        let ends = Ends::new(self.antenna_agl_m, profile.elevation_msl_m);
        let ends = ends.ok_or(Warning::ModelOutOfRange)?;
        let distance_m = profile.distance_m();
        let path = self.prepared.path(ends.height_m, distance_m * 1e-3).map_err(out_of_range)?;
        let rise_m = ends.antenna_msl_m[1] - ends.antenna_msl_m[0];
        let slant_m = (distance_m * distance_m + rise_m * rise_m).sqrt();
        let gases_db = path.absorption_db;
        let known_db = free_space_loss_db(slant_m, self.frequency_mhz) + gases_db[0] + gases_db[1];
        let excess_db = |time_percent: f64| {
            path.loss_db(time_percent).map(|loss_db| loss_db - known_db).map_err(out_of_range)
        };
        let [median_db, share_db] = [excess_db(50.0)?, excess_db(self.time_percent)?];
        let deciles_db = [excess_db(90.0)?, excess_db(10.0)?];

        let mut warnings = Warnings::default();
        let is_below = median_db < -FREE_SPACE_DB || share_db < -FREE_SPACE_DB;
        warnings.note(is_below, Warning::BelowFreeSpaceClamped);
        let is_obstructed = ends.is_obstructed(profile, path.mode);
        warnings.note(is_obstructed, Warning::P528TerrainObstructs);
        let reference_db = if median_db > 0.0 { median_db } else { 0.0 };
        let limited_db = if share_db > 0.0 { share_db } else { 0.0 };
        Ok(Attenuation {
            reference_attenuation_db: Some(reference_db),
            variability_db: Some(limited_db - reference_db),
            gases_db: Some(gases_db),
            median_db: Some(reference_db + gases_db[0] + gases_db[1]),
            sigma_db: sigma_of_deciles_db(deciles_db),
            mode: Some(match path.mode {
                Mode::LineOfSight => PropagationMode::LineOfSight,
                Mode::Diffraction => PropagationMode::Diffraction,
                Mode::Troposcatter => PropagationMode::Troposcatter,
            }),
            warnings,
            ..Attenuation::default()
        })
    }
}

#[cfg(test)]
mod tests;
