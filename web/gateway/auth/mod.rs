//! Authentication endpoints: login, logout, caller, password.

pub mod sessions;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(sessions::login))
        .routes(routes!(sessions::login_viewer))
        .routes(routes!(sessions::login_operator))
        .routes(routes!(sessions::login_admin))
        .routes(routes!(sessions::logout))
        .routes(routes!(sessions::me))
        .routes(routes!(sessions::change_password))
}
