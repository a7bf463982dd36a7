//! Endpoints of all categories.

use groundwave_http::endpoints::Endpoints;

use super::access::Access;
use super::state::Gateway;
use super::{
    admin, auth, camera, canonical, external, firewall, firmware, flows, impairment, mesh, network,
    nodes, power, public, sensors, system, telemetry, testbed, trust,
};

/// Endpoints of all categories.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    system::endpoints()
        .merge(auth::endpoints())
        .merge(mesh::endpoints())
        .merge(nodes::endpoints())
        .merge(telemetry::endpoints())
        .merge(trust::endpoints())
        .merge(network::endpoints())
        .merge(firewall::endpoints())
        .merge(firmware::endpoints())
        .merge(sensors::endpoints())
        .merge(canonical::endpoints())
        .merge(power::endpoints())
        .merge(camera::endpoints())
        .merge(external::endpoints())
        .merge(flows::endpoints())
        .merge(impairment::endpoints())
        .merge(testbed::endpoints())
        .merge(admin::endpoints())
        .merge(public::endpoints())
}
