//! Mesh endpoints: enrolment, topology, health, peers, addresses, batman-adv, radios, probes.

pub mod batman;
pub mod config;
pub mod graph;
pub mod peers;
pub mod predict;
pub mod probes;
pub mod registration;
pub mod status;
pub mod topology;
pub mod topology_history;
pub mod tunnel;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(registration::wg_register))
        .routes(routes!(topology::mesh_topology))
        .routes(routes!(topology::mesh_health))
        .routes(routes!(peers::mesh_peers))
        .routes(routes!(peers::mesh_peer_delete))
        .routes(routes!(peers::ipam))
        .routes(routes!(peers::ipam_leases))
        .routes(routes!(peers::ipam_lease_delete))
        .routes(routes!(status::mesh_status))
        .routes(routes!(status::mesh_channels))
        .routes(routes!(status::mesh_config, config::mesh_config_put))
        .routes(routes!(config::mesh_config_confirm))
        .routes(routes!(probes::probe_create))
        .routes(routes!(probes::probe_fetch))
        .routes(routes!(status::mesh_plinks))
        .routes(routes!(batman::batman_originators))
        .routes(routes!(batman::batman_neighbors))
        .routes(routes!(batman::batman_gateways))
        .routes(routes!(batman::batman_translocal))
        .routes(routes!(batman::batman_transglobal))
        .routes(routes!(batman::batman_dat_cache))
        .routes(routes!(batman::batman_bla_claims))
        .routes(routes!(batman::batman_hardifs))
}
