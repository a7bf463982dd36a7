//! Underlay domain endpoints.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::canonical::UnderlayDomain;
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

/// Underlay domain, with its revision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DomainView {
    /// Underlay domain id.
    pub domain_id: Uuid,
    /// Underlay domain.
    #[serde(flatten)]
    pub domain: UnderlayDomain,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for DomainView {
    type Object = UnderlayDomain;

    fn of(domain_id: Uuid, held: &Versioned<UnderlayDomain>) -> Self {
        Self { domain_id, domain: held.object.clone(), revision: Revision::of(held) }
    }
}

/// List underlay domains
#[utoipa::path(get, path = "/v1/model/underlay-domains", tag = "model", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn domains(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<DomainView>>, Problem> {
    config_objects::list(&world, &paging, |_| true)
}

/// Create an underlay domain
#[utoipa::path(post, path = "/v1/model/underlay-domains", tag = "model",
    responses((status = 201, description = "The underlay domain",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists, or interface of another domain")))]
pub async fn domain_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(domain): StrictJson<UnderlayDomain>,
) -> Result<(StatusCode, Tag, Json<DomainView>), Problem> {
    config_objects::create(&world, domain).await
}

/// Get an underlay domain
#[utoipa::path(get, path = "/v1/model/underlay-domains/{domain_id}", tag = "model",
    params(("domain_id" = Uuid, Path, description = "Underlay domain id")),
    responses((status = 200, description = "The underlay domain",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such underlay domain")))]
pub async fn domain_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<DomainView>), Problem> {
    config_objects::fetch(&world, id)
}

/// Replace an underlay domain
#[utoipa::path(put, path = "/v1/model/underlay-domains/{domain_id}", tag = "model",
    params(("domain_id" = Uuid, Path, description = "Underlay domain id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The underlay domain",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such underlay domain"),
        (status = 409, description = "Name exists, or interface of another domain"),
        (status = 412, description = "Changed since that revision")))]
pub async fn domain_replace(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(domain): StrictJson<UnderlayDomain>,
) -> Result<(Tag, Json<DomainView>), Problem> {
    config_objects::replace(&world, id, &headers, domain).await
}

/// Remove an underlay domain
#[utoipa::path(delete, path = "/v1/model/underlay-domains/{domain_id}", tag = "model",
    params(("domain_id" = Uuid, Path, description = "Underlay domain id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such underlay domain"),
        (status = 409, description = "In use"),
        (status = 412, description = "Changed since that revision")))]
pub async fn domain_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<UnderlayDomain>(&world, id, &headers).await
}
