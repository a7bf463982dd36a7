//! Antenna gain in the direction of a link.

use groundwave_propagation::numeric::lesser;

use super::station::{Antenna, Pointing};

/// Loss from looking `azimuth_deg`, `elevation_deg` (the direction of the other end: true north
/// clockwise, above the local horizontal) with `antenna` pointed as given, dB,
/// [0, `front_to_back_db`].
///
/// Without a pointing a directive antenna looks at the other end and loses nothing, and an
/// omnidirectional one stands upright: its elevation lobe is level.
#[must_use]
#[inline(always)]
pub fn pointing_loss_db(
    antenna: &Antenna,
    pointing: Option<Pointing>,
    azimuth_deg: f64,
    elevation_deg: f64,
) -> f64 {
    let level = Pointing { azimuth_deg, elevation_deg: 0.0 };
    match pointing {
        Some(boresight) => off_boresight(antenna, boresight, azimuth_deg, elevation_deg),
        None if is_omnidirectional(antenna) => {
            off_boresight(antenna, level, azimuth_deg, elevation_deg)
        }
        None => 0.0,
    }
}

/// Gain toward a direction, dBi: the boresight gain less [`pointing_loss_db`].
#[must_use]
pub fn gain_toward_dbi(
    antenna: &Antenna,
    pointing: Option<Pointing>,
    azimuth_deg: f64,
    elevation_deg: f64,
) -> f64 {
    antenna.gain_dbi - pointing_loss_db(antenna, pointing, azimuth_deg, elevation_deg)
}

/// True if the gain does not depend on azimuth.
#[must_use]
#[inline(always)]
pub fn is_omnidirectional(antenna: &Antenna) -> bool {
    antenna.azimuth_beamwidth_deg >= 360.0
}

/// Parabolic lobes added over both planes and capped: `min(12 (daz/H)^2 + 12 (del/V)^2, A_m)`
/// (3GPP TR 36.814 table A.2.1.1-2, where the cap is 25 dB).
#[inline(always)]
fn off_boresight(
    antenna: &Antenna,
    boresight: Pointing,
    azimuth_deg: f64,
    elevation_deg: f64,
) -> f64 {
    let azimuth =
        lobe_db(wrapped_deg(azimuth_deg - boresight.azimuth_deg), antenna.azimuth_beamwidth_deg);
    let elevation =
        lobe_db(elevation_deg - boresight.elevation_deg, antenna.elevation_beamwidth_deg);
    lesser(azimuth + elevation, antenna.front_to_back_db)
}

/// Loss `offset_deg` off one plane's boresight, dB; a full-circle lobe loses nothing.
#[inline(always)]
fn lobe_db(offset_deg: f64, beamwidth_deg: f64) -> f64 {
    if beamwidth_deg >= 360.0 {
        return 0.0;
    }
    let share = offset_deg / beamwidth_deg;
    12.0 * (share * share)
}

/// An angle brought into [-180, 180].
#[inline(always)]
fn wrapped_deg(angle_deg: f64) -> f64 {
    (angle_deg + 180.0).rem_euclid(360.0) - 180.0
}
