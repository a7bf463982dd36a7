//! Point-to-area propagation over terrain with clutter, 30 MHz to 6 GHz (ITU-R P.1812-8, annex 1).
//!
//! The loss of one path joins, for a share of the time: the line of sight with multipath and focusing
//! (§4.2), diffraction by delta-Bullington over ground with clutter (§4.3), troposcatter (§4.4) and ducts
//! (§4.5). Edition 7 has the same equations.

mod climate;
mod combine;
mod ducting;
mod geometry;
mod location;

use super::bullington::{DiffractionPath, Profile, delta_bullington};
use super::domain::{DomainError, within};
use super::polarization::Polarization;
use super::spherical_earth::Ground;
pub use climate::{Atmosphere, Zone, ZoneError, Zones};
pub use combine::TimeLoss;
use geometry::PathGeometry;
pub use location::{location_loss_db, location_share_of_height, location_sigma_db};

/// Radius of the Earth, m.
const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// Effective Earth radius that is exceeded for β0 of the time, m: k = 3 (eq. 7b).
const RADIUS_BETA_M: f64 = 3.0 * EARTH_RADIUS_M;

/// Inputs besides the profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Carrier frequency, MHz, 30 to 6,000.
    pub frequency_mhz: f64,
    /// Polarization.
    pub polarization: Polarization,
    /// Transmitting antenna above ground, m, 1 to 3,000.
    pub tx_agl_m: f64,
    /// Receiving antenna above ground, m, 1 to 3,000.
    pub rx_agl_m: f64,
    /// Refractivity of the air around the path.
    pub atmosphere: Atmosphere,
    /// Latitude of the middle of the path, degrees, -90 to 90.
    pub latitude_deg: f64,
    /// Land and sea along the path.
    pub zones: Zones,
}

/// A path with all that does not depend on the share of the time.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a> {
    profile: Profile<'a>,
    path: Path,
    geometry: PathGeometry,
    frequency_ghz: f64,
    atmosphere: Atmosphere,
    zones: Zones,
    /// β0: share of the time with ducts at this latitude over this ground, per cent.
    beta_0_percent: f64,
    /// τ of the longest inland part.
    tau: f64,
    /// Diffraction loss in excess of free space for the median effective Earth radius, dB.
    median_diffraction_db: f64,
}

impl<'a> Prepared<'a> {
    /// Prepares a path; clutter of the profile obstructs, antennas stand on the ground.
    ///
    /// # Errors
    /// [`DomainError`] for a member outside its range.
    pub fn new(profile: &Profile<'a>, path: &Path) -> Result<Self, DomainError> {
        within("frequency_mhz", path.frequency_mhz, 30.0, 6_000.0)?;
        within("tx_agl_m", path.tx_agl_m, 1.0, 3_000.0)?;
        within("rx_agl_m", path.rx_agl_m, 1.0, 3_000.0)?;
        within("latitude_deg", path.latitude_deg, -90.0, 90.0)?;
        path.atmosphere.check()?;
        path.zones.check()?;
        let effective_radius_m = path.atmosphere.effective_earth_radius_m();
        let geometry = PathGeometry::new(profile, path, effective_radius_m);
        let (beta_0_percent, tau) = path.zones.ducts(path.latitude_deg);
        Ok(Self {
            profile: *profile,
            path: *path,
            geometry,
            frequency_ghz: path.frequency_mhz * 1e-3,
            atmosphere: path.atmosphere,
            zones: path.zones,
            beta_0_percent,
            tau,
            median_diffraction_db: diffraction_db(profile, path, effective_radius_m)?,
        })
    }

    /// Diffraction loss for the effective Earth radius that is exceeded for β0 of the time, dB.
    fn beta_diffraction_db(&self) -> Result<f64, DomainError> {
        diffraction_db(&self.profile, &self.path, RADIUS_BETA_M)
    }

    /// True where no point of the ground stands above the line between the antennas over the median
    /// effective Earth. Clutter is not counted.
    #[must_use]
    pub const fn line_of_sight(&self) -> bool {
        self.geometry.line_of_sight
    }

    /// Distances of the radio horizons from their ends, m; in line of sight those of the point that
    /// obstructs most.
    #[must_use]
    pub fn horizons_m(&self) -> [f64; 2] {
        self.geometry.horizon_km.map(|km| km * 1e3)
    }
}

/// Diffraction loss in excess of free space over an effective Earth, dB (§4.3).
fn diffraction_db(
    profile: &Profile<'_>,
    path: &Path,
    effective_earth_radius_m: f64,
) -> Result<f64, DomainError> {
    let inputs = DiffractionPath {
        frequency_mhz: path.frequency_mhz,
        effective_earth_radius_m,
        tx_agl_m: path.tx_agl_m,
        rx_agl_m: path.rx_agl_m,
        polarization: path.polarization,
        ground: Ground::LAND,
        sea_share: path.zones.sea_share,
    };
    Ok(delta_bullington(profile, &inputs)?.loss_db)
}

#[cfg(test)]
mod tests;
