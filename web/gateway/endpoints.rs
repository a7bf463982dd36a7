//! Endpoints of all categories.

use super::access::Access;
use super::state::Gateway;
use super::{admin, auth, canonical, mesh, network, nodes, system, telemetry, trust};
use crate::http::endpoints::Endpoints;

/// Endpoints of all categories.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    system::endpoints()
        .merge(auth::endpoints())
        .merge(mesh::endpoints())
        .merge(nodes::endpoints())
        .merge(telemetry::endpoints())
        .merge(trust::endpoints())
        .merge(network::endpoints())
        .merge(canonical::endpoints())
        .merge(admin::endpoints())
}
