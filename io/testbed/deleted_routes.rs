//! Routes of nodes with static routing, and names of namespaces, that another program deleted: they are put back.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_files::causes::with_causes;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, Protocol};

use super::dump;
use super::error::TestbedError;
use super::network::TestbedNetwork;

impl TestbedNetwork {
    /// Sets the routes again that another program deleted; directions they lead through, with the change in
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
            let deleted: Vec<(NodeId, NodeId)> = own
                .routes
                .iter()
                .filter(|(_, route)| !present.contains_key(&route.to))
                .filter_map(|(to, _)| Some((*to, *own.next_hops.get(to)?)))
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
                "routes were deleted and are restored"
            );
            for via in deleted.iter().map(|(_, via)| *via).collect::<BTreeSet<_>>() {
                let count = deleted.iter().filter(|(_, other)| *other == via).count();
                let change = match count {
                    1 => "a route through it was deleted".to_owned(),
                    count => format!("{count} routes through it were deleted"),
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
