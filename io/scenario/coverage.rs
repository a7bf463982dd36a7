//! Coverage requested of a sweep by `[coverage]`.

use std::collections::BTreeMap;

use groundwave_model::radio::station::{Antenna, Radio};
use groundwave_model::radio::{Indoor, Surroundings};
use groundwave_model::sweep::interference::SHADOWING_CORRELATION;
use groundwave_model::terrain::GeoPoint;
use groundwave_raster::picture::Choice;
use serde::{Deserialize, Serialize};

/// A layer whose map may be drawn in one's own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapLayer {
    /// Link margin, dB.
    Margin,
    /// Received power, dBm.
    Power,
    /// Path loss, dB.
    PathLoss,
    /// Field strength, dBµV/m.
    FieldStrength,
    /// Data rate, bit/s.
    Rate,
    /// Probability that the link works, percent.
    Probability,
    /// SINR, dB.
    Sinr,
    /// Carrier to interference, dB.
    CarrierToInterference,
    /// Probability that the link works among interference, percent.
    SinrProbability,
}

impl MapLayer {
    /// All layers by name.
    pub const ALL: [(&str, Self); 9] = [
        ("margin", Self::Margin),
        ("power", Self::Power),
        ("path_loss", Self::PathLoss),
        ("field_strength", Self::FieldStrength),
        ("rate", Self::Rate),
        ("probability", Self::Probability),
        ("sinr", Self::Sinr),
        ("carrier_to_interference", Self::CarrierToInterference),
        ("sinr_probability", Self::SinrProbability),
    ];
}

/// A batch of coverage rasters: every site with every combination of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// Cells further than this from a site are not evaluated for it, m, (0, 500000].
    pub radius_m: f64,
    /// Height and width of a cell in EPSG:4326, arc-seconds, [0.01, 3600].
    pub cell_arcsec: f64,
    /// Receiver in every cell.
    pub receiver: Receiver,
    /// Names of the sites, each once, at least one; all are there at time 0.
    pub sites: Vec<String>,
    /// A cell is covered when its link margin is at least this, dB, [-100, 100].
    pub margin_db: f64,
    /// Settings to try.
    pub vary: Vary,
    /// Places that matter; names are unique.
    pub points: Vec<WeightedPoint>,
    /// Number of sites to choose for the largest covered weight, or the largest covered area where
    /// there are no points: 1 to the number of sites.
    pub choose: Option<usize>,
    /// Terrain samples on a path, [8, 4096]; `None` takes one for each post of the tiles.
    pub samples: Option<usize>,
    /// Drawing of maps, by layer; not part of what is computed.
    pub maps: BTreeMap<MapLayer, Choice>,
    /// Interference between the sites; not part of what units hold.
    pub interference: Interference,
}

/// Interference between the sites of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// Share of time that a site transmits, percent, [0, 100].
    pub duty_percent: f64,
    /// Sites with a share of their own, by name.
    pub sites: BTreeMap<String, f64>,
    /// Correlation of the shadowing of two links of one receiver, [0, 0.9].
    pub shadowing_correlation: f64,
}

impl Default for Interference {
    fn default() -> Self {
        Self {
            duty_percent: 100.0,
            sites: BTreeMap::new(),
            shadowing_correlation: SHADOWING_CORRELATION,
        }
    }
}

impl Interference {
    /// Share of time that the site of this name transmits, percent.
    #[must_use]
    pub fn duty_percent_of(&self, site: &str) -> f64 {
        self.sites.get(site).copied().unwrap_or(self.duty_percent)
    }
}

/// Receiver in every cell. It has no pointing: an omnidirectional antenna is upright, a directive
/// one points at the site.
#[derive(Debug, Clone, PartialEq)]
pub struct Receiver {
    /// Antenna height above ground, m, [0, 20000].
    pub height_agl_m: f64,
    /// Radio; `None` is the radio of the site it receives.
    pub radio: Option<Radio>,
    /// Antenna; `None` is the preset `omni_2_15`.
    pub antenna: Option<Antenna>,
    /// Buildings and trees around the antenna.
    pub surroundings: Surroundings,
    /// Building around the antenna.
    pub indoor: Indoor,
}

/// Values to try, each list without repeats and at most
/// [`VALUES_MAX`](super::limits::VALUES_MAX) long. The grid is their full product, and every
/// combination is set on all sites. An empty list leaves each site as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vary {
    /// Antenna heights above ground of the sites, m, [0, 20000].
    pub height_agl_m: Vec<f64>,
    /// Conducted powers of the sites, dBm, [-50, 80].
    pub tx_power_dbm: Vec<f64>,
    /// Centre frequencies, MHz, [10, 100000], of sites and receiver alike: what differs does not
    /// hear the other.
    pub frequency_mhz: Vec<f64>,
    /// Downtilts, deg, [-90, 90], positive downwards as the field counts: the boresight is at
    /// `pointing.elevation_deg - tilt_deg`. An omnidirectional antenna without a pointing is tilted
    /// from level, all round (electrical tilt).
    pub tilt_deg: Vec<f64>,
}

impl Vary {
    /// Size of the grid: 1 when nothing varies, at most
    /// [`COMBINATIONS_MAX`](super::limits::COMBINATIONS_MAX).
    #[must_use]
    pub fn combinations(&self) -> usize {
        [&self.height_agl_m, &self.tx_power_dbm, &self.frequency_mhz, &self.tilt_deg]
            .iter()
            .fold(1, |product: usize, values| product.saturating_mul(values.len().max(1)))
    }
}

/// A place that matters.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedPoint {
    /// Name, unique among the points.
    pub name: String,
    /// Where.
    pub position: GeoPoint,
    /// Weight of covering the point, in any one unit, (0, 1e10].
    pub weight: f64,
}
