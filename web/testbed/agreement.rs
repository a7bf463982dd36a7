//! Next hops of routing programs beside the predicted ones.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::route::{Graph, Metric};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{ObservedRoute, relative_cost};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Costs that differ by less than this part are equal: sums of the same numbers in another order.
const EQUAL_COST: f64 = 1e-9;

/// Next hops of a node's routing program, compared with the predicted ones. Failed and removed
/// destinations do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// Destinations with the predicted next hop, or one of equal cost.
    pub same: usize,
    /// Destinations compared.
    pub compared: usize,
    /// The other destinations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// Destination whose next hop is not the predicted one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Destination.
    pub to: String,
    /// Predicted next hop; absent for an unreachable destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<String>,
    /// Next hop of the routing program; absent without a route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Explanation.
    pub reason: String,
}

/// Compares the routes of `node` with its predicted next hops over `graph`. `None` for a node that is
/// not one of `operating`, and for one whose program has not reported.
pub(super) fn agreement(
    node: NodeId,
    (predicted, reported): (&BTreeMap<NodeId, NodeId>, &[ObservedRoute]),
    operating: &BTreeSet<NodeId>,
    (graph, metric): (&Graph, Metric),
    name: &dyn Fn(&NodeId) -> String,
) -> Option<Agreement> {
    if reported.is_empty() || !operating.contains(&node) {
        return None;
    }
    let actual: BTreeMap<NodeId, NodeId> =
        reported.iter().map(|route| (route.destination, route.next_hop)).collect();
    let destinations: BTreeSet<NodeId> = predicted.keys().chain(actual.keys()).copied().collect();
    let mut agreement = Agreement::default();
    for to in destinations.intersection(operating) {
        let (predicted, installed) = (predicted.get(to), actual.get(to));
        let cost = |via: &NodeId| relative_cost(graph, metric, [node, *to, *via]);
        let reason = match (predicted, installed) {
            (Some(predicted), Some(installed)) if predicted == installed => None,
            (Some(_), Some(installed)) => match cost(installed) {
                Some(cost) if cost <= 1.0 + EQUAL_COST => None,
                Some(cost) => Some(format!(
                    "{:.1} % more by the metric of the scenario",
                    100.0 * (cost - 1.0)
                )),
                None => Some("no usable path at present".to_owned()),
            },
            (Some(_), None) => Some("the program has no route yet".to_owned()),
            (None, _) => Some("unreachable at present".to_owned()),
        };
        agreement.compared += 1;
        match reason {
            None => agreement.same += 1,
            Some(reason) => agreement.differences.push(Difference {
                to: name(to),
                predicted: predicted.map(name),
                found: installed.map(name),
                reason,
            }),
        }
    }
    Some(agreement)
}

#[cfg(test)]
mod tests {
    use groundwave_simulation::link::{LinkBudget, LinkKey};

    use super::*;

    fn id(name: &str) -> NodeId {
        NodeId::named(name)
    }

    /// A square a-b-d, a-c-d with equal links, and e behind d.
    fn square() -> Graph {
        let mut nodes = ["a", "b", "c", "d", "e"].map(id).to_vec();
        nodes.sort();
        let mut graph = Graph::new(nodes, 1000);
        let mut budget = LinkBudget::default();
        for direction in [&mut budget.forward, &mut budget.backward] {
            direction.data_rate_bps = 1e6;
            direction.per = 0.0;
            direction.modulation = Some(groundwave_model::radio::modulation::ModulationId::Bpsk12);
        }
        for (a, b) in [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")] {
            let key = LinkKey::new(id(a), id(b)).unwrap();
            graph.set(key, Some(&budget));
        }
        graph
    }

    fn route(to: &str, via: &str) -> ObservedRoute {
        ObservedRoute { destination: id(to), next_hop: id(via), metric: 1.0 }
    }

    #[test]
    fn equal_costs_agree_and_differences_are_explained() {
        let graph = square();
        let names = ["a", "b", "c", "d", "e"];
        let name = |node: &NodeId| names.into_iter().find(|n| id(n) == *node).unwrap().to_owned();
        let all: BTreeSet<NodeId> = names.map(id).into();
        let predicted: BTreeMap<NodeId, NodeId> = [("b", "b"), ("c", "c"), ("d", "b"), ("e", "b")]
            .map(|(to, via)| (id(to), id(via)))
            .into();
        let compare = |routes: &[ObservedRoute], operating: &BTreeSet<NodeId>| {
            let routes = (&predicted, routes);
            agreement(id("a"), routes, operating, (&graph, Metric::Hops), &name)
        };
        let routes = [route("b", "b"), route("c", "b"), route("d", "c"), route("e", "c")];
        let result = compare(&routes, &all).unwrap();
        assert_eq!((result.same, result.compared), (3, 4));
        let [difference] = result.differences.as_slice() else {
            panic!("{result:?}");
        };
        assert_eq!((difference.to.as_str(), difference.found.as_deref()), ("c", Some("b")));
        assert_eq!(difference.reason, "200.0 % more by the metric of the scenario");
        // A failed node is no disagreement, nor is one that has failed itself.
        let mut operating = all.clone();
        operating.remove(&id("c"));
        let result = compare(&routes, &operating).unwrap();
        assert_eq!((result.same, result.compared), (3, 3));
        operating.remove(&id("a"));
        assert_eq!(compare(&routes, &operating), None);
        let result = compare(&routes[..1], &all).unwrap();
        assert_eq!((result.same, result.compared, result.differences.len()), (1, 4, 3));
        assert_eq!(result.differences[0].reason, "the program has no route yet");
        assert_eq!(compare(&[], &all), None, "no program reported");
    }
}
