//! Nodes that are silent.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use groundwave_protocol::NodeState;
use groundwave_simulation::site::{NodeId, NodeKind};

use crate::fleet::{LastHeartbeat, LivenessState, NodeRecord};

/// Nodes that are stale or offline. Derived by `update_silence`.
#[derive(Resource, Debug)]
pub(super) struct Silence {
    /// States, each with the gateway clock at the last heartbeat, ns.
    pub nodes: BTreeMap<NodeId, (NodeState, u64)>,
    /// They changed since outages were compared with them.
    pub is_changed: bool,
    /// Outages wait for the clock: for a node to be offline, or for one to return.
    pub waits: bool,
}

impl Default for Silence {
    fn default() -> Self {
        Self { nodes: BTreeMap::new(), is_changed: true, waits: true }
    }
}

impl Silence {
    fn set(&mut self, node: NodeId, state: Option<(NodeState, u64)>) {
        let before = match state {
            Some(state) => self.nodes.insert(node, state),
            None => self.nodes.remove(&node),
        };
        self.is_changed |= before != state;
    }
}

/// Updates the nodes that are silent from the liveness that changed.
pub(super) fn update_silence(
    changed: Query<
        (&NodeId, &LivenessState, &LastHeartbeat),
        (Changed<LivenessState>, With<NodeRecord>),
    >,
    mut deregistered: RemovedComponents<NodeRecord>,
    ids: Query<(&NodeId, Has<NodeRecord>)>,
    index: Res<Index<NodeKind>>,
    mut silence: ResMut<Silence>,
) {
    let silence = silence.bypass_change_detection();
    for node in index.departed() {
        silence.set(*node, None);
    }
    for (node, is_registered) in deregistered.read().filter_map(|entity| ids.get(entity).ok()) {
        if !is_registered {
            silence.set(*node, None);
        }
    }
    for (node, liveness, last) in &changed {
        let state = match liveness.0.state {
            // A node that is not installed yet is no outage.
            _ if last.0.is_none() => None,
            state @ (NodeState::Stale | NodeState::Offline) => Some((state, liveness.0.since_ns)),
            NodeState::Joining | NodeState::Online => None,
        };
        silence.set(*node, state);
    }
}
