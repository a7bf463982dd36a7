//! Imported endpoints of external systems: list, enable, poll.

use axum::extract::State;
use groundwave_gateway::config::Expected;
use groundwave_gateway::external::{Endpoint, EndpointPoll, ExternalSystem, HttpMethod};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects::{find, write};
use crate::services::world::{World, missing};

/// Endpoint of an external system.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct EndpointView {
    /// Endpoint id.
    pub endpoint_id: Uuid,
    /// Method.
    pub method: HttpMethod,
    /// Path template below the base URL.
    pub path: String,
    /// Operation id.
    pub operation_id: Option<String>,
    /// Summary.
    pub summary: String,
    /// JSON schema of the parameters.
    pub params: Value,
    /// The endpoint may be called.
    pub enabled: bool,
    /// Periodic call.
    pub poll: Option<EndpointPoll>,
}

impl EndpointView {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        Self {
            endpoint_id: endpoint.endpoint_id,
            method: endpoint.method,
            path: endpoint.path.clone(),
            operation_id: endpoint.operation_id.clone(),
            summary: endpoint.summary.clone(),
            params: endpoint.params.clone(),
            enabled: endpoint.enabled,
            poll: endpoint.poll.clone(),
        }
    }
}

/// List the imported endpoints of an external system
#[utoipa::path(get, path = "/v1/external-systems/{system_id}/endpoints", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"), Paging),
    responses((status = 200, description = "Sorted by path and method"),
        (status = 404, description = "No such system")))]
pub async fn external_endpoints(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<EndpointView>>, Problem> {
    let system = find::<ExternalSystem>(&world, id)?;
    let all = system
        .object
        .endpoints
        .iter()
        .map(|endpoint| (format!("{} {}", endpoint.path, endpoint.method.word()), endpoint));
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Json(paging.of(all.into_iter(), EndpointView::of)?))
}

/// Change of an endpoint; absent fields stay, `poll: null` ends the periodic call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointChange {
    /// The endpoint may be called.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// Periodic call.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<EndpointPoll>")]
    pub poll: Option<Option<EndpointPoll>>,
}

/// A field that is there, if only as null.
fn present<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<EndpointPoll>>, D::Error> {
    Option::<EndpointPoll>::deserialize(from).map(Some)
}

/// Enable an endpoint or call it periodically
#[utoipa::path(patch, path = "/v1/external-systems/{system_id}/endpoints/{endpoint_id}",
    tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"),
        ("endpoint_id" = Uuid, Path, description = "Endpoint id")),
    responses((status = 200, description = "The endpoint"),
        (status = 404, description = "No such system or endpoint"),
        (status = 412, description = "The system changed meanwhile")))]
pub async fn external_endpoint_patch(
    _: Admin,
    State(world): State<World>,
    Path((id, endpoint_id)): Path<(Uuid, Uuid)>,
    StrictJson(change): StrictJson<EndpointChange>,
) -> Result<Json<EndpointView>, Problem> {
    let versioned = find::<ExternalSystem>(&world, id)?;
    let mut object = versioned.object.clone();
    let endpoint = object
        .endpoints
        .iter_mut()
        .find(|endpoint| endpoint.endpoint_id == endpoint_id)
        .ok_or_else(|| missing("endpoint", endpoint_id))?;
    if let Some(enabled) = change.enabled {
        endpoint.enabled = enabled;
    }
    if let Some(poll) = change.poll {
        let required = endpoint.params["required"].as_array();
        let has_required = required.is_some_and(|names| !names.is_empty());
        if poll.is_some() && (endpoint.method != HttpMethod::Get || has_required) {
            let message = "only GET without required parameters is called periodically";
            return Err(Problem::field("/poll", FieldCode::NotAllowed, message));
        }
        endpoint.poll = poll;
    }
    let endpoint_view = EndpointView::of(endpoint);
    let expected = Expected::Revision(versioned.revision);
    write(&world, id, object, expected).await?;
    Ok(Json(endpoint_view))
}
