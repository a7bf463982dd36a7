//! Commands of the fleet: heartbeats, join reports, changes by an operator.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use groundwave_protocol::NodeState;
use groundwave_protocol::heartbeat::Heartbeat;
use groundwave_simulation::site::{NodeId, NodeKind, check_name};
use serde::{Deserialize, Serialize};

use super::approved::approved_node;
use super::command_queue::{NodeCommand, NodeCommands, dispatch};
use super::components::{LastHeartbeat, LivenessState, Location, NodeRecord, ReceivedHeartbeat};
use super::event::EventBuffer;
use super::gateway_clock::GatewayClock;
use super::liveness::LivenessRules;
use super::reading_refusal::ReadingRefusal;
use super::record::{self, check_tags};
use super::roles::check_role;
use super::samples::record_readings;

/// Records a heartbeat of an approved node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordHeartbeat {
    pub node: NodeId,
    /// Heartbeat as sent.
    #[serde(rename = "beat")]
    pub heartbeat: Heartbeat,
    /// Source address of the request.
    pub source_ip: IpAddr,
    /// Gateway clock, ns.
    pub now_ns: u64,
    /// Node clock when it was sent, ms since the Unix epoch.
    pub sent_ms: Option<u64>,
}

/// Result of a recorded heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// Liveness state after it.
    pub state: NodeState,
    /// Overlay address of the node.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Revision of the node record.
    pub revision: u64,
    /// Commands dispatched to the node.
    pub commands: Vec<NodeCommand>,
    /// Wall clock of the gateway, ns since the Unix epoch.
    pub wall_ns: u64,
    /// Metrics whose readings were not recorded.
    pub refused: Vec<(String, ReadingRefusal)>,
}

/// Conflict of a heartbeat that was sent before the last one: its number is not above that of the same
/// boot, or its boot is over.
pub const STALE_SEQUENCE: &str = "a later heartbeat of this boot or a later boot was received";

impl Command for RecordHeartbeat {
    type Out = Result<HeartbeatReply, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.heartbeat.check()?;
        let entity = approved_node(world, self.node)?;
        let before = world.get::<LastHeartbeat>(entity).and_then(|last| last.0.as_ref());
        let wall_ns = world.resource::<Clock>().wall_ns;
        let rules = *world.resource::<LivenessRules>();
        if before.is_some_and(|before| {
            before.is_after(&self.heartbeat, wall_ns)
                && !before.is_succeeded_by(&self.heartbeat, rules, wall_ns)
        }) {
            return Err(Refusal::outdated(STALE_SEQUENCE));
        }
        let before = before.cloned();
        let before = before.as_deref();
        let earlier_boots =
            before.map_or_else(Vec::new, |before| before.boots_before(&self.heartbeat, wall_ns));
        let first_ns = before.map_or(wall_ns, |before| before.first_ns);
        let ts_ms = wall_ns / 1_000_000;
        let offset_ms = |sent_ms: u64| sent_ms as i64 - ts_ms as i64;
        let refused = record_readings(world, entity, ts_ms, &self.heartbeat.metrics);
        record::set_hostname(world, entity, &self.heartbeat.hostname);

        let clock_ns = world.resource::<GatewayClock>().now_ns;
        let mut liveness = world.get_mut::<LivenessState>(entity).expect("required");
        let liveness = Arc::make_mut(&mut liveness.0);
        // Silence up to a clock that was set earlier in this tick counts before the heartbeat.
        let expired = liveness.expire(rules, clock_ns, wall_ns);
        let change = liveness.record_heartbeat(self.now_ns, wall_ns);
        let state = liveness.state;
        let mut events = world.resource_mut::<EventBuffer>();
        events.push_transition(self.node, expired);
        events.push_transition(self.node, change);
        let next = (self.node, &self.heartbeat);
        let node_clone =
            before.and_then(|before| before.clone_beside(next, rules, wall_ns, &mut events));
        let mut queue = world.get_mut::<NodeCommands>(entity).expect("required");
        let commands = dispatch(&mut queue, &self.heartbeat, wall_ns);
        let received = ReceivedHeartbeat {
            heartbeat: self.heartbeat,
            wall_ns,
            source_ip: self.source_ip,
            clock_offset_ms: self.sent_ms.map(offset_ms),
            first_ns,
            earlier_boots,
            node_clone,
        };
        world.entity_mut(entity).insert(LastHeartbeat(Some(Arc::new(received))));
        let record = world.get::<NodeRecord>(entity).expect("it is approved");
        Ok(HeartbeatReply {
            state,
            overlay_ip: record.0.overlay_ip,
            revision: record.0.revision,
            commands,
            wall_ns,
            refused,
        })
    }
}
impl Recorded for RecordHeartbeat {
    const NAME: &'static str = "fleet.hear";
    type Reply = HeartbeatReply;
}

/// Records the board, firmware and supported commands a node reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordJoinReport {
    pub node: NodeId,
    pub board: Option<String>,
    /// Firmware versions by component.
    pub firmware: BTreeMap<String, String>,
    /// Commands it supports.
    pub supported_commands: Vec<String>,
    /// Settings in force by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
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
        after.settings = self.settings;
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

/// Changes the attributes of a node that operators set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchNode {
    pub node: NodeId,
    pub name: Option<String>,
    /// Role; `Some(None)` removes it.
    pub role_id: Option<Option<String>>,
    pub tags: Option<Vec<String>>,
    /// Location set by an operator; `Some(None)` removes it.
    #[serde(rename = "place")]
    pub location: Option<Option<Location>>,
    /// Expected revision.
    pub revision: Option<u64>,
}
impl Command for PatchNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.name.as_deref().map_or(Ok(()), |name| check_name("name", name))?;
        check_role(world, self.role_id.as_ref().and_then(Option::as_deref))?;
        check_tags(self.tags.as_deref().unwrap_or_default())?;
        let unknown = || Refusal::NotFound { kind: "node", id: self.node.to_string() };
        let entity = world.resource::<Index<NodeKind>>().get(self.node)?;
        let before = record::get(world, entity).ok_or_else(unknown)?;
        if self.revision.is_some_and(|revision| revision != before.revision) {
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
