//! Antenna gain in the direction of a link.

use groundwave_propagation::numeric::{atan2, lesser, sin_cos};
use groundwave_propagation::polarization::Polarization;

use super::pattern::Pattern;
use super::station::{Antenna, Pointing};

impl Antenna {
    /// The antenna of a pattern alone: see [`Self::with_pattern`].
    #[must_use]
    pub fn of_pattern(gain_dbi: f64, polarization: Polarization, pattern: Pattern) -> Self {
        let isotropic = Self {
            gain_dbi,
            azimuth_beamwidth_deg: 360.0,
            elevation_beamwidth_deg: 360.0,
            front_to_back_db: 0.0,
            polarization,
            electrical_tilt_deg: 0.0,
            pattern: None,
        };
        isotropic.with_pattern(pattern)
    }

    /// This antenna with `pattern`, and with the beamwidths and the front-to-back ratio of it, to 0.1 deg and
    /// 0.1 dB. An electrical tilt is part of a pattern, so there is none beside it.
    #[must_use]
    pub fn with_pattern(self, pattern: Pattern) -> Self {
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        let [azimuth_deg, elevation_deg] =
            pattern.beamwidths_deg().map(|deg| tenth(deg).clamp(0.1, 360.0));
        Self {
            azimuth_beamwidth_deg: azimuth_deg,
            elevation_beamwidth_deg: elevation_deg,
            front_to_back_db: tenth(pattern.front_to_back_db()).clamp(0.0, 80.0),
            electrical_tilt_deg: 0.0,
            pattern: Some(pattern),
            ..self
        }
    }
}

/// Loss from looking `azimuth_deg`, `elevation_deg` (the direction of the other end: true north
/// clockwise, above the local horizontal) with `antenna` pointed as given, dB,
/// [0, `front_to_back_db`], with a pattern [0, its greatest loss].
///
/// Without a pointing a directive antenna looks at the other end and loses nothing, and an
/// omnidirectional one stands upright: its elevation lobe is level but for its electrical tilt, and 0 degrees
/// of its pattern are north.
#[must_use]
#[inline(always)]
pub fn pointing_loss_db(
    antenna: &Antenna,
    pointing: Option<Pointing>,
    azimuth_deg: f64,
    elevation_deg: f64,
) -> f64 {
    let [across_deg, up_deg] = match pointing {
        Some(boresight) => in_antenna_frame(boresight, azimuth_deg, elevation_deg),
        // The lobe of one without a pattern is alike all round.
        None if is_omnidirectional(antenna) && antenna.pattern.is_some() => {
            [wrapped_deg(azimuth_deg), elevation_deg]
        }
        None if is_omnidirectional(antenna) => [0.0, elevation_deg],
        None => return 0.0,
    };
    off_boresight(antenna, across_deg, up_deg + antenna.electrical_tilt_deg)
}

/// Loss towards `azimuth_deg` of an antenna that is turned to `facing_deg` (true north clockwise), both at the
/// horizon, dB.
#[must_use]
pub fn turning_loss_db(antenna: &Antenna, facing_deg: f64, azimuth_deg: f64) -> f64 {
    off_boresight(antenna, wrapped_deg(azimuth_deg - facing_deg), 0.0)
}

/// True if the antenna loses nothing in any direction of a link, because it looks at the other end or
/// radiates alike all round.
#[must_use]
pub fn is_lossless(antenna: &Antenna, pointing: Option<Pointing>) -> bool {
    let is_isotropic = antenna.pattern.is_none() && antenna.elevation_beamwidth_deg >= 360.0;
    pointing.is_none() && (!is_omnidirectional(antenna) || is_isotropic)
}

/// A direction in the frame of an antenna that was turned to the azimuth of its boresight and then tilted to
/// its elevation (3GPP TR 38.901, 7.1.3, with a slant of 0): the angle across, to the right, [-180, 180], and
/// that above the plane across it, [-90, 90], deg.
#[inline(always)]
fn in_antenna_frame(boresight: Pointing, azimuth_deg: f64, elevation_deg: f64) -> [f64; 2] {
    let across_deg = wrapped_deg(azimuth_deg - boresight.azimuth_deg);
    // A level antenna has the horizon for its plane.
    if boresight.elevation_deg == 0.0 {
        return [across_deg, elevation_deg];
    }
    let (sin_across, cos_across) = sin_cos(across_deg.to_radians());
    let (sin_up, cos_up) = sin_cos(elevation_deg.to_radians());
    let (sin_tilt, cos_tilt) = sin_cos(boresight.elevation_deg.to_radians());
    let ahead = cos_up * cos_across;
    let [x, y, z] = [
        ahead * cos_tilt + sin_up * sin_tilt,
        cos_up * sin_across,
        sin_up * cos_tilt - ahead * sin_tilt,
    ];
    let level = (x * x + y * y).sqrt();
    [atan2(y, x).to_degrees(), atan2(z, level).to_degrees()]
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

/// Loss of the pattern; without one, parabolic lobes added over both angles and capped: `min(12 (across/H)^2 + 12 (up/V)^2, A_m)`
/// (3GPP TR 36.814 table A.2.1.1-2, where the cap is 25 dB).
#[inline(always)]
fn off_boresight(antenna: &Antenna, across_deg: f64, up_deg: f64) -> f64 {
    if let Some(pattern) = &antenna.pattern {
        return pattern.loss_db(across_deg, up_deg);
    }
    let across_db = lobe_db(across_deg, antenna.azimuth_beamwidth_deg);
    let up_db = lobe_db(up_deg, antenna.elevation_beamwidth_deg);
    lesser(across_db + up_db, antenna.front_to_back_db)
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
