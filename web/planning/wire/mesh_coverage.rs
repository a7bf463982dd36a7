//! Live coverage of the mesh of a deployment.

use groundwave_model::radio::{Indoor, Surroundings};
use groundwave_model::sweep::interference::SHADOWING_CORRELATION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coverage::{Bounds, CoverageEngine};
use super::radio::RadioConfig;

/// Settings of a live coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshCoverageSetup {
    /// Edges of the area.
    pub bounds: Bounds,
    /// Size of a cell in both directions, arc-seconds, [1, 3600]; at most 1048576 cells.
    #[serde(default = "cell")]
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub cell_arcsec: f64,
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
    /// Receiving radio and antenna; absent or null: the radio of the first node with a half-wave dipole.
    #[serde(default)]
    pub receiver: Option<RadioConfig>,
    /// Interference between the nodes; absent or null: none.
    #[serde(default)]
    pub interference: Option<MeshInterference>,
    /// Nodes taken as failed.
    #[serde(default)]
    pub failed_node_ids: Vec<Uuid>,
}

/// Interference between the nodes of a live coverage: powers of those that share spectrum add.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshInterference {
    /// Share of time that each node transmits, percent, [0, 100].
    #[serde(default = "duty")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub duty_percent: f64,
    /// Correlation of the shadowing of the links of a receiver, [0, 0.9]; 3GPP TR 36.942 has 0.5.
    #[serde(default = "correlation")]
    #[schemars(range(min = 0.0, max = 0.9))]
    pub shadowing_correlation: f64,
}

fn duty() -> f64 {
    100.0
}

fn correlation() -> f64 {
    SHADOWING_CORRELATION
}

fn cell() -> f64 {
    3.0
}

fn height() -> f64 {
    1.5
}

/// State of a live coverage.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MeshCoverageState {
    /// Rows of the grid, from the north.
    pub rows: u32,
    /// Columns of the grid, from the west.
    pub columns: u32,
    /// Edges of the grid: whole cells, the north-western corner as asked for.
    pub bounds: Bounds,
    /// Size of a cell in both directions, arc-seconds.
    pub cell_arcsec: f64,
    /// Receiving radio and antenna.
    pub receiver: RadioConfig,
    /// Height of the receivers above ground, m.
    pub rx_height_agl_m: f64,
    /// Buildings and trees around the receivers.
    pub rx_surroundings: Surroundings,
    /// Building around the receivers.
    pub rx_indoor: Indoor,
    /// Interference between the nodes; null for none.
    pub interference: Option<MeshInterference>,
    /// Nodes taken as failed.
    pub failed_node_ids: Vec<Uuid>,
    /// Number of the last change of a cell.
    pub revision: u64,
    /// Nodes whose cells are being computed.
    pub pending_nodes: usize,
    /// Cells evaluated for a node since the start, in all.
    pub evaluated_cells: u64,
    /// Transmitting nodes by server number; null for a number that is free.
    pub nodes: Vec<Option<MeshTransmitter>>,
    /// Reason why the nodes of the deployment cannot be followed; null while they are.
    pub failure: Option<String>,
    /// Work of a GPU; absent where the server has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<CoverageEngine>,
}

/// Transmitting node of a live coverage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MeshTransmitter {
    /// Node id.
    pub node_id: Uuid,
    /// Received power at which the link margin is 0 dB without interference, dBm; null where the receiver cannot
    /// decode it.
    pub sensitivity_dbm: Option<f64>,
    /// SINR at which the link margin is 0 dB, dB; null where the receiver cannot decode it.
    pub required_sinr_db: Option<f64>,
}
