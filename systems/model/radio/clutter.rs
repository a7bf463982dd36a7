//! Clutter around the ends of a link (ITU-R P.2108).

use groundwave_propagation::clutter::{
    ClutterCategory as Category, ClutterSite, terrestrial_clutter_loss_db,
};

use super::environment::Environment;
use super::prediction::{ABOVE_SURROUNDINGS_M, Exposure};
use super::station::Station;
use super::surroundings::{Clutter, ClutterCategory, Surroundings};

/// From here on P.2108 allows its statistical loss at both ends, km.
const CLUTTER_BOTH_ENDS_KM: f64 = 1.0;

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
        let is_stated = in_woodland || !station.surroundings.is_unknown();
        let own = match in_woodland {
            // The woods have a loss of their own along the ray: their height is not counted again.
            true => Surroundings::Open,
            false if is_stated => station.surroundings,
            false => cover,
        };
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
            _ if in_woodland => (Exposure::Within, 0.0),
            _ if height_agl_m >= tops_agl_m => (Exposure::Above, 0.0),
            Some(_) if is_computed => (Exposure::Within, 0.0),
            _ => (Exposure::Above, unknown_share(height_agl_m / tops_agl_m)),
        };
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

    /// Share of the antenna among surroundings of unknown loss, [0, 1], where P.2108 counts for `added` of the
    /// clutter at this end and the model for the rest.
    pub fn unknown_share_of(&self, added: f64) -> f64 {
        if self.top_m.is_some() { self.unknown_share * added } else { self.unknown_share }
    }

    /// `true` if the loss depends on the length of the path.
    pub fn is_by_distance(&self) -> bool {
        matches!(self.loss, EndLoss::Statistical { .. })
    }

    /// Limit of the loss of the antenna pattern at the other end, dB.
    pub fn pattern_loss_db_max(&self) -> f64 {
        if self.exposure == Exposure::Within { PATTERN_LOSS_IN_CLUTTER_DB } else { f64::INFINITY }
    }
}

/// Clutter loss at the two ends of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClutterLoss {
    /// Loss at transmitter and receiver, dB; 0 outside the range of a model.
    pub ends_db: [f64; 2],
    /// `false` if an end is outside the range of its model.
    pub is_in_range: bool,
}

/// Clutter loss over `distance_km`, at the median of locations if `is_median`, for the `shares` of it that count
/// at the two ends, [0, 1].
pub(super) fn clutter_loss(
    ends: &[EndClutter; 2],
    frequency_mhz: f64,
    distance_km: f64,
    is_median: bool,
    shares: [f64; 2],
) -> ClutterLoss {
    let is_within = |end: &EndClutter| end.is_by_distance() && end.exposure == Exposure::Within;
    let mut within = ends.each_ref().map(is_within);
    if within == [true; 2] && distance_km < CLUTTER_BOTH_ENDS_KM {
        // The statistical loss counts once, at the lower end.
        let lower = ends[0].height_agl_m < ends[1].height_agl_m;
        within = [lower, !lower];
    }
    let at = |end: usize| match ends[end].loss {
        _ if shares[end] == 0.0 => Some(0.0),
        EndLoss::None => Some(0.0),
        EndLoss::HeightGain(loss_db) => loss_db,
        EndLoss::Statistical { .. } if ends[end].unknown_share > 0.0 => None,
        EndLoss::Statistical { .. } if !within[end] => Some(0.0),
        EndLoss::Statistical { location_percent } => {
            let location_percent = if is_median { 50.0 } else { location_percent };
            let frequency_ghz = frequency_mhz * 1e-3;
            let loss = terrestrial_clutter_loss_db(frequency_ghz, distance_km, location_percent);
            loss.ok().map(|loss_db| loss_db.max(0.0))
        }
    };
    let each = [at(0), at(1)];
    ClutterLoss {
        ends_db: [0, 1].map(|end| shares[end] * each[end].unwrap_or(0.0)),
        is_in_range: each.iter().all(Option::is_some),
    }
}

/// Share of an antenna among surroundings of unknown loss, at a share of their height: it falls to nothing
/// towards their tops. A step there would make 48 dB of one centimetre.
fn unknown_share(height: f64) -> f64 {
    ((1.0 - height) / (1.0 - UNKNOWN_SHARE_HEIGHT)).clamp(0.0, 1.0)
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
