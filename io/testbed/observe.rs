//! Observations of a network: counters, and routes of routing daemons.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{Counted, LinkDirection, ObservedRoute, Protocol};

use groundwave_files::causes::with_causes;

use super::error::TestbedError;
use super::names::{index, interface, of_hardware, of_radio_address, of_radio_hardware};
use super::network::{NodeNamespace, TestbedNetwork};
use super::{batman, dump};
use crate::veth_qdiscs::QdiscLayout;

impl TestbedNetwork {
    /// Counters of all links.
    ///
    /// # Errors
    /// When the kernel's tables cannot be read.
    pub fn count(&mut self) -> Result<Vec<Counted>, TestbedError> {
        if self.segment.is_some() {
            return self.count_segment();
        }
        let mut all = Vec::new();
        for (node, node_namespace) in &mut self.assignments {
            let found = dump::qdiscs(&mut node_namespace.namespace.batch)
                .map_err(TestbedError::kernel("read queueing disciplines"))?;
            let own = self.wires.iter().filter(|(side, _)| side.from == *node);
            all.extend(own.filter_map(|(side, veth)| {
                let qdiscs = found.get(&index(veth.number))?;
                let counters = self.counters.entry(*side).or_default();
                Some(counters.add(*side, qdiscs, &QdiscLayout::VETH))
            }));
        }
        Ok(all)
    }

    /// Starts routing daemons that have ended since they were seen running, with a warning for each.
    pub fn restart_routing(&mut self) {
        let mut ended = Vec::new();
        for (node, node_namespace) in &self.assignments {
            if node_namespace.protocol != Protocol::Babel {
                continue;
            }
            if self.babel(node_namespace).runs() {
                self.routing.insert(*node);
            } else if self.routing.remove(node) {
                ended.push((*node, node_namespace.assignment.name.clone()));
            }
        }
        for (node, name) in ended {
            let started = match &self.segment {
                Some(_) => self.start_segment_routing(node),
                None => self.start_routing(node, &[]),
            };
            match started {
                Ok(()) => tracing::warn!(node = name, "babeld has ended; it is started again"),
                Err(err) => {
                    tracing::warn!(node = name, err = with_causes(&err), "babeld has ended");
                    // The next look tries again.
                    self.routing.insert(node);
                }
            }
        }
    }

    /// Routes of the routing protocols, by node, none of a node whose daemon has ended; nodes without a protocol,
    /// and those whose daemon still starts, are omitted.
    ///
    /// # Errors
    /// The first failed query.
    pub fn observe_routes(&self) -> Result<BTreeMap<NodeId, Vec<ObservedRoute>>, TestbedError> {
        let mut observed = BTreeMap::new();
        for (node, node_namespace) in &self.assignments {
            let found = match node_namespace.protocol {
                Protocol::Babel if self.babel(node_namespace).runs() => {
                    self.babel_routes(*node, node_namespace)?
                }
                Protocol::Babel if self.routing.contains(node) => Vec::new(),
                Protocol::Batman => self.batman_routes(*node, node_namespace)?,
                _ => continue,
            };
            observed.insert(*node, found);
        }
        Ok(observed)
    }

    fn babel_routes(
        &self,
        node: NodeId,
        node_namespace: &NodeNamespace,
    ) -> Result<Vec<ObservedRoute>, TestbedError> {
        let found = self.babel(node_namespace).routes()?;
        let observed = found.into_iter().filter_map(|found| {
            Some(ObservedRoute {
                destination: self.addressed(&found.host)?,
                next_hop: match &self.segment {
                    Some(_) => self.numbered(of_radio_address(found.via?)?)?,
                    None => self.behind(node, &found.interface)?,
                },
                metric: found.metric.into(),
            })
        });
        Ok(sorted(observed.collect()))
    }

    fn batman_routes(
        &self,
        node: NodeId,
        node_namespace: &NodeNamespace,
    ) -> Result<Vec<ObservedRoute>, TestbedError> {
        let found = batman::routes(&self.names.path(&node_namespace.assignment.name))?;
        if self.segment.is_some() {
            let radio = |address: &str| self.numbered(of_radio_hardware(address)?);
            let observed = found.into_iter().filter_map(|found| {
                Some(ObservedRoute {
                    destination: radio(&found.orig_address)?,
                    next_hop: radio(&found.neigh_address)?,
                    metric: found.tq,
                })
            });
            return Ok(sorted(observed.collect()));
        }
        let observed = found.into_iter().filter_map(|found| {
            let (number, back) = of_hardware(&found.orig_address)?;
            let qdiscs = |side: &LinkDirection| (side.from > side.to) == back;
            let mut of_wire = self.wires.iter().filter(|(_, veth)| veth.number == number);
            let (side, _) = of_wire.find(|(side, _)| qdiscs(side))?;
            Some(ObservedRoute {
                destination: side.from,
                next_hop: self.behind(node, &found.hard_ifname)?,
                metric: found.tq,
            })
        });
        Ok(sorted(observed.collect()))
    }

    /// The node with this address.
    fn addressed(&self, address: &str) -> Option<NodeId> {
        let address: Ipv4Addr = address.parse().ok()?;
        self.numbered(self.names.number(address)?)
    }

    /// The node with this number.
    fn numbered(&self, number: u32) -> Option<NodeId> {
        let mut assignments = self.assignments.iter();
        assignments
            .find(|(_, node_namespace)| node_namespace.assignment.number == number)
            .map(|(id, _)| *id)
    }

    /// The node behind an interface of `node`.
    fn behind(&self, node: NodeId, name: &str) -> Option<NodeId> {
        let mut own = self.wires.keys().filter(|side| side.from == node);
        let leads = |side: &&LinkDirection| {
            self.assignments.get(&side.to).is_some_and(|peer| interface(&peer.assignment) == name)
        };
        own.find(leads).map(|side| side.to)
    }
}

fn sorted(mut observed: Vec<ObservedRoute>) -> Vec<ObservedRoute> {
    observed.sort_by_key(|observed| observed.destination);
    observed
}
