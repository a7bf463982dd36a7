//! Coverage jobs.

use groundwave_http::strict::{saturating, whole_number};
use groundwave_model::coverage::KnownCounts;
use groundwave_model::radio::{Assumptions, Indoor, Surroundings};
use groundwave_simulation::coverage::EngineUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::radio::RadioConfig;

/// Fewest and most cells along a side.
pub const RESOLUTION: [i64; 2] = [4, 256];

/// Request for a coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageQuestion {
    /// Transmitting node.
    pub source_node_id: Uuid,
    /// Further transmitting nodes of the deployment, up to 15: each cell is then the link to the node with
    /// the largest margin.
    #[serde(default)]
    #[schemars(length(max = 15))]
    pub more_source_node_ids: Vec<Uuid>,
    /// Half the side of the square around it, km, above 0 and at most 500.
    #[schemars(range(max = 500.0), extend("exclusiveMinimum" = 0.0))]
    pub radius_km: f64,
    /// Cells along a side, clamped to [4, 256].
    #[serde(default = "resolution", deserialize_with = "saturating")]
    #[schemars(schema_with = "whole_number")]
    pub resolution: i64,
    /// Height of the receivers above ground, m, [0, 20000].
    #[serde(default = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub rx_height_agl_m: f64,
    /// Buildings and trees around the receivers, default `unknown`: the clutter of the environment.
    #[serde(default)]
    pub rx_surroundings: Surroundings,
    /// Building around the receivers, default `outdoors`.
    #[serde(default)]
    pub rx_indoor: Indoor,
    /// Receiving radio and antenna; absent or null: the radio of the source with a half-wave dipole.
    #[serde(default)]
    pub receiver: Option<RadioConfig>,
    /// Samples of the ground to each cell, clamped to [8, 4096].
    #[serde(default = "super::terrain::samples", deserialize_with = "saturating")]
    #[schemars(schema_with = "whole_number")]
    pub samples: i64,
}

fn resolution() -> i64 {
    64
}

fn height() -> f64 {
    1.5
}

/// Id of an accepted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageAccepted {
    /// Id.
    pub job_id: Uuid,
}

/// Status of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Waiting for other jobs.
    Queued,
    /// Rows are being evaluated.
    Running,
    /// Every cell is computed.
    Done,
    /// Ended early; `failure` has the reason.
    Failed,
}

/// Rating of a cell.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CellVerdict {
    /// Probability that a link like the cell's works: 99 % or more.
    Excellent,
    /// 90 % or more.
    Good,
    /// 50 % or more.
    Marginal,
    /// 10 % or more.
    Poor,
    /// Below, or a receiver that cannot decode the transmitter.
    NoLink,
    /// The ground of the cell is not known: never covered.
    NoData,
}

/// Edges of a grid, degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Latitude of the southern edge.
    pub south: f64,
    /// Longitude of the western edge.
    pub west: f64,
    /// Latitude of the northern edge.
    pub north: f64,
    /// Longitude of the eastern edge; smaller than `west` across the antimeridian.
    pub east: f64,
}

impl Bounds {
    /// Degrees from the western edge eastwards to the other; 360 from -180 to 180.
    #[must_use]
    pub fn width_deg(&self) -> f64 {
        let is_whole_turn = self.east - self.west == 360.0;
        if is_whole_turn { 360.0 } else { (self.east - self.west).rem_euclid(360.0) }
    }
}

/// Figures over the cells evaluated so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageStatistics {
    /// Cells evaluated.
    pub cells: u32,
    /// Cells with a link margin of 0 dB or more by the model.
    pub covered_cells: u32,
    /// Their share among the cells whose ground is known, percent.
    pub covered_percent: f64,
    /// Share of cells, among those whose ground is known, where a link works with a probability of 50 % or
    /// more, percent: `marginal` or better. Unknown surroundings of receivers lower it, not `covered_percent`.
    pub likely_percent: f64,
    /// Area of the covered cells, km².
    pub covered_area_km2: f64,
    /// Cells by verdict, best first, those without data last.
    pub cells_by_verdict: [u32; 6],
    /// Cells part of whose path lies off all tiles.
    pub path_missing_cells: u32,
    /// Cells part of whose path crosses voids of tiles.
    pub path_void_cells: u32,
    /// Weakest received power, dBm.
    pub rx_power_dbm_min: Option<f64>,
    /// Median received power, dBm.
    pub rx_power_dbm_median: Option<f64>,
    /// Strongest received power, dBm.
    pub rx_power_dbm_max: Option<f64>,
}

/// Work of a GPU in a coverage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageEngine {
    /// GPU and driver.
    pub name: String,
    /// Cells within the radius of a site whose losses came from the GPU or the processor beside it, one for each
    /// site.
    pub cells: u64,
    /// Of them evaluated as a whole by the processor: flagged, at decisions, short paths and voids.
    pub processor_cells: u64,
    /// First reason for evaluating sites on the processor alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl From<&EngineUse> for CoverageEngine {
    fn from(engine: &EngineUse) -> Self {
        let KnownCounts { cells, other_model, flagged, decisions } = engine.counts;
        let (name, fallback) = (engine.name.clone(), engine.fallback.clone());
        Self { name, cells, processor_cells: other_model + flagged + decisions, fallback }
    }
}

/// State and cells of a coverage job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageSnapshot {
    /// Id.
    pub job_id: Uuid,
    /// Status.
    pub status: JobStatus,
    /// Cause of failure, if it failed.
    pub failure: Option<String>,
    /// Work of a GPU; absent where the server has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<CoverageEngine>,
    /// Transmitting node.
    pub source_node_id: Uuid,
    /// Half the side of the square, km.
    pub radius_km: f64,
    /// Height of the receivers above ground, m.
    pub rx_height_agl_m: f64,
    /// Buildings and trees around the receivers.
    pub rx_surroundings: Surroundings,
    /// Building around the receivers.
    pub rx_indoor: Indoor,
    /// Receiving radio and antenna.
    pub receiver: RadioConfig,
    /// Samples of the ground to each cell.
    pub samples: i64,
    /// Rows of the grid, from the north.
    pub rows: u32,
    /// Columns of the grid, from the west.
    pub cols: u32,
    /// Rows whose cells are final.
    pub rows_done: u32,
    /// Edges of the grid.
    pub bounds: Bounds,
    /// Figures over the cells evaluated so far.
    pub statistics: CoverageStatistics,
    /// The cells of the rows that are done, row by row.
    pub cells: Vec<Tile>,
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tile {
    /// Row, from the north.
    pub row: u32,
    /// Column, from the west.
    pub col: u32,
    /// Latitude of its centre, degrees.
    pub lat: f64,
    /// Longitude of its centre, degrees.
    pub lon: f64,
    /// Received power, dBm; null where nothing can be evaluated.
    pub rx_power_dbm: Option<f64>,
    /// The link in one word.
    pub verdict: CellVerdict,
    /// True if part of the path lies off every tile, where sea level is assumed. Absent where the
    /// ground is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path_missing: bool,
}

/// Beginning of a stream of squares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageStarted {
    /// Rows of the grid, from the north.
    pub rows: u32,
    /// Columns of the grid, from the west.
    pub columns: u32,
    /// Edges of the grid.
    pub bounds: Bounds,
    /// Transmitting nodes.
    pub source_node_ids: Vec<Uuid>,
    /// Received power at which the link margin is 0 dB, by transmitting node, dBm; null where the receiver
    /// cannot decode it.
    pub sensitivity_dbm: Vec<Option<f64>>,
    /// Data rates by received power, rising, by transmitting node; none where the receiver cannot decode it.
    pub rates: Vec<Vec<RateStep>>,
    /// Shares of time, locations and situations, effects left out, calibration.
    pub assumptions: Assumptions,
}

/// Data rate from a received power on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateStep {
    /// Least received power, dBm.
    pub from_dbm: f64,
    /// Rate left to payload, bit/s.
    pub data_rate_bps: f64,
}

/// Square of cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellTile {
    /// First row, from the north.
    pub row: u32,
    /// First column, from the west.
    pub column: u32,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
    /// Received power by cell, row by row, hundredths of dBm: base64 of 16-bit integers, least octet
    /// first. -32768: no data; -32767: no power, or less than the integer holds.
    pub received_power_cdbm: String,
    /// Probability by cell that the link works, whole percent, rounded down: base64 of octets, 0 to 100; 0 without
    /// data.
    pub link_probability_percent: String,
    /// Place of the server among the transmitting nodes by cell: base64 of octets; null with one
    /// transmitting node.
    pub server: Option<String>,
    /// Received power over noise and interference by cell, hundredths of dB, as `received_power_cdbm`; absent where
    /// interference does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sinr_cdb: Option<String>,
}

/// Format of an exported coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageFormat {
    /// Picture of the cells, one pixel each.
    Png,
    /// That picture in a zip archive with a world file (`.pgw`, degrees of WGS 84 at the centre of the upper left
    /// pixel) and its coordinate system (`.prj`).
    PngWorld,
    /// Cloud-optimized GeoTIFF: received power, dBm, link margin, dB, probability that the link works,
    /// percent, and the server where there are several.
    Tif,
    /// Overlay for globes.
    Kmz,
}

/// Layer of a picture of a coverage; a GeoTIFF has all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageLayer {
    /// Link margin, dB.
    #[default]
    Margin,
    /// Probability that the link works, percent.
    Probability,
}

/// Format and layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageFormatQuery {
    /// Format.
    pub format: CoverageFormat,
    /// Layer of `png`, `png_world` and `kmz`.
    #[serde(default)]
    pub layer: CoverageLayer,
}

#[cfg(test)]
mod tests {
    use super::Bounds;

    #[test]
    fn width_runs_eastwards_and_is_a_whole_turn_between_both_names_of_one_meridian() {
        let width_deg = |west, east| Bounds { south: 0.0, west, north: 1.0, east }.width_deg();
        assert_eq!(width_deg(11.0, 12.5), 1.5);
        assert_eq!(width_deg(179.0, -179.0), 2.0);
        assert_eq!(width_deg(-180.0, 180.0), 360.0);
        assert_eq!(width_deg(-180.0, -180.0), 0.0);
    }
}
