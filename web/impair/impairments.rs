//! Impairment endpoints.

use axum::Extension;
use axum::extract::State;
use groundwave_systems::impair::Direction;

use super::wire::{AppliedState, DirectionName, NewImpairment};
use super::{Daemon, Peer, audit};
use crate::http::{Json, JsonBody, Path, Problem};

/// Get the impairment of a direction, read back from the kernel
#[utoipa::path(get, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force"),
        (status = 400, description = "Unknown direction")))]
pub async fn fetch_impairment(
    State(daemon): State<Daemon>,
    Path(direction): Path<Direction>,
) -> Result<Json<AppliedState>, Problem> {
    let applied = daemon.read(direction).await?;
    let requested = daemon.requested(direction);
    Ok(Json(AppliedState::of(direction, applied, requested)))
}

/// Replace the impairment of a direction
///
/// The body is the complete state: absent fields are not impaired. The response is what the
/// kernel holds afterwards.
#[utoipa::path(put, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force, with its divergence from the request"),
        (status = 400, description = "Unknown direction, or malformed body"),
        (status = 403, description = "Missing capability CAP_NET_ADMIN"),
        (status = 422, description = "Unsupported, or refused by the kernel; the previous impairment stays")))]
pub async fn replace_impairment(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    Path(direction): Path<Direction>,
    JsonBody(NewImpairment(wanted)): JsonBody<NewImpairment>,
) -> Result<Json<AppliedState>, Problem> {
    let outcome = daemon.shape(direction, Some(wanted.clone())).await;
    let peer = peer.map_or_else(Peer::default, |Extension(peer)| peer);
    let applied = audit::change(peer, direction, Some(&wanted), outcome)?;
    Ok(Json(AppliedState::of(direction, applied, Some(wanted))))
}

/// Clear the impairment of a direction
///
/// A root queueing discipline of another program stays and is reported as a
/// divergence.
#[utoipa::path(delete, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force"),
        (status = 400, description = "Unknown direction"),
        (status = 403, description = "Missing capability CAP_NET_ADMIN"),
        (status = 422, description = "Refused by the kernel")))]
pub async fn clear_impairment(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    Path(direction): Path<Direction>,
) -> Result<Json<AppliedState>, Problem> {
    let outcome = daemon.shape(direction, None).await;
    let peer = peer.map_or_else(Peer::default, |Extension(peer)| peer);
    let applied = audit::change(peer, direction, None, outcome)?;
    Ok(Json(AppliedState::of(direction, applied, None)))
}
