//! External system endpoints: definitions, tests, metrics, imported operations.

pub mod calls;
pub mod endpoints;
pub mod import;
pub mod metrics;
pub mod poll;
pub mod presets;
pub mod probes;
pub mod systems;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .with(operations!(
            rule_of;
            systems::external_systems,
            systems::external_system_create,
            systems::external_system_fetch,
            systems::external_system_replace,
            systems::external_system_remove,
            presets::external_presets,
            probes::external_test_unsaved,
            probes::external_test,
            metrics::external_metrics,
            endpoints::external_endpoints,
            endpoints::external_endpoint_patch,
            calls::external_endpoint_invoke,
        ))
        .with(operations!(rule_of; import::external_import_oas).body_limit(import::BODY_BYTES_MAX))
}
