//! Clutter around the terminals (ITU-R P.2108).

use groundwave_propagation::clutter;
use groundwave_propagation::clutter::{ClutterSite, terrestrial_clutter_loss_db};

use super::prediction::{ABOVE_SURROUNDINGS_M, Surroundings};
use super::surroundings::{Clutter, ClutterCategory};

/// From here on P.2108 allows its statistical loss at both ends, km.
const CLUTTER_BOTH_ENDS_KM: f64 = 1.0;

/// Clutter loss at the two ends, whose antennas are `height_agl_m` high, over `distance_km`, dB;
/// `None` outside the range of the model.
pub(super) fn clutter_db(
    clutter: Option<Clutter>,
    frequency_mhz: f64,
    distance_km: f64,
    height_agl_m: [f64; 2],
) -> Option<[f64; 2]> {
    let frequency_ghz = frequency_mhz * 1e-3;
    match clutter {
        None => Some([0.0; 2]),
        Some(Clutter::HeightGain { category, representative_height_m }) => {
            let site = site(category, representative_height_m);
            height_gain_db(&site, frequency_ghz, height_agl_m)
        }
        Some(Clutter::Statistical { below_height_m, location_percent }) => statistical_db(
            frequency_ghz,
            distance_km,
            location_percent,
            height_agl_m,
            below_height_m,
        ),
    }
}

/// Surroundings of antennas `height_agl_m` high.
pub(super) fn surroundings(clutter: Option<Clutter>, height_agl_m: [f64; 2]) -> Surroundings {
    let (top_m, otherwise) = match clutter {
        None => (ABOVE_SURROUNDINGS_M, Surroundings::Unknown),
        Some(Clutter::Statistical { below_height_m, .. }) => {
            (below_height_m, Surroundings::Described)
        }
        Some(Clutter::HeightGain { category, representative_height_m }) => {
            let site = site(category, representative_height_m);
            (site.height_m, Surroundings::Described)
        }
    };
    if height_agl_m.iter().all(|height_m| *height_m >= top_m) {
        Surroundings::BelowAntennas
    } else {
        otherwise
    }
}

/// The same clutter at the median of locations.
pub(super) fn median(clutter: Option<Clutter>) -> Option<Clutter> {
    match clutter {
        Some(Clutter::Statistical { below_height_m, .. }) => {
            Some(Clutter::Statistical { below_height_m, location_percent: 50.0 })
        }
        other => other,
    }
}

/// Antenna heights from which terrain is judged, m: the height-gain correction of P.2108 starts at
/// the top of the clutter.
pub(super) fn terrain_heights_m(clutter: Option<Clutter>, height_agl_m: [f64; 2]) -> [f64; 2] {
    let top_m = clutter.and_then(Clutter::height_agl_m).unwrap_or(0.0);
    height_agl_m.map(|height_m| height_m.max(top_m))
}

impl Clutter {
    /// Height of the surroundings, m above ground; `None` where they have none.
    #[must_use]
    pub fn height_agl_m(self) -> Option<f64> {
        match self {
            Self::HeightGain { category, representative_height_m } => {
                Some(site(category, representative_height_m).height_m)
            }
            Self::Statistical { .. } => None,
        }
    }
}

/// Clutter parameters of P.2108 section 3.1.
fn site(category: ClutterCategory, representative_height_m: Option<f64>) -> ClutterSite {
    let category = match category {
        ClutterCategory::WaterSea => clutter::ClutterCategory::WaterSea,
        ClutterCategory::OpenRural => clutter::ClutterCategory::OpenRural,
        ClutterCategory::Suburban => clutter::ClutterCategory::Suburban,
        ClutterCategory::Urban => clutter::ClutterCategory::Urban,
        ClutterCategory::TreesForest => clutter::ClutterCategory::TreesForest,
        ClutterCategory::DenseUrban => clutter::ClutterCategory::DenseUrban,
    };
    let usual = ClutterSite::from(category);
    ClutterSite { height_m: representative_height_m.unwrap_or(usual.height_m), ..usual }
}

/// Height-gain loss at both ends, dB; `None` outside 0.03 to 3 GHz or on the ground itself.
fn height_gain_db(site: &ClutterSite, frequency_ghz: f64, heights: [f64; 2]) -> Option<[f64; 2]> {
    let at =
        |height| site.height_gain_loss_db(frequency_ghz, height).ok().map(|loss| loss.max(0.0));
    Some([at(heights[0])?, at(heights[1])?])
}

/// Statistical loss at the ends below `below_height_m`, dB; `None` outside the model. Between
/// 0.25 and 1 km it counts once, at the lower end.
fn statistical_db(
    frequency_ghz: f64,
    distance_km: f64,
    location_percent: f64,
    heights: [f64; 2],
    below_height_m: f64,
) -> Option<[f64; 2]> {
    let mut within = heights.map(|height| height < below_height_m);
    if within == [false; 2] {
        return Some([0.0; 2]);
    }
    if within == [true; 2] && distance_km < CLUTTER_BOTH_ENDS_KM {
        within = [heights[0] < heights[1], heights[0] >= heights[1]];
    }
    let loss_db = terrestrial_clutter_loss_db(frequency_ghz, distance_km, location_percent).ok()?;
    Some(within.map(|inside| if inside { loss_db.max(0.0) } else { 0.0 }))
}
