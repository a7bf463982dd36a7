//! What should be there: seats, wires, their shapes, routes; and how it leaves the world.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::Effect;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use super::shape::Shape;
use crate::link::LinkKey;
use crate::site::NodeId;

/// A node's place in the testbed, its own as long as the testbed lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The how-manieth it is, from 1; its address follows from it.
    pub number: u32,
    /// What people call the node.
    pub name: String,
}

/// One direction of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Counts changes of the shape.
    pub generation: u64,
    /// What it should do.
    pub shape: Shape,
}

/// A pair of nodes that heard each other at least once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    /// The how-manieth it is, from 1; names and numbers of its interfaces follow from it.
    pub number: u32,
    /// From the lower id to the higher, and back.
    pub sides: [Side; 2],
}

/// What should be there. Settings and speed are written by commands, all else by `mirror_wires`.
#[derive(Resource, Debug, Clone, Default, Serialize, Deserialize)]
pub struct Desired {
    /// `None` until the testbed begins.
    pub settings: Option<Settings>,
    /// Simulated seconds per second of the machine's; 0 is paused.
    pub speed: f64,
    /// Who is where.
    pub seats: BTreeMap<NodeId, Seat>,
    /// Which pairs are wired.
    pub wires: BTreeMap<LinkKey, Wire>,
    /// Routes of the nodes that follow the world's.
    pub routes: BTreeMap<NodeId, BTreeMap<NodeId, NodeId>>,
}

/// Work for the outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A node needs a seat.
    Seat {
        /// Which node.
        node: NodeId,
        /// Its place.
        seat: Seat,
        /// How the testbed is set up.
        settings: Settings,
    },
    /// A direction should do this; its wire is to be laid if it is not there.
    Shape {
        /// The node that sends.
        from: NodeId,
        /// The node that receives.
        to: NodeId,
        /// Number of the wire.
        number: u32,
        /// What it should do, and how often that changed.
        side: Side,
    },
    /// A node's routes: the neighbour by destination, and no others.
    Routes {
        /// Which node.
        node: NodeId,
        /// Neighbour by destination.
        next_hops: BTreeMap<NodeId, NodeId>,
    },
}

/// What a piece of work is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkKey {
    /// The seat of a node.
    Seat(NodeId),
    /// A direction, from one node to another.
    Shape(NodeId, NodeId),
    /// The routes of a node.
    Routes(NodeId),
}

impl Effect for Work {
    type Key = WorkKey;
    fn key(&self) -> WorkKey {
        match self {
            Self::Seat { node, .. } => WorkKey::Seat(*node),
            Self::Shape { from, to, .. } => WorkKey::Shape(*from, *to),
            Self::Routes { node, .. } => WorkKey::Routes(*node),
        }
    }
}
