//! Administration endpoints: registrations, users, audit log, backup.

pub mod audit;
pub mod backup;
pub mod registrations;
pub mod users;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(registrations::registrations))
        .routes(routes!(registrations::registration_fetch))
        .routes(routes!(registrations::registration_approve))
        .routes(routes!(registrations::registration_reject))
        .routes(routes!(registrations::registration_revoke))
        .routes(routes!(registrations::registration_reset))
        .routes(routes!(users::users, users::user_create))
        .routes(routes!(users::user_patch, users::user_delete))
        .routes(routes!(users::user_revoke_tokens))
        .routes(routes!(audit::audit))
        .routes(routes!(backup::backup))
}
