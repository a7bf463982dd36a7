//! Tests of external systems: one probe, whose answer is not shown.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::json_body::StrictJson;
use groundwave_http::{Json, Path, Problem};
use groundwave_outbound::Outbound;
use uuid::Uuid;

use super::systems::{NewSystem, system_of};
use crate::access::{Admin, Operator};
use crate::services::config_objects::find;
use crate::services::external::auth::SystemCredentials;
use crate::services::external::probe::{ProbeResult, probe};
use crate::services::limits::RateLimits;
use crate::services::vault::Vault;
use crate::services::world::World;

/// Test of a rate limit.
const WHAT: &str = "rate limit of tests of external systems exceeded";

/// Test a definition without saving it
#[utoipa::path(post, path = "/v1/external-systems/test", tag = "external",
    responses((status = 200, description = "Result; the answer of the system is not shown"),
        (status = 429, description = "More than 6 tests a minute")))]
pub async fn external_test_unsaved(
    Admin(caller): Admin,
    State(limits): State<Arc<RateLimits>>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    StrictJson(new): StrictJson<NewSystem>,
) -> Result<Json<ProbeResult>, Problem> {
    limits.external_tests.allow(&caller.account, WHAT)?;
    let (system, credentials) = system_of(new, &vault, Uuid::nil(), None)?;
    Ok(Json(probe(&outbound, &credentials, &system).await?.result))
}

/// Test an external system
#[utoipa::path(post, path = "/v1/external-systems/{system_id}/test", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id")),
    responses((status = 200, description = "Result; the answer of the system is not shown"),
        (status = 404, description = "No such system"),
        (status = 422, description = "Forbidden target"),
        (status = 429, description = "More than 6 tests a minute")))]
pub async fn external_test(
    Operator(caller): Operator,
    State(limits): State<Arc<RateLimits>>,
    State(world): State<World>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    Path(id): Path<Uuid>,
) -> Result<Json<ProbeResult>, Problem> {
    let versioned = find(&world, id)?;
    limits.external_tests.allow(&caller.account, WHAT)?;
    let credentials = SystemCredentials::open(&vault, id, &versioned.object)?;
    Ok(Json(probe(&outbound, &credentials, &versioned.object).await?.result))
}
