//! The sections that place and move many stations.

use groundwave_systems::radio::presets::Role;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_radio::{AntennaChoice, RadioChoice};
use super::setdest::Dialect;

/// A rectangle of latitudes and longitudes. It may not cross the 180th meridian.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Southern edge, degrees north, [-90, 90].
    pub south_deg: f64,
    /// Western edge, degrees east, [-180, 180].
    pub west_deg: f64,
    /// Northern edge, degrees north, [-90, 90].
    pub north_deg: f64,
    /// Eastern edge, degrees east, [-180, 180].
    pub east_deg: f64,
}

/// A position on the ground.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositionFile {
    /// Latitude, degrees north (WGS84), [-90, 90].
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    pub lon_deg: f64,
}

/// Station of every generated node.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationFile {
    /// Role of the node.
    #[serde(default)]
    pub role: Role,
    /// Antenna height above ground, m, [0, 20000].
    pub height_agl_m: f64,
    /// Radio preset, or a table of settings.
    pub radio: RadioChoice,
    /// Antenna preset, or a table of settings; left out, a half-wave dipole.
    #[serde(default)]
    pub antenna: AntennaChoice,
}

/// Stations placed by the seed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateFile {
    /// Number of nodes, [1, 100000].
    pub count: u32,
    /// Names are this prefix and a number from 1, padded with zeros to one width.
    pub prefix: String,
    /// Where.
    pub area: Area,
    /// Distribution over the area.
    #[serde(default)]
    pub placement: Placement,
    /// Least distance between two of them, m, (0, 100000]; needed by `poisson_disc` and used by
    /// it alone.
    pub spacing_m: Option<f64>,
    /// Station of each node.
    pub station: StationFile,
    /// Let them wander; the area is the one above when none is given.
    pub wander: Option<WanderFile>,
}

/// Distribution of generated nodes over an area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WanderFile {
    /// Area of the motion.
    pub area: Option<Area>,
    /// Slowest speed, m/s, [0.001, 8000].
    pub speed_min_m_s: f64,
    /// Fastest speed, m/s, [speed_min_m_s, 8000].
    pub speed_max_m_s: f64,
    /// Rest at each place, s.
    #[serde(default)]
    pub pause_s: f64,
}

/// A way of moving: exactly one of `waypoints`, `wander`, `goto`, `ns2` and `ns2_file`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
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
    pub waypoints: Option<Vec<WaypointFile>>,
    /// Random waypoint motion.
    pub wander: Option<WanderFile>,
    /// Go to a place and stay.
    pub goto: Option<GotoFile>,
    /// Motion as ns-2's setdest writes it.
    pub ns2: Option<String>,
    /// File with motion as ns-2's setdest writes it, relative to this file.
    pub ns2_file: Option<String>,
    /// Place of the ns-2 coordinates (0, 0); X_ counts metres east and Y_ metres north.
    pub origin: Option<PositionFile>,
    /// Meaning of a `setdest` with a speed of 0: `ns2`, a stop; `core`, a jump to the destination.
    /// Left out, a node that no line gives a speed jumps; others stop.
    pub dialect: Option<Dialect>,
    /// ns-2's `$node_(7)` is the node named by this prefix and 7; left out, `node-`.
    pub prefix: Option<String>,
    /// Add the ns-2 nodes with this station; left out, they must be nodes of this scenario.
    pub station: Option<StationFile>,
}

/// A place and the time to be there.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaypointFile {
    /// When, s; later than the waypoint before.
    pub at_s: f64,
    /// Latitude, degrees north (WGS84), [-90, 90].
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    pub lon_deg: f64,
}

/// A place to go to.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GotoFile {
    /// Latitude, degrees north (WGS84), [-90, 90].
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    pub lon_deg: f64,
    /// Speed over ground, m/s, [0.001, 8000].
    pub speed_m_s: f64,
}
