//! Range bound: the largest distance of a pair whose link is evaluated.
//!
//! Total path loss is never below free space (results are clamped to it), so a pair that free space
//! alone would not close in either direction cannot be a link: excluding it loses nothing. The
//! horizon rule, by contrast, is a policy.

use std::f64::consts::PI;

use groundwave_propagation::noise::thermal_noise_dbm;

use crate::radio::Station;
use crate::radio::modulation::lowest;
use crate::terrain::{GeoPoint, Terrain};

/// Distance beyond the smooth-earth radio horizon up to which pairs are evaluated, m. Policy: past
/// it diffraction and troposcatter cost the 40 dB and more that no mesh radio has to spare, while
/// every pair would still cost a profile.
pub const OVER_HORIZON_M: f64 = 50_000.0;

/// 4/3 of the mean Earth radius, m.
const EFFECTIVE_EARTH_M: f64 = 4.0 / 3.0 * 6_371_000.0;

/// Speed of light, m/s.
const C_M_S: f64 = 299_792_458.0;

/// Power and horizon of a station at best, with the antenna boresight on the peer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Maximum EIRP, dBm.
    pub eirp_dbm: f64,
    /// Minimum power density that is still decoded: sensitivity less gain plus feeder loss, dBm.
    pub need_dbm: f64,
    /// Smooth-earth horizon of the antenna over sea level, m.
    pub horizon_m: f64,
}

impl Reach {
    /// The reach of `station` standing on ground at `ground_msl_m` (m above mean sea level).
    #[must_use]
    pub fn of(station: &Station, ground_msl_m: f64) -> Self {
        let radio = &station.radio;
        let gain_dbi = station.antenna.gain_dbi - radio.feeder_loss_db;
        // A validated bandwidth has a thermal noise; without one the station reaches everyone.
        let thermal_dbm = thermal_noise_dbm(radio.bandwidth_hz).unwrap_or(f64::NEG_INFINITY);
        let floor_dbm = thermal_dbm + radio.noise_figure_db;
        let sensitivity_dbm = floor_dbm + lowest(radio, floor_dbm).required_snr_db;
        let height_m = (ground_msl_m + station.height_agl_m).max(0.0);
        Self {
            eirp_dbm: radio.tx_power_dbm + gain_dbi,
            need_dbm: sensitivity_dbm - gain_dbi,
            horizon_m: (2.0 * EFFECTIVE_EARTH_M * height_m).sqrt(),
        }
    }

    /// The reach that covers both: for a query that must miss neither.
    #[must_use]
    pub fn widest(self, other: Self) -> Self {
        Self {
            eirp_dbm: self.eirp_dbm.max(other.eirp_dbm),
            need_dbm: self.need_dbm.min(other.need_dbm),
            horizon_m: self.horizon_m.max(other.horizon_m),
        }
    }

    /// Maximum distance at which this and `other` may be a link, m: where free space closes the
    /// better direction, but not farther than [`OVER_HORIZON_M`] beyond the horizon.
    ///
    /// `frequency_mhz` is the lower of the two; `narrowing_db` is what the noise of the wider end
    /// falls when it narrows to the other's bandwidth, 0 or more.
    #[must_use]
    pub fn distance_m(self, other: Self, frequency_mhz: f64, narrowing_db: f64) -> f64 {
        let loss_db =
            (self.eirp_dbm - other.need_dbm).max(other.eirp_dbm - self.need_dbm) + narrowing_db;
        let wavelength_m = C_M_S / (frequency_mhz * 1e6);
        // ITU-R P.525-4 eq. 3, solved for the distance.
        let free_space_m = wavelength_m / (4.0 * PI) * libm::pow(10.0, loss_db / 20.0);
        free_space_m.min(self.horizon_m + other.horizon_m + OVER_HORIZON_M)
    }
}

/// Maximum distance at which `transmitter` at a point may serve `receiver`, m: the bound of links
/// between stations on ground as high as there.
#[must_use]
pub fn coverage_radius_m(
    terrain: &dyn Terrain,
    at: GeoPoint,
    [transmitter, receiver]: [&Station; 2],
) -> f64 {
    let ground_msl_m = terrain.elevation_msl_m(at).unwrap_or(0.0);
    let reach = |station| Reach::of(station, ground_msl_m);
    let (own, other) = (&transmitter.radio, &receiver.radio);
    let narrowing_db = libm::log10(own.bandwidth_hz / other.bandwidth_hz).abs() * 10.0;
    let frequency_mhz = own.frequency_mhz.min(other.frequency_mhz);
    reach(transmitter).distance_m(reach(receiver), frequency_mhz, narrowing_db)
}
