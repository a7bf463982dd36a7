//! Canonical model: networks, the underlay domains below them, and the interfaces of nodes.
//!
//! Onboarding assigns addresses of the network that this gateway serves; the firewall names networks
//! and domains instead of addresses. Roles of nodes belong to the fleet.

mod domain;
mod interface;
mod network;
#[cfg(test)]
mod tests;
mod underlay;

use groundwave_engine::{Builder, Phase};

pub use groundwave_values::Cidr;

pub use domain::{DomainKind, UnderlayDomain};
pub(crate) use domain::{IFNAME, is_ifname};
pub use interface::{InterfaceKind, InterfaceSettings};
pub use network::{Network, served};
pub use underlay::{SetUnderlay, Underlay};

/// Underlay addresses, and interfaces of nodes that have left the fleet; networks and domains need no
/// systems.
pub fn canonical(engine: &mut Builder) {
    engine
        .resource(Underlay::default())
        .state::<Underlay>()
        .command::<SetUnderlay>()
        .systems(Phase::Plan, interface::drop_interfaces);
}
