//! Network endpoints: interfaces, neighbours, routes, wireless stations, DHCP.

pub mod dhcp;
pub mod interfaces;

use crate::gateway::access::{Access, rule_of};
use crate::gateway::state::Gateway;
use crate::http::endpoints::Endpoints;
use crate::operations;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        interfaces::network_interfaces,
        interfaces::network_interface,
        interfaces::network_arp,
        interfaces::network_routes,
        interfaces::network_wireless,
        interfaces::network_assoclist,
        dhcp::dhcp_leases,
        dhcp::dhcp_reservation_create,
        dhcp::dhcp_reservation_delete,
    ))
}
