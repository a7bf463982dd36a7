//! The testbed, for checkpoints: shapes are kept, because a desired shape changes only beyond a threshold.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::commands::begin;
use super::components::{
    Host, NamespaceAssignment, Namespaces, NextHops, ObservedProgram, ObservedRoutes, Report,
    Reports, Setup, VethPair, VethPairs,
};
use super::manual::{ManualShape, ManualShapes};
use super::nodes::{Departed, LastNumbers};
use super::observed::{Counted, LinkDirection, Means, ObservedRoute, Probe, Takeover};
use super::reading::{DatedProgram, DatedReading};
use super::settings::Settings;
use crate::link::LinkKey;
use crate::site::NodeId;

/// The desired testbed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Desired {
    settings: Option<Settings>,
    speed: f64,
    #[serde(rename = "seats")]
    assignments: BTreeMap<NodeId, NamespaceAssignment>,
    wires: BTreeMap<LinkKey, VethPair>,
    routes: BTreeMap<NodeId, BTreeMap<NodeId, NodeId>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    manual: BTreeMap<LinkDirection, ManualShape>,
    /// Absent where they are those of the nodes and veth pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_numbers: Option<LastNumbers>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    departed: BTreeSet<NodeId>,
}

impl Desired {
    /// The last numbers of the nodes and veth pairs that are there.
    fn numbers(&self) -> LastNumbers {
        let nodes = self.assignments.values().map(|assignment| assignment.number);
        let pairs = self.wires.values().map(|wire| wire.number);
        LastNumbers { node: nodes.max().unwrap_or_default(), pair: pairs.max().unwrap_or_default() }
    }
}

impl State for Desired {
    const TABLE: &'static str = "testbed_desired";

    fn save(world: &World) -> Self {
        let setup = world.resource::<Setup>();
        let mut desired =
            Self { settings: setup.settings.clone(), speed: setup.speed, ..Self::default() };
        for (node, entity) in &world.resource::<Namespaces>().0 {
            let namespace = world.entity(*entity);
            let assignment = namespace.get::<NamespaceAssignment>().expect("a namespace has one");
            desired.assignments.insert(*node, assignment.clone());
            if let Some(NextHops(Some(routes))) = namespace.get() {
                desired.routes.insert(*node, routes.clone());
            }
        }
        for (key, entity) in &world.resource::<VethPairs>().0 {
            let wire = world.get::<VethPair>(*entity).expect("a veth pair has one");
            desired.wires.insert(*key, *wire);
            let ManualShapes(manual) = world.get(*entity).expect("a veth pair has them");
            let sides = LinkDirection::both(*key).into_iter().zip(*manual);
            desired.manual.extend(sides.filter(|(_, values)| !values.is_empty()));
        }
        let last = *world.resource::<LastNumbers>();
        desired.last_numbers = (last != desired.numbers()).then_some(last);
        desired.departed.clone_from(&world.resource::<Departed>().nodes);
        desired
    }

    fn restore(mut self, world: &mut World) -> Result<(), Refusal> {
        if let Some(settings) = self.settings.take() {
            begin(world, settings);
        }
        world.resource_mut::<Setup>().speed = self.speed;
        let last = self.last_numbers.unwrap_or_else(|| self.numbers());
        *world.resource_mut::<LastNumbers>() = last;
        world.resource_mut::<Departed>().nodes = std::mem::take(&mut self.departed);
        for (node, assignment) in self.assignments {
            let routes = NextHops(self.routes.remove(&node));
            let observed = (ObservedRoutes::default(), ObservedProgram::default());
            let namespace = world.spawn((assignment, routes, observed)).id();
            world.resource_mut::<Namespaces>().0.insert(node, namespace);
        }
        for (key, wire) in self.wires {
            let manual =
                LinkDirection::both(key).map(|side| self.manual.remove(&side).unwrap_or_default());
            let pair = world.spawn((wire, Reports::default(), ManualShapes(manual))).id();
            world.resource_mut::<VethPairs>().0.insert(key, pair);
        }
        Ok(())
    }
}

/// Everything that was reported.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Observed {
    sides: BTreeMap<LinkDirection, (u64, Option<String>)>,
    counted: BTreeMap<LinkDirection, Counted>,
    probes: BTreeMap<LinkDirection, Probe>,
    heard: BTreeMap<NodeId, Vec<ObservedRoute>>,
    means: Option<Means>,
    takeover: Option<Takeover>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    repairs: BTreeMap<LinkDirection, (u64, String)>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failed_since_ns: BTreeMap<LinkDirection, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    readings: BTreeMap<LinkDirection, DatedReading>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    programs: BTreeMap<NodeId, DatedProgram>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_ns: Option<u64>,
}

impl State for Observed {
    const TABLE: &'static str = "testbed_observed";

    fn save(world: &World) -> Self {
        let host = world.resource::<Host>();
        let mut observed = Self {
            means: host.means,
            takeover: host.takeover,
            read_ns: host.read_ns,
            ..Self::default()
        };
        for (node, entity) in &world.resource::<Namespaces>().0 {
            let routes =
                world.get::<ObservedRoutes>(*entity).expect("a namespace has them").0.clone();
            if !routes.is_empty() {
                observed.heard.insert(*node, routes);
            }
            let program =
                world.get::<ObservedProgram>(*entity).and_then(|program| program.0.clone());
            observed.programs.extend(program.map(|program| (*node, program)));
        }
        for (key, entity) in &world.resource::<VethPairs>().0 {
            let reports = world.get::<Reports>(*entity).expect("a veth pair has them");
            for (side, report) in LinkDirection::both(*key).into_iter().zip(reports.0.clone()) {
                let Report { tried, failed_since_ns, reading, counted, probe, repairs } = report;
                observed.sides.extend(tried.map(|tried| (side, tried)));
                observed.failed_since_ns.extend(failed_since_ns.map(|since_ns| (side, since_ns)));
                observed.readings.extend(reading.map(|reading| (side, reading)));
                observed.counted.extend(counted.map(|counted| (side, counted)));
                observed.probes.extend(probe.map(|probe| (side, probe)));
                let repairs = repairs.map(|repairs| (side, repairs));
                observed.repairs.extend(repairs);
            }
        }
        observed
    }

    fn restore(mut self, world: &mut World) -> Result<(), Refusal> {
        let Self { means, takeover, read_ns, .. } = self;
        *world.resource_mut::<Host>() = Host { means, takeover, read_ns };
        for (node, entity) in world.resource::<Namespaces>().0.clone() {
            if let Some(routes) = self.heard.remove(&node) {
                world.entity_mut(entity).insert(ObservedRoutes(routes));
            }
            if let Some(program) = self.programs.remove(&node) {
                world.entity_mut(entity).insert(ObservedProgram(Some(program)));
            }
        }
        for (key, entity) in world.resource::<VethPairs>().0.clone() {
            let report = |side| Report {
                tried: self.sides.remove(&side),
                failed_since_ns: self.failed_since_ns.remove(&side),
                reading: self.readings.remove(&side),
                counted: self.counted.remove(&side),
                probe: self.probes.remove(&side),
                repairs: self.repairs.remove(&side),
            };
            let reports = LinkDirection::both(key).map(report);
            world.entity_mut(entity).insert(Reports(reports));
        }
        Ok(())
    }
}
