//! Interfaces of links that another program has changed: taken down, given another MTU, without their address.
//!
//! Such a change is the experiment of somebody in the node, so it is reported with the direction and left.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, Protocol};

use super::batman;
use super::dump::{Addresses, LinkState};
use super::names::index;
use super::network::TestbedNetwork;

/// The other end of the pair that an interface belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// The interface of another node.
    Node,
    /// A port of the segment.
    Port,
}

/// An interface as a testbed sets it up.
pub(super) struct Expected {
    pub(super) index: u32,
    pub(super) mtu_bytes: u32,
    /// `None` where the interface belongs to `bat0`, which has the address.
    pub(super) address: Option<Ipv4Addr>,
    pub(super) far_end: FarEnd,
}

impl Expected {
    /// Difference of an interface as read, in words.
    pub(super) fn fault(&self, link: &LinkState, addresses: &Addresses) -> Option<String> {
        if !link.is_up {
            return Some("its interface is down in the node".to_owned());
        }
        if !link.has_carrier {
            let far_end = match self.far_end {
                FarEnd::Node => "that of the other node",
                FarEnd::Port => "its port of the segment",
            };
            return Some(format!("its interface has no carrier: {far_end} is down"));
        }
        if link.mtu_bytes != self.mtu_bytes {
            let (own, expected) = (link.mtu_bytes, self.mtu_bytes);
            return Some(format!("the MTU of its interface is {own} bytes instead of {expected}"));
        }
        let Some(address) = self.address else {
            let is_member = link.controller == Some(batman::INDEX);
            return (!is_member).then(|| "its interface does not belong to bat0".to_owned());
        };
        let is_there = addresses.contains(&(self.index, address));
        (!is_there).then(|| format!("its interface is without its address {address}"))
    }
}

impl TestbedNetwork {
    /// Notes the faults of the interfaces of `node`, and returns the directions whose fault is another now.
    pub(super) fn note_link_faults(
        &mut self,
        node: NodeId,
        links: &BTreeMap<u32, LinkState>,
        addresses: &Addresses,
    ) -> Vec<LinkDirection> {
        let Some(own) = self.assignments.get(&node) else { return Vec::new() };
        let address = self.names.address(own.assignment.number);
        let mut changed = Vec::new();
        for (side, veth) in self.wires.iter().filter(|(side, _)| side.from == node) {
            let Some(link) = links.get(&index(veth.number)) else { continue };
            let expected = Expected {
                index: index(veth.number),
                mtu_bytes: self.mtu_bytes(side),
                address: (own.protocol != Protocol::Batman).then_some(address),
                far_end: FarEnd::Node,
            };
            let fault = expected.fault(link, addresses);
            if self.link_faults.get(side) != fault.as_ref() {
                changed.push((*side, fault));
            }
        }
        for (side, fault) in &changed {
            match fault {
                Some(fault) => self.link_faults.insert(*side, fault.clone()),
                None => self.link_faults.remove(side),
            };
        }
        changed.into_iter().map(|(side, _)| side).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_that_differs_gives_a_fault_in_words() {
        let address = Ipv4Addr::new(10, 77, 0, 3);
        let far_end = FarEnd::Node;
        let expected = Expected { index: 9, mtu_bytes: 1500, address: Some(address), far_end };
        let link = LinkState { is_up: true, has_carrier: true, mtu_bytes: 1500, controller: None };
        let fault = |link: LinkState, addresses: &[(u32, Ipv4Addr)]| {
            expected.fault(&link, &addresses.iter().copied().collect()).unwrap_or_default()
        };
        let own = [(9, address)];
        assert_eq!(fault(link, &own), "");
        assert_eq!(fault(link, &[(8, address)]), "its interface is without its address 10.77.0.3");
        assert!(fault(LinkState { is_up: false, ..link }, &own).contains("is down in the node"));
        assert!(fault(LinkState { has_carrier: false, ..link }, &own).contains("no carrier"));
        let short = fault(LinkState { mtu_bytes: 1400, ..link }, &own);
        assert_eq!(short, "the MTU of its interface is 1400 bytes instead of 1500");
        let of_batman = Expected { address: None, ..expected };
        let member = LinkState { controller: Some(batman::INDEX), ..link };
        assert_eq!(of_batman.fault(&member, &Addresses::new()), None);
        let alone = of_batman.fault(&link, &Addresses::new());
        assert_eq!(alone.as_deref(), Some("its interface does not belong to bat0"));
    }
}
