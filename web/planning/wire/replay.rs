//! Recorded logs, replayed.

use groundwave_model::radio::Role;
use groundwave_scenario::changes::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::exchange::ImportNote;

/// Most frames of an answer.
pub const FRAMES_MAX: u64 = 1_000;

/// Longest name of an upload, characters.
pub const NAME_CHARS_MAX: usize = 128;

/// Most changes of a variant.
pub const CHANGES_MAX: usize = 100;

/// Name of an upload.
#[derive(Debug, Clone, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// Name of the file, for people, up to 128 characters
    pub name: Option<String>,
}

/// Changes of a recorded world.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantQuestion {
    /// Changes, 1 to 100.
    #[schemars(length(min = 1, max = 100))]
    pub changes: Vec<Entry>,
}

/// Uploaded log, a log that the server was started with, or a variant of one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayInfo {
    /// Id.
    pub id: Uuid,
    /// Name of the file; null where none was given.
    pub name: Option<String>,
    /// Replay that this is a variant of; null for a log.
    pub base_id: Option<Uuid>,
    /// Changes of a variant, for people.
    pub changes: Vec<String>,
    /// Dropped and completed parts of a document that was recorded; empty for a log.
    pub notes: Vec<ImportNote>,
    /// Size of the log, bytes.
    pub bytes: u64,
    /// Bytes of a torn tail, which are passed over.
    pub torn_bytes: u64,
    /// Time of the last entry since the first, s.
    pub duration_s: f64,
    /// Simulated time of a step, s.
    pub step_s: f64,
    /// Inputs of the recorded world by name, such as its terrain.
    pub inputs: std::collections::BTreeMap<String, String>,
    /// Commands in the log.
    pub commands: u64,
    /// Number of commands by name.
    pub commands_by_name: std::collections::BTreeMap<String, u64>,
    /// Commands that set up or changed nodes, links, flows or the environment after the start, up to
    /// 1000. Moves are among them where the log has at most 200.
    pub events: Vec<ReplayEvent>,
    /// Events that were left out.
    pub more_events: u64,
}

/// Command of a log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayEvent {
    /// Time since the start, s.
    pub at_s: f64,
    /// Name of the command.
    pub command: String,
    /// The command itself; null where this version does not know it.
    pub body: serde_json::Value,
}

/// Times of frames.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FrameQuery {
    /// Time of the first frame since the start, s, 0 or more
    pub from_s: Option<f64>,
    /// Time of the last frame, s; absent: the end of the log
    pub to_s: Option<f64>,
    /// Time between frames, s, above 0; absent: 1
    pub step_s: Option<f64>,
}

/// Frames of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayFrames {
    /// Id of the replay.
    pub id: Uuid,
    /// Frames in the order of time, up to 1000.
    pub frames: Vec<ReplayFrame>,
    /// Digests of the log that the replay came to.
    pub marks_compared: u64,
}

/// State of the mesh at a time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayFrame {
    /// Time since the start, s.
    pub at_s: f64,
    /// Rain rate on all links, mm/h.
    pub rain_rate_mm_h: f64,
    /// Nodes by id.
    pub nodes: Vec<ReplayNode>,
    /// Links that are usable, were cut, or were measured, by the ids of their ends.
    pub links: Vec<ReplayLink>,
    /// Flows by id.
    pub flows: Vec<ReplayFlow>,
}

/// Node of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayNode {
    /// Id.
    pub node_id: Uuid,
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Antenna height above ground, m.
    pub height_agl_m: f64,
    /// False if it has failed.
    pub operating: bool,
}

/// Link of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayLink {
    /// Node with the lower id.
    pub a_node_id: Uuid,
    /// Node with the higher id.
    pub b_node_id: Uuid,
    /// True if both directions pass, its nodes operate, and it was not cut.
    pub up: bool,
    /// True if it was cut by command.
    pub cut: bool,
    /// Expected transmissions, acknowledgements counted; null where a direction does not pass.
    pub etx: Option<f64>,
    /// Probability that a packet is lost from the lower id to the higher, and back, [0, 1].
    pub per: [f64; 2],
    /// Link margin from the lower id to the higher, and back, dB.
    pub link_margin_db: [f64; 2],
    /// Probability that a link like this one works from the lower id to the higher, and back, [0, 1].
    pub link_prob: [f64; 2],
    /// Received power from the lower id to the higher, and back, dBm.
    pub rx_power_dbm: [f64; 2],
    /// Predicted path loss from the lower id to the higher, and back, dB.
    pub path_loss_db: [f64; 2],
    /// Predicted SNR from the lower id to the higher, and back, dB.
    pub snr_db: [f64; 2],
    /// Last measurement from the lower id to the higher, and back; null where there is none.
    pub measured: [Option<ReplayMeasured>; 2],
}

/// Last measurement of a direction of a link. A value that was not measured is null.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ReplayMeasured {
    /// Time of the report since the start, s.
    pub at_s: f64,
    /// Power at the receiver, dBm.
    pub rx_power_dbm: Option<f64>,
    /// Loss between the radios, antennas not counted, dB.
    pub path_loss_db: Option<f64>,
    /// SNR, dB.
    pub snr_db: Option<f64>,
    /// Share of packets that arrive, [0, 1].
    pub delivery_prob: Option<f64>,
    /// Link quality of a routing protocol, [0, 1].
    pub quality: Option<f64>,
    /// Rate, bit/s.
    pub rate_bps: Option<f64>,
}

/// Flow of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayFlow {
    /// Id.
    pub flow_id: Uuid,
    /// Name.
    pub name: String,
    /// Nodes of its route in order; empty without a route.
    pub path: Vec<Uuid>,
    /// Rate that it asks for, bit/s.
    pub rate_bps: f64,
    /// Slowest hop, bit/s; null without a route.
    pub bottleneck_rate_bps: Option<f64>,
    /// Rate that arrives beside all other flows, bit/s, 0 to `rate_bps`; 0 without a route.
    pub carried_bps: f64,
    /// Rate that is offered and does not arrive, bit/s.
    pub lost_bps: f64,
    /// Part of the route that carries no more; null where all arrives, and without a route.
    pub bottleneck: Option<ReplayBottleneck>,
}

/// Part of a route where the air is in use all the time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayBottleneck {
    /// Node that sends, of the hop that needs most of that time.
    pub from_node_id: Uuid,
    /// Node that receives.
    pub to_node_id: Uuid,
    /// Links that take turns there, with this one.
    pub links: usize,
    /// Flows over them, with this one.
    pub flows: usize,
}
