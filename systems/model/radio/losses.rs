//! Losses along a path: free space, terrain, gases, rain, clutter and vegetation.

use groundwave_propagation::free_space::free_space_loss_db;
use groundwave_propagation::outage::RainFading;
use groundwave_propagation::vegetation::{mixed_forest_loss_db, woodland_loss_db};

use super::calibration::{Area, Offset};
use super::clutter::{ClutterLoss, ClutterPath, clutter_loss};
use super::fresnel::Clearance;
use super::geometry::{SHORTEST_M, View};
use super::path_loss::{
    Attenuation, FALLBACK_MODEL, ItmTerrain, Model, PathBatch, PreparedModel, PropagationMode,
    QUANTILES,
};
use super::prediction::Entry;
use super::prepare::Prepared;
use super::result::{Geometry, Losses};
use super::warning::{Warning, Warnings};
use crate::terrain::GeoPoint;

/// Minimum frequency of the formulas of woodland, MHz.
const WOODLAND_MHZ_MIN: f64 = 30.0;

/// Losses of a path, with the model that computed them.
#[derive(Debug, Clone)]
pub(super) struct PathLoss {
    pub model: Model,
    pub mode: PropagationMode,
    pub itm: Option<ItmTerrain>,
    pub losses: Losses,
    /// Loss at the median of time and locations, dB.
    pub median_db: f64,
    /// Standard deviation of the model in time and over locations, dB.
    pub sigma_db: f64,
    /// Median attenuation of terrain and surroundings over free space by the model, dB.
    pub model_excess_db: f64,
    /// Walls, which are part of the losses.
    pub entry: Entry,
    pub warnings: Warnings,
}

/// Adds up the losses of a path over `terrain`. Never less than free space: a model below it is
/// limited, with a warning.
pub(super) fn path_loss(
    link: &Prepared<'_>,
    view: &View<'_>,
    geometry: &Geometry,
    clearance: &Clearance,
    (model, terrain): (Model, Attenuation),
) -> PathLoss {
    let slant_m = geometry.slant_range_m.max(SHORTEST_M);
    let mut warnings = link.warnings.union(terrain.warnings);
    // One answer to whether the ends see each other; ITM, whose mode of its own may say otherwise, tells
    // scatter and diffraction apart.
    let mode = match (clearance.line_of_sight, terrain.mode) {
        (true, _) => PropagationMode::LineOfSight,
        (false, Some(PropagationMode::Troposcatter)) => PropagationMode::Troposcatter,
        (false, _) => PropagationMode::Diffraction,
    };
    let path = clutter_path(view, geometry);
    let clutter = link.clutter_loss(&path, false);
    warnings.note(!clutter.is_in_range, Warning::ClutterOutOfRange);
    let [clutter_tx_db, clutter_rx_db] = clutter.ends_db;
    let [median_tx_db, median_rx_db] = link.clutter_loss(&path, true).ends_db;
    let walls = link.walls.loss(path.elevation_deg);
    let air = link.gas();
    let uniform_db = [air.oxygen_db_km, air.water_vapour_db_km].map(|db_km| db_km * slant_m * 1e-3);
    let [gas_oxygen_db, gas_water_vapour_db] = terrain.gases_db.unwrap_or(uniform_db);
    let mut losses = Losses {
        free_space_loss_db: free_space_loss_db(slant_m, link.frequency_mhz),
        reference_attenuation_db: terrain.reference_attenuation_db,
        variability_db: terrain.variability_db,
        troposcatter_loss_db: terrain
            .reference_attenuation_db
            .filter(|_| mode == PropagationMode::Troposcatter),
        diffraction_loss_db: terrain.diffraction_loss_db,
        gas_oxygen_db,
        gas_water_vapour_db,
        rain_loss_db: link.rain_loss_db(slant_m * 1e-3),
        rain_rate_mm_h: link.env.rain_rate_mm_h,
        clutter_tx_db,
        clutter_rx_db,
        building_tx_db: walls.ends_db[0],
        building_rx_db: walls.ends_db[1],
        vegetation_db: link.vegetation_db(),
        vegetation_tx_db: link.woodland_db(0),
        vegetation_rx_db: link.woodland_db(1),
        other_loss_db: link.env.other_loss_db,
        ..Losses::default()
    };
    let added_db = terrain.median_total_db() - terrain.total_db();
    let added_db = added_db + median_tx_db - clutter_tx_db + median_rx_db - clutter_rx_db;
    let added_db = added_db + walls.median_addition_db();
    let median_db = losses.sum_db() + added_db;
    let offset_db = calibrate(link, view, &mut losses, &mut warnings);
    let median_db = match offset_db {
        Some(offset_db) => (median_db + offset_db).max(losses.free_space_loss_db),
        None => median_db,
    };
    losses.excess_loss_db = losses.excess_sum_db();
    losses.total_path_loss_db = losses.sum_db();
    PathLoss {
        model,
        mode,
        itm: terrain.itm,
        losses,
        median_db,
        sigma_db: terrain.sigma_db,
        model_excess_db: link.model_excess_db(terrain.median_total_db(), || slant_m),
        entry: walls.entry,
        warnings,
    }
}

/// The path as losses of clutter depend on it.
fn clutter_path(view: &View<'_>, geometry: &Geometry) -> ClutterPath {
    ClutterPath {
        distance_km: view.distance_m * 1e-3,
        elevation_deg: [geometry.tx_elevation_angle_deg, geometry.rx_elevation_angle_deg],
        is_fine_surface: view.is_fine_surface,
    }
}

/// Attenuation over free space along a path by the model of the environment, or by [`FALLBACK_MODEL`]
/// with a warning where that is not valid.
pub(super) fn terrain_attenuation(link: &Prepared<'_>, view: &View<'_>) -> (Model, Attenuation) {
    let model = link.model_at(view.distance_m, view.is_fine_surface);
    let result = model.and_then(|model| model.attenuation(&link.limited(view.path())));
    or_fallback(link, view, result)
}

/// [`terrain_attenuation`] along many paths, to the bit and in their order.
pub(super) fn terrain_attenuations(
    link: &Prepared<'_>,
    views: &[View<'_>],
    batch: &mut PathBatch,
) -> Vec<(Model, Attenuation)> {
    let model_at = |view: &View<'_>| link.model_at(view.distance_m, view.is_fine_surface);
    let is_valid = |view: &&View<'_>| model_at(view).is_ok();
    let valid = views.iter().filter(is_valid).map(|view| link.limited(view.path()));
    let valid: Vec<_> = valid.collect();
    let attenuations = |model: &dyn PreparedModel| model.attenuations(&valid, batch);
    let mut results = link.model().map_or_else(Vec::new, attenuations).into_iter();
    let each = |view: &View<'_>| {
        let valid = model_at(view);
        let result = valid.and_then(|_| results.next().expect("one for each valid path"));
        or_fallback(link, view, result)
    };
    views.iter().map(each).collect()
}

/// Attenuation by the model of the environment, in part by the fallback model where the two meet, and wholly
/// by that where the other has none. Beyond the longest distance it is that of the fallback model, but not below the
/// other at that distance.
fn or_fallback(
    link: &Prepared<'_>,
    view: &View<'_>,
    result: Result<Attenuation, Warning>,
) -> (Model, Attenuation) {
    let share = link.share(view.distance_m);
    let fallback = || link.fallback(&view.path());
    let warning = match result {
        Ok(attenuation) if share == 1.0 => return (link.env.model, attenuation),
        Ok(attenuation) => {
            let fallback = fallback();
            let blended = attenuation.blended(share, &fallback);
            let added_db = link.far_addition_db(
                view.distance_m,
                attenuation.quantiles_db(),
                fallback.quantiles_db(),
                || clutter_path(view, &link.geometry(view)),
            );
            match link.far_warning(view.distance_m) {
                None if added_db == [0.0; QUANTILES] => return (link.env.model, blended),
                None => return (link.env.model, blended.with_addition(added_db)),
                Some(warning) if added_db != [0.0; QUANTILES] => {
                    let mut attenuation = blended.with_addition(added_db);
                    attenuation.warnings.insert(warning);
                    return (FALLBACK_MODEL, attenuation);
                }
                Some(warning) => warning,
            }
        }
        Err(warning) => warning,
    };
    let mut attenuation = fallback();
    attenuation.warnings.insert(warning);
    (FALLBACK_MODEL, attenuation)
}

/// Applies the calibration offset, dB, and returns it where there is one; the path loss stays at or above
/// free space.
fn calibrate(
    link: &Prepared<'_>,
    view: &View<'_>,
    losses: &mut Losses,
    warnings: &mut Warnings,
) -> Option<f64> {
    let calibration = link.env.calibration.as_ref()?;
    let is_elsewhere = link.is_elsewhere(view.ends);
    let has_class = calibration.class(link.frequency_mhz, view.distance_m).is_some();
    warnings.note(has_class && is_elsewhere, Warning::CalibrationElsewhere);
    warnings.note(has_class && link.is_calibration_of_others(), Warning::CalibrationMismatch);
    let offset_db = calibration.loss_db(link.frequency_mhz, view.distance_m);
    if offset_db == 0.0 {
        return None;
    }
    let least_db = -losses.excess_sum_db();
    warnings.insert(Warning::Calibrated);
    warnings.note(offset_db < least_db, Warning::BelowFreeSpaceClamped);
    losses.calibration_db = Some(offset_db.max(least_db));
    Some(offset_db)
}

impl Prepared<'_> {
    /// Clutter loss at the two ends, at the median of locations if `is_median`.
    pub(super) fn clutter_loss(&self, path: &ClutterPath, is_median: bool) -> ClutterLoss {
        let shares = self.end_clutter_share(path.distance_km * 1e3, path.is_fine_surface);
        clutter_loss(&self.clutter, self.frequency_mhz, path, is_median, shares)
    }

    /// Part of a median attenuation by the model, dB, that is none of air of a model that has it: over a ray of
    /// `slant_m`, in uniform air.
    pub(super) fn model_excess_db(&self, median_db: f64, slant_m: impl FnOnce() -> f64) -> f64 {
        if self.is_air_in_model {
            (median_db - self.air.total_db_km() * slant_m() * 1e-3).max(0.0)
        } else {
            median_db
        }
    }

    /// Class of the calibration profile that a path belongs to.
    pub(super) fn calibrated(&self, distance_m: f64) -> Option<&Offset> {
        let calibration = self.env.calibration.as_ref()?;
        calibration.class(self.frequency_mhz, distance_m)
    }

    /// `true` if one of the ends, where they are known, lies beyond the place that the calibration profile was made
    /// at.
    pub(super) fn is_elsewhere(&self, ends: Option<[GeoPoint; 2]>) -> bool {
        let area = self.env.calibration.as_ref().and_then(|calibration| calibration.area);
        let outside = |area: Area| ends.is_some_and(|ends| !ends.iter().all(|at| area.holds(*at)));
        area.is_some_and(outside)
    }

    /// Loss of the woodland around an end, dB; `None` without.
    fn woodland_db(&self, end: usize) -> Option<f64> {
        let station = [self.tx, self.rx][end];
        let at_mhz = self.frequency_mhz.max(WOODLAND_MHZ_MIN);
        let loss = || mixed_forest_loss_db(station.woodland_depth_m, at_mhz);
        station.is_in_woodland().then(|| loss().unwrap_or(0.0))
    }

    /// Loss of woodland, dB: of that around the ends, or else of that on every path.
    pub(super) fn vegetation_db(&self) -> f64 {
        match [0, 1].map(|end| self.woodland_db(end)) {
            [None, None] => self.path_woodland_db(),
            ends => ends.into_iter().flatten().sum(),
        }
    }

    /// Losses along a ray of `slant_m` that count beside those of terrain and surroundings, dB: gases, unless the
    /// model has them, rain, woodland and other losses of the environment; and apart from them that of woodland
    /// around antennas among unknown surroundings, dB.
    pub(super) fn known_db(&self, slant_m: f64) -> [f64; 2] {
        let km = slant_m.max(SHORTEST_M) * 1e-3;
        let is_unknown = |end: &usize| self.clutter[*end].unknown_share > 0.0;
        let unknown_db: f64 = [0, 1]
            .iter()
            .filter(|end| is_unknown(end))
            .filter_map(|end| self.woodland_db(*end))
            .sum();
        let gases_db = self.gas().total_db_km() * km;
        let known_db = gases_db + self.rain_loss_db(km) + self.vegetation_db() - unknown_db;
        [known_db + self.env.other_loss_db, unknown_db]
    }

    /// Loss of the woodland on every path, dB.
    fn path_woodland_db(&self) -> f64 {
        self.env.vegetation.map_or(0.0, |wood| {
            woodland_loss_db(
                wood.depth_m,
                wood.specific_attenuation_db_m,
                wood.maximum_attenuation_db,
            )
            .unwrap_or(0.0)
        })
    }

    /// Loss of the rain falling now, dB: specific attenuation over the effective length of P.530,
    /// never longer than the path. Paths beyond 1000 km are taken as 1000 km.
    pub(super) fn rain_loss_db(&self, length_km: f64) -> f64 {
        let Some(rain) = self.rain.filter(|_| self.env.rain_rate_mm_h > 0.0) else {
            return 0.0;
        };
        let (length_km, rate) = (length_km.min(1_000.0), self.env.rain_rate_mm_h);
        let fading = RainFading::new(length_km, self.frequency_mhz * 1e-3, rate, &rain);
        let Ok((fading, gamma)) =
            fading.and_then(|f| Ok((f, rain.specific_attenuation_db_km(rate)?)))
        else {
            return 0.0;
        };
        gamma * fading.effective_length_km.min(length_km)
    }
}
