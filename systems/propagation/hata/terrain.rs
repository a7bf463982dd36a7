//! Terrain along a path from the mobile to the base station, as the corrections need it.

use super::corrections::{Ridge, Undulation, slope_db};
use super::{Edition, Path};
use crate::itm::{effective_curvature, horizons, line_ends, surface_refractivity};
use crate::numeric::sum;
use crate::profile::PathProfile;

/// Ground from here to there from an end decides its effective height, km (Okumura 1968 section 2.4).
const MEAN_FROM_KM: f64 = 3.0;
const MEAN_TO_KM: f64 = 15.0;

/// Ground so near to the mobile decides the undulation, km.
const UNDULATION_KM: f64 = 10.0;

/// The general slope is that of the ground within 5 to 10 km of the mobile, km.
const SLOPES_KM: [f64; 6] = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// Inputs of the corrections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Terrain {
    /// Ground under mobile and base station above its mean ahead of them, m.
    pub rise_m: [f64; 2],
    undulation: Undulation,
    /// Slope of the ground at the mobile, mrad, positive where it rises towards the mobile.
    slope_mrad: f64,
    /// The ridge, if there is a single one.
    pub ridge: Option<Ridge>,
}

impl Terrain {
    /// Terrain of a checked profile.
    pub(super) fn new(path: &Path, profile: &PathProfile<'_>) -> Self {
        Self {
            rise_m: rise_m(profile),
            undulation: undulation(profile, path.edition),
            slope_mrad: slope_mrad(profile),
            ridge: ridge(path, profile),
        }
    }

    /// Sum of the corrections for terrain, dB.
    pub(super) fn correction_db(&self, edition: Edition, distance_km: f64) -> f64 {
        match &self.ridge {
            Some(ridge) => ridge.correction_db(edition),
            None => {
                self.undulation.median_db()
                    + self.undulation.fine_db()
                    + slope_db(self.slope_mrad, distance_km, edition)
            }
        }
    }
}

/// Whole steps within `km`.
fn steps(km: f64, profile: &PathProfile<'_>) -> usize {
    ((km / (profile.step_m / 1e3)) as usize).min(profile.intervals())
}

/// Ground under mobile and base station above its mean 3 to 15 km ahead, m; its share rises
/// from 0 on paths of 3 km to 1 on paths of 15 km.
fn rise_m(profile: &PathProfile<'_>) -> [f64; 2] {
    let ground = profile.elevation_msl_m;
    let last = profile.intervals();
    let distance_km = last as f64 * (profile.step_m / 1e3);
    if distance_km < MEAN_FROM_KM {
        return [0.0; 2];
    }
    let near = steps(MEAN_FROM_KM, profile);
    let (far, share) = if distance_km > MEAN_TO_KM {
        (steps(MEAN_TO_KM, profile), 1.0)
    } else {
        (last, (distance_km - MEAN_FROM_KM) / (MEAN_TO_KM - MEAN_FROM_KM))
    };
    let ahead = [(0, &ground[near..=far]), (last, &ground[last - far..=last - near])];
    ahead.map(|(end, points)| share * (ground[end] - sum(points) / points.len() as f64))
}

/// Heights of the ground within 10 km of the mobile, and their range as 10 km of such ground have it
/// (NTIA 15-517).
fn undulation(profile: &PathProfile<'_>, edition: Edition) -> Undulation {
    let distance_km = profile.distance_m() * 1e-3;
    let to = steps(UNDULATION_KM, profile);
    let mut falling_m = profile.elevation_msl_m[..=to].to_vec();
    falling_m.sort_unstable_by(|a, b| b.total_cmp(a));
    let count = falling_m.len() as f64;
    let exceeded_m =
        [0.1, 0.5, 0.9].map(|share| falling_m[(share * count - 1.0).max(0.0) as usize]);
    let factor = if distance_km < UNDULATION_KM {
        let grown = |km: f64| 1.0 - 0.8 * libm::exp(-0.02 * km);
        grown(UNDULATION_KM) / grown(distance_km)
    } else {
        1.0
    };
    let scaled = if edition == Edition::Reference { factor } else { 1.0 };
    Undulation {
        exceeded_msl_m: exceeded_m.map(|height_m| scaled * height_m),
        delta_h_m: factor * (exceeded_m[0] - exceeded_m[2]),
        mobile_msl_m: profile.elevation_msl_m[0],
    }
}

/// Steepest of the slopes of straight lines through 5, 6 and so on to 10 km of ground from the mobile, mrad,
/// or that of 5 km where their signs differ; 0 on shorter paths.
fn slope_mrad(profile: &PathProfile<'_>) -> f64 {
    let distance_m = profile.distance_m();
    // No line goes through less than two points.
    let has_line = |km: &&f64| **km * 1e3 <= distance_m && steps(**km, profile) > 0;
    let longest = SLOPES_KM.iter().filter(has_line);
    let slopes = longest.map(|km| {
        let to = steps(*km, profile);
        let points = &profile.elevation_msl_m[..=to];
        let [mobile_m, away_m] = line_ends(points, 0.0, *km * 1e3 / profile.step_m);
        (mobile_m - away_m) / *km
    });
    let (mut first, mut least, mut most) = (None, 0.0, 0.0);
    for slope_mrad in slopes {
        if first.is_none() {
            (first, least, most) = (Some(slope_mrad), slope_mrad, slope_mrad);
        }
        least = if slope_mrad < least { slope_mrad } else { least };
        most = if slope_mrad > most { slope_mrad } else { most };
    }
    match first {
        Some(slope_mrad) if least * most < 0.0 => slope_mrad,
        _ if most >= 0.0 => most,
        _ => least,
    }
}

/// The ridge that is the horizon of both ends, if there is one.
fn ridge(path: &Path, profile: &PathProfile<'_>) -> Option<Ridge> {
    let ground = profile.elevation_msl_m;
    let [distance_m, step_m] = [profile.distance_m(), profile.step_m];
    let mean_msl_m = sum(ground) / ground.len() as f64;
    let refractivity = surface_refractivity(path.refractivity_n_units, mean_msl_m);
    let curvature = effective_curvature(refractivity);
    let antenna_agl_m = [path.mobile_agl_m, path.base_agl_m];
    let [mobile_m, base_m] =
        horizons(profile, 1.0 / curvature, antenna_agl_m).map(|horizon| horizon.distance_m);
    if (distance_m - mobile_m - base_m).abs() > 0.5 * step_m {
        return None;
    }
    let mobile_msl_m = ground[0] + path.mobile_agl_m;
    let base_msl_m = ground[profile.intervals()] + path.base_agl_m;
    let sight_msl_m = match path.edition {
        Edition::Corrected => (mobile_msl_m * base_m + base_msl_m * mobile_m) / distance_m,
        Edition::Reference => (mobile_msl_m * mobile_m + base_msl_m * base_m) / distance_m,
    };
    let top = (mobile_m / step_m).round() as usize;
    let top = match path.edition {
        Edition::Corrected => top,
        // A sum of steps may fall short of the point, and is cut.
        Edition::Reference => ((0..top).fold(0.0, |sum_m, _| sum_m + step_m) / step_m) as usize,
    };
    let height_m = ground[top] - sight_msl_m + 0.5 * curvature * mobile_m * base_m;
    Some(Ridge {
        mobile_km: mobile_m * 1e-3,
        base_km: base_m * 1e-3,
        height_m: if height_m > 0.0 { height_m } else { 0.0 },
    })
}
