//! Execution endpoints: trigger, list, read, cancel.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::automation::{
    AutomationId, CancelExecution, ExecutionId, ExecutionRecord, ExecutionState, StepRecord,
    StepState, TriggerFlow, hide_secrets,
};
use groundwave_http::json_body::OptionalJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::time;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, id};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::world::{World, missing};

/// Trigger of a flow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerRequest {
    /// Inputs for the context, up to 16 KiB.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    /// Nothing leaves the gateway and nothing changes in it; also for disabled flows.
    #[serde(default)]
    pub dry_run: bool,
}

/// Id of an execution.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionStarted {
    /// Execution id.
    pub execution_id: Uuid,
}

/// Start an execution
///
/// The flow needs a trigger of the kind `manual` or `webhook_in`.
#[utoipa::path(post, path = "/v1/flows/{flow_id}/trigger", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id")),
    responses((status = 202, description = "Execution recorded"),
        (status = 404, description = "No such flow"),
        (status = 409, description = "Flow disabled, or without such a trigger"),
        (status = 422, description = "Inputs missing or too long"),
        (status = 429, description = "Too many executions in a minute")))]
pub async fn flow_trigger(
    Operator(caller): Operator,
    State(world): State<World>,
    Path(flow_id): Path<Uuid>,
    OptionalJson(request): OptionalJson<TriggerRequest>,
) -> Result<(StatusCode, Json<ExecutionStarted>), Problem> {
    let execution_id = id::mint();
    let command = TriggerFlow {
        flow: AutomationId::new(flow_id),
        execution: ExecutionId::new(execution_id),
        inputs: request.inputs,
        by: caller.username.clone(),
        dry_run: request.dry_run,
    };
    if !world.submit(command).await? {
        let detail = "too many executions of this flow in this minute";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).retry_after(60));
    }
    Ok((StatusCode::ACCEPTED, Json(ExecutionStarted { execution_id })))
}

/// A value without its secrets.
fn hidden(mut value: Value) -> Value {
    hide_secrets(&mut value);
    value
}

/// Values of a trigger without their secrets.
fn hidden_data(data: &Map<String, Value>) -> Map<String, Value> {
    match hidden(Value::Object(data.clone())) {
        Value::Object(data) => data,
        _ => Map::new(),
    }
}

fn shown_time(at_ms: u64) -> String {
    rfc3339(at_ms * 1_000_000)
}

/// Cause of an execution.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TriggerView {
    /// Step.
    pub step_id: String,
    /// Kind.
    pub kind: String,
    /// Values.
    pub data: Map<String, Value>,
}

/// Execution of a flow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecutionView {
    /// Execution id.
    pub execution_id: Uuid,
    /// Flow id.
    pub flow_id: Uuid,
    /// Version of the flow.
    pub flow_version: u64,
    /// State.
    pub state: ExecutionState,
    /// Cause.
    pub trigger: TriggerView,
    /// Time of the trigger, RFC 3339.
    pub queued_at: String,
    /// Begin, RFC 3339; absent while it waits.
    pub started_at: Option<String>,
    /// Duration, ms; absent before the end.
    pub duration_ms: Option<u64>,
    /// Cause of a failure, cancellation or skip.
    pub error: Option<String>,
    /// Nothing left the gateway.
    pub dry_run: bool,
}

impl ExecutionView {
    fn of(id: ExecutionId, record: &ExecutionRecord) -> Self {
        let since = record.started_ms.unwrap_or(record.queued_ms);
        Self {
            execution_id: id.uuid(),
            flow_id: record.flow.uuid(),
            flow_version: record.flow_version,
            state: record.state,
            trigger: TriggerView {
                step_id: record.trigger.step_id.clone(),
                kind: record.trigger.kind.clone(),
                data: hidden_data(&record.trigger.data),
            },
            queued_at: shown_time(record.queued_ms),
            started_at: record.started_ms.map(shown_time),
            duration_ms: record.ended_ms.map(|ended| ended.saturating_sub(since)),
            error: record.error.clone(),
            dry_run: record.dry_run,
        }
    }
}

/// Step of an execution, without secrets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepView {
    /// Step.
    pub step_id: String,
    /// State.
    pub state: StepState,
    /// Begin, RFC 3339.
    pub started_at: Option<String>,
    /// Duration, ms.
    pub duration_ms: Option<u64>,
    /// Parameters with their values filled in.
    pub input: Option<Value>,
    /// Result.
    pub output: Option<Value>,
    /// Cause of the failure, or of the last failed attempt.
    pub error: Option<String>,
    /// Delivery that the step waits for or waited for.
    pub delivery_id: Option<Uuid>,
}

impl StepView {
    fn of(record: &StepRecord) -> Self {
        let duration = |from: u64| Some(record.ended_ms?.saturating_sub(from));
        Self {
            step_id: record.step_id.clone(),
            state: record.state,
            started_at: record.started_ms.map(shown_time),
            duration_ms: record.started_ms.and_then(duration),
            input: record.input.clone().map(hidden),
            output: record.output.clone().map(hidden),
            error: record.error.clone(),
            delivery_id: record.delivery.map(|delivery| delivery.uuid()),
        }
    }
}

/// Execution with its steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecutionDetail {
    /// Execution.
    #[serde(flatten)]
    pub execution: ExecutionView,
    /// Steps in the order of the flow.
    pub steps: Vec<StepView>,
}

/// Filter of executions.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExecutionQuery {
    /// State
    #[param(schema_with = groundwave_http::document::schema_ref::<ExecutionState>, required = false)]
    pub state: Option<ExecutionState>,
    /// First time of the trigger, RFC 3339
    pub from: Option<String>,
    /// Last time of the trigger, RFC 3339
    pub to: Option<String>,
}

fn bound(pointer: &str, text: Option<&String>) -> Result<Option<u64>, Problem> {
    let read = |text: &String| time::read(pointer, text);
    let at = text.map(read).transpose()?;
    Ok(at.map(|at| u64::try_from(at.as_millisecond()).unwrap_or(0)))
}

/// List executions of a flow
///
/// Those of a removed flow are listed as long as they are kept.
#[utoipa::path(get, path = "/v1/flows/{flow_id}/executions", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"), ExecutionQuery, Paging),
    responses((status = 200, description = "Oldest first"),
        (status = 404, description = "No such flow and no executions of it")))]
pub async fn flow_executions(
    _: Viewer,
    State(world): State<World>,
    Path(flow_id): Path<Uuid>,
    Query(query): Query<ExecutionQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<ExecutionView>>, Problem> {
    let from = bound("/from", query.from.as_ref())?;
    let to = bound("/to", query.to.as_ref())?;
    time::check_range(from.unwrap_or(0), to.unwrap_or(u64::MAX))?;
    let view = world.view();
    let flow = AutomationId::new(flow_id);
    let mut all = view.automation.of_flow(flow).peekable();
    if view.config.automations.get(flow).is_none() && all.peek().is_none() {
        return Err(missing("flow", flow_id));
    }
    let fits = |record: &ExecutionRecord| {
        query.state.is_none_or(|state| state == record.state)
            && from.is_none_or(|from| from <= record.queued_ms)
            && to.is_none_or(|to| record.queued_ms <= to)
    };
    let all = all
        .filter(|(_, record)| fits(record))
        .map(|(id, record)| (id.uuid().to_string(), (id, record)));
    Ok(Json(paging.of(all, |(id, record)| ExecutionView::of(id, record))?))
}

fn find(world: &World, flow_id: Uuid, id: Uuid) -> Result<Arc<ExecutionRecord>, Problem> {
    let view = world.view();
    view.automation
        .execution(ExecutionId::new(id))
        .filter(|record| record.flow == AutomationId::new(flow_id))
        .cloned()
        .ok_or_else(|| missing("execution", id))
}

/// Get an execution with its steps
#[utoipa::path(get, path = "/v1/flows/{flow_id}/executions/{execution_id}", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"),
        ("execution_id" = Uuid, Path, description = "Execution id")),
    responses((status = 200, description = "The execution"),
        (status = 404, description = "No such execution, or no longer kept")))]
pub async fn flow_execution(
    _: Viewer,
    State(world): State<World>,
    Path((flow_id, id)): Path<(Uuid, Uuid)>,
) -> Result<Json<ExecutionDetail>, Problem> {
    let record = find(&world, flow_id, id)?;
    Ok(Json(ExecutionDetail {
        execution: ExecutionView::of(ExecutionId::new(id), &record),
        steps: record.steps.iter().map(StepView::of).collect(),
    }))
}

/// Cancel an execution and its deliveries
#[utoipa::path(post, path = "/v1/flows/{flow_id}/executions/{execution_id}/cancel", tag = "flows",
    params(("flow_id" = Uuid, Path, description = "Flow id"),
        ("execution_id" = Uuid, Path, description = "Execution id")),
    responses((status = 202, description = "Cancelled; an attempt in flight ends without a consequence"),
        (status = 404, description = "No such execution, or no longer kept"),
        (status = 409, description = "Execution over already")))]
pub async fn flow_execution_cancel(
    Operator(caller): Operator,
    State(world): State<World>,
    Path((flow_id, id)): Path<(Uuid, Uuid)>,
) -> Result<StatusCode, Problem> {
    find(&world, flow_id, id)?;
    let command = CancelExecution { execution: ExecutionId::new(id), by: caller.username.clone() };
    world.submit(command).await?;
    Ok(StatusCode::ACCEPTED)
}
