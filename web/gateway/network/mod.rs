//! Network endpoints: interfaces, neighbours, routes, wireless stations, DHCP.

pub mod dhcp;
pub mod interfaces;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

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
