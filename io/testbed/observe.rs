//! Observations of a network: counters and values of links, and routes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    Counted, LinkDirection, ObservedRoute, Protocol, Reading, RoutingProgram,
};

use groundwave_files::causes::with_causes;

use super::error::TestbedError;
use super::link_reading::reading;
use super::names::{index, interface, of_hardware, of_radio_address, of_radio_hardware};
use super::network::{NodeNamespace, TestbedNetwork};
use super::{batman, dump};
use crate::veth_qdiscs::QdiscLayout;

/// Counters and values of link directions.
#[derive(Debug, Default)]
pub struct LinkStates {
    /// Counters.
    pub counted: Vec<Counted>,
    /// Values as read; `None` of those that cannot be read.
    pub readings: BTreeMap<LinkDirection, Option<Reading>>,
}

/// Routes of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRoutes {
    /// Routes by destination: those that its program has installed, or those of the kernel without one.
    pub routes: Vec<ObservedRoute>,
    /// State of its routing program; `None` without one.
    pub program: Option<RoutingProgram>,
}

impl TestbedNetwork {
    /// Counters and values of all links.
    ///
    /// # Errors
    /// When the kernel's tables cannot be read.
    pub fn count(&mut self) -> Result<LinkStates, TestbedError> {
        if self.segment.is_some() {
            return self.count_segment();
        }
        let mut all = LinkStates::default();
        all.readings.extend(self.missing().into_iter().map(|(side, ..)| (side, None)));
        for (node, node_namespace) in &mut self.assignments {
            let found = dump::qdiscs(&mut node_namespace.namespace.batch)
                .map_err(TestbedError::kernel("read queueing disciplines"))?;
            for (side, veth) in self.wires.iter().filter(|(side, _)| side.from == *node) {
                let qdiscs = found.get(&index(veth.number));
                if let Some(qdiscs) = qdiscs {
                    let counters = self.counters.entry(*side).or_default();
                    all.counted.push(counters.add(*side, qdiscs, &QdiscLayout::VETH));
                }
                let qdiscs = qdiscs.map_or(&[][..], Vec::as_slice);
                all.readings.insert(*side, reading(qdiscs, &QdiscLayout::VETH));
            }
        }
        Ok(all)
    }

    /// Routes by node, none of a node whose routing program has ended or cannot be read; nodes without routing are
    /// omitted.
    ///
    /// # Errors
    /// When the routes of a kernel cannot be read.
    pub fn observe_routes(&mut self) -> Result<BTreeMap<NodeId, NodeRoutes>, TestbedError> {
        let mut observed = self.kernel_routes()?;
        for (node, node_namespace) in &self.assignments {
            let outcome = match node_namespace.protocol {
                Protocol::Babel => {
                    let babel = self.babel(node_namespace);
                    match (self.has_ended(*node, &babel), babel.runs()) {
                        (true, _) => Err("babeld has ended".to_owned()),
                        (false, false) => Err("babeld is not running yet".to_owned()),
                        (false, true) => {
                            let routes = self.babel_routes(*node, node_namespace);
                            routes.map_err(|err| with_causes(&err))
                        }
                    }
                }
                Protocol::Batman => {
                    let routes = self.batman_routes(*node, node_namespace);
                    routes.map_err(|err| with_causes(&err))
                }
                Protocol::Static | Protocol::None => continue,
            };
            let restarts_total = self.restarts.get(node).copied().unwrap_or_default();
            let (routes, failure) = match outcome {
                Ok(routes) => (routes, None),
                Err(failure) => (Vec::new(), Some(failure)),
            };
            let program = Some(RoutingProgram { failure, restarts_total });
            observed.insert(*node, NodeRoutes { routes, program });
        }
        Ok(observed)
    }

    /// Routes of the nodes that follow the world's, as their kernels have them.
    fn kernel_routes(&mut self) -> Result<BTreeMap<NodeId, NodeRoutes>, TestbedError> {
        let mut tables = Vec::new();
        for (node, node_namespace) in &mut self.assignments {
            if node_namespace.protocol == Protocol::Static {
                let table = dump::routes(&mut node_namespace.namespace.batch)
                    .map_err(TestbedError::kernel("read the routes"))?;
                tables.push((*node, table));
            }
        }
        let numbers = self.assignments.iter().map(|(id, own)| (own.assignment.number, *id));
        let numbers: BTreeMap<u32, NodeId> = numbers.collect();
        let node_at = |address| numbers.get(&self.names.number(address)?).copied();
        let routes = |table: BTreeMap<Ipv4Addr, Ipv4Addr>| {
            let routes = table.into_iter().filter_map(|(to, via)| {
                let (destination, next_hop) = (node_at(to)?, node_at(via)?);
                Some(ObservedRoute { destination, next_hop, metric: 0.0 })
            });
            NodeRoutes { routes: sorted(routes.collect()), program: None }
        };
        Ok(tables.into_iter().map(|(node, table)| (node, routes(table))).collect())
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
