//! Loss in line of sight (ITU-R P.528-5 annex 2, §6 and §8).

use std::f64::consts::PI;

use super::diffraction::Line;
use super::reflection::Rays;
use super::variability::{LongTerm, Variability, scattered_db};
use super::{Prepared, Terminals};

/// Loss of one path in line of sight, without free space and air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LineOfSight {
    /// Length of the direct ray, km.
    pub direct_km: f64,
    /// Loss over free space, dB.
    pub loss_db: f64,
    /// Absorption of oxygen and water vapour, dB.
    pub absorption_db: [f64; 2],
    pub variability: Variability,
}

impl LineOfSight {
    pub(super) fn new(
        prepared: &Prepared,
        terminals: &Terminals,
        line: &Line,
        distance_km: f64,
    ) -> Self {
        let Prepared { frequency_mhz, polarization, .. } = *prepared;
        let ends = &terminals.0;
        let wavelength_km = 0.299_792_5 / frequency_mhz;
        // Beyond half a wavelength of difference the rays are not added; d0 is where a straight line to the
        // loss at the horizon begins.
        let two_rays = Rays::apart(ends, wavelength_km / 2.0);
        let begin_km = {
            let sight_km = terminals.sight_km();
            let near_km = ends[0].horizon_km;
            let zero_km = line.zero_km();
            let lobe_km = Rays::apart(ends, wavelength_km / 6.0).distance_km;
            if near_km >= zero_km || zero_km >= sight_km {
                if near_km > lobe_km || lobe_km > sight_km { near_km } else { lobe_km }
            } else if zero_km < lobe_km && lobe_km < sight_km {
                lobe_km
            } else {
                zero_km
            }
        };
        let gain_db = |rays: &Rays| {
            if rays.grazing_rad > two_rays.grazing_rad {
                0.0
            } else {
                let reflection = rays.reflection(frequency_mhz, polarization);
                rays.gain_db(wavelength_km, &reflection)
            }
        };
        let rays = Rays::over(ends, distance_km);
        let begin = Rays::over(ends, begin_km);
        let gain_db = if rays.distance_km > begin.distance_km {
            let begin_db = gain_db(&begin);
            let share =
                (rays.distance_km - begin.distance_km) / (terminals.sight_km() - begin.distance_km);
            begin_db + share * (-line.at_db(terminals.sight_km()) - begin_db)
        } else {
            gain_db(&rays)
        };

        let ray = prepared.air.ray(ends.map(|end| end.height_km), rays.elevation_rad);
        let share = share_of_elevation(rays.elevation_rad);
        let horizon_km = ends.map(|end| end.horizon_km);
        let long_term = LongTerm::new(frequency_mhz, horizon_km, distance_km, share, gain_db);
        // Power of the ground's reflections, and of the air's, with respect to the direct ray.
        let reflection = rays.reflection(frequency_mhz, polarization);
        let reflected = reflection.magnitude
            * share_of_difference(rays.difference_km / wavelength_km)
            * share_of_limit(long_term.limit_db);
        let loss_99_db = 10.0 * libm::log10(frequency_mhz * ray.length_km.powi(3)) - 84.26;
        let in_air = libm::pow(10.0, scattered_db(loss_99_db) / 10.0);
        let ratio = reflected * reflected + 0.01 * 0.01 + in_air;
        let scattered_db = (10.0 * libm::log10(ratio)).max(-40.0);
        Self {
            direct_km: rays.direct_km,
            loss_db: -gain_db,
            absorption_db: ray.absorption_db,
            variability: Variability { long_term, scattered_db },
        }
    }
}

/// Share of the slow variation at an angle above the horizontal, rad (eq. 13-1).
fn share_of_elevation(elevation_rad: f64) -> f64 {
    if elevation_rad <= 0.0 {
        1.0
    } else if elevation_rad >= 1.0 {
        0.0
    } else {
        (0.5 - libm::atan(20.0 * libm::log10(32.0 * elevation_rad)) / PI).max(0.0)
    }
}

/// Factor of the reflected wave for a limit of the slow variation, dB (eq. 13-2).
fn share_of_limit(limit_db: f64) -> f64 {
    if limit_db >= 9.0 { 0.1 } else { 0.5 * (1.1 + 0.9 * libm::cos(limit_db / 9.0 * PI)) }
}

/// Factor of the reflected wave for a difference of the rays in wavelengths (eq. 13-3).
fn share_of_difference(wavelengths: f64) -> f64 {
    if wavelengths >= 1.0 / 2.0 {
        1.0
    } else if wavelengths <= 1.0 / 6.0 {
        0.1
    } else {
        0.5 * (1.1 - 0.9 * libm::cos(3.0 * PI * (wavelengths - 1.0 / 6.0)))
    }
}
