//! Flow definition endpoints: create, read, change, remove.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::account::AccountRole;
use groundwave_gateway::automation::{
    Automation, AutomationFlow, AutomationId, ExecutionState, FlowMistake, FlowPlan, StepRole, plan,
};
use groundwave_gateway::config::{ConfigObjects, Versioned};
use groundwave_gateway::external::ExternalSystem;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::{FieldError, ProblemKind};
use groundwave_http::tag::Tag;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Shown, objects};
use crate::services::flow_backends::{absent_nodes, check, needs_admin};
use crate::services::flow_secrets::{seal, without_secrets};
use crate::services::vault::Vault;
use crate::services::world::{World, missing};
use crate::settings::Settings;

/// Flow, without its secrets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowView {
    /// Flow id.
    pub flow_id: Uuid,
    /// Flow.
    #[serde(flatten)]
    pub flow: AutomationFlow,
    /// Version, for `If-Match`.
    pub version: u64,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Time of the last change, RFC 3339.
    pub changed_at: String,
}

impl Shown for FlowView {
    type Object = Automation;

    fn of(flow_id: Uuid, versioned: &Versioned<Automation>) -> Self {
        Self {
            flow_id,
            flow: without_secrets(&versioned.object.0),
            version: versioned.revision,
            created_at: rfc3339(versioned.created_ns),
            changed_at: rfc3339(versioned.changed_ns),
        }
    }
}

/// Last execution of a flow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastExecution {
    /// State.
    pub state: ExecutionState,
    /// Time of its trigger, RFC 3339.
    pub at: String,
}

/// Flow in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Flow id.
    pub flow_id: Uuid,
    /// Name.
    pub name: String,
    /// Triggers are watched.
    pub enabled: bool,
    /// Version.
    pub version: u64,
    /// Last execution, if any.
    pub last_execution: Option<LastExecution>,
    /// Kinds of its triggers.
    pub trigger_kinds: Vec<String>,
}

/// Filter of flows.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FlowQuery {
    /// Only enabled, or only disabled flows
    pub enabled: Option<bool>,
}

/// List flows
#[utoipa::path(get, path = "/v1/flows", tag = "flows", params(FlowQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn flows(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<FlowQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<FlowSummary>>, Problem> {
    let view = world.view();
    let fits = |enabled| query.enabled.is_none_or(|state| state == enabled);
    let all = view
        .config
        .automations
        .iter()
        .filter(|(_, versioned)| fits(versioned.object.0.enabled))
        .map(|(id, versioned)| (id.uuid().to_string(), (id, versioned)));
    Ok(Json(paging.of(all, |(id, versioned)| {
        let flow = &versioned.object.0;
        let last = view.automation.of_flow(id).next_back();
        let mut trigger_kinds: Vec<String> = flow
            .steps
            .iter()
            .filter(|step| step.role == StepRole::Trigger)
            .map(|step| step.kind.clone())
            .collect();
        trigger_kinds.sort();
        trigger_kinds.dedup();
        FlowSummary {
            flow_id: id.uuid(),
            name: flow.name.clone(),
            enabled: flow.enabled,
            version: versioned.revision,
            last_execution: last.map(|(_, execution)| LastExecution {
                state: execution.state,
                at: rfc3339(execution.queued_ms * 1_000_000),
            }),
            trigger_kinds,
        }
    })?))
}

/// Mistakes of a flow as fields of a problem.
pub(super) fn errors(mistakes: Vec<FlowMistake>) -> Vec<FieldError> {
    let error = |mistake: FlowMistake| FieldError {
        pointer: mistake.pointer,
        code: mistake.code.as_str().to_owned(),
        message: mistake.message,
    };
    mistakes.into_iter().map(error).collect()
}

/// 422 with all mistakes of a flow.
fn invalid(mistakes: Vec<FlowMistake>) -> Problem {
    let errors = errors(mistakes);
    let first = errors.first().map_or("invalid flow", |error| &error.message);
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, first);
    Problem { errors, ..problem.of_kind(ProblemKind::InvalidBody) }
}

/// Refuses who may not make or enable a flow.
fn refuse_role(
    role: AccountRole,
    systems: &ConfigObjects<ExternalSystem>,
    planned: &FlowPlan,
) -> Result<(), Problem> {
    if role >= AccountRole::Admin || !needs_admin(systems, planned) {
        return Ok(());
    }
    let what = "insufficient role: admins make and enable flows that change something at external \
                systems";
    Err(Problem::new(StatusCode::FORBIDDEN, what).of_kind(ProblemKind::Forbidden))
}

/// The flow with its secrets sealed, if it is valid and the caller may make it.
fn checked(
    mut flow: AutomationFlow,
    before: Option<&AutomationFlow>,
    role: AccountRole,
    (world, settings, vault, outbound): (&World, &Settings, &Vault, &Outbound),
) -> Result<Automation, Problem> {
    let systems = objects::<ExternalSystem>(world);
    let places = (&*systems, &*world.view().fleet);
    let planned = check(&settings.flow_servers, places, outbound, &flow).map_err(invalid)?;
    refuse_role(role, &systems, &planned)?;
    seal(&mut flow, before, vault)?;
    Ok(Automation(flow))
}

fn fetch(world: &World, id: Uuid) -> Result<Arc<Versioned<Automation>>, Problem> {
    let flows = objects::<Automation>(world);
    flows.get(AutomationId::new(id)).cloned().ok_or_else(|| missing("flow", id))
}

/// Create a flow
#[utoipa::path(post, path = "/v1/flows", tag = "flows",
    responses((status = 201, description = "The flow",
            headers(("etag" = String, description = "Version"))),
        (status = 409, description = "Name exists"),
        (status = 422, description = "Invalid flow; `errors` names the steps that fail")))]
pub async fn flow_create(
    Operator(caller): Operator,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    StrictJson(flow): StrictJson<AutomationFlow>,
) -> Result<(StatusCode, Tag, Json<FlowView>), Problem> {
    let flow = checked(flow, None, caller.role, (&world, &settings, &vault, &outbound))?;
    config_objects::create(&world, flow).await
}

/// Get a flow
#[utoipa::path(get, path = "/v1/flows/{flow_id}", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id")),
    responses((status = 200, description = "The flow",
            headers(("etag" = String, description = "Version"))),
        (status = 404, description = "No such flow")))]
pub async fn flow_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<FlowView>), Problem> {
    config_objects::fetch(&world, id)
}

/// Replace a flow
///
/// Unfinished executions go on with the version they began with. A secret of the value `(set)` stays.
#[utoipa::path(put, path = "/v1/flows/{flow_id}", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"),
        ("if-match" = Option<String>, Header, description = "Version that the change applies to")),
    responses((status = 200, description = "The flow",
            headers(("etag" = String, description = "New version"))),
        (status = 404, description = "No such flow"),
        (status = 409, description = "Name exists"),
        (status = 412, description = "Changed since that version"),
        (status = 422, description = "Invalid flow; `errors` names the steps that fail")))]
pub async fn flow_replace(
    Operator(caller): Operator,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(flow): StrictJson<AutomationFlow>,
) -> Result<(Tag, Json<FlowView>), Problem> {
    let before = fetch(&world, id)?;
    let flow =
        checked(flow, Some(&before.object.0), caller.role, (&world, &settings, &vault, &outbound))?;
    config_objects::replace(&world, id, &headers, flow).await
}

/// Changes of a flow; absent fields stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowChange {
    /// Triggers are watched.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// Name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
}

/// Enable, disable or rename a flow
#[utoipa::path(patch, path = "/v1/flows/{flow_id}", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"),
        ("if-match" = Option<String>, Header, description = "Version that the change applies to")),
    responses((status = 200, description = "The flow",
            headers(("etag" = String, description = "New version"))),
        (status = 404, description = "No such flow"),
        (status = 409, description = "Name exists"),
        (status = 412, description = "Changed since that version"),
        (status = 422, description = "Invalid name, or to be enabled with a node that is not there")))]
pub async fn flow_patch(
    Operator(caller): Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(change): StrictJson<FlowChange>,
) -> Result<(Tag, Json<FlowView>), Problem> {
    let before = fetch(&world, id)?;
    let mut flow = before.object.clone();
    flow.0.enabled = change.enabled.unwrap_or(flow.0.enabled);
    flow.0.name = change.name.unwrap_or(flow.0.name);
    if change.enabled == Some(true) {
        let planned = plan(&flow.0).map_err(invalid)?;
        refuse_role(caller.role, &objects::<ExternalSystem>(&world), &planned)?;
        let absent: Vec<_> = absent_nodes(&world.view().fleet, &flow.0).collect();
        if !absent.is_empty() {
            return Err(invalid(absent));
        }
    }
    if headers.contains_key(axum::http::header::IF_MATCH) {
        return config_objects::replace(&world, id, &headers, flow).await;
    }
    // Without a version named, the change applies to the one just read.
    let expected = groundwave_gateway::config::Expected::Revision(before.revision);
    config_objects::put(&world, id, flow, expected).await
}

/// Remove a flow
///
/// Unfinished executions are cancelled; finished ones are kept by the default retention.
#[utoipa::path(delete, path = "/v1/flows/{flow_id}", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"),
        ("if-match" = Option<String>, Header, description = "Version to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such flow"),
        (status = 412, description = "Changed since that version")))]
pub async fn flow_remove(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<Automation>(&world, id, &headers).await
}
