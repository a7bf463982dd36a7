//! Network endpoints: interfaces, neighbours, routes, wireless stations, DHCP.

pub mod addresses;
pub mod dhcp;
pub mod interfaces;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(interfaces::network_interfaces))
        .routes(routes!(interfaces::network_interface))
        .routes(routes!(interfaces::network_arp))
        .routes(routes!(interfaces::network_routes))
        .routes(routes!(interfaces::network_wireless))
        .routes(routes!(interfaces::network_assoclist))
        .routes(routes!(dhcp::dhcp_leases))
        .routes(routes!(dhcp::dhcp_reservation_create))
        .routes(routes!(dhcp::dhcp_reservation_delete))
}
