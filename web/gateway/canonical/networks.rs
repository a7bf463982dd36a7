//! Network endpoints.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::canonical::Network;
use groundwave_gateway::config::Versioned;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::Tag;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, Shown};
use crate::services::world::World;

/// Network, with its revision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NetworkView {
    /// Network id.
    pub network_id: Uuid,
    /// Network.
    #[serde(flatten)]
    pub network: Network,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for NetworkView {
    type Object = Network;

    fn of(network_id: Uuid, held: &Versioned<Network>) -> Self {
        Self { network_id, network: held.object.clone(), revision: Revision::of(held) }
    }
}

/// List networks
#[utoipa::path(get, path = "/v1/model/networks", tag = "model", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn networks(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<NetworkView>>, Problem> {
    config_objects::list(&world, &paging, |_| true)
}

/// Create a network
#[utoipa::path(post, path = "/v1/model/networks", tag = "model",
    responses((status = 201, description = "The network",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists, range overlaps another network or lacks leased addresses")))]
pub async fn network_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(network): StrictJson<Network>,
) -> Result<(StatusCode, Tag, Json<NetworkView>), Problem> {
    config_objects::create(&world, network).await
}

/// Get a network
#[utoipa::path(get, path = "/v1/model/networks/{network_id}", tag = "model",
    params(("network_id" = Uuid, Path, description = "Network id")),
    responses((status = 200, description = "The network",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such network")))]
pub async fn network_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<NetworkView>), Problem> {
    config_objects::fetch(&world, id)
}

/// Replace a network
#[utoipa::path(put, path = "/v1/model/networks/{network_id}", tag = "model",
    params(("network_id" = Uuid, Path, description = "Network id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The network",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such network"),
        (status = 409, description = "Name exists, range overlaps another network or lacks leased addresses"),
        (status = 412, description = "Changed since that revision")))]
pub async fn network_replace(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(network): StrictJson<Network>,
) -> Result<(Tag, Json<NetworkView>), Problem> {
    config_objects::replace(&world, id, &headers, network).await
}

/// Remove a network
#[utoipa::path(delete, path = "/v1/model/networks/{network_id}", tag = "model",
    params(("network_id" = Uuid, Path, description = "Network id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such network"),
        (status = 409, description = "In use"),
        (status = 412, description = "Changed since that revision")))]
pub async fn network_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<Network>(&world, id, &headers).await
}
