//! Routes of nodes with static routing that another program deleted or replaced, and names of namespaces that it
//! deleted: they are put back.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use groundwave_files::causes::with_causes;
use groundwave_netlink::route::HostRoute;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, Protocol};

use super::dump;
use super::error::TestbedError;
use super::network::TestbedNetwork;

impl TestbedNetwork {
    /// Sets the routes again that another program deleted or replaced; directions they lead through, with the change in
    /// words. Those over an interface with a fault come back with it.
    pub(super) fn restore_deleted_routes(
        &mut self,
    ) -> Result<BTreeMap<LinkDirection, String>, TestbedError> {
        let mut restored = BTreeMap::new();
        for node in std::mem::take(&mut self.route_suspects) {
            let Some(own) = self.assignments.get_mut(&node) else {
                continue;
            };
            if own.protocol != Protocol::Static {
                continue;
            }
            let present = dump::routes(&mut own.namespace.batch)
                .map_err(TestbedError::kernel("read the routes"))?;
            let deleted: Vec<(NodeId, NodeId)> = lost(&own.routes, &present)
                .into_iter()
                .filter_map(|to| Some((to, *own.next_hops.get(&to)?)))
                .filter(|(_, via)| {
                    !self.link_faults.contains_key(&LinkDirection { from: node, to: *via })
                })
                .collect();
            if deleted.is_empty() {
                continue;
            }
            for (to, _) in &deleted {
                own.routes.remove(to);
            }
            let name = own.assignment.name.clone();
            let next_hops = own.next_hops.clone();
            if let Err(err) = self.route(node, &next_hops) {
                tracing::warn!(
                    node = name,
                    err = with_causes(&err),
                    "deleted routes are not restored"
                );
                continue;
            }
            tracing::warn!(
                node = name,
                routes = deleted.len(),
                "routes were deleted or replaced and are restored"
            );
            for via in deleted.iter().map(|(_, via)| *via).collect::<BTreeSet<_>>() {
                let count = deleted.iter().filter(|(_, other)| *other == via).count();
                let change = match count {
                    1 => "a route through it was deleted or replaced".to_owned(),
                    count => format!("{count} routes through it were deleted or replaced"),
                };
                restored.insert(LinkDirection { from: node, to: via }, change);
            }
        }
        Ok(restored)
    }

    /// Restores the names of namespaces that another program deleted: the namespaces live on without them, but
    /// no command reaches them.
    pub fn restore_names(&self) {
        for own in self.assignments.values() {
            let name = &own.assignment.name;
            match own.namespace.restore_name(&self.names.path(name)) {
                Ok(false) => {}
                Ok(true) => {
                    tracing::warn!(
                        node = name,
                        "the name of its namespace was deleted and is restored"
                    );
                }
                Err(err) => {
                    tracing::warn!(node = name, %err, "the name of its namespace cannot be restored");
                }
            }
        }
    }
}

/// Destinations without their route, or with another next hop.
fn lost(own: &BTreeMap<NodeId, HostRoute>, present: &BTreeMap<Ipv4Addr, Ipv4Addr>) -> Vec<NodeId> {
    let is_lost = |(_, route): &(&NodeId, &HostRoute)| present.get(&route.to) != Some(&route.via);
    own.iter().filter(is_lost).map(|(to, _)| *to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_and_replaced_routes_are_lost() {
        let [from, b, c, d] = [1, 2, 3, 4].map(|number| Ipv4Addr::new(10, 77, 0, number));
        let route = |to, via| HostRoute { to, via, index: 1001, from };
        let nodes = ["b", "c", "d"].map(NodeId::named);
        let own: BTreeMap<_, _> =
            nodes.into_iter().zip([route(b, b), route(c, b), route(d, b)]).collect();
        assert_eq!(lost(&own, &[(b, b), (c, b), (d, b)].into()), []);
        assert_eq!(lost(&own, &[(b, b), (c, b)].into()), [nodes[2]], "deleted");
        assert_eq!(lost(&own, &[(b, b), (c, d), (d, b)].into()), [nodes[1]], "another next hop");
    }
}
