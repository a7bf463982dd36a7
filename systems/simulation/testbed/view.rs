//! Views of the testbed.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::Section;
use serde::Serialize;

use super::components::{
    Host, NamespaceAssignment, Namespaces, NextHops, ObservedProgram, ObservedRoutes, Report,
    Reports, Setup, Side, VethPair, VethPairs,
};
use super::manual::{ManualShape, ManualShapes};
use super::observed::{Counted, LinkDirection, Means, ObservedRoute, Probe, Takeover};
use super::reading::{DatedProgram, DatedReading};
use super::settings::{Protocol, Settings};
use super::shape::Shape;
use crate::site::NodeId;

/// A node of the testbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamespaceView {
    pub node: NodeId,
    /// Display name.
    pub name: String,
    /// Number, from 1.
    pub number: u32,
    /// Routing protocol.
    pub protocol: Protocol,
    /// The neighbour by destination, where the routes are the world's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub next_hops: BTreeMap<NodeId, NodeId>,
    /// Routes that its protocol found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<ObservedRoute>,
    /// Routing program of the node as read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<DatedProgram>,
}

/// One direction of a veth pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideView {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// Desired shape.
    pub shape: Shape,
    /// Number of changes of the desired shape.
    pub generation: u64,
    /// The last change that was tried.
    pub observed_generation: u64,
    /// Cause for which it is not in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Time from which it is not in force for that cause, ns since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_since_ns: Option<u64>,
    /// Values as read when they were others the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<DatedReading>,
    /// Repairs after changes of other programs: number, and the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repairs: Option<(u64, String)>,
    /// Values set by hand in place of those of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual: Option<ManualShape>,
    /// Packet counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// Last measurement with packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// A veth pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WireView {
    /// Number, from 1.
    pub number: u32,
    /// From the lower id to the higher, and back.
    pub sides: [SideView; 2],
}

/// The testbed; empty in a world without one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TestbedView {
    /// Settings, once it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Simulated seconds per second.
    pub speed: f64,
    /// Link features of the kernel, once probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<Means>,
    /// The last controller that took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Takeover>,
    /// Time of the last reading of all directions, ns since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
    /// Nodes in id order.
    #[serde(rename = "seats")]
    pub assignments: Vec<NamespaceView>,
    /// Veth pairs in id order of their nodes.
    pub wires: Vec<WireView>,
}

impl TestbedView {
    /// The node with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&NamespaceView> {
        self.assignments.iter().find(|assignment| assignment.name == name)
    }

    /// All directions, in order.
    pub fn sides(&self) -> impl Iterator<Item = (&WireView, &SideView)> {
        (0..self.wires.len())
            .flat_map(|at| [(at, 0), (at, 1)])
            .map(|(at, back)| (&self.wires[at], &self.wires[at].sides[back]))
    }
}

type NamespaceParts = (
    &'static NamespaceAssignment,
    &'static NextHops,
    &'static ObservedRoutes,
    &'static ObservedProgram,
);
type NamespaceChanged = Or<(Changed<NextHops>, Changed<ObservedRoutes>, Changed<ObservedProgram>)>;
type PairParts = (&'static VethPair, &'static Reports, &'static ManualShapes);
type PairChanged = Or<(Changed<VethPair>, Changed<Reports>, Changed<ManualShapes>)>;

/// Redraws the testbed when anything of it changed.
pub(super) fn publish_testbed(
    setup: Res<Setup>,
    host: Res<Host>,
    namespaces: Res<Namespaces>,
    pairs: Res<VethPairs>,
    namespace: Query<NamespaceParts>,
    pair: Query<PairParts>,
    changed: (Query<(), NamespaceChanged>, Query<(), PairChanged>),
    mut section: ResMut<Section<TestbedView>>,
) {
    let Some(settings) = &setup.settings else {
        return;
    };
    let still = changed.0.is_empty() && changed.1.is_empty();
    let has_same_nodes = !namespaces.is_changed() && !pairs.is_changed();
    if still && has_same_nodes && !setup.is_changed() && !host.is_changed() {
        return;
    }
    let assignments = namespaces.0.iter().map(|(node, entity)| {
        let parts = namespace.get(*entity).expect("an indexed namespace");
        let (assignment, next_hops, observed, program) = parts;
        NamespaceView {
            node: *node,
            name: assignment.name.clone(),
            number: assignment.number,
            protocol: settings.protocol(*node),
            next_hops: next_hops.0.clone().unwrap_or_default(),
            heard: observed.0.clone(),
            program: program.0.clone(),
        }
    });
    let wires = pairs.0.iter().map(|(key, entity)| {
        let (wire, reports, manual) = pair.get(*entity).expect("an indexed veth pair");
        let both = LinkDirection::both(*key);
        WireView {
            number: wire.number,
            sides: [0, 1].map(|at| side(both[at], wire.sides[at], &reports.0[at], manual.0[at])),
        }
    });
    section.redraw(TestbedView {
        assignments: assignments.collect(),
        wires: wires.collect(),
        speed: setup.speed,
        means: host.means,
        takeover: host.takeover,
        read_ns: host.read_ns,
        settings: Some(settings.clone()),
    });
}

fn side(direction: LinkDirection, desired: Side, report: &Report, manual: ManualShape) -> SideView {
    let (observed_generation, failure) = report.tried.clone().unwrap_or_default();
    SideView {
        from: direction.from,
        to: direction.to,
        shape: desired.shape,
        generation: desired.generation,
        observed_generation,
        failure,
        failed_since_ns: report.failed_since_ns,
        reading: report.reading.clone(),
        repairs: report.repairs.clone(),
        manual: (!manual.is_empty()).then_some(manual),
        counted: report.counted,
        probe: report.probe.clone(),
    }
}
