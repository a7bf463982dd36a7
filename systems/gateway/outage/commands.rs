//! Commands of outages.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use groundwave_protocol::Mac;
use serde::{Deserialize, Serialize};

use super::components::{Outage, OutageWatch};
use super::silence::Silence;
use crate::fleet::GatewayClock;

/// Maximum number of hardware addresses of each list.
const MACS_MAX: usize = 1_024;

/// Watches outages from now on; submitted after [`StartGatewayClock`](crate::fleet::StartGatewayClock),
/// because nodes that return are timed by that clock.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeginOutages {}
impl Command for BeginOutages {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<OutageWatch>().is_active = true;
        world.resource_mut::<Silence>().is_changed = true;
        let now_ns = world.resource::<GatewayClock>().now_ns;
        for mut outage in world.query::<&mut Outage>().iter_mut(world) {
            if outage.is_open() && outage.returning_ns.is_some_and(|at_ns| at_ns != now_ns) {
                outage.returning_ns = Some(now_ns);
            }
        }
        Ok(())
    }
}
impl Recorded for BeginOutages {
    const NAME: &'static str = "outage.begin";
    type Reply = ();
}

/// Records the links of the gateway itself: nodes at their other ends are reached without another node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveGatewayLinks {
    /// Hardware addresses of its interfaces, up to 1024: nodes that report one as a neighbor.
    pub macs: BTreeSet<Mac>,
    /// Hardware addresses of its mesh neighbors, up to 1024.
    pub neighbors: BTreeSet<Mac>,
}
impl Command for ObserveGatewayLinks {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        for (key, macs) in [("macs", &self.macs), ("neighbors", &self.neighbors)] {
            if macs.len() > MACS_MAX {
                let allowed = format!("0 to {MACS_MAX} addresses");
                return Err(Refusal::invalid(key, macs.len(), allowed));
            }
        }
        let mut watch = world.resource_mut::<OutageWatch>();
        watch.macs = self.macs;
        watch.neighbors = self.neighbors;
        Ok(())
    }
}
impl Recorded for ObserveGatewayLinks {
    const NAME: &'static str = "outage.gateway_links";
    type Reply = ();
}
