//! Node endpoints: inventory, heartbeats, commands, reports.

pub mod heartbeat;
pub mod inventory;
pub mod lenient;
pub mod metrics;
pub mod reports;
pub mod settings;
pub mod view;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;
use groundwave_protocol::NodeState;

use crate::access::{Access, rule_of};
use crate::services::limits::HEARTBEAT_BYTES_MAX;
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .schema::<view::Origin>()
        .schema::<NodeState>()
        .with(operations!(
            rule_of;
            metrics::node_metrics,
            heartbeat::node_join,
            inventory::node_register,
            inventory::nodes_list,
            inventory::node_fetch,
            inventory::node_patch,
            inventory::node_delete,
            reports::node_radio,
            reports::node_health,
            reports::node_interfaces,
            reports::node_endpoints,
            reports::node_events,
            heartbeat::node_commands,
            heartbeat::node_command_create,
            heartbeat::node_command_result,
            inventory::node_rotate_credentials,
            settings::node_settings,
            settings::node_settings_put,
            settings::node_settings_push,
            settings::node_settings_delete,
        ))
        .with(operations!(rule_of; heartbeat::heartbeat).body_limit(HEARTBEAT_BYTES_MAX))
}
