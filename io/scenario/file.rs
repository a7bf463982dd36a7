//! The shape of a scenario file: what may be written, and what is meant when it is not.
//!
//! The doc comments here become the descriptions in `scenarios/schema.json`, so an editor shows
//! them while the file is written.

use std::collections::BTreeMap;

use garde::Validate;
use groundwave_model::link::Probe;
use groundwave_model::radio::environment::Environment;
use groundwave_model::radio::presets::Role;
use groundwave_model::radio::station::{HEIGHT_AGL_M_MAX, HEIGHT_MSL_M, WOODLAND_DEPTH_M_MAX};
use groundwave_model::radio::{Indoor, Surroundings};
use groundwave_model::terrain::Posts;
use groundwave_simulation::link::UPDATE_DISTANCE_M_MAX;
use groundwave_values::bounds::above_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deployment::DeploymentFile;
use super::file_coverage::CoverageFile;
use super::file_motion::{GenerateFile, MotionFile};
use super::file_radio::{AntennaChoice, AntennaPresetFile, RadioChoice, RadioPresetFile};
use super::limits::{DURATION_S_MAX, GROUND_MSL_M, LINK_RANGE_M, RATE_BPS, STEP_S_MAX, STEP_S_MIN};
use super::study::StudyFile;
use super::testbed::TestbedFile;

/// A scenario: a command log written by hand. Every section but `[scenario]` may be left out.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Title and duration of the run.
    pub scenario: HeaderFile,
    /// The ground under the stations; not known when left out: links assume sea level and say so.
    #[schemars(default)]
    pub terrain: TerrainFile,
    /// Propagation model, climate, ground and weather: any subset of the fields.
    #[schemars(default)]
    pub environment: Option<Environment>,
    /// Corrections of the model from measurements.
    #[schemars(default)]
    pub calibration: Option<CalibrationFile>,
    /// Range of links, sampling of paths, and metric of routes.
    #[schemars(default)]
    pub mesh: Option<MeshFile>,
    /// Output of a run.
    #[schemars(default)]
    pub output: OutputFile,
    /// Coverage computed by a sweep.
    #[schemars(default)]
    pub coverage: Option<CoverageFile>,
    /// Properties of all nodes together, for planning.
    #[schemars(default)]
    pub deployment: Option<DeploymentFile>,
    /// Settings of the testbed: a real network that follows the scenario.
    #[schemars(default)]
    pub testbed: Option<TestbedFile>,
    /// Values that `groundwave study` varies.
    #[schemars(default)]
    pub study: Option<StudyFile>,
    /// Radio presets of your own.
    #[schemars(default)]
    pub radio: Vec<RadioPresetFile>,
    /// Antenna presets of your own.
    #[schemars(default)]
    pub antenna: Vec<AntennaPresetFile>,
    /// Stations written one by one.
    #[schemars(default)]
    pub node: Vec<NodeFile>,
    /// Stations placed by the seed.
    #[schemars(default)]
    pub generate: Vec<GenerateFile>,
    /// Motion of stations.
    #[schemars(default)]
    pub motion: Vec<MotionFile>,
    /// Traffic through the mesh.
    #[schemars(default)]
    pub flow: Vec<FlowFile>,
    /// Stations and links that break, and come back.
    #[schemars(default)]
    pub failure: Vec<FailureFile>,
    /// Changes of the environment: each keeps what came before and sets what it names.
    #[schemars(default)]
    pub weather: Vec<WeatherFile>,
    /// Any command the engine records, written out.
    #[schemars(default)]
    pub command: Vec<CommandFile>,
}

/// Title and duration of the run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct HeaderFile {
    /// One line saying what the scenario shows, at most 200 characters.
    pub title: String,
    /// A page saying why, at most 10,000 characters.
    #[serde(default)]
    pub description: String,
    /// Seed of every random draw, 0 or more. The same seed gives the same run.
    #[serde(default = "one")]
    pub seed: u64,
    /// Simulated time per step, s, [0.001, 3600].
    #[serde(default = "one_second")]
    #[garde(range(min = STEP_S_MIN, max = STEP_S_MAX))]
    pub step_s: f64,
    /// Length of the run, s, (0, 8640000] and at most ten million steps.
    #[garde(range(max = DURATION_S_MAX), custom(above_zero))]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub duration_s: f64,
    /// Date and time of second 0 (RFC 3339): `"2026-05-01T10:00:00Z"`. Logs of the run have it. Left out, none.
    #[garde(custom(instant))]
    #[schemars(extend("format" = "date-time"))]
    pub begin: Option<String>,
}

impl HeaderFile {
    /// Date of second 0, s since the Unix epoch.
    pub(super) fn begin_unix_s(&self) -> Option<f64> {
        let begin: jiff::Timestamp = self.begin.as_deref()?.parse().ok()?;
        Some(begin.as_nanosecond() as f64 / 1e9)
    }
}

/// Refuses a text that is not a date and time of RFC 3339.
fn instant(begin: &Option<String>, _: &()) -> garde::Result {
    match begin.as_deref().map(str::parse::<jiff::Timestamp>) {
        Some(Err(_)) => Err(garde::Error::new(INSTANTS)),
        _ => Ok(()),
    }
}

/// Values of `begin`.
const INSTANTS: &str = "a date and time of RFC 3339, such as 2026-05-01T10:00:00Z";

/// The ground under the stations. Left out, it is not known: links assume 0 m and say so.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct TerrainFile {
    /// Use flat ground of this height above mean sea level, m, [-500, 9000]. Excludes `tiles`,
    /// `directory` and `geoid`.
    #[garde(range(min = GROUND_MSL_M.0, max = GROUND_MSL_M.1))]
    pub flat_msl_m: Option<f64>,
    /// Elevation tiles the scenario needs, named by their south-west corner: `N57E011`.
    #[serde(default)]
    pub tiles: Vec<String>,
    /// Folder with the tiles, relative to this file; left out, the folder given to the program.
    pub directory: Option<String>,
    /// Geoid file, relative to this file; left out, the one given to the program.
    pub geoid: Option<String>,
    /// Height between the posts of tiles: interpolated between four, or that of the nearest one; left out,
    /// the way given to the program, else interpolated.
    pub posts: Option<Posts>,
    /// Folder of land cover, relative to this file: GeoTIFF files of ESA WorldCover, NLCD, CORINE, canopy
    /// or building heights, or of classes in a `classes.toml`. With it `model` of `[environment]` is `p1812`
    /// where it is left out. Left out, the folder given to the program, else none.
    pub land_cover: Option<String>,
}

impl TerrainFile {
    /// True if a key is about the ground.
    pub fn names_some(&self) -> bool {
        self.names_tiles() || self.flat_msl_m.is_some()
    }

    /// True if a key is about tiles.
    pub fn names_tiles(&self) -> bool {
        let has_files = !self.tiles.is_empty() || self.directory.is_some() || self.geoid.is_some();
        has_files || self.posts.is_some()
    }
}

/// Range of links, sampling of paths, and metric of routes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// Pairs further apart than this are not evaluated, m, [1, 1000000].
    #[serde(default = "hundred_km")]
    #[garde(range(min = LINK_RANGE_M.0, max = LINK_RANGE_M.1))]
    pub link_range_max_m: f64,
    /// Distance between terrain samples on a path, m, [1, 10000]; left out, that of the tiles.
    #[garde(range(min = 1.0, max = 10000.0))]
    pub sample_spacing_m: Option<f64>,
    /// Metric that routes minimise.
    #[serde(default)]
    pub metric: Metric,
    /// Packet size the error rate is computed for, bytes, [1, 65535].
    #[serde(default = "mtu")]
    #[garde(range(min = 1))]
    pub packet_bytes: u16,
    /// Links of a node that moves are computed again once it is further than this from where they were
    /// computed last, m, [0, 10000]. Left out or 0, whenever it moved. At 10 m a walker's links cost a
    /// tenth, and each end of a link is taken at most 10 m from where it is.
    #[serde(default)]
    #[garde(range(min = 0.0, max = UPDATE_DISTANCE_M_MAX))]
    pub update_distance_m: f64,
    /// Probe by which routing protocols measure links: `metric` counts its ETX instead of that of data, as
    /// OLSR and batman-adv do. Left out, that of data.
    #[garde(dive)]
    pub probe: Option<Probe>,
}

/// Metric that routes minimise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Expected transmission time: errors and rate.
    #[default]
    Ett,
    /// Expected transmission count: errors only.
    Etx,
    /// The slowest link of the route.
    Bottleneck,
    /// The number of links.
    Hops,
}

/// Output of a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputFile {
    /// Folder for the tables, relative to the scenario; left out, nothing is written. Tables that are
    /// there are written over with `--force` only.
    pub directory: Option<String>,
    /// Tables to write; left out, all.
    #[serde(default)]
    pub tables: Vec<OutputTable>,
    /// Simulated time between rows, s, [step_s, duration_s]; left out, only at the end.
    pub every_s: Option<f64>,
}

/// A table a run can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputTable {
    /// Positions and states.
    Nodes,
    /// Link budgets.
    Links,
    /// Routes.
    Routes,
    /// Flows.
    Flows,
}

/// A station written by hand.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct NodeFile {
    /// Name, unique: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`. References use it.
    pub name: String,
    /// Display name, at most 64 characters; left out, the name.
    pub label: Option<String>,
    /// Role of the node.
    #[serde(default)]
    pub role: Role,
    /// Latitude, degrees north (WGS84), [-90, 90].
    #[garde(range(min = -90.0, max = 90.0))]
    pub lat_deg: f64,
    /// Longitude, degrees east (WGS84), [-180, 180].
    #[garde(range(min = -180.0, max = 180.0))]
    pub lon_deg: f64,
    /// Antenna height above ground, m, [0, 20000]: one of this and `height_msl_m`.
    #[garde(range(min = 0.0, max = HEIGHT_AGL_M_MAX))]
    pub height_agl_m: Option<f64>,
    /// Antenna height above mean sea level, m, [-500, 29000]. The run takes the ground from the terrain; where that
    /// is not known it is at 0 m, and an antenna below the ground stands on it.
    #[garde(range(min = HEIGHT_MSL_M.0, max = HEIGHT_MSL_M.1))]
    pub height_msl_m: Option<f64>,
    /// Radio preset, or a table of settings.
    pub radio: RadioChoice,
    /// Antenna preset, or a table of settings; left out, that of the device of the radio, or a half-wave dipole.
    #[serde(default, skip_serializing_if = "AntennaChoice::is_default")]
    pub antenna: AntennaChoice,
    /// Direction of the antenna; left out, towards the other node of each link.
    #[garde(dive)]
    pub pointing: Option<PointingFile>,
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
    /// Surveyed ground height above mean sea level, m, [-500, 9000]. Only `pointing = { at = … }`
    /// reads it; the run takes the ground from the terrain.
    #[garde(range(min = GROUND_MSL_M.0, max = GROUND_MSL_M.1))]
    pub ground_msl_m: Option<f64>,
    /// Time of joining, s.
    #[serde(default)]
    pub at_s: f64,
    /// Time of final removal, s.
    pub until_s: Option<f64>,
}

/// Direction of an antenna: `azimuth_deg`, or `at`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct PointingFile {
    /// Clockwise from true north, deg, [-360, 360]; kept from 0 to below 360.
    #[garde(range(min = -360.0, max = 360.0))]
    pub azimuth_deg: Option<f64>,
    /// Above the horizontal, deg, [-90, 90]; left out with `azimuth_deg`, 0; left out with `at`,
    /// computed.
    #[garde(range(min = -90.0, max = 90.0))]
    pub elevation_deg: Option<f64>,
    /// The node to look at. The elevation allows for both heights above ground, for the ground
    /// (`ground_msl_m` where both nodes state it, else that of the terrain) and for the curved Earth.
    pub at: Option<String>,
}

/// Traffic from one node to another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct FlowFile {
    /// Name, unique among flows: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
    pub name: String,
    /// Display name, at most 64 characters; left out, the name.
    pub label: Option<String>,
    /// Node that sends.
    pub source: String,
    /// Node that receives.
    pub target: String,
    /// Offered payload rate, bit/s, [1, 1e12].
    #[garde(range(min = RATE_BPS.0, max = RATE_BPS.1))]
    pub rate_bps: f64,
    /// Start time, s.
    #[serde(default)]
    pub at_s: f64,
    /// Stop time, s; left out, the end of the run.
    pub until_s: Option<f64>,
}

/// A node or a link that breaks: one of `node` and `link`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureFile {
    /// Node that fails.
    pub node: Option<String>,
    /// The two nodes of the link that fails.
    pub link: Option<[String; 2]>,
    /// Time of the failure, s.
    pub at_s: f64,
    /// Time of the repair, s; left out, never.
    pub until_s: Option<f64>,
}

/// A calibration profile, as `groundwave calibrate` writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    /// The profile, relative to the scenario.
    pub file: String,
}

/// A change of the environment. Fields not named keep their last value.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WeatherFile {
    /// Time of the change, s.
    pub at_s: f64,
    /// The fields to set.
    #[schemars(flatten)]
    pub environment: Environment,
    /// Names of the fields in the file.
    #[schemars(skip)]
    pub named: Vec<String>,
}

/// A command as the engine records it: the remaining keys are its body.
#[derive(Debug, Clone, JsonSchema)]
pub struct CommandFile {
    /// Time of application, s.
    pub at_s: f64,
    /// Name of the command, such as `node.fail`.
    pub command: String,
    /// The body.
    #[schemars(flatten)]
    pub body: BTreeMap<String, serde_json::Value>,
}

fn one() -> u64 {
    1
}

fn one_second() -> f64 {
    1.0
}

fn hundred_km() -> f64 {
    100_000.0
}

fn mtu() -> u16 {
    1_500
}
