//! Mesh endpoints: enrolment, topology, health, peers, addresses, batman-adv, radios, probes.

pub mod batman;
pub mod config;
pub mod graph;
pub mod outages;
pub mod peers;
pub mod probes;
pub mod registration;
pub mod status;
pub mod topology;
pub mod topology_history;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().schema::<graph::NetworkGraph>().with(operations!(
        rule_of;
        registration::wg_register,
        registration::wg_challenge,
        topology::mesh_topology,
        topology::mesh_health,
        outages::mesh_outages,
        peers::mesh_peers,
        peers::mesh_peer_delete,
        peers::ipam,
        peers::ipam_leases,
        peers::ipam_lease_delete,
        peers::ipam_lease_free,
        status::mesh_status,
        status::mesh_channels,
        config::mesh_config,
        config::mesh_config_put,
        config::mesh_config_confirm,
        probes::probe_create,
        probes::probe_fetch,
        status::mesh_plinks,
        batman::batman_originators,
        batman::batman_neighbors,
        batman::batman_gateways,
        batman::batman_translocal,
        batman::batman_transglobal,
        batman::batman_dat_cache,
        batman::batman_bla_claims,
        batman::batman_hardifs,
    ))
}
