//! Node role endpoints.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::config::Versioned;
use groundwave_gateway::fleet::NodeRole;
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

/// Node role, with its revision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoleView {
    /// Role id.
    pub role_id: Uuid,
    /// Role.
    #[serde(flatten)]
    pub role: NodeRole,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for RoleView {
    type Object = NodeRole;

    fn of(role_id: Uuid, held: &Versioned<NodeRole>) -> Self {
        Self { role_id, role: held.object.clone(), revision: Revision::of(held) }
    }
}

/// List node roles
#[utoipa::path(get, path = "/v1/model/roles", tag = "model", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn roles(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<RoleView>>, Problem> {
    config_objects::list(&world, &paging, |_| true)
}

/// Create a node role
#[utoipa::path(post, path = "/v1/model/roles", tag = "model",
    responses((status = 201, description = "The role",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists, or changed while nodes have the role")))]
pub async fn role_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(role): StrictJson<NodeRole>,
) -> Result<(StatusCode, Tag, Json<RoleView>), Problem> {
    config_objects::create(&world, role).await
}

/// Replace a node role
#[utoipa::path(put, path = "/v1/model/roles/{role_id}", tag = "model",
    params(("role_id" = Uuid, Path, description = "Role id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The role",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such role"),
        (status = 409, description = "Name exists, or changed while nodes have the role"),
        (status = 412, description = "Changed since that revision")))]
pub async fn role_replace(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(role): StrictJson<NodeRole>,
) -> Result<(Tag, Json<RoleView>), Problem> {
    config_objects::replace(&world, id, &headers, role).await
}

/// Remove a node role
#[utoipa::path(delete, path = "/v1/model/roles/{role_id}", tag = "model",
    params(("role_id" = Uuid, Path, description = "Role id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such role"),
        (status = 409, description = "In use"),
        (status = 412, description = "Changed since that revision")))]
pub async fn role_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<NodeRole>(&world, id, &headers).await
}
