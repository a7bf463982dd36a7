//! Telemetry endpoints: samples, series, latest values.

pub mod series;
pub mod upload;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::services::limits::BATCH_BYTES_MAX;
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .with(operations!(
            rule_of;
            series::telemetry_fetch,
            series::telemetry_latest,
            series::telemetry_latest_all,
        ))
        .with(operations!(rule_of; upload::telemetry_post).body_limit(BATCH_BYTES_MAX))
}
