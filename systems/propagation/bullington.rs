//! Diffraction over a terrain profile by the delta-Bullington method (ITU-R P.526-15 §4.5).
//!
//! The Bullington construction replaces the whole profile by one knife edge. It is used twice,
//! on the terrain and on a smooth surface fitted to it; the difference between the second result
//! and a true spherical-Earth calculation corrects the first (§4.5.3). Nothing is allocated.

mod profile;
mod smooth;

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, positive, within};
use super::free_space::wavelength_m;
use super::polarization::Polarization;
use super::spherical_earth::{Ground, SphericalEarth};
pub use profile::{Profile, ProfileError};
pub(crate) use smooth::least_squares_ends_msl_m;

/// Inputs of a diffraction calculation besides the profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DiffractionPath {
    /// Carrier frequency, MHz, 10 to 1 000 000.
    pub frequency_mhz: f64,
    /// Effective Earth radius, m, positive: 4/3 of 6 371 km in a standard atmosphere.
    pub effective_earth_radius_m: f64,
    /// Transmitting antenna above ground, m, 0 to 100 000.
    pub tx_agl_m: f64,
    /// Receiving antenna above ground, m, 0 to 100 000.
    pub rx_agl_m: f64,
    /// Polarization; matters in the spherical-Earth part, and there below some 300 MHz.
    pub polarization: Polarization,
    /// Electrical constants of the land, for the spherical-Earth part.
    pub ground: Ground,
    /// Share of the path over sea, 0 to 1, for the spherical-Earth part.
    pub sea_share: f64,
}

/// A knife edge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KnifeEdge {
    /// Distance from the transmitter, m.
    pub distance_m: f64,
    /// Height of its top, m above mean sea level.
    pub height_msl_m: f64,
    /// Diffraction parameter ν: 0 where the edge touches the line of sight, negative below.
    pub nu: f64,
}

/// A Bullington construction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bullington {
    /// Diffraction loss, dB.
    pub loss_db: f64,
    /// True if no profile point reaches the straight line between the antennas over the
    /// effective Earth.
    pub line_of_sight: bool,
    /// The equivalent edge: the worst point in line of sight, else where the two horizon rays
    /// cross. `None` without points between the ends.
    pub edge: Option<KnifeEdge>,
    /// The profile point with the largest ν. `None` without points between the ends.
    pub worst_point: Option<KnifeEdge>,
}

/// Delta-Bullington diffraction loss and what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DeltaBullington {
    /// Diffraction loss in excess of free space, dB.
    pub loss_db: f64,
    /// Bullington construction on the terrain.
    pub actual: Bullington,
    /// Bullington loss over the fitted smooth surface, dB.
    pub bullington_smooth_db: f64,
    /// Spherical-Earth diffraction loss at the effective heights, dB.
    pub spherical_earth_db: f64,
    /// Effective transmitter height above the smooth surface, m.
    pub tx_effective_m: f64,
    /// Effective receiver height above the smooth surface, m.
    pub rx_effective_m: f64,
}

/// Loss of a single knife edge J(ν), dB (ITU-R P.526-15 eq. 31); 0 for ν at or below -0.78.
#[must_use]
pub fn knife_edge_loss_db(nu: f64) -> f64 {
    if nu > -0.78 {
        let x = nu - 0.1;
        6.9 + 20.0 * libm::log10(libm::hypot(x, 1.0) + x)
    } else {
        0.0
    }
}

/// Delta-Bullington diffraction loss over `profile` (ITU-R P.526-15 §4.5.3):
/// `L = L_ba + max(L_sph - L_bs, 0)`.
///
/// Clutter of the profile obstructs (ITU-R P.1812-8 §4.3.1); antennas stand on the ground, and the smooth
/// surface is fitted to it.
///
/// # Errors
/// [`DomainError`] for a member of `path` outside its range.
pub fn delta_bullington(
    profile: &Profile<'_>,
    path: &DiffractionPath,
) -> Result<DeltaBullington, DomainError> {
    let (tx_msl_m, rx_msl_m) = path.antennas_msl_m(profile)?;
    let construction = Construction::new(profile, path);
    let actual = construction.over(profile, tx_msl_m, rx_msl_m);

    let (tx_smooth, rx_smooth) = smooth::smooth_ends_msl_m(profile, tx_msl_m, rx_msl_m);
    let (tx_effective_m, rx_effective_m) = (tx_msl_m - tx_smooth, rx_msl_m - rx_smooth);
    let flat = profile.interior().map(|(distance, _)| (distance, 0.0));
    let smooth = construction.bullington(flat, tx_effective_m, rx_effective_m);

    let spherical_earth_db = SphericalEarth {
        distance_m: profile.length_m(),
        tx_height_m: tx_effective_m,
        rx_height_m: rx_effective_m,
        effective_earth_radius_m: path.effective_earth_radius_m,
        frequency_mhz: path.frequency_mhz,
        polarization: path.polarization,
        ground: path.ground,
        sea_share: path.sea_share,
    }
    .loss_db()?;
    Ok(DeltaBullington {
        loss_db: actual.loss_db + (spherical_earth_db - smooth.loss_db).max(0.0),
        actual,
        bullington_smooth_db: smooth.loss_db,
        spherical_earth_db,
        tx_effective_m,
        rx_effective_m,
    })
}

/// The Bullington construction on `profile` alone (ITU-R P.526-15 §4.5.1).
///
/// # Errors
/// [`DomainError`] for a member of `path` outside its range.
pub fn bullington(
    profile: &Profile<'_>,
    path: &DiffractionPath,
) -> Result<Bullington, DomainError> {
    let (tx_msl_m, rx_msl_m) = path.antennas_msl_m(profile)?;
    Ok(Construction::new(profile, path).over(profile, tx_msl_m, rx_msl_m))
}

impl DiffractionPath {
    /// Checks every number used here and places the antennas, m above mean sea level.
    fn antennas_msl_m(&self, profile: &Profile<'_>) -> Result<(f64, f64), DomainError> {
        within("frequency_mhz", self.frequency_mhz, 10.0, 1e6)?;
        positive("effective_earth_radius_m", self.effective_earth_radius_m)?;
        let (tx_ground, rx_ground) = profile.ends_msl_m();
        Ok((
            tx_ground + within("tx_agl_m", self.tx_agl_m, 0.0, 1e5)?,
            rx_ground + within("rx_agl_m", self.rx_agl_m, 0.0, 1e5)?,
        ))
    }
}

/// Quantities shared by both uses of the construction.
struct Construction {
    length_m: f64,
    earth_radius_m: f64,
    wavelength_m: f64,
}

impl Construction {
    fn new(profile: &Profile<'_>, path: &DiffractionPath) -> Self {
        Self {
            length_m: profile.length_m(),
            earth_radius_m: path.effective_earth_radius_m,
            wavelength_m: wavelength_m(path.frequency_mhz),
        }
    }

    /// The construction over the ground, and over the clutter on it where a profile has some.
    fn over(&self, profile: &Profile<'_>, tx: f64, rx: f64) -> Bullington {
        match profile.obstructions() {
            Some(tops) => self.bullington(tops, tx, rx),
            None => self.bullington(profile.interior(), tx, rx),
        }
    }

    /// ITU-R P.526-15 §4.5.1 on (distance, height) points between antennas at `tx` and `rx`.
    fn bullington(
        &self,
        interior: impl Iterator<Item = (f64, f64)>,
        tx: f64,
        rx: f64,
    ) -> Bullington {
        let length = self.length_m;
        let line_slope = (rx - tx) / length;
        let bend = 0.5 / self.earth_radius_m;
        let (mut tx_slope, mut rx_slope) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        // ν grows with c|c| / (d1 d2), c being the height above the line: one root at the end
        // instead of one a point.
        let mut worst = (f64::NEG_INFINITY, 0.0, 0.0);
        let (mut first, mut last) = (length, 0.0);
        for (distance, height) in interior {
            let remaining = length - distance;
            let product = distance * remaining;
            // The one division a point; both slopes and ν follow from it.
            let inverse = 1.0 / product;
            let top = height + bend * product;
            let (over_tx, over_rx) = (top - tx, top - rx);
            tx_slope = greater(tx_slope, over_tx * remaining * inverse);
            rx_slope = greater(rx_slope, over_rx * distance * inverse);
            let above = over_tx - line_slope * distance;
            let measure = above * above.abs() * inverse;
            if measure > worst.0 {
                worst = (measure, distance, height);
            }
            first = if distance < first { distance } else { first };
            last = greater(last, distance);
        }
        let (measure, distance_m, height_msl_m) = worst;
        let worst_point = measure.is_finite().then(|| KnifeEdge {
            distance_m,
            height_msl_m,
            nu: (2.0 * length * measure.abs() / self.wavelength_m).sqrt().copysign(measure),
        });

        let line_of_sight = tx_slope < line_slope;
        let slopes = tx_slope + rx_slope;
        // At grazing incidence the horizon rays fall together and cross nowhere in particular;
        // the grazed point is then the edge.
        let edge = if line_of_sight || slopes <= 0.0 {
            worst_point
        } else {
            // Rays cross between the two horizons; rounding near grazing must not carry the
            // crossing past them.
            let crossing = ((rx - tx + rx_slope * length) / slopes).clamp(first, last);
            Some(self.edge_at(crossing, tx + tx_slope * crossing, tx, rx))
        };
        Bullington { loss_db: self.loss_db(edge), line_of_sight, edge, worst_point }
    }

    /// The edge whose top, bulge included, stands at `top` at `distance_m`.
    fn edge_at(&self, distance_m: f64, top: f64, tx: f64, rx: f64) -> KnifeEdge {
        let remaining = self.length_m - distance_m;
        let above = top - (tx * remaining + rx * distance_m) / self.length_m;
        let product = distance_m * remaining;
        KnifeEdge {
            distance_m,
            height_msl_m: top - product / (2.0 * self.earth_radius_m),
            nu: above * (2.0 * self.length_m / (self.wavelength_m * product)).sqrt(),
        }
    }

    /// Knife-edge loss and the empirical correction for paths of many edges (§4.5.1, last step).
    fn loss_db(&self, edge: Option<KnifeEdge>) -> f64 {
        let single = edge.map_or(0.0, |edge| knife_edge_loss_db(edge.nu));
        single + (1.0 - libm::exp(-single / 6.0)) * (10.0 + 0.02e-3 * self.length_m)
    }
}

/// The greater of two numbers, neither `NaN`: half the work of [`f64::max`] in the hot loops.
fn greater(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests;
