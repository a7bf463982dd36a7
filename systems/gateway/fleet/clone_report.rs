//! Reports of clones, and their end.

use core::net::IpAddr;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal};
use groundwave_protocol::heartbeat::Heartbeat;
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::approved::approved_node;
use super::clone::NodeClone;
use super::components::{LastHeartbeat, ReceivedHeartbeat};
use super::event::EventBuffer;
use super::liveness::{LivenessRules, OFFLINE_PERIODS};

/// Subject of the alert.
const ALERT: &str = "node-clone";
/// Subject of the event at its end.
const ALERT_END: &str = "node-clone-over";

impl ReceivedHeartbeat {
    /// `true` for a heartbeat of a clone after this node has stopped: the clone is the node then. One whose
    /// first heartbeat comes after that is the node as well.
    pub(super) fn is_succeeded_by(
        &self,
        heartbeat: &Heartbeat,
        rules: LivenessRules,
        wall_ns: u64,
    ) -> bool {
        let silence_ns = wall_ns.saturating_sub(self.wall_ns);
        let has_stopped = silence_ns > OFFLINE_PERIODS.saturating_mul(rules.period_ns);
        let is_clone = || {
            self.node_clone.as_ref().is_some_and(|clone| {
                clone.is_running()
                    && clone.boot_id == heartbeat.boot_id
                    && heartbeat.seq > clone.seq
            })
        };
        let is_new = || {
            let boot_id = &heartbeat.boot_id;
            *boot_id != self.heartbeat.boot_id && !self.is_remembered(boot_id, wall_ns)
        };
        has_stopped && (is_clone() || is_new())
    }

    /// The clone beside the next heartbeat; one that has ended is reported.
    pub(super) fn clone_beside(
        &self,
        (node, next): (NodeId, &Heartbeat),
        rules: LivenessRules,
        wall_ns: u64,
        events: &mut EventBuffer,
    ) -> Option<NodeClone> {
        let clone = self.node_clone.as_ref()?;
        let is_successor = clone.boot_id == next.boot_id;
        if !is_successor && !clone.is_over(rules, wall_ns) {
            return Some(clone.clone());
        }
        if clone.is_running() {
            let reason = match is_successor {
                true => "one machine sends with the key of this node: the other one has stopped"
                    .to_owned(),
                false => format!(
                    "host {} at {} does not send with the key of this node any more",
                    clone.hostname, clone.source_ip
                ),
            };
            let data = [("node_id", node.to_string()), ("reason", reason)];
            events.alert(wall_ns, ALERT_END, &data);
        }
        None
    }
}

/// Reports a heartbeat that was refused because its boot is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportClone {
    /// Node.
    pub node: NodeId,
    /// Boot id of the heartbeat.
    pub boot_id: String,
    /// Number of the heartbeat within its boot.
    pub seq: u64,
    /// Uptime, s; 0 where it is not reported.
    #[serde(default)]
    pub uptime_s: u64,
    /// Host name in the heartbeat.
    pub hostname: String,
    /// Source address of the request.
    pub source_ip: IpAddr,
}
impl Command for ReportClone {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let wall_ns = world.resource::<Clock>().wall_ns;
        let last = world.get::<LastHeartbeat>(entity).and_then(|last| last.0.clone());
        let last = last.filter(|last| last.is_earlier_boot(&self.boot_id, self.uptime_s, wall_ns));
        let mut last =
            last.ok_or_else(|| Refusal::conflict("the boot is not an earlier one of the node"))?;
        let before = last.node_clone.clone().filter(|clone| clone.boot_id == self.boot_id);
        if before.as_ref().is_some_and(|clone| clone.seq >= self.seq) {
            // The same one once more.
            return Ok(());
        }
        let was_running = before.as_ref().is_some_and(NodeClone::is_running);
        let clone = NodeClone {
            count: before.as_ref().map_or(0, |clone| clone.count).saturating_add(1),
            first_ns: before.as_ref().map_or(wall_ns, |clone| clone.first_ns),
            boot_id: self.boot_id,
            hostname: self.hostname,
            source_ip: self.source_ip,
            seq: self.seq,
            last_ns: wall_ns,
        };
        if clone.is_running() && !was_running {
            let data = [("node_id", self.node.to_string()), ("reason", clone.reason())];
            world.resource_mut::<EventBuffer>().alert(wall_ns, ALERT, &data);
        }
        Arc::make_mut(&mut last).node_clone = Some(clone);
        world.entity_mut(entity).insert(LastHeartbeat(Some(last)));
        Ok(())
    }
}
impl Recorded for ReportClone {
    const NAME: &'static str = "fleet.clone";
    type Reply = ();
}
