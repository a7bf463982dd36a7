//! The section of coverage.

use std::collections::BTreeMap;

use garde::Validate;
use groundwave_model::radio::station::HEIGHT_AGL_M_MAX;
use groundwave_model::radio::{Indoor, Surroundings};
use groundwave_model::sweep::interference::SHADOWING_CORRELATION_MAX;
use groundwave_values::bounds::above_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::coverage::Interference;
use super::file_radio::{AntennaChoice, RadioChoice};
use super::limits::{CELL_ARCSEC, COVERAGE_RADIUS_KM_MAX, MARGIN_DB, SAMPLES, WEIGHT_MAX};

/// Coverage computed by `groundwave sweep`: that of every site, with every combination of settings.
/// A run ignores it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct CoverageFile {
    /// Cells further than this from a site are not evaluated for it, km, (0, 500].
    #[garde(range(max = COVERAGE_RADIUS_KM_MAX), custom(above_zero))]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub radius_km: f64,
    /// Height and width of a cell in latitude and longitude (EPSG:4326), arc-seconds,
    /// [0.01, 3600]. From a site to the rim there are 1 to 50000 cells.
    #[serde(default = "three_arcsec")]
    #[garde(range(min = CELL_ARCSEC.0, max = CELL_ARCSEC.1))]
    pub cell_arcsec: f64,
    /// Receiver in every cell.
    #[serde(default)]
    #[garde(dive)]
    pub receiver: ReceiverFile,
    /// Nodes whose coverage is computed, each there at time 0; left out, all that are.
    pub sites: Option<Vec<String>>,
    /// A cell is covered when its link margin is at least this, dB, [-100, 100].
    #[serde(default)]
    #[garde(range(min = MARGIN_DB.0, max = MARGIN_DB.1))]
    pub margin_db: f64,
    /// Settings to try: the full product of the lists, at most 1024 combinations.
    #[serde(default)]
    pub vary: VaryFile,
    /// Places that matter, at most 10000.
    #[serde(default)]
    #[garde(dive)]
    pub point: Vec<PointFile>,
    /// Choose this many of the sites for the most weight covered, or the most area where there
    /// are no points; 1 to the number of sites.
    pub choose: Option<u32>,
    /// Terrain samples on a path, [8, 4096]; left out, one for each post of the tiles.
    #[garde(range(min = SAMPLES.0, max = SAMPLES.1))]
    pub samples: Option<u32>,
    /// Drawing of the maps.
    #[serde(default)]
    pub maps: MapsFile,
    /// Interference between the sites, for the products `sinr`, `carrier_to_interference`, `sinr_server`
    /// and `sinr_probability`.
    #[serde(default)]
    #[garde(dive)]
    pub interference: InterferenceFile,
    /// Ignored: every cell is exact. Kept for files of versions with a less exact mode.
    #[serde(default)]
    #[schemars(extend("deprecated" = true))]
    pub fast: bool,
}

/// Drawing of the maps of layers. What is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MapsFile {
    /// Link margin, dB; also of overlay, KMZ and contact sheet.
    pub margin: Option<MapFile>,
    /// Received power, dBm.
    pub power: Option<MapFile>,
    /// Path loss, dB.
    pub path_loss: Option<MapFile>,
    /// Field strength, dBµV/m.
    pub field_strength: Option<MapFile>,
    /// Data rate, bit/s.
    pub rate: Option<MapFile>,
    /// Probability that the link works, percent.
    pub probability: Option<MapFile>,
    /// SINR, dB.
    pub sinr: Option<MapFile>,
    /// Carrier to interference, dB.
    pub carrier_to_interference: Option<MapFile>,
    /// Probability that the link works among interference, percent.
    pub sinr_probability: Option<MapFile>,
}

/// Interference between the sites.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(default, deny_unknown_fields)]
pub struct InterferenceFile {
    /// Share of time that a site transmits, percent, [0, 100].
    #[garde(range(min = 0.0, max = 100.0))]
    pub duty_percent: f64,
    /// Shares of single sites, percent, [0, 100], by name.
    pub sites: BTreeMap<String, f64>,
    /// Correlation of the shadowing of two links of one receiver, [0, 0.9].
    #[garde(range(min = 0.0, max = SHADOWING_CORRELATION_MAX))]
    pub shadowing_correlation: f64,
}

impl Default for InterferenceFile {
    fn default() -> Self {
        let Interference { duty_percent, sites, shadowing_correlation } = Interference::default();
        Self { duty_percent, sites, shadowing_correlation }
    }
}

/// Drawing of the map of a layer: of `range`, `auto` and `thresholds` at most one.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MapFile {
    /// Values of the first and the last colour.
    pub range: Option<[f64; 2]>,
    /// Take the range from the data: the 2nd to the 98th percentile of all variants, rounded outwards.
    pub auto: bool,
    /// Width of the classes of a range, above 0: 2 to 100 classes.
    pub step: Option<f64>,
    /// Borders of classes, 1 to 20, rising; each belongs to the class above it.
    pub thresholds: Option<Vec<f64>>,
    /// Name of a palette: `viridis`, `cividis` or `greys`, with `_r` in reverse.
    pub palette: Option<String>,
    /// Cells below this level are transparent.
    pub clear_below: Option<f64>,
    /// Cells above this level are transparent.
    pub clear_above: Option<f64>,
}

/// Receiver in every cell. An omnidirectional antenna is upright, a directive one points at the
/// site.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiverFile {
    /// Antenna height above ground, m, [0, 20000].
    #[garde(range(min = 0.0, max = HEIGHT_AGL_M_MAX))]
    pub height_agl_m: f64,
    /// Radio preset, or a table of settings; left out, the radio of the site it hears.
    pub radio: Option<RadioChoice>,
    /// Antenna preset, or a table of settings; left out, a half-wave dipole.
    pub antenna: Option<AntennaChoice>,
    /// Buildings and trees around the antenna; left out, the clutter of the environment.
    pub surroundings: Surroundings,
    /// Building around the antenna; left out, it stands outdoors.
    pub indoor: Indoor,
}

/// Settings to try on all sites, each list 1 to 32 different values. What is left out stays as each
/// site has it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VaryFile {
    /// Antenna heights above ground of the sites, m, [0, 20000].
    pub height_agl_m: Option<Vec<f64>>,
    /// Conducted powers of the sites, dBm, [-50, 80].
    pub tx_power_dbm: Option<Vec<f64>>,
    /// Centre frequencies of sites and receiver alike, MHz, [10, 100000].
    pub frequency_mhz: Option<Vec<f64>>,
    /// Downtilts, deg, [-90, 90], positive downwards: the boresight goes to `elevation_deg` of the
    /// site's pointing, less this. An omnidirectional antenna without a pointing is tilted from
    /// level, all round; a directive one needs a pointing.
    pub tilt_deg: Option<Vec<f64>>,
}

/// A place that matters.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct PointFile {
    /// Name, unique among points: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
    pub name: String,
    /// Latitude, degrees north (WGS84), [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub lon_deg: f64,
    /// Weight of covering the point, such as its number of residents, (0, 10000000000].
    #[serde(default = "one")]
    #[garde(range(max = WEIGHT_MAX), custom(above_zero))]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub weight: f64,
}

impl Default for ReceiverFile {
    fn default() -> Self {
        Self {
            // A handset, a meter, a car roof: what planners take for a receiver on the ground.
            height_agl_m: 1.5,
            radio: None,
            surroundings: Surroundings::Unknown,
            indoor: Indoor::Outdoors,
            antenna: None,
        }
    }
}

/// The spacing of the posts in most elevation tiles.
fn three_arcsec() -> f64 {
    3.0
}

fn one() -> f64 {
    1.0
}
