//! Ground that the server fetches on request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coverage::Bounds;

/// Maximum number of tiles of one fetch.
pub const FETCH_TILES_MAX: usize = 16;

/// Data that is fetched.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GroundData {
    /// Heights of the ground.
    #[default]
    Heights,
    /// Trees and buildings on it.
    LandCover,
}

/// Area whose ground may be fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundQuestion {
    /// Edges of the area.
    pub bounds: Bounds,
    /// Data, default `heights`.
    #[serde(default)]
    pub data: GroundData,
}

/// Request to fetch the ground of an area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundFetchRequest {
    /// Edges of the area.
    pub bounds: Bounds,
    /// Data, default `heights`.
    #[serde(default)]
    pub data: GroundData,
    /// Consent to the terms of the source; only `true` is allowed.
    pub consent: bool,
}

/// Data set that ground is fetched from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroundTerms {
    /// Name of the data set.
    pub name: String,
    /// Address that files are fetched from.
    pub address: String,
    /// Licence.
    pub licence: Option<String>,
    /// Attribution that products must carry.
    pub attribution: Option<String>,
    /// Maximum size of a tile, MB.
    pub tile_max_mb: u64,
}

/// Ground of an area that may be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroundOffer {
    /// Data.
    pub data: GroundData,
    /// Data set; null where the server fetches none.
    pub terms: Option<GroundTerms>,
    /// Reason why the server fetches none; null where it does.
    pub refusal: Option<String>,
    /// Tiles of the area without data, of one degree for heights and of three for land cover, by their
    /// south-western square; empty where the server fetches none.
    pub tiles: Vec<String>,
    /// Maximum size of these tiles together, MB.
    pub size_max_mb: u64,
    /// Maximum number of tiles of one fetch.
    pub tiles_max: usize,
    /// Fetch in progress, of any client; null without one.
    pub fetch: Option<GroundFetch>,
}

/// State of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroundFetchState {
    /// Tiles are being fetched.
    Running,
    /// Every tile is in use, or not published.
    Done,
    /// Ended by a client; complete tiles are in use.
    Cancelled,
    /// Ended by an error; complete tiles are in use.
    Failed,
}

/// Progress of a fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroundFetch {
    /// Id of the fetch.
    pub id: Uuid,
    /// Data.
    pub data: GroundData,
    /// State.
    pub state: GroundFetchState,
    /// Tiles of the fetch, by name.
    pub tiles: Vec<String>,
    /// Complete tiles.
    pub fetched: Vec<String>,
    /// Tiles that the source does not publish, mostly open sea.
    pub absent: Vec<String>,
    /// Bytes of the present tile so far.
    pub tile_bytes: u64,
    /// Size of the present tile; null where it is not known.
    pub tile_size_bytes: Option<u64>,
    /// Bytes of all tiles so far.
    pub received_bytes: u64,
    /// Reason of the end of a failed fetch.
    pub failure: Option<String>,
}
