//! Direct and reflected ray in line of sight (ITU-R P.528-5 annex 2, §7 to §9).

use std::f64::consts::{FRAC_PI_2, PI};

use super::terminal::Terminal;
use super::{CONDUCTIVITY_S_M, EARTH_RADIUS_KM, EFFECTIVE_RADIUS_KM, PERMITTIVITY};
use crate::polarization::Polarization;

/// Steps of a search for a grazing angle: to the resolution of a double.
const SEARCH_STEPS: u32 = 60;

/// Two rays between terminals, by the angle between the ground and the reflected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rays {
    /// Angle of the reflected ray above the ground, rad.
    pub grazing_rad: f64,
    /// Distance along the ground, km.
    pub distance_km: f64,
    /// Length of the direct ray, km.
    pub direct_km: f64,
    /// Length of the reflected ray, km.
    reflected_km: f64,
    /// Their difference, km.
    pub difference_km: f64,
    /// Distances of the terminals from the point of reflection, over the plane that touches there, km.
    along_km: [f64; 2],
    /// Radius of the Earth for this angle, km.
    radius_km: f64,
    /// Angle of the direct ray above the horizontal at the lower terminal, rad.
    pub elevation_rad: f64,
}

impl Rays {
    /// Rays between terminals, the lower one first (§7).
    pub(super) fn new(terminals: &[Terminal; 2], grazing_rad: f64) -> Self {
        let (sine, cosine) = (libm::sin(grazing_rad), libm::cos(grazing_rad));
        // Steep rays are bent less: the radius falls from that of the effective Earth to that of the Earth.
        let radius_km =
            EARTH_RADIUS_KM / (1.0 + (EARTH_RADIUS_KM / EFFECTIVE_RADIUS_KM - 1.0) * cosine);
        let share = (radius_km - EARTH_RADIUS_KM) / (EFFECTIVE_RADIUS_KM - EARTH_RADIUS_KM);
        let height_km = terminals.map(|end| end.height_km - end.excess_km() * share);
        let from_centre_km = height_km.map(|km| radius_km + km);
        let angle_rad = from_centre_km.map(|km| libm::acos(radius_km * cosine / km) - grazing_rad);
        let along_km = [0, 1].map(|end| from_centre_km[end] * libm::sin(angle_rad[end]));
        let rise_km = [0, 1].map(|end| {
            if grazing_rad > 1.56 { height_km[end] } else { along_km[end] * (sine / cosine) }
        });
        let whole_km = along_km[0] + along_km[1];
        let alpha_rad = libm::atan2(rise_km[1] - rise_km[0], whole_km);
        let apart_km = (from_centre_km[1] - from_centre_km[0]).abs();
        let direct_km = (whole_km / libm::cos(alpha_rad)).max(apart_km);
        let reflected_km = whole_km / cosine;
        Self {
            grazing_rad,
            distance_km: (radius_km * (angle_rad[0] + angle_rad[1])).max(0.0),
            direct_km,
            reflected_km,
            difference_km: 4.0 * rise_km[0] * rise_km[1] / (direct_km + reflected_km),
            along_km,
            radius_km,
            elevation_rad: alpha_rad - angle_rad[0],
        }
    }

    /// The rays over a distance, km.
    pub(super) fn over(terminals: &[Terminal; 2], distance_km: f64) -> Self {
        if distance_km <= 0.0 {
            return Self::new(terminals, FRAC_PI_2);
        }
        Self::search(terminals, |rays| rays.distance_km > distance_km)
    }

    /// The rays that differ by a length, km.
    pub(super) fn apart(terminals: &[Terminal; 2], difference_km: f64) -> Self {
        Self::search(terminals, |rays| rays.difference_km < difference_km)
    }

    /// The rays at the angle below which `is_low` holds.
    fn search(terminals: &[Terminal; 2], is_low: impl Fn(&Self) -> bool) -> Self {
        let (mut low_rad, mut high_rad) = (0.0, FRAC_PI_2);
        for _ in 0..SEARCH_STEPS {
            let middle_rad = 0.5 * (low_rad + high_rad);
            if is_low(&Self::new(terminals, middle_rad)) {
                low_rad = middle_rad;
            } else {
                high_rad = middle_rad;
            }
        }
        Self::new(terminals, 0.5 * (low_rad + high_rad))
    }

    /// The wave that the ground reflects, with respect to the direct one (§8, §9).
    pub(super) fn reflection(&self, frequency_mhz: f64, polarization: Polarization) -> Reflection {
        let ground = Reflection::of_ground(self.grazing_rad, frequency_mhz, polarization);
        let length_factor = (self.direct_km / self.reflected_km).min(1.0);
        let magnitude = ground.magnitude * self.divergence() * length_factor;
        Reflection { magnitude, phase_rad: ground.phase_rad }
    }

    /// Divergence of rays that a sphere reflects, [0, 1] (eq. 8-3 to 8-5).
    fn divergence(&self) -> f64 {
        let (sine, cosine) = (libm::sin(self.grazing_rad), libm::cos(self.grazing_rad));
        if sine >= 0.1 * cosine {
            return 1.0;
        }
        let [near_km, far_km] = self.along_km.map(|km| km / cosine);
        let ratio = 2.0 * near_km * far_km / self.reflected_km / self.radius_km;
        1.0 / (1.0 + ratio * (1.0 + sine * sine) / sine + ratio * ratio).sqrt()
    }

    /// Gain of the two rays together over the direct one, dB, 0 at most (eq. 8-8 to 8-12).
    pub(super) fn gain_db(&self, wavelength_km: f64, reflection: &Reflection) -> f64 {
        let phase_rad = 2.0 * PI * self.difference_km / wavelength_km + reflection.phase_rad;
        let real = 1.0 + reflection.magnitude * libm::cos(phase_rad);
        let imaginary = reflection.magnitude * libm::sin(phase_rad);
        10.0 * libm::log10((real * real + imaginary * imaginary).min(1.0))
    }
}

/// A reflected wave with respect to an incident one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reflection {
    /// Ratio of the fields.
    pub magnitude: f64,
    /// Lag, rad.
    phase_rad: f64,
}

impl Reflection {
    /// That of average ground at an angle above it, rad (§9).
    fn of_ground(grazing_rad: f64, frequency_mhz: f64, polarization: Polarization) -> Self {
        let (sine, cosine) = (libm::sin(grazing_rad), libm::cos(grazing_rad));
        let x = 18_000.0 * CONDUCTIVITY_S_M / frequency_mhz;
        let y = PERMITTIVITY - cosine * cosine;
        let p = (0.5 * ((y * y + x * x).sqrt() + y)).sqrt();
        let q = x / (2.0 * p);
        let norm = p * p + q * q;
        // The last three are a real part, and imaginary parts of difference and sum. Of vertical waves the former
        // has ε where Fresnel's equation has x: so eq. 9-9 says, and all programs of the Recommendation; it is up
        // to 2 dB at 100 MHz and nothing from 1 GHz on.
        let (b, a, real, less, more) = match polarization {
            Polarization::Horizontal => (1.0 / norm, 2.0 * p / norm, sine, 0.0, 0.0),
            Polarization::Vertical => (
                (PERMITTIVITY * PERMITTIVITY + x * x) / norm,
                2.0 * (p * PERMITTIVITY + q * x) / norm,
                PERMITTIVITY * sine,
                PERMITTIVITY * sine,
                x * sine,
            ),
        };
        let squares = 1.0 + b * sine * sine;
        let magnitude = ((squares - a * sine) / (squares + a * sine)).sqrt();
        let alpha_rad = libm::atan2(less - q, real - p);
        let beta_rad = libm::atan2(more + q, real + p);
        Self { magnitude, phase_rad: alpha_rad - beta_rad }
    }
}
