//! Loss by scatter in the troposphere (ITU-R P.528-5 annex 2, §11).

use std::f64::consts::SQRT_2;

use super::terminal::Terminal;
use super::{EARTH_RADIUS_KM, EFFECTIVE_RADIUS_KM};

/// Refractivity at the ground, N-units.
const REFRACTIVITY: f64 = 341.0;

/// Scatter over one distance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Scatter {
    /// Height at which the rays from both horizons cross, km.
    pub height_km: f64,
    /// Angle between them, rad.
    pub angle_rad: f64,
    /// Loss over free space, dB.
    pub loss_db: f64,
}

/// An exponential that does not fall below that of -35.
fn fading(exponent: f64) -> f64 {
    libm::exp(-exponent.min(35.0))
}

impl Scatter {
    /// Scatter between terminals over a distance, km; without loss in line of sight.
    pub(super) fn new(frequency_mhz: f64, terminals: &[Terminal; 2], distance_km: f64) -> Self {
        let between_km = distance_km - terminals[0].horizon_km - terminals[1].horizon_km;
        if between_km <= 0.0 {
            return Self::default();
        }
        let half_km = 0.5 * between_km;
        let (height_km, angle_rad) = crossing(half_km);

        // Scattering efficiency (eq. 11-20 to 11-23).
        let n2 = REFRACTIVITY * REFRACTIVITY;
        let epsilon = [
            5.67e-6 * n2 - 0.00232 * REFRACTIVITY + 0.031,
            0.0002 * n2 - 0.06 * REFRACTIVITY + 6.6,
        ];
        let gamma = 0.1424 * (1.0 + epsilon[0] * fading((height_km / 4.0).powi(6)));
        let ratio = 0.1424 / gamma;
        let efficiency_db = 83.1 - epsilon[1] / (1.0 + 0.07716 * height_km * height_km)
            + 20.0 * libm::log10(ratio * ratio * libm::exp(gamma * height_km));

        let [near_km, far_km] = terminals.map(|end| end.to_horizon_km() + half_km);
        let whole_km = near_km + far_km;
        let wavenumber = frequency_mhz / 0.0477;
        let volume = Volume {
            s: (near_km - far_km) / whole_km,
            eta: 0.5 * gamma * angle_rad * whole_km,
            rho: terminals.map(|end| 2.0 * wavenumber * angle_rad * end.effective_km),
        };
        let geometry = wavenumber * angle_rad.powi(3) / whole_km;
        let loss_db = efficiency_db + volume.loss_db() + 10.0 * libm::log10(geometry);
        Self { height_km, angle_rad, loss_db }
    }
}

impl Terminal {
    /// Straight distance of the horizon over the effective Earth, km (eq. 11-24).
    fn to_horizon_km(self) -> f64 {
        let sine = libm::sin(0.5 * self.horizon_km / EFFECTIVE_RADIUS_KM);
        let chords = 4.0 * (EFFECTIVE_RADIUS_KM + self.effective_km) * EFFECTIVE_RADIUS_KM;
        (self.effective_km * self.effective_km + chords * sine * sine).sqrt()
    }
}

/// Height, km, and angle, rad, at which the rays cross that leave the ground horizontally so far on either
/// side, through air whose refractivity falls exponentially with height (eq. 11-7 to 11-19).
fn crossing(half_km: f64) -> (f64, f64) {
    let curvature = 1.0 / EARTH_RADIUS_KM;
    let bending = curvature - 1.0 / EFFECTIVE_RADIUS_KM;
    let scale_km = REFRACTIVITY * 1e-6 / bending;
    let at = |height_km: f64| curvature - bending * fading(height_km / scale_km);
    let ground = curvature - bending;
    let square = half_km * half_km;
    let first_km = [0.25, 1.0].map(|share| share * square / (2.0 * EFFECTIVE_RADIUS_KM));
    let [middle, end] = first_km.map(at);
    let second_km = [
        (7.0 * ground + 6.0 * middle - end) * square / 96.0,
        (ground + 2.0 * middle) * square / 6.0,
    ];
    let [middle, end] = second_km.map(at);
    let height_km = (ground + 2.0 * middle) * square / 6.0;
    let half_rad = (ground + 4.0 * middle + end) * half_km / 6.0;
    (height_km, 2.0 * half_rad)
}

/// The volume that both antennas see.
struct Volume {
    /// Asymmetry of the path.
    s: f64,
    /// Normalised angle.
    eta: f64,
    /// Normalised heights.
    rho: [f64; 2],
}

impl Volume {
    /// Part of the volume in the loss, dB (eq. 11-32 to 11-39).
    fn loss_db(&self) -> f64 {
        let Self { s, eta, rho } = *self;
        let x = [(1.0 + s) * (1.0 + s) * eta, (1.0 - s) * (1.0 - s) * eta].map(|x| x * x);
        let heights = rho.map(|rho| rho * rho);
        let q = [x[0] + heights[0], x[1] + heights[1]];
        let mixed = |end: usize| x[end] * heights[end] / (q[end] * q[end]);
        let single = |end: usize| 1.0 + 2.0 * x[end] / q[end];
        let a = (1.0 - s * s) * (1.0 - s * s);
        let b = 6.0
            + 8.0 * s * s
            + 8.0 * (1.0 - s) * mixed(0)
            + 8.0 * (1.0 + s) * mixed(1)
            + 2.0 * (1.0 - s * s) * single(0) * single(1);
        let near_ground = |rho: f64| ((rho + SQRT_2) / rho).powi(2);
        let sum = rho[0] + rho[1];
        let c = 12.0 * near_ground(rho[0]) * near_ground(rho[1]) * sum / (sum + 2.0 * SQRT_2);
        let wide = (a * eta * eta + b * eta) * q[0] * q[1] / (heights[0] * heights[1]);
        10.0 * libm::log10(wide + c)
    }
}
