//! The testbed as readers see it.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::Section;
use serde::Serialize;

use super::desired::Desired;
use super::observed::{Counted, Heard, Means, Observed, Probe, Takeover, WireSide};
use super::settings::{Protocol, Settings};
use super::shape::Shape;
use crate::link::LinkKey;
use crate::site::NodeId;

/// A node of the testbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeatView {
    /// Which node.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// What finds its ways.
    pub protocol: Protocol,
    /// The neighbour by destination, where the routes are the world's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub next_hops: BTreeMap<NodeId, NodeId>,
    /// What its protocol found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<Heard>,
}

/// One direction of a wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideView {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// What it should do.
    pub shape: Shape,
    /// How often that changed.
    pub generation: u64,
    /// The last change that was tried.
    pub observed_generation: u64,
    /// Why it is not in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// What was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// A wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WireView {
    /// Its number, from 1.
    pub number: u32,
    /// From the lower id to the higher, and back.
    pub sides: [SideView; 2],
}

/// The testbed; empty in a world that is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TestbedView {
    /// How it was set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Simulated seconds per second.
    pub speed: f64,
    /// What the kernel can do, once somebody tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<Means>,
    /// The last controller that took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Takeover>,
    /// Nodes in id order.
    pub seats: Vec<SeatView>,
    /// Wires in id order of their ends.
    pub wires: Vec<WireView>,
}

impl TestbedView {
    /// The node with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&SeatView> {
        self.seats.iter().find(|seat| seat.name == name)
    }

    /// All directions, in order.
    pub fn sides(&self) -> impl Iterator<Item = (&WireView, &SideView)> {
        let places = (0..self.wires.len()).flat_map(|at| [(at, 0), (at, 1)]);
        places.map(|(at, back)| (&self.wires[at], &self.wires[at].sides[back]))
    }
}

/// Redraws the testbed when a wish or a sighting changed.
pub(super) fn publish_testbed(
    desired: Res<Desired>,
    observed: Res<Observed>,
    mut section: ResMut<Section<TestbedView>>,
) {
    if desired.settings.is_none() || !(desired.is_changed() || observed.is_changed()) {
        return;
    }
    let settings = desired.settings.clone();
    let protocol = |node| {
        settings
            .as_ref()
            .map_or_else(Protocol::default, |s| s.protocol(node))
    };
    let seats = desired.seats.iter().map(|(&node, seat)| SeatView {
        node,
        name: seat.name.clone(),
        number: seat.number,
        protocol: protocol(node),
        next_hops: desired.routes.get(&node).cloned().unwrap_or_default(),
        heard: observed.heard.get(&node).cloned().unwrap_or_default(),
    });
    let wires = desired.wires.iter().map(|(&ends, wire)| WireView {
        number: wire.number,
        sides: [false, true].map(|back| side(ends, back, wire.sides[usize::from(back)], &observed)),
    });
    section.redraw(TestbedView {
        seats: seats.collect(),
        wires: wires.collect(),
        speed: desired.speed,
        means: observed.means,
        takeover: observed.takeover,
        settings,
    });
}

fn side(ends: LinkKey, back: bool, wish: super::Side, observed: &Observed) -> SideView {
    let (from, to) = if back {
        (ends.b(), ends.a())
    } else {
        (ends.a(), ends.b())
    };
    let key = WireSide { from, to };
    let (observed_generation, failure) = observed.sides.get(&key).cloned().unwrap_or_default();
    SideView {
        from,
        to,
        shape: wish.shape,
        generation: wish.generation,
        observed_generation,
        failure,
        counted: observed.counted.get(&key).copied(),
        probe: observed.probes.get(&key).cloned(),
    }
}
