//! How a testbed begins, how it is paced, and how reports come in.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::desired::Desired;
use super::observed::{Counted, Heard, Means, Observed, Probe, Sighting, Takeover, WireSide};
use super::settings::Settings;
use crate::link::LinkKey;
use crate::site::NodeId;

/// Fastest pace, simulated seconds per second.
const SPEED_MAX: f64 = 1000.0;

/// Turns the mirror on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BeginTestbed(pub Settings);
impl Command for BeginTestbed {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.0.validate()?;
        let mut desired = world.resource_mut::<Desired>();
        if let Some(settings) = &desired.settings {
            let name = &settings.name;
            return Err(Refusal::conflict(format!(
                "this world is the testbed {name}"
            )));
        }
        desired.settings = Some(self.0);
        desired.speed = 1.0;
        Ok(())
    }
}
impl Recorded for BeginTestbed {
    const NAME: &'static str = "testbed.begin";
    type Reply = ();
}

/// Notes how fast the world runs from now on. Whoever drives the world keeps to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Simulated seconds per second, 0 (paused) to 1000.
    pub speed: f64,
}
impl Command for Pace {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !(0.0..=SPEED_MAX).contains(&self.speed) {
            return Err(Refusal::invalid("speed", self.speed, "0 to 1000"));
        }
        world.resource_mut::<Desired>().speed = self.speed;
        Ok(())
    }
}
impl Recorded for Pace {
    const NAME: &'static str = "testbed.pace";
    type Reply = ();
}

/// The generation of what is wished of a direction.
fn wished(world: &World, side: WireSide) -> Result<u64, Refusal> {
    let nothing = || Refusal::invalid("side", format!("{} to {}", side.from, side.to), "a wire");
    let ends = LinkKey::new(side.from, side.to).ok_or_else(nothing)?;
    let wires = &world.resource::<Desired>().wires;
    let wire = wires.get(&ends).ok_or_else(nothing)?;
    Ok(wire.sides[usize::from(side.from != ends.a())].generation)
}

/// Reports what came of wishes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SightWires {
    /// One of each direction that was tried.
    pub sightings: Vec<Sighting>,
}
impl Command for SightWires {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        for sighting in &self.sightings {
            let wished = wished(world, sighting.side)?;
            if sighting.generation > wished {
                let allowed = format!("at most {wished}");
                return Err(Refusal::invalid("generation", sighting.generation, allowed));
            }
        }
        let mut observed = world.resource_mut::<Observed>();
        for sighting in self.sightings {
            let seen = (sighting.generation, sighting.failure);
            observed.sides.insert(sighting.side, seen);
        }
        Ok(())
    }
}
impl Recorded for SightWires {
    const NAME: &'static str = "testbed.sight";
    type Reply = ();
}

/// Reports counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountWires {
    /// Those that changed.
    pub counted: Vec<Counted>,
}
impl Command for CountWires {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        for counted in &self.counted {
            wished(world, counted.side)?;
        }
        let mut observed = world.resource_mut::<Observed>();
        for counted in self.counted {
            observed.counted.insert(counted.side, counted);
        }
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
    pub side: WireSide,
    /// What it gave.
    pub probe: Probe,
}
impl Command for ProbeLink {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        wished(world, self.side)?;
        if self.probe.received > self.probe.sent {
            let allowed = format!("at most the {} sent", self.probe.sent);
            return Err(Refusal::invalid("received", self.probe.received, allowed));
        }
        let mut observed = world.resource_mut::<Observed>();
        observed.probes.insert(self.side, self.probe);
        Ok(())
    }
}
impl Recorded for ProbeLink {
    const NAME: &'static str = "testbed.probe";
    type Reply = ();
}

/// Reports what the kernel can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeetKernel {
    /// What it can.
    pub means: Means,
}
impl Command for MeetKernel {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<Observed>().means = Some(self.means);
        Ok(())
    }
}
impl Recorded for MeetKernel {
    const NAME: &'static str = "testbed.kernel";
    type Reply = ();
}

/// Notes that another controller goes on with the testbed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeOver {
    /// The simulated time it goes on from, ns.
    pub from_ns: u64,
}
impl Command for TakeOver {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let Self { from_ns } = self;
        let mut observed = world.resource_mut::<Observed>();
        let before = observed.takeover.map_or(0, |takeover| takeover.number);
        let number = before.saturating_add(1);
        observed.takeover = Some(Takeover { from_ns, number });
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
pub struct HearRoutes {
    /// Which node.
    pub node: NodeId,
    /// All its routes.
    pub routes: Vec<Heard>,
}
impl Command for HearRoutes {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !world.resource::<Desired>().seats.contains_key(&self.node) {
            return Err(Refusal::invalid("node", self.node, "a node with a seat"));
        }
        let mut observed = world.resource_mut::<Observed>();
        observed.heard.insert(self.node, self.routes);
        Ok(())
    }
}
impl Recorded for HearRoutes {
    const NAME: &'static str = "testbed.hear";
    type Reply = ();
}
