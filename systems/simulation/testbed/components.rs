//! Components and resources of a testbed. The doc of each names its writers.
//!
//! Namespaces and veth pairs are entities of their own: they outlive the nodes and links they stand
//! for, so that names and numbers follow from the log alone.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::observed::{Counted, Means, ObservedRoute, Probe, Takeover};
use super::reading::{DatedProgram, DatedReading};
use super::settings::Settings;
use super::shape::Shape;
use crate::link::LinkKey;
use crate::site::NodeId;

/// Settings and time scale of the testbed. Written by `testbed.begin` and `testbed.pace`.
#[derive(Resource, Debug, Default)]
pub struct Setup {
    /// Absent until the testbed begins.
    pub settings: Option<Settings>,
    /// Simulated seconds per second of the machine's; 0 is paused.
    pub speed: f64,
}

/// The kernel and its controller. Written by `testbed.kernel` and `testbed.take_over`.
#[derive(Resource, Debug, Default)]
pub struct Host {
    /// Link features of the kernel, once it was probed.
    pub means: Option<Means>,
    /// The last controller that took over.
    pub takeover: Option<Takeover>,
    /// Time of the last reading of all links, ns since the Unix epoch. Written by `testbed.count`.
    pub read_ns: Option<u64>,
}

/// The namespace entity of each node. Written by `assign_namespaces`.
#[derive(Resource, Debug, Default)]
pub struct Namespaces(pub BTreeMap<NodeId, Entity>);

/// The veth pair entity of each pair of nodes. Written by `shape_links`.
#[derive(Resource, Debug, Default)]
pub struct VethPairs(pub BTreeMap<LinkKey, Entity>);

/// The namespace of a node, its own as long as the testbed lasts, even when the node leaves the world.
/// Written by `assign_namespaces`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceAssignment {
    /// Number, from 1, in the order of assignment; its address follows from it.
    pub number: u32,
    /// The name of the node.
    pub name: String,
}

/// One direction of a veth pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Number of changes of the shape.
    pub generation: u64,
    /// The desired shape.
    pub shape: Shape,
}

/// The veth pair of two nodes whose link was up at least once; it stays when the link goes. Written by
/// `shape_links`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VethPair {
    /// Number, from 1, in the order of creation; names and numbers of its interfaces follow from
    /// it.
    pub number: u32,
    /// From the lower id to the higher, and back.
    pub sides: [Side; 2],
}

/// The neighbour by destination, in a namespace that follows the routes of the world; absent before
/// they were computed. Written by `route_namespaces`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct NextHops(pub Option<BTreeMap<NodeId, NodeId>>);

/// Routes that the protocol of a namespace found. Written by `testbed.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct ObservedRoutes(pub Vec<ObservedRoute>);

/// The routing program of a namespace as read. Written by `testbed.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct ObservedProgram(pub Option<DatedProgram>);

/// Reports on both directions of a veth pair, in the order of its sides. Written by commands.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct Reports(pub [Report; 2]);

/// Reports on a direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The last generation that was tried, and why it is not in force.
    pub tried: Option<(u64, Option<String>)>,
    /// Time from which it is not in force for that reason, ns since the Unix epoch.
    pub failed_since_ns: Option<u64>,
    /// Values as read.
    pub reading: Option<DatedReading>,
    /// Counters.
    pub counted: Option<Counted>,
    /// The last measurement with packets.
    pub probe: Option<Probe>,
    /// Repairs after changes of other programs: number, and the last change.
    pub repairs: Option<(u64, String)>,
}
