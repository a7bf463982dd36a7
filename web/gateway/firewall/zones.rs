//! Firewall zone endpoints: changes are staged until they are applied.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::config::Versioned;
use groundwave_gateway::firewall::Zone;
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

/// Zone, with its revision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ZoneView {
    /// Zone id.
    pub zone_id: Uuid,
    /// Zone.
    #[serde(flatten)]
    pub zone: Zone,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for ZoneView {
    type Object = Zone;

    fn of(zone_id: Uuid, held: &Versioned<Zone>) -> Self {
        Self { zone_id, zone: held.object.clone(), revision: Revision::of(held) }
    }
}

/// List firewall zones
#[utoipa::path(get, path = "/v1/firewall/zones", tag = "firewall", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn zones(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<ZoneView>>, Problem> {
    config_objects::list(&world, &paging, |_| true)
}

/// Create a firewall zone
#[utoipa::path(post, path = "/v1/firewall/zones", tag = "firewall",
    responses((status = 201, description = "The zone, staged",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists, or interface or network of another zone")))]
pub async fn zone_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(zone): StrictJson<Zone>,
) -> Result<(StatusCode, Tag, Json<ZoneView>), Problem> {
    config_objects::create(&world, zone).await
}

/// Get a firewall zone
#[utoipa::path(get, path = "/v1/firewall/zones/{zone_id}", tag = "firewall",
    params(("zone_id" = Uuid, Path, description = "Zone id")),
    responses((status = 200, description = "The zone, staged",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such zone")))]
pub async fn zone_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<ZoneView>), Problem> {
    config_objects::fetch(&world, id)
}

/// Replace a firewall zone
#[utoipa::path(put, path = "/v1/firewall/zones/{zone_id}", tag = "firewall",
    params(("zone_id" = Uuid, Path, description = "Zone id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The zone, staged",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such zone"),
        (status = 409, description = "Name exists, or interface or network of another zone"),
        (status = 412, description = "Changed since that revision")))]
pub async fn zone_replace(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(zone): StrictJson<Zone>,
) -> Result<(Tag, Json<ZoneView>), Problem> {
    config_objects::replace(&world, id, &headers, zone).await
}

/// Remove a firewall zone
#[utoipa::path(delete, path = "/v1/firewall/zones/{zone_id}", tag = "firewall",
    params(("zone_id" = Uuid, Path, description = "Zone id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such zone"),
        (status = 409, description = "In use"),
        (status = 412, description = "Changed since that revision")))]
pub async fn zone_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<Zone>(&world, id, &headers).await
}
