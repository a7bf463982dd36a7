//! Counter endpoint.

use axum::extract::State;
use groundwave_http::{Json, Problem};

use super::Daemon;
use super::port_path::PortPath;
use super::wire::{DirectionName, LinkSample};

/// Get traffic counters of a direction
///
/// Cumulative; a rate is the difference of two samples over that of their timestamps.
#[utoipa::path(get, path = "/v1/impairments/{direction}/stats", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Counter sample"),
        (status = 400, description = "Unknown direction")))]
pub async fn sample(
    State(daemon): State<Daemon>,
    PortPath(direction): PortPath,
) -> Result<Json<LinkSample>, Problem> {
    Ok(Json(LinkSample(daemon.stats(direction).await?)))
}
