//! System endpoints: health, capabilities, metrics, API document, events, host.

mod events;
pub mod host;
mod index;
mod link_changes;
pub mod status;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().schema::<status::GatewayHealth>().with(operations!(
        rule_of;
        index::index,
        status::health,
        status::capabilities,
        status::metrics,
        status::openapi,
        status::system_tasks,
        host::system_info,
        host::system_cpu,
        host::system_board,
        events::events,
    ))
}
