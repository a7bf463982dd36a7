//! The bridge of a segment in the kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groundwave_netlink::route::{create_bridge, set_up};
use groundwave_simulation::testbed::LinkDirection;

use super::actions::{Action, send_all};
use super::dump;
use super::error::TestbedError;
use super::namespace::Namespace;
use crate::veth_qdiscs::VethQdiscs;

/// Index of the bridge in its namespace.
pub(super) const BRIDGE: u32 = 900;

/// State of the segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) namespace: Namespace,
    /// Indices of its interfaces.
    pub(super) links: BTreeSet<u32>,
    /// Directions with traffic classes; `None` when their disciplines must be read.
    pub(super) sides: BTreeMap<LinkDirection, Option<VethQdiscs>>,
}

impl Segment {
    /// Creates the segment at this path, or opens an existing one.
    pub(super) fn open(path: &Path) -> Result<Self, TestbedError> {
        let mut namespace = Namespace::open_or_create(path)?;
        let there = dump::links(&mut namespace.batch)
            .map_err(TestbedError::kernel("read the interfaces of the segment"))?;
        let links = there.into_keys().collect();
        let mut segment = Self { namespace, links, sides: BTreeMap::new() };
        if segment.links.insert(BRIDGE) {
            let actions =
                [Action::Route(create_bridge("air", BRIDGE)), Action::Route(set_up(BRIDGE, None))];
            send_all(&mut segment.namespace, &actions, "the segment")?;
        }
        Ok(segment)
    }

    /// Presence of the traffic classes of a direction.
    pub(super) fn holds(&self, side: LinkDirection) -> bool {
        self.sides.contains_key(&side)
    }
}
