//! Calls of imported endpoints.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::json_body::StrictJson;
use groundwave_http::{Json, Path, Problem};
use groundwave_outbound::Outbound;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::Operator;
use crate::services::external::call::{EndpointAnswer, call_endpoint};
use crate::services::limits::RateLimits;
use crate::services::vault::Vault;
use crate::services::world::World;

/// Call of an endpoint.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invocation {
    /// Parameters by name, as the schema of the endpoint has them.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Call an imported endpoint
///
/// GET and HEAD by operators, other methods by admins.
#[utoipa::path(post, path = "/v1/external-systems/{system_id}/endpoints/{endpoint_id}/invoke",
    tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"),
        ("endpoint_id" = Uuid, Path, description = "Endpoint id")),
    responses((status = 200, description = "Answer of the system"),
        (status = 404, description = "No such system or endpoint"),
        (status = 429, description = "More than 30 calls a minute"),
        (status = 502, description = "System not reachable"),
        (status = 504, description = "No answer in time")))]
pub async fn external_endpoint_invoke(
    Operator(caller): Operator,
    State(limits): State<Arc<RateLimits>>,
    State(world): State<World>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    Path(ids): Path<(Uuid, Uuid)>,
    StrictJson(invocation): StrictJson<Invocation>,
) -> Result<Json<EndpointAnswer>, Problem> {
    let what = "rate limit of calls of external systems exceeded";
    limits.external_calls.allow(&caller.account, what)?;
    let services = (&world, &vault, &outbound);
    let answer = call_endpoint(services, caller.role, ids, &invocation.params).await?;
    Ok(Json(answer))
}
