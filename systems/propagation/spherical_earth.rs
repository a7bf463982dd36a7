//! Diffraction over a smooth spherical Earth (ITU-R P.526-15 §3).

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, positive, within};
use super::free_space::wavelength_m;
use super::polarization::Polarization;

/// Electrical constants of the ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ground {
    /// Relative permittivity ε, 1 to 100.
    pub relative_permittivity: f64,
    /// Conductivity σ, S/m, 0 to 100.
    pub conductivity_s_m: f64,
}

impl Ground {
    /// Average land: ε = 22, σ = 0.003 S/m (as ITU-R P.452 and P.1812 take it).
    pub const LAND: Self = Self { relative_permittivity: 22.0, conductivity_s_m: 0.003 };
    /// Sea water: ε = 80, σ = 5 S/m (as ITU-R P.452 and P.1812 take it).
    pub const SEA: Self = Self { relative_permittivity: 80.0, conductivity_s_m: 5.0 };
}

/// A path over a smooth spherical Earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SphericalEarth {
    /// Path length along the surface, m, positive.
    pub distance_m: f64,
    /// Transmitting antenna above the surface, m, at least 0.
    pub tx_height_m: f64,
    /// Receiving antenna above the surface, m, at least 0.
    pub rx_height_m: f64,
    /// Effective Earth radius, m, positive.
    pub effective_earth_radius_m: f64,
    /// Frequency, MHz, 10 to 1 000 000.
    pub frequency_mhz: f64,
    /// Polarization.
    pub polarization: Polarization,
    /// Ground constants of the land.
    pub ground: Ground,
    /// Share of the path over sea, 0 to 1, where the constants are those of [`Ground::SEA`]
    /// (ITU-R P.1812-8 eq. 28).
    pub sea_share: f64,
}

impl SphericalEarth {
    /// Diffraction loss in excess of free space at any distance, dB, at least 0
    /// (ITU-R P.526-15 §3.2).
    ///
    /// Beyond the horizon the first term of the residue series; within it, nothing where the ray
    /// keeps 0.552 of a Fresnel radius clear, and in between an interpolation.
    ///
    /// # Errors
    /// [`DomainError`] for a member outside its range.
    pub fn loss_db(&self) -> Result<f64, DomainError> {
        let d = positive("distance_m", self.distance_m)?;
        let h1 = within("tx_height_m", self.tx_height_m, 0.0, 1e6)?;
        let h2 = within("rx_height_m", self.rx_height_m, 0.0, 1e6)?;
        let radius = positive("effective_earth_radius_m", self.effective_earth_radius_m)?;
        within("frequency_mhz", self.frequency_mhz, 10.0, 1e6)?;
        within("relative_permittivity", self.ground.relative_permittivity, 1.0, 100.0)?;
        within("conductivity_s_m", self.ground.conductivity_s_m, 0.0, 100.0)?;
        within("sea_share", self.sea_share, 0.0, 1.0)?;

        let roots = h1.sqrt() + h2.sqrt();
        if d >= (2.0 * radius).sqrt() * roots {
            return Ok(self.first_term_db(radius).max(0.0));
        }
        let clearance = clearance(d, h1, h2, radius);
        let required = 0.552 * (clearance.d1 * clearance.d2 * self.wavelength_m() / d).sqrt();
        if clearance.height >= required {
            return Ok(0.0);
        }
        // The radius that would put this path exactly on the horizon.
        let marginal_radius = 0.5 * (d / roots).powi(2);
        let on_horizon_db = self.first_term_db(marginal_radius);
        Ok((1.0 - clearance.height / required) * on_horizon_db.max(0.0))
    }

    fn wavelength_m(&self) -> f64 {
        wavelength_m(self.frequency_mhz)
    }

    /// First term of the residue series over an Earth of `radius_m`, dB; may be negative. That of land
    /// and that of sea count by their shares of the path.
    fn first_term_db(&self, radius_m: f64) -> f64 {
        let land_db = self.first_term_over_db(self.ground, radius_m);
        if self.sea_share == 0.0 {
            return land_db;
        }
        let sea_db = self.first_term_over_db(Ground::SEA, radius_m);
        self.sea_share * sea_db + (1.0 - self.sea_share) * land_db
    }

    /// The same over one kind of ground (ITU-R P.526-15 §3.1.1.2): `-F(X) - G(Y1) - G(Y2)`.
    fn first_term_over_db(&self, ground: Ground, radius_m: f64) -> f64 {
        let k = self.normalized_admittance(ground, radius_m);
        let (k2, k4) = (k * k, k.powi(4));
        let beta = (1.0 + 1.6 * k2 + 0.67 * k4) / (1.0 + 4.5 * k2 + 1.53 * k4);
        // Practical units, MHz and km, with the constants as the Recommendation rounds them: the
        // published examples are computed so.
        let f_13 = libm::cbrt(self.frequency_mhz);
        let radius_13 = libm::cbrt(radius_m * 1e-3);
        let x = 2.188 * beta * f_13 / (radius_13 * radius_13) * self.distance_m * 1e-3;
        let per_metre = 9.575e-3 * beta * f_13 * f_13 / radius_13;
        let gain = |height: f64| height_gain_db(beta * per_metre * height, k);
        -distance_term_db(x) - gain(self.tx_height_m) - gain(self.rx_height_m)
    }

    /// Normalized surface admittance factor K (ITU-R P.526-15 §3.1.1.1).
    fn normalized_admittance(&self, ground: Ground, radius_m: f64) -> f64 {
        let epsilon = ground.relative_permittivity;
        let loss = 18_000.0 * ground.conductivity_s_m / self.frequency_mhz;
        let horizontal = 0.36
            * libm::cbrt(radius_m * 1e-3 * self.frequency_mhz).recip()
            // ε = 1 and σ = 0 would be no ground at all.
            * libm::pow(((epsilon - 1.0).powi(2) + loss * loss).max(1e-12), -0.25);
        match self.polarization {
            Polarization::Horizontal => horizontal,
            Polarization::Vertical => horizontal * (epsilon * epsilon + loss * loss).sqrt(),
        }
    }
}

/// F(X), dB (ITU-R P.526-15 §3.1.1.2).
fn distance_term_db(x: f64) -> f64 {
    if x >= 1.6 {
        11.0 + 10.0 * libm::log10(x) - 17.6 * x
    } else {
        -20.0 * libm::log10(x) - 5.6488 * libm::pow(x, 1.425)
    }
}

/// G(Y), dB, for `b` = β Y, limited from below by 2 + 20 log K (ITU-R P.526-15 §3.1.1.2).
fn height_gain_db(b: f64, k: f64) -> f64 {
    let gain = if b > 2.0 {
        17.6 * (b - 1.1).sqrt() - 5.0 * libm::log10(b - 1.1) - 8.0
    } else {
        20.0 * libm::log10(b + 0.1 * b.powi(3))
    };
    gain.max(2.0 + 20.0 * libm::log10(k))
}

/// The smallest height of the ray above the curved surface, and where.
struct Clearance {
    height: f64,
    d1: f64,
    d2: f64,
}

/// ITU-R P.526-15 §3.2, for a path within the horizon.
fn clearance(d: f64, h1: f64, h2: f64, radius: f64) -> Clearance {
    let c = (h1 - h2) / (h1 + h2);
    let m = d * d / (4.0 * radius * (h1 + h2));
    let cosine = 1.5 * c * (3.0 * m / (m + 1.0).powi(3)).sqrt();
    let angle = PI / 3.0 + libm::acos(cosine.clamp(-1.0, 1.0)) / 3.0;
    let b = (2.0 * ((m + 1.0) / (3.0 * m)).sqrt() * libm::cos(angle)).clamp(-1.0, 1.0);
    let d1 = 0.5 * d * (1.0 + b);
    let d2 = d - d1;
    let end_1 = (h1 - d1 * d1 / (2.0 * radius)) * d2;
    let end_2 = (h2 - d2 * d2 / (2.0 * radius)) * d1;
    Clearance { height: (end_1 + end_2) / d, d1, d2 }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{fixture, rows};
    use super::*;

    fn path(distance_m: f64, tx_height_m: f64, rx_height_m: f64) -> SphericalEarth {
        SphericalEarth {
            distance_m,
            tx_height_m,
            rx_height_m,
            effective_earth_radius_m: 8.5e6,
            frequency_mhz: 900.0,
            polarization: Polarization::Vertical,
            ground: Ground::LAND,
            sea_share: 0.0,
        }
    }

    /// Columns: d km, heights m, Earth radius km, f GHz, polarization (1 horizontal, 2 vertical), L_dsph.
    /// The wavelength of those runs is made of 2.998e8 m/s.
    #[test]
    fn matches_the_p1812_validation_runs() {
        let table = rows(fixture!("p1812_spherical_earth.csv"));
        assert_eq!(table.len(), 23);
        assert!(table.iter().any(|row| row[5] == 2.0));
        for row in table {
            let got = SphericalEarth {
                distance_m: row[0] * 1e3,
                tx_height_m: row[1],
                rx_height_m: row[2],
                effective_earth_radius_m: row[3] * 1e3,
                frequency_mhz: row[4] * 1e3,
                polarization: if row[5] == 1.0 {
                    Polarization::Horizontal
                } else {
                    Polarization::Vertical
                },
                ground: Ground::LAND,
                sea_share: 0.0,
            }
            .loss_db()
            .unwrap();
            assert!((got - row[6]).abs() < 1e-3, "{got} {}", row[6]);
        }
    }

    #[test]
    fn is_reciprocal_and_grows_with_distance() {
        let mut last = 0.0;
        for km in 1..300 {
            let d = f64::from(km) * 1e3;
            let there = path(d, 30.0, 5.0).loss_db().unwrap();
            let back = path(d, 5.0, 30.0).loss_db().unwrap();
            assert!((there - back).abs() < 1e-9);
            assert!(there >= last, "{km} km: {there} < {last}");
            last = there;
        }
        assert!(last > 100.0);
    }

    #[test]
    fn higher_antennas_lose_less_beyond_the_horizon() {
        let mut last = f64::INFINITY;
        for height in 1..100 {
            let loss = path(80e3, f64::from(height), 10.0).loss_db().unwrap();
            assert!(loss <= last);
            last = loss;
        }
    }

    /// On the horizon the interpolation must meet the residue series.
    #[test]
    fn is_continuous_across_the_horizon() {
        let horizon = (2.0 * 8.5e6f64).sqrt() * (30f64.sqrt() + 5f64.sqrt());
        let inside = path(horizon * (1.0 - 1e-9), 30.0, 5.0).loss_db().unwrap();
        let beyond = path(horizon * (1.0 + 1e-9), 30.0, 5.0).loss_db().unwrap();
        assert!((inside - beyond).abs() < 1e-5, "{inside} {beyond}");
    }

    #[test]
    fn is_finite_at_the_edges_of_its_domain() {
        for (d, h1, h2) in [(1e-3, 0.0, 0.0), (1e-3, 10.0, 0.0), (1e7, 0.0, 0.0), (1.0, 1e6, 1e6)] {
            for polarization in [Polarization::Horizontal, Polarization::Vertical] {
                let loss = SphericalEarth { polarization, ..path(d, h1, h2) }.loss_db().unwrap();
                assert!(loss.is_finite() && loss >= 0.0, "{d} {h1} {h2}: {loss}");
            }
        }
        assert!(path(0.0, 1.0, 1.0).loss_db().is_err());
        assert!(path(1e3, -1.0, 1.0).loss_db().is_err());
    }
}
