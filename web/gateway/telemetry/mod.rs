//! Telemetry endpoints: samples, series, latest values.

pub mod samples;

use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::gateway::state::Gateway;

/// Routes of this category.
pub fn routes() -> OpenApiRouter<Gateway> {
    let limit = DefaultBodyLimit::max(samples::BATCH_BYTES_MAX);
    OpenApiRouter::new()
        .routes(routes!(samples::telemetry_fetch))
        .routes(routes!(samples::telemetry_post).layer(limit))
        .routes(routes!(samples::telemetry_latest))
        .routes(routes!(samples::telemetry_latest_all))
}
