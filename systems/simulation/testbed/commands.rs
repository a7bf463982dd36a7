//! Commands on a testbed: begin, time scale, reports.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{
    Host, Namespaces, ObservedProgram, ObservedRoutes, Report, Reports, Setup, VethPair, VethPairs,
};
use super::nodes::Departed;
use super::observed::{
    Counted, LinkDirection, Means, Observation, ObservedRoute, Probe, SideReading, Takeover,
};
use super::reading::{DatedProgram, DatedReading, RoutingProgram};
use super::settings::{Protocol, Settings};
use crate::flow::MeshGraph;
use crate::link::LinkKey;
use crate::site::NodeId;

/// Maximum time scale, simulated seconds per second.
const SPEED_MAX: f64 = 1000.0;

/// Sets up the testbed: from now on links are mirrored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BeginTestbed(pub Settings);
impl Command for BeginTestbed {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.0.validate()?;
        if let Some(settings) = &world.resource::<Setup>().settings {
            let name = &settings.name;
            return Err(Refusal::conflict(format!("this world is the testbed {name}")));
        }
        begin(world, self.0);
        Ok(())
    }
}
impl Recorded for BeginTestbed {
    const NAME: &'static str = "testbed.begin";
    type Reply = ();
}

/// Sets the time scale, which the driver of the world follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTimeScale {
    /// Simulated seconds per second, 0 (paused) to 1000.
    pub speed: f64,
}
impl Command for SetTimeScale {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !(0.0..=SPEED_MAX).contains(&self.speed) {
            return Err(Refusal::invalid("speed", self.speed, "0 to 1000"));
        }
        world.resource_mut::<Setup>().speed = self.speed;
        Ok(())
    }
}
impl Recorded for SetTimeScale {
    const NAME: &'static str = "testbed.pace";
    type Reply = ();
}

/// Sets a testbed up.
pub(super) fn begin(world: &mut World, settings: Settings) {
    let mut protocols = settings.routing_of.values().copied().chain([settings.routing]);
    if protocols.any(|protocol| protocol == Protocol::Static) {
        world.resource_mut::<MeshGraph>().keep = true;
    }
    *world.resource_mut::<Setup>() = Setup { settings: Some(settings), speed: 1.0 };
}

/// The veth pair of a direction, and the index of its side.
pub(super) fn pair(world: &World, side: LinkDirection) -> Result<(Entity, usize), Refusal> {
    let key = LinkKey::new(side.from, side.to);
    let pair = key.and_then(|key| world.resource::<VethPairs>().0.get(&key));
    let pair = pair.ok_or_else(|| {
        let direction = format!("{} to {}", side.from, side.to);
        Refusal::invalid("side", direction, "a wire")
    })?;
    Ok((*pair, usize::from(side.from > side.to)))
}

/// The reports of a direction, to be changed.
fn report(
    world: &mut World,
    side: LinkDirection,
    change: impl FnOnce(&mut Report),
) -> Result<(), Refusal> {
    let (pair, side) = pair(world, side)?;
    let mut reports = world.get_mut::<Reports>(pair).expect("a veth pair has them");
    change(&mut reports.0[side]);
    Ok(())
}

/// Removes the reports about directions of removed nodes, which may arrive after them.
fn without_departed<T>(world: &World, reports: &mut Vec<T>, side: impl Fn(&T) -> LinkDirection) {
    let departed = world.resource::<Departed>();
    reports.retain(|report| !departed.concerns(side(report)));
}

/// Reports which generations of the desired state were tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportLinkState {
    /// Observations, one a direction that was tried.
    pub sightings: Vec<Observation>,
    /// Time of the observations, ns since the Unix epoch; absent in earlier logs, which date nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
}
impl Command for ReportLinkState {
    type Out = Result<(), Refusal>;
    fn apply(mut self, world: &mut World) -> Self::Out {
        without_departed(world, &mut self.sightings, |sighting| sighting.side);
        for sighting in &self.sightings {
            let (pair, side) = pair(world, sighting.side)?;
            let wire = world.get::<VethPair>(pair).expect("a veth pair has one");
            let desired = wire.sides[side].generation;
            if sighting.generation > desired {
                let allowed = format!("at most {desired}");
                return Err(Refusal::invalid("generation", sighting.generation, allowed));
            }
        }
        let read_ns = self.read_ns;
        for sighting in self.sightings {
            report(world, sighting.side, |report| {
                let before = report.tried.as_ref().and_then(|(_, failure)| failure.as_ref());
                if before != sighting.failure.as_ref() {
                    report.failed_since_ns = read_ns.filter(|_| sighting.failure.is_some());
                }
                report.tried = Some((sighting.generation, sighting.failure));
                if let (Some(read_ns), Some(reading)) = (read_ns, sighting.reading) {
                    report.reading = Some(DatedReading { read_ns, reading: Some(reading) });
                }
                if let Some(change) = sighting.repaired {
                    let before = report.repairs.as_ref().map_or(0, |(number, _)| *number);
                    report.repairs = Some((before.saturating_add(1), change));
                }
            })?;
        }
        Ok(())
    }
}
impl Recorded for ReportLinkState {
    const NAME: &'static str = "testbed.sight";
    type Reply = ();
}

/// Reports counters, and values as read with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountWires {
    /// Counters that changed.
    pub counted: Vec<Counted>,
    /// Values of directions that are others than at the reading before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<SideReading>,
    /// Time of the reading of all directions, ns since the Unix epoch; absent where none was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
}
impl Command for CountWires {
    type Out = Result<(), Refusal>;
    fn apply(mut self, world: &mut World) -> Self::Out {
        without_departed(world, &mut self.counted, |counted| counted.side);
        without_departed(world, &mut self.readings, |reading| reading.side);
        let counted = self.counted.iter().map(|counted| counted.side);
        for side in counted.chain(self.readings.iter().map(|reading| reading.side)) {
            pair(world, side)?;
        }
        if self.read_ns.is_none() && !self.readings.is_empty() {
            return Err(Refusal::invalid("read_ns", "none", "the time of the readings"));
        }
        for counted in self.counted {
            report(world, counted.side, |report| report.counted = Some(counted))?;
        }
        let Some(read_ns) = self.read_ns else {
            return Ok(());
        };
        for SideReading { side, reading } in self.readings {
            report(world, side, |report| report.reading = Some(DatedReading { read_ns, reading }))?;
        }
        world.resource_mut::<Host>().read_ns = Some(read_ns);
        Ok(())
    }
}
impl Recorded for CountWires {
    const NAME: &'static str = "testbed.count";
    type Reply = ();
}

/// Reports a measurement with packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeLink {
    /// The direction it began in; its packets went both ways.
    pub side: LinkDirection,
    /// Result of the measurement.
    pub probe: Probe,
}
impl Command for ProbeLink {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        pair(world, self.side)?;
        if self.probe.received > self.probe.sent {
            let allowed = format!("at most the {} sent", self.probe.sent);
            return Err(Refusal::invalid("received", self.probe.received, allowed));
        }
        report(world, self.side, |report| report.probe = Some(self.probe))
    }
}
impl Recorded for ProbeLink {
    const NAME: &'static str = "testbed.probe";
    type Reply = ();
}

/// Reports the link features of the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeetKernel {
    /// Link features of the kernel.
    pub means: Means,
}
impl Command for MeetKernel {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<Host>().means = Some(self.means);
        Ok(())
    }
}
impl Recorded for MeetKernel {
    const NAME: &'static str = "testbed.kernel";
    type Reply = ();
}

/// Reports that another controller took the testbed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeOver {
    /// Simulated time at the takeover, ns.
    pub from_ns: u64,
}
impl Command for TakeOver {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let Self { from_ns } = self;
        let mut host = world.resource_mut::<Host>();
        let before = host.takeover.map_or(0, |takeover| takeover.number);
        let number = before.saturating_add(1);
        host.takeover = Some(Takeover { from_ns, number });
        Ok(())
    }
}
impl Recorded for TakeOver {
    const NAME: &'static str = "testbed.take_over";
    type Reply = ();
}

/// Reports the routes that the protocol of a node found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportRoutes {
    pub node: NodeId,
    /// All routes of the node.
    pub routes: Vec<ObservedRoute>,
    /// State of its routing program; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<RoutingProgram>,
    /// Time of the reading, ns since the Unix epoch; absent in earlier logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<u64>,
}
impl Command for ReportRoutes {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let namespace = world.resource::<Namespaces>().0.get(&self.node);
        let namespace = *namespace
            .ok_or_else(|| Refusal::invalid("node", self.node, "a node with a namespace"))?;
        if let (Some(read_ns), Some(program)) = (self.read_ns, self.program) {
            let before =
                world.get::<ObservedProgram>(namespace).and_then(|before| before.0.clone());
            let failed_since_ns = match (&program.failure, before) {
                (None, _) => None,
                (failure, Some(before)) if before.program.failure == *failure => {
                    before.failed_since_ns.or(Some(read_ns))
                }
                _ => Some(read_ns),
            };
            let dated = DatedProgram { read_ns, failed_since_ns, program };
            world.entity_mut(namespace).insert(ObservedProgram(Some(dated)));
        }
        world.entity_mut(namespace).insert(ObservedRoutes(self.routes));
        Ok(())
    }
}
impl Recorded for ReportRoutes {
    const NAME: &'static str = "testbed.hear";
    type Reply = ();
}
