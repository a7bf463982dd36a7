//! Trust endpoints: enrolment policy, trust secret, trusted MAC addresses.

pub mod enrolment;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(enrolment::trust))
        .routes(routes!(enrolment::trust_policy_put))
        .routes(routes!(enrolment::trust_secret))
        .routes(routes!(enrolment::trust_secret_rotate))
        .routes(routes!(enrolment::trust_macs, enrolment::trust_mac_add))
        .routes(routes!(
            enrolment::trust_mac_fetch,
            enrolment::trust_mac_delete
        ))
        .routes(routes!(enrolment::trust_macs_import))
}
