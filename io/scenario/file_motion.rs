//! The sections that place and move many stations.

use garde::Validate;
use groundwave_model::radio::presets::Role;
use groundwave_model::radio::station::{HEIGHT_AGL_M_MAX, HEIGHT_MSL_M, WOODLAND_DEPTH_M_MAX};
use groundwave_model::radio::{Indoor, Surroundings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_radio::{AntennaChoice, RadioChoice};
use super::limits::{DURATION_S_MAX, NODES_MAX, SPACING_M, SPEED_M_S};
use super::setdest::Dialect;

/// A rectangle of latitudes and longitudes. It may not cross the 180th meridian.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Southern edge, degrees north, [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub south_deg: f64,
    /// Western edge, degrees east, [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub west_deg: f64,
    /// Northern edge, degrees north, [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub north_deg: f64,
    /// Eastern edge, degrees east, [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub east_deg: f64,
}

/// A position on the ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct PositionFile {
    /// Latitude, degrees north (WGS84), [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub lon_deg: f64,
}

/// Station of every generated node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct StationFile {
    /// Role of the node.
    #[serde(default)]
    pub role: Role,
    /// Antenna height above ground, m, [0, 20000].
    #[garde(range(min = 0.0, max = HEIGHT_AGL_M_MAX))]
    pub height_agl_m: f64,
    /// Radio preset, or a table of settings.
    pub radio: RadioChoice,
    /// Antenna preset, or a table of settings; left out, that of the device of the radio, or a half-wave dipole.
    #[serde(default, skip_serializing_if = "AntennaChoice::is_default")]
    pub antenna: AntennaChoice,
    /// Buildings and trees around the antenna; left out, the clutter of the environment.
    #[serde(default)]
    pub surroundings: Surroundings,
    /// Building around the antenna; left out, it stands outdoors.
    #[serde(default)]
    pub indoor: Indoor,
    /// Length of the rays within woodland around the antenna, m, [0, 100000]; left out, it does not stand in woods.
    #[serde(default)]
    #[garde(range(min = 0.0, max = WOODLAND_DEPTH_M_MAX))]
    pub woodland_depth_m: f64,
}

/// Stations placed by the seed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct GenerateFile {
    /// Number of nodes, [1, 100000].
    // The check has the other nodes as well: `lower_nodes`.
    #[schemars(range(min = 1, max = NODES_MAX))]
    pub count: u32,
    /// Names are this prefix and a number from 1, padded with zeros to one width.
    pub prefix: String,
    /// Where.
    #[garde(dive)]
    pub area: Area,
    /// Distribution over the area.
    #[serde(default)]
    pub placement: Placement,
    /// Least distance between two of them, m, [0.1, 100000]; needed by `poisson_disc` and used by
    /// it alone.
    #[garde(range(min = SPACING_M.0, max = SPACING_M.1))]
    pub spacing_m: Option<f64>,
    /// Station of each node.
    #[garde(dive)]
    pub station: StationFile,
    /// Let them wander; the area is the one above when none is given.
    #[garde(dive)]
    pub wander: Option<WanderFile>,
}

/// Distribution of generated nodes over an area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Independently, with equal chance for every square metre.
    #[default]
    Uniform,
    /// In rows from the north-west, with nearly square cells.
    Grid,
    /// At random, but never closer than `spacing_m`.
    PoissonDisc,
}

/// Random waypoint motion: pick a place in the area, go there at a random speed, pause, repeat.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct WanderFile {
    /// Area of the motion.
    #[garde(dive)]
    pub area: Option<Area>,
    /// Slowest speed, m/s, [0.001, 8000].
    #[garde(range(min = SPEED_M_S.0, max = SPEED_M_S.1))]
    pub speed_min_m_s: f64,
    /// Fastest speed, m/s, [speed_min_m_s, 8000].
    #[garde(range(min = SPEED_M_S.0, max = SPEED_M_S.1))]
    pub speed_max_m_s: f64,
    /// Rest at each place, s, [0, 8640000].
    #[serde(default)]
    #[garde(range(min = 0.0, max = DURATION_S_MAX))]
    pub pause_s: f64,
}

/// A way of moving: exactly one of `waypoints`, `wander`, `goto`, `ns2` and `ns2_file`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct MotionFile {
    /// The node that moves.
    pub node: Option<String>,
    /// The nodes that move, each on its own; instead of `node`, and not with `waypoints`.
    pub nodes: Option<Vec<String>>,
    /// Start time, s; left out, the time when the node joins. Not with `ns2`.
    pub at_s: Option<f64>,
    /// Stop time, s; the node stays where it is. Not with `ns2`.
    pub until_s: Option<f64>,
    /// Places and times, at most 86400; between them the node moves evenly. It sets out for the
    /// first when the motion begins.
    #[garde(dive)]
    pub waypoints: Option<Vec<WaypointFile>>,
    /// Random waypoint motion.
    #[garde(dive)]
    pub wander: Option<WanderFile>,
    /// Go to a place and stay.
    #[garde(dive)]
    pub goto: Option<GotoFile>,
    /// Motion as ns-2's setdest writes it.
    pub ns2: Option<String>,
    /// File with motion as ns-2's setdest writes it, relative to this file.
    pub ns2_file: Option<String>,
    /// Place of the ns-2 coordinates (0, 0); X_ counts metres east and Y_ metres north.
    #[garde(dive)]
    pub origin: Option<PositionFile>,
    /// Meaning of a `setdest` with a speed of 0: `ns2`, a stop; `core`, a jump to the destination.
    /// Left out, a node that no line gives a speed jumps; others stop.
    pub dialect: Option<Dialect>,
    /// ns-2's `$node_(7)` is the node named by this prefix and 7; left out, `node-`.
    pub prefix: Option<String>,
    /// Add the ns-2 nodes with this station; left out, they must be nodes of this scenario.
    #[garde(dive)]
    pub station: Option<StationFile>,
}

/// A place and the time to be there.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct WaypointFile {
    /// When, s; later than the waypoint before.
    pub at_s: f64,
    /// Latitude, degrees north (WGS84), [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub lon_deg: f64,
    /// Antenna height above ground there, m, [0, 20000]; it changes evenly on the way. Left out, that of the
    /// waypoint before.
    #[garde(range(min = 0.0, max = HEIGHT_AGL_M_MAX))]
    pub height_agl_m: Option<f64>,
    /// Antenna height above mean sea level there, m, [-500, 29000], in place of `height_agl_m`; it changes evenly
    /// on the way, and the height above ground follows the terrain.
    #[garde(range(min = HEIGHT_MSL_M.0, max = HEIGHT_MSL_M.1))]
    pub height_msl_m: Option<f64>,
}

/// A place to go to.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct GotoFile {
    /// Latitude, degrees north (WGS84), [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub lon_deg: f64,
    /// Speed over ground, m/s, [0.001, 8000].
    #[garde(range(min = SPEED_M_S.0, max = SPEED_M_S.1))]
    pub speed_m_s: f64,
}
