//! What nodes say, and what time does to them.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::beat::Beat;
use super::components::{Condition, LastBeat, Latest, Membership, Place, Saying};
use super::happening::{self, HappeningKind, Ring};
use super::liveness::{NodeState, Rules, StateChange};
use super::member::approved_node;
use super::member::{self, check_role, check_tags};
use super::metrics::{NAMES_MAX, Reading, Readings, Sample, check_metric};
use super::minutes::Minutes;
use super::orders::{Orders, PlacedOrder, hand_out};
use crate::site::{NodeId, NodeKind, check_name};

/// What the history takes at once, samples.
pub const SAMPLES_AT_ONCE_MAX: usize = 512;

/// Shortest and longest time between two beats, ns.
const PERIOD_NS: std::ops::RangeInclusive<u64> = 100_000_000..=3_600_000_000_000;

fn members(world: &World) -> Vec<(NodeId, Entity)> {
    let index = world.resource::<Index<NodeKind>>();
    let of_fleet = |entity: &Entity| world.get::<Membership>(*entity).is_some();
    index
        .iter()
        .filter(|(_, entity)| of_fleet(entity))
        .collect()
}

fn tell(world: &mut World, node: NodeId, change: Option<StateChange>) {
    let Some(change) = change else { return };
    let data = BTreeMap::from([
        ("node_id".to_owned(), node.to_string()),
        ("from".to_owned(), change.from.word().to_owned()),
        ("to".to_owned(), change.to.word().to_owned()),
        ("reason".to_owned(), change.reason),
    ]);
    happening::note(world, HappeningKind::NodeState, data);
}

/// The gateway begins: its clock starts anew, and nobody is to blame for its absence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The gateway's clock, ns.
    pub now_ns: u64,
    /// Time between two beats, ns.
    pub period_ns: u64,
}
impl Command for Begin {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !PERIOD_NS.contains(&self.period_ns) {
            return Err(Refusal::invalid(
                "period_ns",
                self.period_ns,
                "100 ms to an hour",
            ));
        }
        world.insert_resource(Rules {
            period_ns: self.period_ns,
            begun_ns: self.now_ns,
        });
        world.resource_mut::<Ring>().now_ns = self.now_ns;
        let wall_ns = world.resource::<Clock>().wall_ns;
        for (node, entity) in members(world) {
            let mut condition = world.get_mut::<Condition>(entity).expect("members have it");
            let change = Arc::make_mut(&mut condition.0).begin(self.now_ns, wall_ns);
            tell(world, node, change);
            // What the history may have missed is offered again.
            let mut minutes = world.get_mut::<Minutes>(entity).expect("members have it");
            minutes.set_changed();
        }
        Ok(())
    }
}
impl Recorded for Begin {
    const NAME: &'static str = "fleet.begin";
    type Reply = ();
}

/// It is now later: who did not speak falls silent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tend {
    /// The gateway's clock, ns.
    pub now_ns: u64,
}
impl Command for Tend {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<Ring>().now_ns = self.now_ns;
        let rules = *world.resource::<Rules>();
        let wall_ns = world.resource::<Clock>().wall_ns;
        let over = (wall_ns / 60_000_000_000).saturating_sub(1);
        for (node, entity) in members(world) {
            let condition = world.get::<Condition>(entity).expect("members have it");
            if condition.0.stirs(rules, self.now_ns) {
                let mut condition = world.get_mut::<Condition>(entity).expect("seen");
                let change = Arc::make_mut(&mut condition.0).tend(rules, self.now_ns, wall_ns);
                tell(world, node, change);
            }
            let minutes = world.get::<Minutes>(entity).expect("members have it");
            if !minutes.0.current.is_empty() && minutes.0.current.minute < over {
                let mut minutes = world.get_mut::<Minutes>(entity).expect("seen");
                Arc::make_mut(&mut minutes.0).turn_to(over);
            }
        }
        Ok(())
    }
}
impl Recorded for Tend {
    const NAME: &'static str = "fleet.tend";
    type Reply = ();
}

/// A node is heard.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hear {
    /// Which node.
    pub node: NodeId,
    /// What it says.
    pub beat: Beat,
    /// Where from.
    pub source_ip: IpAddr,
    /// The gateway's clock, ns.
    pub now_ns: u64,
    /// What the node's clock showed when it sent it, ms since the Unix epoch.
    pub sent_ms: Option<u64>,
}

/// What hearing a node came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// How it is seen now.
    pub state: NodeState,
    /// Its overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Counts changes of its configuration.
    pub revision: u64,
    /// What it is asked to do.
    pub orders: Vec<PlacedOrder>,
    /// The gateway's wall clock, ns since the Unix epoch.
    pub wall_ns: u64,
}

/// What every refusal of an old beat says.
pub const OLD_BEAT: &str = "a later heartbeat of this boot was heard";

impl Command for Hear {
    type Out = Result<Heard, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.beat.check()?;
        let entity = approved_node(world, self.node)?;
        let before = world
            .get::<Saying>(entity)
            .and_then(|saying| saying.0.as_ref());
        if let Some(before) = before
            && before.beat.boot_id == self.beat.boot_id
            && before.beat.seq >= self.beat.seq
        {
            return Err(Refusal::conflict(OLD_BEAT));
        }
        let wall_ns = world.resource::<Clock>().wall_ns;
        let first_ns = before.map_or(wall_ns, |before| before.first_ns);
        let ts_ms = wall_ns / 1_000_000;
        let offset_ms = |sent_ms: u64| sent_ms as i64 - ts_ms as i64;
        note_readings(world, entity, ts_ms, &self.beat.metrics);

        let mut condition = world.get_mut::<Condition>(entity).expect("members have it");
        let change = Arc::make_mut(&mut condition.0).heard(self.now_ns, wall_ns);
        let state = condition.0.state;
        tell(world, self.node, change);
        let mut orders = world.get_mut::<Orders>(entity).expect("members have it");
        let orders = hand_out(&mut orders, wall_ns);
        let said = LastBeat {
            beat: self.beat,
            wall_ns,
            source_ip: self.source_ip,
            clock_offset_ms: self.sent_ms.map(offset_ms),
            first_ns,
        };
        world
            .entity_mut(entity)
            .insert(Saying(Some(Arc::new(said))));
        let membership = world.get::<Membership>(entity).expect("it is approved");
        Ok(Heard {
            state,
            overlay_ip: membership.0.overlay_ip,
            revision: membership.0.revision,
            orders,
            wall_ns,
        })
    }
}
impl Recorded for Hear {
    const NAME: &'static str = "fleet.hear";
    type Reply = Heard;
}

fn note_readings(world: &mut World, entity: Entity, ts_ms: u64, metrics: &BTreeMap<String, f64>) {
    if metrics.is_empty() {
        return;
    }
    let mut latest = world.get_mut::<Latest>(entity).expect("members have it");
    let readings = Arc::make_mut(&mut latest.0);
    for (name, value) in metrics {
        note_reading(readings, name, *value, ts_ms);
    }
    let mut minutes = world.get_mut::<Minutes>(entity).expect("members have it");
    let buffer = Arc::make_mut(&mut minutes.0);
    for (name, value) in metrics {
        buffer.take(name, ts_ms, *value);
    }
}

fn note_reading(readings: &mut Readings, name: &str, value: f64, ts_ms: u64) {
    let full = readings.len() >= NAMES_MAX;
    match readings.get_mut(name) {
        Some(reading) if reading.ts_ms <= ts_ms => *reading = Reading { value, ts_ms },
        Some(_) => {}
        None if full => {}
        None => {
            readings.insert(name.to_owned(), Reading { value, ts_ms });
        }
    }
}

/// A node tells readings with their own times. Those of minutes that are over are not kept here:
/// the reply names them by their place.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteSamples {
    /// Which node.
    pub node: NodeId,
    /// What it tells, in any order.
    pub samples: Vec<Sample>,
}
impl Command for NoteSamples {
    type Out = Result<Vec<usize>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if self.samples.len() > SAMPLES_AT_ONCE_MAX {
            let allowed = format!("up to {SAMPLES_AT_ONCE_MAX}");
            return Err(Refusal::invalid("samples", self.samples.len(), allowed));
        }
        for sample in &self.samples {
            check_metric(&sample.metric, sample.value)?;
        }
        let entity = approved_node(world, self.node)?;
        let mut latest = world.get_mut::<Latest>(entity).expect("members have it");
        let readings = Arc::make_mut(&mut latest.0);
        for sample in &self.samples {
            note_reading(readings, &sample.metric, sample.value, sample.ts_ms);
        }
        let mut minutes = world.get_mut::<Minutes>(entity).expect("members have it");
        let buffer = Arc::make_mut(&mut minutes.0);
        let mut late = Vec::new();
        for (place, sample) in self.samples.iter().enumerate() {
            if !buffer.take(&sample.metric, sample.ts_ms, sample.value) {
                late.push(place);
            }
        }
        Ok(late)
    }
}
impl Recorded for NoteSamples {
    const NAME: &'static str = "fleet.samples";
    type Reply = Vec<usize>;
}

/// A node tells what it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Which node.
    pub node: NodeId,
    /// What it runs on.
    pub board: Option<String>,
    /// Versions of what it runs.
    pub firmware: BTreeMap<String, String>,
    /// What it can be asked to do.
    pub supported_commands: Vec<String>,
}
impl Command for Join {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let before = member::member(world, entity).expect("it is approved");
        let mut after = before.clone();
        after.board = self.board;
        after.firmware = self.firmware;
        after.supported_commands = self.supported_commands;
        if after != before {
            member::put(world, entity, after);
        }
        Ok(())
    }
}
impl Recorded for Join {
    const NAME: &'static str = "fleet.join";
    type Reply = ();
}

/// Changes what people say of a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// Which node.
    pub node: NodeId,
    /// Its name.
    pub name: Option<String>,
    /// What it is for; `Some(None)` takes it away.
    pub role_id: Option<Option<String>>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// Where it is; `Some(None)` leaves that to itself again.
    pub place: Option<Option<Place>>,
    /// The revision that was looked at.
    pub revision: Option<u64>,
}
impl Command for Patch {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.name
            .as_deref()
            .map_or(Ok(()), |name| check_name("name", name))?;
        check_role(self.role_id.as_ref().and_then(Option::as_deref))?;
        check_tags(self.tags.as_deref().unwrap_or_default())?;
        let unknown = || Refusal::NotFound {
            kind: "node",
            id: self.node.to_string(),
        };
        let entity = world.resource::<Index<NodeKind>>().get(self.node)?;
        let before = member::member(world, entity).ok_or_else(unknown)?;
        if self.revision.is_some_and(|seen| seen != before.revision) {
            return Err(Refusal::conflict(crate::identity::STALE));
        }
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.role_id = self.role_id.unwrap_or(after.role_id);
        after.tags = self.tags.unwrap_or(after.tags);
        after.place = self.place.unwrap_or(after.place);
        if after != before {
            member::put(world, entity, after);
        }
        Ok(())
    }
}
impl Recorded for Patch {
    const NAME: &'static str = "fleet.patch";
    type Reply = ();
}
