//! Canonical model: networks, the underlay domains below them, and the interfaces of nodes.
//!
//! Onboarding assigns addresses of the network that this gateway serves; the firewall names networks
//! and domains instead of addresses. Roles of nodes belong to the fleet.

mod cidr;
mod domain;
mod network;
#[cfg(test)]
mod tests;

pub use cidr::Cidr;
pub use domain::{DomainKind, UnderlayDomain};
pub use network::{Network, served};
