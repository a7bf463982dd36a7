//! Rays through the layers of the reference atmosphere (ITU-R P.676 annex 1, §2.2; ITU-R P.835).

use std::f64::consts::FRAC_PI_2;

use super::EARTH_RADIUS_KM;
use crate::domain::DomainError;
use crate::gases::{Atmosphere, reference, vapour_pressure_hpa};

/// Height up to which the air is known, km: above the volume that scatters at the maximum distance.
const HEIGHT_MAX_KM: f64 = 70.0;

/// Spacing of the heights at which the absorption of air is computed, km. Between them its logarithm is
/// interpolated, within 1e-4.
const NODE_KM: f64 = 0.5;

/// Thickness of the lowest layer, km, and ratio of the thickness of a layer to that below (P.676 eq. 14).
const LAYER_KM: f64 = 1e-4;
const LAYER_RATIO_LN: f64 = 0.01;

/// Search of a grazing height: steps at most, and distance from the solution at which it ends, km.
const SEARCH_STEPS: u32 = 50;
const SEARCH_KM: f64 = 0.001;

/// Air at one frequency.
#[derive(Debug, Clone)]
pub(super) struct Air {
    /// Logarithms of the absorption of oxygen and water vapour every [`NODE_KM`], dB/km.
    absorption_ln: Vec<[f64; 2]>,
}

/// A ray from a height to a greater one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ray {
    /// Length, km.
    pub length_km: f64,
    /// Bending by refraction, rad.
    pub bending_rad: f64,
    /// Angle above the horizontal at the upper end, rad.
    pub elevation_rad: f64,
    /// Absorption of oxygen and water vapour, dB.
    pub absorption_db: [f64; 2],
}

impl Ray {
    /// Sum of two rays that meet at their lower ends, with the upper end of the second.
    fn joined(&self, other: &Self) -> Self {
        Self {
            length_km: self.length_km + other.length_km,
            bending_rad: self.bending_rad + other.bending_rad,
            absorption_db: [0, 1].map(|gas| self.absorption_db[gas] + other.absorption_db[gas]),
            ..*other
        }
    }

    /// Angle between the ends at the centre of the Earth, rad, of a ray that leaves horizontally.
    pub(super) fn central_angle_rad(&self) -> f64 {
        self.elevation_rad + self.bending_rad
    }
}

/// Refractive index at a height, km.
fn refractive_index(height_km: f64) -> f64 {
    let [temperature_k, pressure_hpa] = reference::temperature_and_pressure(height_km);
    let density_g_m3 = reference::vapour_density_g_m3(height_km, temperature_k, pressure_hpa);
    let e = vapour_pressure_hpa(temperature_k, density_g_m3);
    let refractivity = 77.6 * pressure_hpa / temperature_k
        + 72.0 * e / temperature_k
        + 3.75e5 * e / (temperature_k * temperature_k);
    1.0 + refractivity * 1e-6
}

impl Air {
    /// Air at a frequency, GHz. The pressure of the reference atmosphere is taken as that of dry air, as the
    /// published tables of the Recommendation have it.
    pub(super) fn new(frequency_ghz: f64) -> Result<Self, DomainError> {
        let nodes = (HEIGHT_MAX_KM / NODE_KM) as usize + 2;
        let absorption_ln = (0..nodes).map(|node| {
            let height_km = node as f64 * NODE_KM;
            let [temperature_k, pressure_hpa] = reference::temperature_and_pressure(height_km);
            let air = Atmosphere {
                dry_pressure_hpa: pressure_hpa,
                temperature_k,
                water_vapour_density_g_m3: reference::vapour_density_g_m3(
                    height_km,
                    temperature_k,
                    pressure_hpa,
                ),
            };
            let gamma = air.specific_attenuation(frequency_ghz)?;
            Ok([libm::log(gamma.oxygen_db_km), libm::log(gamma.water_vapour_db_km)])
        });
        let absorption_ln = absorption_ln.collect::<Result<Vec<_>, DomainError>>()?;
        Ok(Self { absorption_ln })
    }

    /// The ray that leaves the ground level horizontally, up to a height, km.
    pub(super) fn grazing(&self, height_km: f64) -> Ray {
        self.rising([0.0, height_km], 1.0)
    }

    /// The ray between two heights, km, of which the first is not the greater and has the ray at an angle above
    /// the horizontal, rad (P.676 §2.2).
    pub(super) fn ray(&self, [low_km, high_km]: [f64; 2], elevation_rad: f64) -> Ray {
        let zenith_sine = libm::cos(elevation_rad);
        if elevation_rad >= 0.0 {
            return self.rising([low_km, high_km], zenith_sine);
        }
        // It sinks to a grazing height first, where n r is that of the lower end times the sine there. The search
        // ends as early as that of the published tables: at 30 GHz an exact height has 0.3 dB less.
        let invariant = refractive_index(low_km) * (EARTH_RADIUS_KM + low_km) * zenith_sine;
        let (mut grazing_km, mut step_km) = (0.5 * low_km, 0.25 * low_km);
        for _ in 0..SEARCH_STEPS {
            let apart_km =
                refractive_index(grazing_km) * (EARTH_RADIUS_KM + grazing_km) - invariant;
            if apart_km.abs() <= SEARCH_KM {
                break;
            }
            grazing_km += if apart_km > 0.0 { -step_km } else { step_km };
            step_km *= 0.5;
        }
        let [near, far] = [low_km, high_km].map(|km| self.rising([grazing_km, km], 1.0));
        near.joined(&far)
    }

    /// The ray that rises between two heights, km, from an angle of this sine from the zenith.
    fn rising(&self, [low_km, high_km]: [f64; 2], zenith_sine: f64) -> Ray {
        let first = layer_at(low_km).floor() as i32;
        let last = layer_at(high_km).ceil() as i32;
        let whole_km = layer_base_km(last) - layer_base_km(first);
        let scale = if whole_km > 0.0 { (high_km - low_km) / whole_km } else { 0.0 };
        // Follow the ray (P.676 eq. 13 to 19).
        let base_km = |layer: i32| low_km + scale * (layer_base_km(layer) - layer_base_km(first));
        let thickness_km =
            |layer: i32| scale * LAYER_KM * libm::exp(LAYER_RATIO_LN * f64::from(layer - 1));
        let index_of = |layer: i32| refractive_index(base_km(layer) + 0.5 * thickness_km(layer));
        let mut index = index_of(first);
        let invariant = index * (EARTH_RADIUS_KM + low_km) * zenith_sine;
        let sine = |index: f64, height_km: f64| {
            (invariant / (index * (EARTH_RADIUS_KM + height_km))).min(1.0)
        };
        let mut ray = Ray::default();
        let mut lower_km = low_km;
        for layer in first..last {
            let (thick_km, upper_km) = (thickness_km(layer), base_km(layer + 1));
            let radius_km = EARTH_RADIUS_KM + lower_km;
            let entry_sine = sine(index, lower_km);
            let along_km = radius_km * (1.0 - entry_sine * entry_sine).sqrt();
            let step_km = -along_km
                + (along_km * along_km + 2.0 * radius_km * thick_km + thick_km * thick_km).sqrt();
            let absorption_db_km = self.absorption(lower_km + 0.5 * thick_km);
            for (sum_db, db_km) in ray.absorption_db.iter_mut().zip(absorption_db_km) {
                *sum_db += step_km * db_km;
            }
            ray.length_km += step_km;
            let exit_rad = libm::asin(sine(index, upper_km));
            ray.elevation_rad = FRAC_PI_2 - exit_rad;
            index = index_of(layer + 1);
            if layer + 1 < last {
                ray.bending_rad += libm::asin(sine(index, upper_km)) - exit_rad;
            }
            lower_km = upper_km;
        }
        ray
    }

    /// Absorption of oxygen and water vapour at a height, km, dB/km.
    fn absorption(&self, height_km: f64) -> [f64; 2] {
        let place = height_km / NODE_KM;
        let node = (place as usize).min(self.absorption_ln.len() - 2);
        let share = place - node as f64;
        let [low, high] = [self.absorption_ln[node], self.absorption_ln[node + 1]];
        [0, 1].map(|gas| libm::exp(low[gas] + share * (high[gas] - low[gas])))
    }
}

/// Number of the layer that holds a height, km, counted from 1 with its fraction (P.676 eq. 16).
fn layer_at(height_km: f64) -> f64 {
    libm::log(height_km / LAYER_KM * libm::expm1(LAYER_RATIO_LN) + 1.0) / LAYER_RATIO_LN + 1.0
}

/// Height of the lower side of a layer, km (P.676 eq. 15).
fn layer_base_km(layer: i32) -> f64 {
    LAYER_KM * libm::expm1(LAYER_RATIO_LN * f64::from(layer - 1)) / libm::expm1(LAYER_RATIO_LN)
}
