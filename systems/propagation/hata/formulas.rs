//! Loss over quasi-smooth ground.

use super::{BASE_HEIGHT_M, MOBILE_HEIGHT_M};
use crate::domain::{DomainError, within};
use crate::free_space::free_space_loss_db;

/// Surroundings of the mobile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// A large city or the centre of a metropolis. eHata has [`Self::Urban`] for it.
    DenseUrban,
    /// A small or medium city.
    Urban,
    /// Villages, and roads with scattered trees and buildings.
    Suburban,
    /// Open ground: fields, with nothing tall within 300 to 400 m towards the base station.
    Rural,
}

/// Frequency from which eHata has curves of its own, MHz.
pub const EXTENDED_MHZ_MIN: f64 = 1_500.0;

/// Frequencies of COST 231-Hata, MHz.
pub const COST231_MHZ: [f64; 2] = [1_500.0, 2_000.0];

/// Distances of COST 231-Hata, km: those of Hata 1980.
pub const COST231_KM: [f64; 2] = [1.0, HATA_KM_MAX];

/// Distance to which Hata 1980 goes, km.
const HATA_KM_MAX: f64 = 20.0;

/// Frequencies of its curves, MHz.
const CURVES_MHZ: [f64; 3] = [EXTENDED_MHZ_MIN, 2_000.0, 3_000.0];

/// Urban attenuation over free space at 1 and at 100 km between [`REFERENCE_BASE_M`] and
/// [`REFERENCE_MOBILE_M`], dB (NTIA 15-517 eq. A-4 and as its code has it).
const URBAN_1_KM_DB: [f64; 3] = [22.0, 23.5, 25.85];
const URBAN_100_KM_DB: [f64; 3] = [63.5, 65.75, 69.5];

/// Loss in a suburb below that of a city, dB.
const SUBURBAN_DB: [f64; 3] = [11.5, 12.4, 14.0];

/// Standard deviation over places in a city, dB (Okumura 1968 fig. 39, as NTIA reads it).
const SIGMA_DB: [f64; 3] = [7.1, 7.5, 8.1];

/// Standard deviation in suburbs and open country beyond that of a city, dB.
const RURAL_SIGMA_DB: f64 = 2.0;

/// Heights of the curves.
const REFERENCE_BASE_M: f64 = 200.0;
const REFERENCE_MOBILE_M: f64 = 3.0;

/// Half of the exponent of distance beyond the break point at three heights of the base station, m
/// (Okumura 1968 fig. 12).
const FAR_HEIGHTS_M: [f64; 3] = [24.5, 70.0, REFERENCE_BASE_M];
const FAR_EXPONENTS: [f64; 3] = [2.5, 3.0, 3.22];

impl Area {
    /// Loss below that of a city, dB: Hata 1980, in suburbs from 1,500 MHz on NTIA 15-517.
    pub(super) fn below_urban_db(self, frequency_mhz: f64) -> f64 {
        let log_f = libm::log10(frequency_mhz);
        match self {
            Self::DenseUrban | Self::Urban => 0.0,
            Self::Suburban if frequency_mhz < EXTENDED_MHZ_MIN => {
                let log = libm::log10(frequency_mhz / 28.0);
                2.0 * log * log + 5.4
            }
            Self::Suburban => curve(CURVES_MHZ, SUBURBAN_DB, frequency_mhz),
            Self::Rural => 4.78 * log_f * log_f - 18.33 * log_f + 40.94,
        }
    }
}

/// Median loss by Hata 1980, dB.
///
/// `frequency_mhz` 150 to 1,500 MHz, `base_m` 30 to 200 m, `mobile_m` 1 to 10 m (effective heights),
/// `distance_km` 1 to 100 km; beyond 20 km with the exponent of ITU-R P.529-3. The gain of the mobile's height
/// is that of a large city in [`Area::DenseUrban`], with the formula for 200 MHz and less up to 300 MHz, and
/// that of a medium city elsewhere.
///
/// # Errors
/// [`DomainError`] for an input out of range.
pub fn okumura_hata_db(
    frequency_mhz: f64,
    base_m: f64,
    mobile_m: f64,
    distance_km: f64,
    area: Area,
) -> Result<f64, DomainError> {
    within("frequency_mhz", frequency_mhz, 150.0, EXTENDED_MHZ_MIN)?;
    check_heights(base_m, mobile_m)?;
    within("distance_km", distance_km, 1.0, 100.0)?;
    let height_gain_db = match area {
        Area::DenseUrban => large_city_db(frequency_mhz, mobile_m),
        Area::Urban | Area::Suburban | Area::Rural => medium_city_db(frequency_mhz, mobile_m),
    };
    // The suburb of Hata also at 1,500 MHz itself.
    let below_db = area.below_urban_db(frequency_mhz.min(EXTENDED_MHZ_MIN.next_down()));
    Ok(hata_db(frequency_mhz, base_m, distance_km) - height_gain_db - below_db)
}

/// Median loss by COST 231-Hata, dB, in medium cities and suburbs with moderate trees, or in a
/// metropolitan centre, 3 dB more.
///
/// `frequency_mhz` 1,500 to 2,000 MHz, `base_m` 30 to 200 m, `mobile_m` 1 to 10 m (effective heights),
/// `distance_km` 1 to 20 km. Source: COST 231 eq. 4.4.3.
///
/// # Errors
/// [`DomainError`] for an input out of range.
pub fn cost231_hata_db(
    frequency_mhz: f64,
    base_m: f64,
    mobile_m: f64,
    distance_km: f64,
    is_metropolitan: bool,
) -> Result<f64, DomainError> {
    let [low_mhz, high_mhz] = COST231_MHZ;
    within("frequency_mhz", frequency_mhz, low_mhz, high_mhz)?;
    check_heights(base_m, mobile_m)?;
    let [near_km, far_km] = COST231_KM;
    within("distance_km", distance_km, near_km, far_km)?;
    let log_base = libm::log10(base_m);
    let centre_db = if is_metropolitan { 3.0 } else { 0.0 };
    Ok(46.3 + 33.9 * libm::log10(frequency_mhz)
        - 13.82 * log_base
        - medium_city_db(frequency_mhz, mobile_m)
        + db_per_decade(log_base) * libm::log10(distance_km)
        + centre_db)
}

/// Median loss by the extended Hata model over quasi-smooth ground, dB.
///
/// `frequency_mhz` 1,000 to 4,000 MHz (its curves end at 1,500 and 3,000; NTIA takes them at 3,500), `base_m` 30
/// to 200 m, `mobile_m` 1 to 10 m (effective heights), `distance_km` 0.01 to 1,000 km (made for 1 to 100).
/// At the break point, 15 to 27 km away, it steps down by up to 0.2 dB: the slant distance is that of 200 m at 1 km
/// before it. Source: NTIA 15-517 appendix A.
///
/// # Errors
/// [`DomainError`] for an input out of range.
pub fn extended_hata_db(
    frequency_mhz: f64,
    base_m: f64,
    mobile_m: f64,
    distance_km: f64,
    area: Area,
) -> Result<f64, DomainError> {
    within("frequency_mhz", frequency_mhz, 1_000.0, 4_000.0)?;
    check_heights(base_m, mobile_m)?;
    within("distance_km", distance_km, 0.01, 1_000.0)?;
    Ok(extended_db(frequency_mhz, base_m, mobile_m, distance_km, area))
}

/// Standard deviation over places, dB, at `frequency_mhz`, 150 to 4,000 MHz: a parabola in the logarithm of the
/// frequency through readings at 1,500 to 3,000 MHz of Okumura 1968 fig. 39, and 2 dB more outside of cities
/// (NTIA's code of eHata).
///
/// # Errors
/// [`DomainError`] for a frequency out of range.
pub fn location_sigma_db(frequency_mhz: f64, area: Area) -> Result<f64, DomainError> {
    within("frequency_mhz", frequency_mhz, 150.0, 4_000.0)?;
    let urban_db = curve(CURVES_MHZ, SIGMA_DB, frequency_mhz);
    Ok(match area {
        Area::DenseUrban | Area::Urban => urban_db,
        Area::Suburban | Area::Rural => urban_db + RURAL_SIGMA_DB,
    })
}

/// [`extended_hata_db`] of inputs in range.
pub(super) fn extended_db(
    frequency_mhz: f64,
    base_m: f64,
    mobile_m: f64,
    distance_km: f64,
    area: Area,
) -> f64 {
    let log_base = libm::log10(base_m);
    let log_km = libm::log10(distance_km);
    let near_db = curve(CURVES_MHZ, URBAN_1_KM_DB, frequency_mhz);
    let far_db = curve(CURVES_MHZ, URBAN_100_KM_DB, frequency_mhz);
    // Exponents of distance: over free space.
    let near_exponent = 0.1 * db_per_decade(log_base) - 2.0;
    let far_exponent = 2.0 * curve(FAR_HEIGHTS_M, FAR_EXPONENTS, base_m) - 2.0;
    let log_break =
        (2.0 * far_exponent + 0.1 * (near_db - far_db)) / (far_exponent - near_exponent);
    let slant_m = |ground_km: f64, rise_m: f64| {
        let ground_m = ground_km * 1e3;
        (ground_m * ground_m + rise_m * rise_m).sqrt()
    };
    let urban_db = if log_km <= log_break {
        let slant_m = slant_m(1.0, REFERENCE_BASE_M - REFERENCE_MOBILE_M);
        let free_space_db = free_space_loss_db(slant_m, frequency_mhz);
        near_db + free_space_db + db_per_decade(log_base) * log_km
    } else {
        let free_space_db =
            free_space_loss_db(slant_m(distance_km, base_m - mobile_m), frequency_mhz);
        far_db + free_space_db + 10.0 * far_exponent * (log_km - 2.0)
    };
    let height_gain_db = 13.82 * (log_base - libm::log10(REFERENCE_BASE_M))
        + metre_gain_db(mobile_m)
        - metre_gain_db(REFERENCE_MOBILE_M);
    // The suburb of eHata below its curves as well.
    let below_db = match area {
        Area::Suburban => curve(CURVES_MHZ, SUBURBAN_DB, frequency_mhz),
        area => area.below_urban_db(frequency_mhz),
    };
    urban_db - height_gain_db - below_db
}

/// Urban loss by Hata 1980 without the gain of the mobile's height, dB, with the exponent of ITU-R P.529-3
/// beyond 20 km.
pub(super) fn hata_db(frequency_mhz: f64, base_m: f64, distance_km: f64) -> f64 {
    let log_base = libm::log10(base_m);
    let log_km = libm::log10(distance_km);
    let decades = if distance_km <= HATA_KM_MAX {
        log_km
    } else {
        let height_m = base_m / (1.0 + 7e-6 * base_m * base_m).sqrt();
        let log_beyond = libm::log10(distance_km / HATA_KM_MAX);
        let rise =
            (0.14 + 1.87e-4 * frequency_mhz + 1.07e-3 * height_m) * libm::pow(log_beyond, 0.8);
        libm::pow(log_km, 1.0 + rise)
    };
    69.55 + 26.16 * libm::log10(frequency_mhz) - 13.82 * log_base
        + db_per_decade(log_base) * decades
}

/// Gain of the mobile's height in a large city, dB (Hata 1980).
pub(super) fn large_city_db(frequency_mhz: f64, mobile_m: f64) -> f64 {
    if frequency_mhz > 300.0 {
        return metre_gain_db(mobile_m);
    }
    let log = libm::log10(1.54 * mobile_m);
    8.29 * log * log - 1.1
}

/// The same in a medium or small city, dB (Hata 1980).
fn medium_city_db(frequency_mhz: f64, mobile_m: f64) -> f64 {
    let log_f = libm::log10(frequency_mhz);
    (1.1 * log_f - 0.7) * mobile_m - (1.56 * log_f - 0.8)
}

/// The same in a large city from 400 MHz on, dB (Hata 1980 eq. 16).
fn metre_gain_db(mobile_m: f64) -> f64 {
    let log = libm::log10(11.75 * mobile_m);
    3.2 * log * log - 4.97
}

/// Rise of the loss with distance, dB a decade, from the logarithm of the base station's height (Hata 1980).
fn db_per_decade(log_base: f64) -> f64 {
    44.9 - 6.55 * log_base
}

/// The parabola in the logarithm of `x` through three points.
fn curve(xs: [f64; 3], ys: [f64; 3], x: f64) -> f64 {
    let [first, second, third] = xs.map(libm::log10);
    let near = (ys[1] - ys[0]) / (second - first);
    let bend = ((ys[2] - ys[1]) / (third - second) - near) / (third - first);
    let log_x = libm::log10(x);
    ys[0] + (log_x - first) * (near + bend * (log_x - second))
}

fn check_heights(base_m: f64, mobile_m: f64) -> Result<(), DomainError> {
    within("base_m", base_m, BASE_HEIGHT_M[0], BASE_HEIGHT_M[1])?;
    within("mobile_m", mobile_m, MOBILE_HEIGHT_M[0], MOBILE_HEIGHT_M[1])?;
    Ok(())
}
