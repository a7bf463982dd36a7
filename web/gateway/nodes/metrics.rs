//! Prometheus metrics of single nodes.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use groundwave_http::Problem;

use crate::access::Viewer;
use crate::services::node_metrics::{SERIES_MAX, text};
use crate::services::world::{World, blocking};

/// Get Prometheus metrics of the nodes
///
/// Liveness and the latest readings of the last five minutes, labelled with node id and name; 50,000
/// series at most: `groundwave_nodes_left_out` counts the nodes beyond.
#[utoipa::path(get, path = "/v1/metrics/nodes", tag = "nodes",
    responses((status = 200, description = "Prometheus text, version 0.0.4", content((String = "text/plain")))))]
pub async fn node_metrics(_: Viewer, State(world): State<World>) -> Result<Response, Problem> {
    let (view, now_ms) = (world.view(), world.wall_ns() / 1_000_000);
    let text = blocking(move || Ok(text(&view, now_ms, SERIES_MAX))).await?;
    let media = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((media, text).into_response())
}
