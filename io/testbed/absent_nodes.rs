//! Nodes whose namespace could not be created in a running testbed: reported with their links, and tried again.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_files::causes::with_causes;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, NamespaceAssignment, Observation, Protocol};

use super::error::TestbedError;
use super::network::{AbsentNode, TestbedNetwork};

impl TestbedNetwork {
    /// Creates the namespace of a node; a failure is noted, and [`Self::retry_nodes`] tries again.
    pub fn assign_or_note(
        &mut self,
        node: NodeId,
        assignment: &NamespaceAssignment,
        protocol: Protocol,
    ) {
        self.absent.remove(&node);
        if let Err(err) = self.assignment(node, assignment, protocol) {
            let cause = with_causes(&err);
            tracing::warn!(node = assignment.name, cause, "the node has no namespace");
            let assignment = assignment.clone();
            let next_hops = BTreeMap::new();
            self.absent.insert(node, AbsentNode { assignment, protocol, cause, next_hops });
        }
    }

    /// Creates the namespaces that are missing, with the links of their nodes; the outcome of these.
    ///
    /// # Errors
    /// As [`Self::shape`].
    pub fn retry_nodes(&mut self) -> Result<Vec<Observation>, TestbedError> {
        let absent: Vec<_> = self
            .absent
            .iter()
            .map(|(node, own)| (*node, own.assignment.clone(), own.protocol))
            .collect();
        let mut present = BTreeSet::new();
        for (node, assignment, protocol) in absent {
            match self.assignment(node, &assignment, protocol) {
                Ok(()) => {
                    let absent = self.absent.remove(&node);
                    let next_hops = absent.map(|own| own.next_hops).unwrap_or_default();
                    if let Some(own) = self.assignments.get_mut(&node) {
                        own.next_hops = next_hops;
                    }
                    tracing::info!(node = assignment.name, "the node has its namespace now");
                    present.insert(node);
                }
                Err(err) => {
                    let cause = with_causes(&err);
                    self.absent.entry(node).and_modify(|own| own.cause = cause);
                }
            }
        }
        if present.is_empty() {
            return Ok(Vec::new());
        }
        self.write_hosts()?;
        let desired =
            self.desired(|side| present.contains(&side.from) || present.contains(&side.to));
        let outcome = self.shape(&desired)?;
        // Routes to it were left out, and its own.
        let nodes: Vec<NodeId> = self.assignments.keys().copied().collect();
        for node in nodes {
            if let Err(err) = self.route_again(node) {
                tracing::warn!(%node, err = with_causes(&err), "routes are not in force");
            }
        }
        Ok(outcome)
    }

    /// The absence of an end of a direction, in words.
    pub(super) fn absence(&self, side: LinkDirection) -> Option<String> {
        let node =
            [side.from, side.to].into_iter().find(|node| !self.assignments.contains_key(node))?;
        Some(match self.absent.get(&node) {
            Some(own) => format!("node {} has no namespace: {}", own.assignment.name, own.cause),
            None => format!("node {node} has no namespace"),
        })
    }
}
