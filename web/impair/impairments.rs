//! Impairment endpoints.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use groundwave_http::tag::{Tag, if_match, tag};
use groundwave_http::{Json, JsonBody, Problem, Query};
use serde::Deserialize;

use super::port_path::PortPath;
use super::wire::{AppliedState, DirectionName, NewImpairment};
use super::{Daemon, Peer, audit};

/// Query of a replacement.
#[derive(Debug, Default, Deserialize)]
pub struct Beneath {
    /// The body is the state beneath leases, field by field.
    #[serde(default)]
    beneath: bool,
}

/// State of a direction with its revision.
type Revised = (Tag, Json<AppliedState>);

fn revised(state: AppliedState) -> Revised {
    (tag(state.revision()), Json(state))
}

/// Get the impairment of a direction, read back from the kernel
#[utoipa::path(get, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force",
            headers(("etag" = String, description = "Revision"))),
        (status = 400, description = "Unknown direction")))]
pub async fn fetch_impairment(
    State(daemon): State<Daemon>,
    PortPath(direction): PortPath,
) -> Result<Revised, Problem> {
    let applied = daemon.read(direction).await?;
    Ok(revised(daemon.state(direction, applied).await))
}

/// Replace the impairment of a direction
///
/// The body is the complete state: absent fields are not impaired. The response is what the
/// kernel holds afterwards. Under leases it is the state beneath them, in force when they have ended; a
/// field of a lease whose value is that in force was read and not changed, unless `beneath` is true. With
/// `If-Match` it replaces the revision that was read, and no change of another client since.
#[utoipa::path(put, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction"),
        ("beneath" = Option<bool>, Query, description = "The body is the state beneath leases, field by field"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses(
        (status = 200, description = "Impairment in force, with its divergence from the request",
            headers(("etag" = String, description = "Revision"))),
        (status = 400, description = "Unknown direction, or malformed body"),
        (status = 403, description = "Missing capability CAP_NET_ADMIN"),
        (status = 412, description = "Changed since that revision"),
        (status = 422, description = "Unsupported, or refused by the kernel; the previous impairment stays")))]
pub async fn replace_impairment(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    PortPath(direction): PortPath,
    Query(Beneath { beneath }): Query<Beneath>,
    headers: HeaderMap,
    JsonBody(NewImpairment(wanted)): JsonBody<NewImpairment>,
) -> Result<Revised, Problem> {
    let revisions = if_match(&headers);
    let outcome = daemon.replace(direction, wanted.clone(), beneath, revisions.as_deref()).await;
    let peer = peer.map_or_else(Peer::default, |Extension(peer)| peer);
    let applied = audit::change(peer, direction, Some(&wanted), outcome)?;
    Ok(revised(daemon.state(direction, applied).await))
}

/// Clear the impairment of a direction
///
/// Leases of the direction end with it. A root queueing discipline of another program stays and is
/// reported as a divergence.
#[utoipa::path(delete, path = "/v1/impairments/{direction}", tag = "impairments",
    params(("direction" = DirectionName, Path, description = "Direction")),
    responses(
        (status = 200, description = "Impairment in force",
            headers(("etag" = String, description = "Revision"))),
        (status = 400, description = "Unknown direction"),
        (status = 403, description = "Missing capability CAP_NET_ADMIN"),
        (status = 422, description = "Refused by the kernel")))]
pub async fn clear_impairment(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    PortPath(direction): PortPath,
) -> Result<Revised, Problem> {
    let outcome = daemon.clear(direction).await;
    let peer = peer.map_or_else(Peer::default, |Extension(peer)| peer);
    let applied = audit::change(peer, direction, None, outcome)?;
    Ok(revised(daemon.state(direction, applied).await))
}
