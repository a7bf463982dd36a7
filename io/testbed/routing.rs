//! Routing daemons of nodes: started, given new interfaces, and started again after their end.

use groundwave_files::causes::with_causes;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::Protocol;

use super::babel::Babel;
use super::error::TestbedError;
use super::names::{RADIO, interface};
use super::network::{NodeNamespace, TestbedNetwork};

impl TestbedNetwork {
    /// Adds new interfaces to the routing daemon of a node, or starts it on all interfaces. A daemon that does not
    /// answer gets them later.
    ///
    /// # Errors
    /// When the daemon cannot be started.
    pub(super) fn start_routing(
        &mut self,
        node: NodeId,
        fresh: &[String],
    ) -> Result<(), TestbedError> {
        let Some(node_namespace) = self.assignments.get(&node) else {
            return Ok(());
        };
        if node_namespace.protocol != Protocol::Babel {
            return Ok(());
        }
        let babel = self.babel(node_namespace);
        if self.routes_by(node, &babel) {
            self.unserved.entry(node).or_default().extend(fresh.iter().cloned());
            self.serve_interfaces(node, &babel);
            return Ok(());
        }
        let interfaces = self.interfaces_of(node);
        if interfaces.is_empty() {
            return Ok(());
        }
        let address = self.names.address(node_namespace.assignment.number);
        let process = babel.start(address, &interfaces)?;
        self.daemons.insert(node, process);
        self.unserved.remove(&node);
        Ok(())
    }

    /// Interfaces of the routing daemon of a node.
    fn interfaces_of(&self, node: NodeId) -> Vec<String> {
        if self.segment.is_some() {
            return vec![RADIO.to_owned()];
        }
        let own = self.wires.keys().filter(|side| side.from == node);
        own.filter_map(|side| Some(interface(&self.assignments.get(&side.to)?.assignment)))
            .collect()
    }

    /// Adds the interfaces to a running daemon that it did not take yet.
    fn serve_interfaces(&mut self, node: NodeId, babel: &Babel) {
        let Some(unserved) = self.unserved.remove(&node).filter(|names| !names.is_empty()) else {
            return;
        };
        let names: Vec<String> = unserved.iter().cloned().collect();
        if let Err(err) = babel.add_interfaces(&names) {
            tracing::warn!(%node, err = with_causes(&err), "babeld did not take its new interfaces yet");
            self.unserved.insert(node, unserved);
        }
    }

    /// `true` while the daemon of a node runs: one that this controller has started has its files some time later.
    pub(super) fn routes_by(&self, node: NodeId, babel: &Babel) -> bool {
        match self.daemons.get(&node) {
            Some(own) if !own.has_ended() => true,
            _ => babel.runs(),
        }
    }

    /// `true` of a daemon that was running or was started, and has ended.
    pub(super) fn has_ended(&self, node: NodeId, babel: &Babel) -> bool {
        let is_known = self.routing.contains(&node) || self.daemons.contains_key(&node);
        is_known && !self.routes_by(node, babel)
    }

    /// Starts routing daemons again that have ended, with a warning for each, and gives the others the interfaces that
    /// they did not take.
    pub fn restart_routing(&mut self) {
        let nodes: Vec<NodeId> = self.assignments.keys().copied().collect();
        for node in nodes {
            let Some(own) = self.assignments.get(&node) else { continue };
            if own.protocol != Protocol::Babel {
                continue;
            }
            let (babel, name) = (self.babel(own), own.assignment.name.clone());
            if self.routes_by(node, &babel) {
                self.routing.insert(node);
                self.serve_interfaces(node, &babel);
                continue;
            }
            if !self.has_ended(node, &babel) {
                continue;
            }
            match self.start_routing(node, &[]) {
                Ok(()) => {
                    *self.restarts.entry(node).or_default() += 1;
                    tracing::warn!(node = name, "babeld has ended; it is started again");
                }
                // The next look tries again.
                Err(err) => {
                    tracing::warn!(node = name, err = with_causes(&err), "babeld has ended");
                }
            }
        }
    }

    pub(super) fn babel(&self, node_namespace: &NodeNamespace) -> Babel {
        let netns = self.names.path(&node_namespace.assignment.name);
        Babel::of(&self.folder, &netns, &node_namespace.assignment.name)
    }
}
