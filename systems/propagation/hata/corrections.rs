//! Corrections for terrain and sea, dB: what they take off the loss over quasi-smooth ground.

use super::Edition;

/// Sea or a large lake along a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sea {
    /// Share of the path over water, 0 to 1.
    pub share: f64,
    /// Half of the path with more of it.
    pub side: SeaSide,
}

/// Half of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeaSide {
    /// Next to the mobile.
    Mobile,
    /// Next to the base station.
    Base,
    /// Both alike.
    Both,
}

impl Sea {
    /// A path over land.
    pub const NONE: Self = Self { share: 0.0, side: SeaSide::Both };

    /// Sea of a path from mobile to base station by the points that lie over it. With an odd number of points
    /// the middle one belongs to the half next to the base station.
    pub fn of_points(is_sea: impl ExactSizeIterator<Item = bool>) -> Self {
        let count = is_sea.len();
        let half = count.saturating_sub(1) / 2;
        let [mut mobile, mut base] = [0_usize; 2];
        for (point, is_sea) in is_sea.enumerate() {
            if is_sea {
                *(if point < half { &mut mobile } else { &mut base }) += 1;
            }
        }
        let side = match mobile.cmp(&base) {
            std::cmp::Ordering::Less => SeaSide::Base,
            std::cmp::Ordering::Equal => SeaSide::Both,
            std::cmp::Ordering::Greater => SeaSide::Mobile,
        };
        let share = if count == 0 { 0.0 } else { (mobile + base) as f64 / count as f64 };
        Self { share, side }
    }
}

/// Heights of rolling ground near the mobile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Undulation {
    /// Heights exceeded in 10, 50 and 90 % of the points, m above mean sea level.
    pub exceeded_msl_m: [f64; 3],
    /// Δh, their range, as on a path of 10 km, m.
    pub delta_h_m: f64,
    /// Ground under the mobile, m above mean sea level.
    pub mobile_msl_m: f64,
}

impl Undulation {
    /// Correction for the median over rolling hills (Okumura 1968 fig. 28), dB, 0 or less in effect.
    pub(super) fn median_db(&self) -> f64 {
        let log_h = libm::log10(if self.delta_h_m < 15.0 { 15.0 } else { self.delta_h_m });
        -1.507_201_3 + log_h * (8.458_676 - 6.102_538 * log_h)
    }

    /// Correction for the place of the mobile, a gain on tops and a loss in hollows (Okumura 1968 fig. 29), dB.
    pub(super) fn fine_db(&self) -> f64 {
        if self.delta_h_m < 10.0 {
            return 0.0;
        }
        let log_h = libm::log10(self.delta_h_m);
        let top_db = -11.728_795 + log_h * (15.544_272 - 1.815_476_6 * log_h);
        let [high_m, middle_m, low_m] = self.exceeded_msl_m;
        let mobile_m = self.mobile_msl_m;
        if mobile_m >= high_m {
            top_db
        } else if mobile_m <= low_m {
            -top_db
        } else if mobile_m >= middle_m {
            top_db * (mobile_m - middle_m) / (high_m - middle_m)
        } else {
            -top_db * (middle_m - mobile_m) / (middle_m - low_m)
        }
    }
}

/// Steepest slope of the figure, mrad.
const SLOPE_MRAD_MAX: f64 = 20.0;

/// Correction for a general slope, dB: `slope_mrad` is positive where the ground rises towards the mobile
/// (Okumura 1968 fig. 34).
pub(super) fn slope_db(slope_mrad: f64, distance_km: f64, edition: Edition) -> f64 {
    let slope_mrad = match edition {
        Edition::Corrected => limited(slope_mrad, -SLOPE_MRAD_MAX, SLOPE_MRAD_MAX),
        Edition::Reference => slope_mrad,
    };
    let db_mrad = if slope_mrad <= 0.0 {
        on_polyline(&[(10.0, 0.25), (30.0, 0.8)], limited(distance_km, 10.0, 30.0))
    } else {
        on_polyline(&[(10.0, 0.125), (30.0, 0.35), (60.0, 0.6)], limited(distance_km, 10.0, 60.0))
    };
    slope_mrad * db_mrad
}

/// The one ridge that both ends see as their horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ridge {
    /// Distance from the mobile, km.
    pub mobile_km: f64,
    /// Distance from the base station, km.
    pub base_km: f64,
    /// Height over the line between the antennas, m, 0 or more.
    pub height_m: f64,
}

/// Correction for a ridge of [`RIDGE_M`] by its distance from the mobile, km, at [`RIDGE_BASE_KM`] from the
/// base station, dB (Okumura 1968 fig. 31, curves C, B and A).
const RIDGE_DB: [[f64; 9]; 3] = [
    [4.0, -13.0, -17.5, -17.5, -15.0, -12.5, -10.0, -8.0, -6.0],
    [12.0, -8.5, -13.0, -12.0, -10.0, -8.0, -6.5, -5.0, -4.0],
    [20.0, -4.0, -6.5, -6.0, -4.5, -3.5, -2.5, -2.0, -1.0],
];
const RIDGE_BASE_KM: [f64; 3] = [15.0, 30.0, 60.0];
const RIDGE_M: f64 = 200.0;

/// From here on a ridge cannot help: the curves are extrapolated beyond 8 km no further than 0 dB, km.
const RIDGE_GAIN_KM: f64 = 2.0;

impl Ridge {
    /// Correction, dB. In [`Edition::Corrected`] no curve is extrapolated towards the base station.
    pub(super) fn correction_db(&self, edition: Edition) -> f64 {
        let is_corrected = edition == Edition::Corrected;
        let base_km = if is_corrected {
            limited(self.base_km, RIDGE_BASE_KM[0], RIDGE_BASE_KM[2])
        } else {
            self.base_km
        };
        let at = |curve: usize| {
            let points: [(f64, f64); 9] =
                std::array::from_fn(|km| (km as f64, RIDGE_DB[curve][km]));
            (RIDGE_BASE_KM[curve], on_polyline(&points, self.mobile_km))
        };
        let mut of_200_m_db = on_polyline(&[at(0), at(1), at(2)], base_km);
        if is_corrected && self.mobile_km > RIDGE_GAIN_KM && of_200_m_db > 0.0 {
            of_200_m_db = 0.0;
        }
        (self.height_m / RIDGE_M).sqrt() * of_200_m_db
    }
}

/// Correction for sea next to the base station and next to the mobile by the share of the path over it, up to
/// 30 km and from 60 km on, dB (Okumura 1968 fig. 35, curves B and A).
const SEA_30_KM_DB: [[(f64, f64); 10]; 2] = [
    [
        (0.0, 0.0),
        (0.15, 1.0),
        (0.35, 3.0),
        (0.45, 4.0),
        (0.6, 6.0),
        (0.65, 7.0),
        (0.725, 8.0),
        (0.775, 9.0),
        (0.85, 10.0),
        (1.0, 11.0),
    ],
    [
        (0.0, 0.0),
        (0.15, 4.0),
        (0.35, 5.5),
        (0.45, 7.0),
        (0.6, 8.5),
        (0.65, 9.0),
        (0.725, 9.5),
        (0.775, 9.8),
        (0.85, 10.25),
        (1.0, 11.0),
    ],
];
const SEA_60_KM_DB: [[(f64, f64); 10]; 2] = [
    [
        (0.0, 0.0),
        (0.15, 2.0),
        (0.3, 4.0),
        (0.4, 5.5),
        (0.5, 7.0),
        (0.6, 9.0),
        (0.725, 11.0),
        (0.85, 13.0),
        (0.9, 14.0),
        (1.0, 15.0),
    ],
    [
        (0.0, 0.0),
        (0.15, 4.25),
        (0.3, 6.25),
        (0.4, 9.2),
        (0.5, 10.5),
        (0.6, 11.75),
        (0.725, 13.0),
        (0.85, 14.0),
        (0.9, 14.25),
        (1.0, 15.0),
    ],
];

/// Correction for sea, dB.
pub(super) fn sea_db(sea: Sea, distance_km: f64) -> f64 {
    let of = |curves: &[[(f64, f64); 10]; 2]| {
        let [base_db, mobile_db] = [0, 1].map(|side| on_polyline(&curves[side], sea.share));
        match sea.side {
            SeaSide::Base => base_db,
            SeaSide::Mobile => mobile_db,
            SeaSide::Both => 0.5 * (base_db + mobile_db),
        }
    };
    let [near_db, far_db] = [of(&SEA_30_KM_DB), of(&SEA_60_KM_DB)];
    on_polyline(&[(30.0, near_db), (60.0, far_db)], limited(distance_km, 30.0, 60.0))
}

/// The polyline through two `points` or more, rising in x, at `x`; its first and last piece go on.
fn on_polyline(points: &[(f64, f64)], x: f64) -> f64 {
    let inner = &points[1..points.len() - 1];
    let piece = inner.iter().take_while(|point| point.0 < x).count();
    let [(low, low_y), (high, high_y)] = [points[piece], points[piece + 1]];
    low_y + (high_y - low_y) * (x - low) / (high - low)
}

fn limited(value: f64, low: f64, high: f64) -> f64 {
    super::limited(value, [low, high])
}
