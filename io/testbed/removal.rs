//! Removal of single nodes from a running testbed: processes, interfaces of links, classes on the segment,
//! files, namespace.

use std::collections::BTreeSet;

use groundwave_files::causes::with_causes;
use groundwave_netlink::route::{delete_link, remove_neighbour};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, NamespaceAssignment, TestbedView};

use super::actions::Action;
use super::babel::Babel;
use super::dump;
use super::error::TestbedError;
use super::names::{RADIO_INDEX, index, interface, link_local, radio_hardware};
use super::namespace::{Namespace, remove, terminate_processes};
use super::network::TestbedNetwork;
use super::state::State;
use crate::bridge_port_qdiscs;
use crate::veth_qdiscs::Means;

/// Index of the loopback interface.
const LOOPBACK: u32 = 1;

impl TestbedNetwork {
    /// Removes a node with everything of its own, also what a controller that was killed has not removed.
    ///
    /// # Errors
    /// When the namespace cannot be removed.
    pub fn release(
        &mut self,
        node: NodeId,
        assignment: &NamespaceAssignment,
    ) -> Result<(), TestbedError> {
        let path = self.names.path(&assignment.name);
        terminate_processes(&path);
        self.remove_from_segment(assignment.number);
        self.remove_links(node);
        let is_own = |side: &LinkDirection| side.from == node || side.to == node;
        self.wires.retain(|side, _| !is_own(side));
        self.goals.retain(|side, _| !is_own(side));
        self.link_faults.retain(|side, _| !is_own(side));
        self.counters.retain(|side, _| !is_own(side));
        if let Some(segment) = &mut self.segment {
            segment.sides.retain(|side, _| !is_own(side));
        }
        self.absent.remove(&node);
        self.routing.remove(&node);
        self.daemons.remove(&node);
        self.unserved.remove(&node);
        self.restarts.remove(&node);
        // Its sockets keep the namespace alive.
        drop(self.assignments.remove(&node));
        Babel::of(&self.folder, &path, &assignment.name).remove_files();
        remove(&path)
    }

    /// Deletes the interfaces of its links, with those of the other nodes and the routes over them.
    fn remove_links(&mut self, node: NodeId) {
        let own = self.wires.iter().filter(|(side, _)| side.from == node);
        let links: Vec<(NodeId, u32)> =
            own.map(|(side, veth)| (side.to, index(veth.number))).collect();
        let Some(namespace) = self.assignments.get_mut(&node) else {
            return;
        };
        let actions: Vec<Action> = links
            .iter()
            .map(|(_, index)| Action::Route(delete_link(*index, "the interface of a link")))
            .collect();
        // One that another program has removed already is refused.
        if let Err(err) = namespace.namespace.batch.execute(&actions) {
            tracing::warn!(%node, %err, "interfaces of a removed node are left to its namespace");
        }
        for (peer, index) in links {
            if let Some(peer) = self.assignments.get_mut(&peer) {
                peer.routes.retain(|_, route| route.index != index);
            }
        }
    }

    /// Removes the `number`-th node from the segment: its port, and as a sender from all other ports.
    fn remove_from_segment(&mut self, number: u32) {
        let means = self.means.unwrap_or(Means::Rate);
        let Some(segment) = &mut self.segment else {
            return;
        };
        let hardware = radio_hardware(number);
        let own = index(number);
        segment.links.remove(&own);
        let others = segment.links.iter().filter(|port| **port > index(0));
        let mut actions: Vec<Action> = others
            .flat_map(|port| bridge_port_qdiscs::removal(*port, number, hardware, means))
            .map(Action::Route)
            .collect();
        actions.push(Action::Route(delete_link(own, "the port of a node")));
        // Refused where the node had no link to the one behind the port.
        if let Err(err) = segment.namespace.batch.execute(&actions) {
            tracing::warn!(number, %err, "a removed node is left on the segment");
        }
        let neighbour = [Action::Route(remove_neighbour(RADIO_INDEX, link_local(hardware)))];
        for peer in self.assignments.values_mut() {
            // Refused where there is none.
            let _ = peer.namespace.batch.execute(&neighbour);
        }
    }

    /// Removes nodes that the world does not have any more: their controller was killed before it did.
    ///
    /// # Errors
    /// When a namespace cannot be removed.
    pub(super) fn remove_strays(&mut self, view: &TestbedView) -> Result<(), TestbedError> {
        let names: BTreeSet<&str> = view.assignments.iter().map(|own| own.name.as_str()).collect();
        let strays = State::of(&self.names.testbed)?.nodes()?;
        for name in strays.into_iter().filter(|name| !names.contains(name.as_str())) {
            let number = self.number_of(&name).unwrap_or_default();
            tracing::warn!(node = name, "a removed node is still there; it is removed now");
            // No node of the world: nothing is known of its links, which go with its interfaces.
            let assignment = NamespaceAssignment { number, name };
            self.remove_interfaces(&assignment);
            self.release(NodeId::named(&assignment.name), &assignment)?;
        }
        Ok(())
    }

    /// Number of a node that is in the kernel alone, by its address.
    fn number_of(&self, name: &str) -> Option<u32> {
        let mut namespace = Namespace::open(&self.names.path(name)).ok()?;
        let addresses = dump::addresses(&mut namespace.batch).ok()?;
        let mut own = addresses
            .into_iter()
            .filter(|(index, _)| [LOOPBACK, RADIO_INDEX, super::batman::INDEX].contains(index));
        own.find_map(|(_, address)| self.names.number(address))
    }

    /// Deletes all interfaces of links in the namespace of a node.
    fn remove_interfaces(&self, assignment: &NamespaceAssignment) {
        let removal = || -> Result<(), TestbedError> {
            let mut namespace = Namespace::open(&self.names.path(&assignment.name))?;
            let reading = TestbedError::kernel("read interfaces");
            let links = dump::links(&mut namespace.batch).map_err(reading)?;
            let links = links.into_keys().filter(|link| *link >= RADIO_INDEX);
            let name = interface(assignment);
            let actions: Vec<Action> =
                links.map(|link| Action::Route(delete_link(link, &name))).collect();
            let sending = TestbedError::kernel("remove interfaces");
            namespace.batch.execute(&actions).map(drop).map_err(sending)
        };
        if let Err(err) = removal() {
            tracing::warn!(err = with_causes(&err), "interfaces are left to their namespace");
        }
    }
}
