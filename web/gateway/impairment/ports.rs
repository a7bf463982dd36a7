//! Directions of the impairment daemon.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::{Path, Problem};
use groundwave_impair::{Direction, Impairment, LinkStats};
use groundwave_impaird::wire::{AppliedState, DirectionName, SystemRecord};
use serde_json::Value;

use crate::access::{Admin, Viewer};
use crate::services::local_service::{Answered, ImpairmentDaemon, JsonOf, Passed};
use crate::services::playback::Playback;

/// Get version, ports and capabilities of the impairment daemon
#[utoipa::path(get, path = "/v1/impairment/system", tag = "impairment",
    responses(
        (status = 200, description = "The system record")))]
pub async fn impairment_system(
    _: Viewer,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<SystemRecord>, Problem> {
    Ok(daemon.pass(request, "/v1/system").await?.into())
}

/// Get the impairment of a direction, read back from the kernel
#[utoipa::path(get, path = "/v1/impairment/ports/{direction}", tag = "impairment",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force, with its divergence from the requested one"),
        (status = 400, description = "Unknown direction")))]
pub async fn impairment_fetch(
    _: Viewer,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    Path(direction): Path<Direction>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<AppliedState>, Problem> {
    let path = format!("/v1/impairments/{direction}");
    Ok(daemon.pass(request, &path).await?.into())
}

/// Replace the impairment of a direction
///
/// The body is the complete state: absent fields are not impaired.
#[utoipa::path(put, path = "/v1/impairment/ports/{direction}", tag = "impairment",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force, with its divergence from the request"),
        (status = 400, description = "Unknown direction, or malformed body"),
        (status = 403, description = "Insufficient role, or the daemon lacks CAP_NET_ADMIN"),
        (status = 409, description = "A playback changes the direction"),
        (status = 422, description = "Unsupported, or refused by the kernel; the previous impairment stays")))]
pub async fn impairment_replace(
    _: Admin,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    State(playback): State<Arc<Playback>>,
    Path(direction): Path<Direction>,
    request: Passed<ImpairmentDaemon, JsonOf<Impairment>>,
) -> Result<Answered<AppliedState>, Problem> {
    playback.leaves(direction)?;
    let path = format!("/v1/impairments/{direction}");
    Ok(daemon.pass(request, &path).await?.into())
}

/// Clear the impairment of a direction
#[utoipa::path(delete, path = "/v1/impairment/ports/{direction}", tag = "impairment",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force"),
        (status = 400, description = "Unknown direction"),
        (status = 403, description = "Insufficient role, or the daemon lacks CAP_NET_ADMIN"),
        (status = 409, description = "A playback changes the direction"),
        (status = 422, description = "Refused by the kernel")))]
pub async fn impairment_clear(
    _: Admin,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    State(playback): State<Arc<Playback>>,
    Path(direction): Path<Direction>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<AppliedState>, Problem> {
    playback.leaves(direction)?;
    let path = format!("/v1/impairments/{direction}");
    Ok(daemon.pass(request, &path).await?.into())
}

/// Get traffic counters of a direction
///
/// Cumulative; a rate is the difference of two samples over that of their timestamps.
#[utoipa::path(get, path = "/v1/impairment/ports/{direction}/stats", tag = "impairment",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Counter sample"),
        (status = 400, description = "Unknown direction")))]
pub async fn impairment_stats(
    _: Viewer,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    Path(direction): Path<Direction>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<LinkStats>, Problem> {
    let path = format!("/v1/impairments/{direction}/stats");
    Ok(daemon.pass(request, &path).await?.into())
}

/// Get the calibration baseline of the impairment daemon
#[utoipa::path(get, path = "/v1/impairment/baseline", tag = "impairment",
    responses(
        (status = 200, description = "Stored document"),
        (status = 404, description = "No baseline stored")))]
pub async fn impairment_baseline(
    _: Viewer,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<Value>, Problem> {
    let path = "/v1/calibration/baseline";
    Ok(daemon.pass(request, path).await?.into())
}
