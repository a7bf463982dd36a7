//! What nodes say, and what time does to them.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::approved::approved_node;
use super::command_queue::{NodeCommand, NodeCommands, dispatch};
use super::components::{
    LastHeartbeat, LatestReadings, LivenessState, Location, NodeRecord, ReceivedHeartbeat,
};
use super::event::{self, EventBuffer, FleetEventKind};
use super::heartbeat::Heartbeat;
use super::liveness::{LivenessRules, NodeState, StateChange};
use super::metrics::{NAMES_MAX, Reading, Readings, Sample, check_metric};
use super::record::{self, check_role, check_tags};
use super::sample_buffer::RecentSamples;
use crate::site::{NodeId, NodeKind, check_name};

/// What the history takes at once, samples.
pub const SAMPLES_AT_ONCE_MAX: usize = 512;

/// Shortest and longest time between two beats, ns.
const PERIOD_NS: std::ops::RangeInclusive<u64> = 100_000_000..=3_600_000_000_000;

fn members(world: &World) -> Vec<(NodeId, Entity)> {
    let index = world.resource::<Index<NodeKind>>();
    let of_fleet = |entity: &Entity| world.get::<NodeRecord>(*entity).is_some();
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
    event::push(world, FleetEventKind::NodeState, data);
}

/// The gateway begins: its clock starts anew, and nobody is to blame for its absence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartGatewayClock {
    /// The gateway's clock, ns.
    pub now_ns: u64,
    /// Time between two beats, ns.
    pub period_ns: u64,
}
impl Command for StartGatewayClock {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !PERIOD_NS.contains(&self.period_ns) {
            return Err(Refusal::invalid(
                "period_ns",
                self.period_ns,
                "100 ms to an hour",
            ));
        }
        world.insert_resource(LivenessRules {
            period_ns: self.period_ns,
            begun_ns: self.now_ns,
        });
        world.resource_mut::<EventBuffer>().now_ns = self.now_ns;
        let wall_ns = world.resource::<Clock>().wall_ns;
        for (node, entity) in members(world) {
            let mut liveness = world
                .get_mut::<LivenessState>(entity)
                .expect("members have it");
            let change = Arc::make_mut(&mut liveness.0).restart(self.now_ns, wall_ns);
            tell(world, node, change);
            // What the history may have missed is offered again.
            let mut sample_buffer = world
                .get_mut::<RecentSamples>(entity)
                .expect("members have it");
            sample_buffer.set_changed();
        }
        Ok(())
    }
}
impl Recorded for StartGatewayClock {
    const NAME: &'static str = "fleet.begin";
    type Reply = ();
}

/// It is now later: who did not speak falls silent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetGatewayClock {
    /// The gateway's clock, ns.
    pub now_ns: u64,
}
impl Command for SetGatewayClock {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<EventBuffer>().now_ns = self.now_ns;
        let rules = *world.resource::<LivenessRules>();
        let wall_ns = world.resource::<Clock>().wall_ns;
        let over = (wall_ns / 60_000_000_000).saturating_sub(1);
        for (node, entity) in members(world) {
            let liveness = world.get::<LivenessState>(entity).expect("members have it");
            if liveness.0.is_due(rules, self.now_ns) {
                let mut liveness = world.get_mut::<LivenessState>(entity).expect("seen");
                let change = Arc::make_mut(&mut liveness.0).expire(rules, self.now_ns, wall_ns);
                tell(world, node, change);
            }
            let sample_buffer = world.get::<RecentSamples>(entity).expect("members have it");
            if !sample_buffer.0.current.is_empty() && sample_buffer.0.current.minute < over {
                let mut sample_buffer = world.get_mut::<RecentSamples>(entity).expect("seen");
                Arc::make_mut(&mut sample_buffer.0).roll_over_to(over);
            }
        }
        Ok(())
    }
}
impl Recorded for SetGatewayClock {
    const NAME: &'static str = "fleet.tend";
    type Reply = ();
}

/// A node is heard.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordHeartbeat {
    /// Which node.
    pub node: NodeId,
    /// What it says.
    #[serde(rename = "beat")]
    pub heartbeat: Heartbeat,
    /// Where from.
    pub source_ip: IpAddr,
    /// The gateway's clock, ns.
    pub now_ns: u64,
    /// What the node's clock showed when it sent it, ms since the Unix epoch.
    pub sent_ms: Option<u64>,
}

/// What hearing a node came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// How it is seen now.
    pub state: NodeState,
    /// Its overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Counts changes of its configuration.
    pub revision: u64,
    /// What it is asked to do.
    pub commands: Vec<NodeCommand>,
    /// The gateway's wall clock, ns since the Unix epoch.
    pub wall_ns: u64,
}

/// What every refusal of an old beat says.
pub const STALE_SEQUENCE: &str = "a later heartbeat of this boot was heard";

impl Command for RecordHeartbeat {
    type Out = Result<HeartbeatReply, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.heartbeat.check()?;
        let entity = approved_node(world, self.node)?;
        let before = world
            .get::<LastHeartbeat>(entity)
            .and_then(|saying| saying.0.as_ref());
        if let Some(before) = before
            && before.heartbeat.boot_id == self.heartbeat.boot_id
            && before.heartbeat.seq >= self.heartbeat.seq
        {
            return Err(Refusal::outdated(STALE_SEQUENCE));
        }
        let wall_ns = world.resource::<Clock>().wall_ns;
        let first_ns = before.map_or(wall_ns, |before| before.first_ns);
        let ts_ms = wall_ns / 1_000_000;
        let offset_ms = |sent_ms: u64| sent_ms as i64 - ts_ms as i64;
        record_readings(world, entity, ts_ms, &self.heartbeat.metrics);

        let mut liveness = world
            .get_mut::<LivenessState>(entity)
            .expect("members have it");
        let change = Arc::make_mut(&mut liveness.0).record_heartbeat(self.now_ns, wall_ns);
        let state = liveness.0.state;
        tell(world, self.node, change);
        let mut queue = world
            .get_mut::<NodeCommands>(entity)
            .expect("members have it");
        let commands = dispatch(&mut queue, wall_ns);
        let received = ReceivedHeartbeat {
            heartbeat: self.heartbeat,
            wall_ns,
            source_ip: self.source_ip,
            clock_offset_ms: self.sent_ms.map(offset_ms),
            first_ns,
        };
        world
            .entity_mut(entity)
            .insert(LastHeartbeat(Some(Arc::new(received))));
        let membership = world.get::<NodeRecord>(entity).expect("it is approved");
        Ok(HeartbeatReply {
            state,
            overlay_ip: membership.0.overlay_ip,
            revision: membership.0.revision,
            commands,
            wall_ns,
        })
    }
}
impl Recorded for RecordHeartbeat {
    const NAME: &'static str = "fleet.hear";
    type Reply = HeartbeatReply;
}

fn record_readings(world: &mut World, entity: Entity, ts_ms: u64, metrics: &BTreeMap<String, f64>) {
    if metrics.is_empty() {
        return;
    }
    let mut latest = world
        .get_mut::<LatestReadings>(entity)
        .expect("members have it");
    let readings = Arc::make_mut(&mut latest.0);
    for (name, value) in metrics {
        record_reading(readings, name, *value, ts_ms);
    }
    let mut sample_buffer = world
        .get_mut::<RecentSamples>(entity)
        .expect("members have it");
    let buffer = Arc::make_mut(&mut sample_buffer.0);
    for (name, value) in metrics {
        buffer.push(name, ts_ms, *value);
    }
}

fn record_reading(readings: &mut Readings, name: &str, value: f64, ts_ms: u64) {
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
pub struct RecordSamples {
    /// Which node.
    pub node: NodeId,
    /// What it tells, in any order.
    pub samples: Vec<Sample>,
}
impl Command for RecordSamples {
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
        let mut latest = world
            .get_mut::<LatestReadings>(entity)
            .expect("members have it");
        let readings = Arc::make_mut(&mut latest.0);
        for sample in &self.samples {
            record_reading(readings, &sample.metric, sample.value, sample.ts_ms);
        }
        let mut sample_buffer = world
            .get_mut::<RecentSamples>(entity)
            .expect("members have it");
        let buffer = Arc::make_mut(&mut sample_buffer.0);
        let mut late = Vec::new();
        for (index, sample) in self.samples.iter().enumerate() {
            if !buffer.push(&sample.metric, sample.ts_ms, sample.value) {
                late.push(index);
            }
        }
        Ok(late)
    }
}
impl Recorded for RecordSamples {
    const NAME: &'static str = "fleet.samples";
    type Reply = Vec<usize>;
}

/// A node tells what it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordJoinReport {
    /// Which node.
    pub node: NodeId,
    /// What it runs on.
    pub board: Option<String>,
    /// Versions of what it runs.
    pub firmware: BTreeMap<String, String>,
    /// What it can be asked to do.
    pub supported_commands: Vec<String>,
}
impl Command for RecordJoinReport {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let before = record::get(world, entity).expect("it is approved");
        let mut after = before.clone();
        after.board = self.board;
        after.firmware = self.firmware;
        after.supported_commands = self.supported_commands;
        if after != before {
            record::put(world, entity, after);
        }
        Ok(())
    }
}
impl Recorded for RecordJoinReport {
    const NAME: &'static str = "fleet.join";
    type Reply = ();
}

/// Changes what people say of a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchNode {
    /// Which node.
    pub node: NodeId,
    /// Its name.
    pub name: Option<String>,
    /// What it is for; `Some(None)` takes it away.
    pub role_id: Option<Option<String>>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// Where it is; `Some(None)` leaves that to itself again.
    #[serde(rename = "place")]
    pub location: Option<Option<Location>>,
    /// The revision that was looked at.
    pub revision: Option<u64>,
}
impl Command for PatchNode {
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
        let before = record::get(world, entity).ok_or_else(unknown)?;
        if self.revision.is_some_and(|seen| seen != before.revision) {
            return Err(Refusal::stale(crate::identity::STALE));
        }
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.role_id = self.role_id.unwrap_or(after.role_id);
        after.tags = self.tags.unwrap_or(after.tags);
        after.location = self.location.unwrap_or(after.location);
        if after != before {
            record::put(world, entity, after);
        }
        Ok(())
    }
}
impl Recorded for PatchNode {
    const NAME: &'static str = "fleet.patch";
    type Reply = ();
}
