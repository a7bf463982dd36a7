//! System endpoints: health, capabilities, metrics, API document, events, host.

mod events;
pub mod host;
pub mod status;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    OpenApiRouter::new()
        .routes(routes!(status::health))
        .routes(routes!(status::capabilities))
        .routes(routes!(status::metrics))
        .routes(routes!(status::openapi))
        .routes(routes!(status::system_tasks))
        .routes(routes!(host::system_info))
        .routes(routes!(host::system_cpu))
        .routes(routes!(host::system_board))
        .routes(routes!(events::events))
}
