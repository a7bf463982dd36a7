//! Clutter around the ends of a link (ITU-R P.2108).
//!
//! The losses are those of the Recommendation: section 3.1 up to 3 GHz and in woods, section 3.2 of built-up places
//! from 0.25 km at one end and from 1 km at both. How they begin is ours, because between neighbours there is no
//! step: the loss of section 3.1 rises from nothing over the first 0.1 km with the square of the distance, that of
//! section 3.2 and what is known of it over the first 0.25 km in proportion to the distance, as that of unknown
//! surroundings does; the smaller loss of the two ends by section 3.2 rises with the logarithm of the distance from
//! 0.25 to 1 km; and that section's loss falls with the height of the antenna over the upper part of the clutter.
//! Section 3.1 has the height itself.
//!
//! Section 3.2 is of level paths. Where a ray rises from an end, its median is not above that of section 3.3 at the
//! elevation, which is for 10 GHz and above: below, the value of 10 GHz limits it. Other shares of locations fall in
//! proportion.

use groundwave_propagation::clutter::{
    ClutterCategory as Category, ClutterSite, slant_clutter_loss_db, terrestrial_clutter_loss_db,
};
use groundwave_propagation::numeric::lesser;

use super::environment::Environment;
use super::prediction::{ABOVE_SURROUNDINGS_M, Exposure};
use super::station::Station;
use super::surroundings::{Clutter, ClutterCategory, Surroundings};

/// Distances from which P.2108 has its statistical loss at one end and at both, km.
const STATISTICAL_KM: [f64; 2] = [0.25, 1.0];

/// Distance from which the loss of section 3.1 counts in full, km: nearer, little stands between the ends.
const HEIGHT_GAIN_KM: f64 = 0.1;

/// Minimum frequency of the loss of rising rays, MHz (ITU-R P.2108 section 3.3).
const SLANT_MHZ_MIN: f64 = 10_000.0;

/// Elevation up to which that loss is above every median of section 3.2, which are 33 dB at most, deg.
const LEVEL_DEG: f64 = 1.0;

/// Share of the height of clutter up to which an antenna is wholly within by section 3.2: over the rest of 10 m its
/// 33 dB fall by less than 1 dB in 0.1 m.
const WITHIN_SHARE_HEIGHT: f64 = 0.6;

/// Frequencies of the statistical loss, MHz (ITU-R P.2108 section 3.2).
const STATISTICAL_MHZ: [f64; 2] = [500.0, 67_000.0];

/// Maximum frequency of the height-gain correction, MHz (ITU-R P.2108 section 3.1).
const HEIGHT_GAIN_MHZ_MAX: f64 = 3_000.0;

/// Limit of the loss of a pattern where the other end stands within clutter, dB: waves arrive from many
/// directions there. Of sectors of 65 degrees above streets 10 to 20 dB of pattern were measured as 6 dB
/// less, 20 to 60 dB as no more than those.
const PATTERN_LOSS_IN_CLUTTER_DB: f64 = 12.0;

/// Share of the height of surroundings up to which an antenna among them is wholly within: roofs and trees
/// differ in height by some metres.
const UNKNOWN_SHARE_HEIGHT: f64 = 0.8;

/// Loss of the clutter at one end.
#[derive(Debug, Clone, Copy)]
enum EndLoss {
    /// Nothing is described, or nothing stands there.
    None,
    /// Height-gain correction, dB; `None` outside the range of the model.
    HeightGain(Option<f64>),
    /// Statistical loss of an antenna within the clutter.
    Statistical { location_percent: f64 },
}

impl EndLoss {
    /// `true` if ITU-R P.2108 has the loss at `frequency_mhz`.
    fn is_computed(&self, frequency_mhz: f64) -> bool {
        let [low_mhz, high_mhz] = STATISTICAL_MHZ;
        match self {
            Self::None => true,
            Self::HeightGain(loss_db) => loss_db.is_some(),
            Self::Statistical { .. } => (low_mhz..=high_mhz).contains(&frequency_mhz),
        }
    }
}

/// Clutter at one end of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndClutter {
    /// Height of the antenna, m above ground.
    height_agl_m: f64,
    /// Height of buildings and trees along the path near this end; `None` where they have none.
    pub path_agl_m: Option<f64>,
    /// `true` where land cover is known along the path at this end.
    pub has_cover: bool,
    /// Antenna height from which terrain is judged, m above ground: losses of P.2108 begin at the top of the
    /// clutter. Without such a loss it is the height of the antenna.
    pub terrain_agl_m: f64,
    /// Surroundings of the station, or what the clutter of the environment amounts to.
    pub surroundings: Surroundings,
    loss: EndLoss,
    /// Height of surroundings that are described, m above ground; `None` without any.
    top_m: Option<f64>,
    pub exposure: Exposure,
    /// Share of the antenna within surroundings that are described, [0, 1]: 0 from their tops on, 1 from
    /// [`WITHIN_SHARE_HEIGHT`] of their height down.
    within_share: f64,
    /// Share of the antenna among surroundings of unknown loss, [0, 1], where P.2108 counts: 0 from their tops
    /// on, 1 from [`UNKNOWN_SHARE_HEIGHT`] of their height down.
    pub unknown_share: f64,
}

impl EndClutter {
    /// The clutter at `station`, for waves of `frequency_mhz`, where the land cover amounts to `cover`. The
    /// surroundings of the station count before land cover, and that before the environment.
    pub fn new(
        station: &Station,
        cover: Surroundings,
        env: &Environment,
        frequency_mhz: f64,
    ) -> Self {
        let height_agl_m = station.height_agl_m;
        let in_woodland = station.is_in_woodland();
        let is_by_station = !station.surroundings.is_unknown();
        let around = if is_by_station { station.surroundings } else { cover };
        let is_forest = around == Surroundings::Forest
            || (around.is_unknown() && env.clutter.is_some_and(|clutter| clutter.is_forest()));
        // The woods have a loss of their own along the ray: their height is not counted again.
        let is_in_place = in_woodland && is_forest;
        let own = if is_in_place { Surroundings::Open } else { around };
        let is_stated = is_in_place || is_by_station;
        let (top_m, loss, path_agl_m) = match (own.height_agl_m(), env.clutter) {
            (None, None) => (None, EndLoss::None, None),
            (None, Some(Clutter::HeightGain { category, representative_height_m })) => {
                let site = site(category.into(), representative_height_m);
                let loss = EndLoss::HeightGain(height_gain_db(&site, frequency_mhz, height_agl_m));
                (Some(site.height_m), loss, Some(site.height_m))
            }
            (None, Some(Clutter::Statistical { below_height_m, location_percent })) => {
                (Some(below_height_m), EndLoss::Statistical { location_percent }, None)
            }
            (Some(top_m), _) => {
                let is_high = frequency_mhz > HEIGHT_GAIN_MHZ_MAX;
                let loss = match own.category() {
                    None => EndLoss::None,
                    // The statistics are those of built-up places.
                    Some(category) if !is_high || category == Category::TreesForest => {
                        let site = site(category, Some(top_m));
                        EndLoss::HeightGain(height_gain_db(&site, frequency_mhz, height_agl_m))
                    }
                    Some(_) => EndLoss::Statistical { location_percent: env.location_percent },
                };
                // Land cover stands along the path with heights of its own.
                (Some(top_m), loss, is_stated.then_some(top_m))
            }
        };
        let is_computed = loss.is_computed(frequency_mhz);
        let tops_agl_m = top_m.unwrap_or(ABOVE_SURROUNDINGS_M);
        let (exposure, unknown_share) = match top_m {
            _ if height_agl_m >= tops_agl_m => (Exposure::Above, 0.0),
            Some(_) if is_computed => (Exposure::Within, 0.0),
            _ => (Exposure::Above, share_below(height_agl_m / tops_agl_m, UNKNOWN_SHARE_HEIGHT)),
        };
        let is_known = unknown_share <= 0.0;
        let exposure = if in_woodland && is_known { Exposure::Within } else { exposure };
        let within_share =
            top_m.map_or(0.0, |top_m| share_below(height_agl_m / top_m, WITHIN_SHARE_HEIGHT));
        let terrain_agl_m = height_agl_m.max(top_m.filter(|_| is_computed).unwrap_or(0.0));
        let surroundings = match env.clutter {
            Some(clutter) if own.is_unknown() => clutter.into(),
            _ => own,
        };
        let has_cover = !cover.is_unknown();
        Self {
            height_agl_m,
            path_agl_m,
            has_cover,
            terrain_agl_m,
            surroundings,
            loss,
            top_m,
            exposure,
            within_share,
            unknown_share,
        }
    }

    /// The same where the model computes the clutter of this end: what is described stands around the antenna,
    /// whether or not P.2108 has a loss for it.
    pub fn on_path(self) -> Self {
        match self.top_m {
            Some(top_m) if self.height_agl_m < top_m => Self { exposure: Exposure::Within, ..self },
            _ => self,
        }
    }

    /// Share of the antenna among surroundings of unknown loss over `distance_m`, [0, 1], where P.2108 counts for
    /// `added` of the clutter at this end and the model for the rest.
    pub fn unknown_share_of(&self, added: f64, distance_m: f64) -> f64 {
        match self.loss {
            _ if self.top_m.is_none() => self.unknown_share,
            EndLoss::Statistical { .. } if self.is_statistical() => {
                added * self.within_share * (1.0 - begun(distance_m * 1e-3))
            }
            _ => added * self.unknown_share,
        }
    }

    /// `true` if the loss is that of P.2108 section 3.2.
    fn is_statistical(&self) -> bool {
        let is_known = self.exposure == Exposure::Within && self.unknown_share <= 0.0;
        is_known && matches!(self.loss, EndLoss::Statistical { .. })
    }

    /// `true` if the loss depends on the elevation of the ray.
    pub fn is_by_elevation(&self) -> bool {
        matches!(self.loss, EndLoss::Statistical { .. })
    }

    /// `true` if the loss depends on the path from `distance_m` on: that of section 3.1 where it begins.
    pub fn is_by_path(&self, distance_m: f64) -> bool {
        let is_beginning = distance_m * 1e-3 < HEIGHT_GAIN_KM;
        let has_height_gain =
            matches!(self.loss, EndLoss::HeightGain(Some(loss_db)) if loss_db > 0.0);
        self.is_by_elevation() || (is_beginning && has_height_gain)
    }

    /// Limit of the loss of the antenna pattern at the other end, dB.
    pub fn pattern_loss_db_max(&self) -> f64 {
        if self.exposure == Exposure::Within { PATTERN_LOSS_IN_CLUTTER_DB } else { f64::INFINITY }
    }
}

/// A path as losses of clutter depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClutterPath {
    pub distance_km: f64,
    /// Elevation of the ray at transmitter and receiver, deg.
    pub elevation_deg: [f64; 2],
    /// `true` if an end stands on a fine surface.
    pub is_fine_surface: bool,
}

/// Clutter loss at the two ends of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClutterLoss {
    /// Loss at transmitter and receiver, dB; 0 at frequencies that its model does not have.
    pub ends_db: [f64; 2],
    /// `false` if an end is outside the range of its model.
    pub is_in_range: bool,
}

/// Clutter loss over a path, at the median of locations if `is_median`, for the `shares` of it that count at the two
/// ends, [0, 1].
pub(super) fn clutter_loss(
    ends: &[EndClutter; 2],
    frequency_mhz: f64,
    path: &ClutterPath,
    is_median: bool,
    shares: [f64; 2],
) -> ClutterLoss {
    let mut is_in_range = true;
    let mut ends_db = [0.0; 2];
    for (end, loss_db) in ends_db.iter_mut().enumerate() {
        let EndClutter { loss, within_share, .. } = ends[end];
        let (own_db, has_range) = match loss {
            _ if shares[end] == 0.0 => continue,
            EndLoss::None => continue,
            EndLoss::HeightGain(loss_db) => {
                let share = lesser(path.distance_km / HEIGHT_GAIN_KM, 1.0);
                (loss_db.unwrap_or(0.0) * share * share, loss_db.is_some())
            }
            EndLoss::Statistical { .. } if ends[end].unknown_share > 0.0 => (0.0, false),
            EndLoss::Statistical { .. } if !ends[end].is_statistical() => continue,
            EndLoss::Statistical { location_percent } => {
                let percent = if is_median { 50.0 } else { location_percent };
                let elevation_deg = path.elevation_deg[end];
                let loss = statistical_db(frequency_mhz, path.distance_km, elevation_deg, percent);
                loss.map_or((0.0, false), |(db, has_range)| (within_share * db, has_range))
            }
        };
        *loss_db = shares[end] * own_db;
        is_in_range &= has_range;
    }
    if ends.iter().all(EndClutter::is_statistical) {
        // The larger loss counts wholly, of equals that of the lower end.
        let is_lower = ends[0].height_agl_m < ends[1].height_agl_m;
        let second = usize::from(ends_db[0] > ends_db[1] || (ends_db[0] == ends_db[1] && is_lower));
        ends_db[second] *= second_share(path.distance_km);
    }
    ClutterLoss { ends_db, is_in_range }
}

/// Loss of P.2108 section 3.2 at one end, dB, and whether distance and elevation are in its range; `None` beyond its
/// frequencies.
fn statistical_db(
    frequency_mhz: f64,
    distance_km: f64,
    elevation_deg: f64,
    location_percent: f64,
) -> Option<(f64, bool)> {
    let ghz = frequency_mhz * 1e-3;
    let from_km = distance_km.max(STATISTICAL_KM[0]);
    let begun = begun(distance_km);
    let at =
        |percent| Some(begun * terrestrial_clutter_loss_db(ghz, from_km, percent).ok()?.max(0.0));
    let loss_db = at(location_percent)?;
    if elevation_deg <= LEVEL_DEG {
        return Some((loss_db, begun >= 1.0));
    }
    let median_db = at(50.0)?;
    let slant_ghz = frequency_mhz.max(SLANT_MHZ_MIN) * 1e-3;
    let slant_db =
        slant_clutter_loss_db(slant_ghz, lesser(elevation_deg, 90.0), 50.0).ok()?.max(0.0);
    if slant_db >= median_db {
        return Some((loss_db, begun >= 1.0));
    }
    Some((loss_db * slant_db / median_db, frequency_mhz >= SLANT_MHZ_MIN && begun >= 1.0))
}

/// Share of the loss of section 3.2 over a path, [0, 1]: 1 from where that section begins.
fn begun(distance_km: f64) -> f64 {
    lesser(distance_km / STATISTICAL_KM[0], 1.0)
}

/// Share of the smaller loss of two ends by section 3.2, [0, 1].
fn second_share(distance_km: f64) -> f64 {
    let [one_km, both_km] = STATISTICAL_KM;
    (libm::log2(distance_km / one_km) / libm::log2(both_km / one_km)).clamp(0.0, 1.0)
}

/// Share of an antenna at a share of the height of surroundings that stands among them: it falls to nothing towards
/// their tops, from 1 at `whole` of their height. A step there would make 48 dB of one centimetre.
fn share_below(height: f64, whole: f64) -> f64 {
    ((1.0 - height) / (1.0 - whole)).clamp(0.0, 1.0)
}

impl Surroundings {
    /// Category of P.2108; `None` where nothing stands or nothing is known.
    const fn category(self) -> Option<Category> {
        match self {
            Self::Unknown | Self::Open => None,
            Self::Forest => Some(Category::TreesForest),
            Self::Suburban => Some(Category::Suburban),
            Self::Urban => Some(Category::Urban),
            Self::DenseUrban => Some(Category::DenseUrban),
        }
    }
}

impl Clutter {
    /// `true` for trees.
    const fn is_forest(&self) -> bool {
        matches!(self, Self::HeightGain { category: ClutterCategory::TreesForest, .. })
    }
}

impl From<Clutter> for Surroundings {
    fn from(clutter: Clutter) -> Self {
        match clutter {
            Clutter::HeightGain { category, .. } => match category {
                ClutterCategory::WaterSea | ClutterCategory::OpenRural => Self::Open,
                ClutterCategory::Suburban => Self::Suburban,
                ClutterCategory::Urban => Self::Urban,
                ClutterCategory::TreesForest => Self::Forest,
                ClutterCategory::DenseUrban => Self::DenseUrban,
            },
            // Urban and suburban places in one: the milder.
            Clutter::Statistical { .. } => Self::Suburban,
        }
    }
}

impl From<ClutterCategory> for Category {
    fn from(category: ClutterCategory) -> Self {
        match category {
            ClutterCategory::WaterSea => Self::WaterSea,
            ClutterCategory::OpenRural => Self::OpenRural,
            ClutterCategory::Suburban => Self::Suburban,
            ClutterCategory::Urban => Self::Urban,
            ClutterCategory::TreesForest => Self::TreesForest,
            ClutterCategory::DenseUrban => Self::DenseUrban,
        }
    }
}

/// Clutter parameters of P.2108 section 3.1.
fn site(category: Category, representative_height_m: Option<f64>) -> ClutterSite {
    let usual = ClutterSite::from(category);
    ClutterSite { height_m: representative_height_m.unwrap_or(usual.height_m), ..usual }
}

/// Height-gain loss, dB: none above the clutter, `None` outside 0.03 to 3 GHz or on the ground itself.
fn height_gain_db(site: &ClutterSite, frequency_mhz: f64, height_agl_m: f64) -> Option<f64> {
    if height_agl_m >= site.height_m {
        return Some(0.0);
    }
    let loss = site.height_gain_loss_db(frequency_mhz * 1e-3, height_agl_m);
    loss.ok().map(|loss_db| loss_db.max(0.0))
}
