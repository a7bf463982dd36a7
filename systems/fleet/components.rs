//! Components of a node of the fleet. Each says who writes it.
//!
//! What they hold is shared with the view, so that a beat costs what changed.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::heartbeat::Heartbeat;
use super::liveness::Liveness;
use super::metrics::Readings;
use crate::identity::{Mac, PublicKey, RegistrationId};

/// What a node is to the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// What people call it.
    pub name: String,
    /// What it is for, in the people's own words.
    pub role_id: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Its registration, once it asked.
    pub registration: Option<RegistrationId>,
    /// Hardware address of its mesh interface.
    pub mac: Option<Mac>,
    /// Its own name for itself.
    pub hostname: Option<String>,
    /// Its key.
    pub public_key: Option<PublicKey>,
    /// Its overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// How it may come in, if it was registered before it asked.
    #[serde(rename = "expected")]
    pub preregistration: Option<Preregistration>,
    /// Where it is, if somebody said so.
    #[serde(rename = "place")]
    pub location: Option<Location>,
    /// What it runs on, if it said so.
    pub board: Option<String>,
    /// Versions of what it runs.
    pub firmware: BTreeMap<String, String>,
    /// What it can be asked to do.
    pub supported_commands: Vec<String>,
    /// When it became one, ns since the Unix epoch.
    pub created_ns: u64,
    /// Counts changes, for `If-Match`.
    pub revision: u64,
}

/// How a node that was registered before it asked may come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preregistration {
    /// From this hardware address,
    pub mac: Mac,
    /// with this key,
    pub public_key: Option<PublicKey>,
    /// or with the code that has this SHA-256,
    pub code_sha256: [u8; 32],
    /// until then, ns since the Unix epoch.
    pub until_ns: u64,
}

/// Who said where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocationSource {
    /// Its own satellite receiver.
    Gps,
    /// Somebody, by hand.
    Override,
    /// The plan.
    Plan,
}

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Latitude, WGS 84, degrees.
    pub lat_deg: f64,
    /// Longitude, WGS 84, degrees.
    pub lon_deg: f64,
    /// Height above mean sea level, m, if known.
    pub alt_msl_m: Option<f64>,
    /// When that was said, ms since the Unix epoch.
    pub ts_ms: u64,
    /// Who said so.
    pub source: LocationSource,
}

/// What a node is to the fleet. Written by `onboarding.*`, `fleet.join` and `fleet.patch`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(
    crate::site::Enrolled,
    LivenessState,
    LastHeartbeat,
    LatestReadings,
    super::RecentSamples,
    super::NodeCommands
)]
pub struct NodeRecord(pub Arc<NodeInfo>);

/// Whether it speaks. Written by `fleet.*`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LivenessState(pub Arc<Liveness>);

/// What it said last, if it ever did. Written by `fleet.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LastHeartbeat(pub Option<Arc<ReceivedHeartbeat>>);

/// Its latest readings. Written by `fleet.hear` and `fleet.samples`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LatestReadings(pub Arc<Readings>);

/// A heartbeat, and how it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedHeartbeat {
    /// What it said.
    #[serde(rename = "beat")]
    pub heartbeat: Heartbeat,
    /// When it came, ns since the Unix epoch by the gateway's clock.
    pub wall_ns: u64,
    /// Where it came from.
    pub source_ip: IpAddr,
    /// How far the node's clock is ahead of the gateway's, ms, if it said what it shows.
    pub clock_offset_ms: Option<i64>,
    /// When it was first heard, ns since the Unix epoch.
    pub first_ns: u64,
}

/// A planned node that was of the fleet and is no longer. Written by `onboarding.revoke`.
#[derive(Component, Debug)]
pub struct Deregistered;
