//! Node endpoints: inventory, heartbeats, commands, reports.

pub mod heartbeat;
pub mod inventory;
pub mod reports;
pub mod view;

use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    let limit = DefaultBodyLimit::max(heartbeat::BEAT_BYTES_MAX);
    OpenApiRouter::new()
        .routes(routes!(heartbeat::heartbeat).layer(limit))
        .routes(routes!(heartbeat::node_join))
        .routes(routes!(inventory::node_register))
        .routes(routes!(inventory::nodes_list))
        .routes(routes!(
            inventory::node_fetch,
            inventory::node_patch,
            inventory::node_delete
        ))
        .routes(routes!(reports::node_radio))
        .routes(routes!(reports::node_health))
        .routes(routes!(reports::node_interfaces))
        .routes(routes!(reports::node_endpoints))
        .routes(routes!(reports::node_events))
        .routes(routes!(
            heartbeat::node_commands,
            heartbeat::node_command_create
        ))
        .routes(routes!(heartbeat::node_command_result))
        .routes(routes!(inventory::node_rotate_credentials))
}
