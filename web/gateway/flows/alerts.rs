//! Alert endpoints.

use axum::extract::State;
use groundwave_gateway::automation::{
    AcknowledgeAlert, AlertId, AlertRecord, AlertState, Severity,
};
use groundwave_http::json_body::OptionalJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::world::{World, missing};

/// Longest note, characters.
const NOTE_CHARS_MAX: usize = 1_000;

/// Alert of a flow.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AlertView {
    /// Alert id.
    pub alert_id: Uuid,
    /// Flow id.
    pub flow_id: Uuid,
    /// Execution that opened it.
    pub execution_id: Uuid,
    /// Node id, if it is about a node.
    pub node_id: Option<Uuid>,
    /// Severity.
    pub severity: Severity,
    /// Text.
    pub message: String,
    /// Subject within the flow.
    pub key: String,
    /// State.
    pub state: AlertState,
    /// Times it was raised.
    pub count: u32,
    /// Begin, RFC 3339.
    pub opened_at: String,
    /// User who acknowledged it.
    pub acked_by: Option<String>,
    /// Time of the acknowledgement, RFC 3339.
    pub acked_at: Option<String>,
    /// Note of that user.
    pub note: Option<String>,
    /// End, RFC 3339.
    pub closed_at: Option<String>,
}

impl AlertView {
    fn of(id: AlertId, held: &AlertRecord) -> Self {
        let time = |at_ms: u64| rfc3339(at_ms * 1_000_000);
        Self {
            alert_id: id.uuid(),
            flow_id: held.flow.uuid(),
            execution_id: held.execution.uuid(),
            node_id: held.node,
            severity: held.severity,
            message: held.message.clone(),
            key: held.key.clone(),
            state: held.state,
            count: held.count,
            opened_at: time(held.opened_ms),
            acked_by: held.acked_by.clone(),
            acked_at: held.acked_ms.map(time),
            note: held.note.clone(),
            closed_at: held.closed_ms.map(time),
        }
    }
}

/// Filter of alerts.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AlertQuery {
    /// State
    #[param(schema_with = groundwave_http::document::schema_ref::<AlertState>, required = false)]
    pub state: Option<AlertState>,
}

/// List alerts of flows
#[utoipa::path(get, path = "/v1/flows/alerts", tag = "flows", params(AlertQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn flow_alerts(
    _: Viewer,
    State(world): State<World>,
    Query(asked): Query<AlertQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<AlertView>>, Problem> {
    let view = world.view();
    let all = view
        .automation
        .alerts
        .iter()
        .filter(|(_, held)| asked.state.is_none_or(|state| state == held.state))
        .map(|(id, held)| (id.uuid().to_string(), (*id, held)));
    Ok(Json(paging.of(all, |(id, held)| AlertView::of(id, held))?))
}

/// Acknowledgement of an alert.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Note, up to 1000 characters.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub note: Option<String>,
}

/// Acknowledge an alert
#[utoipa::path(post, path = "/v1/flows/alerts/{alert_id}/ack", tag = "flows",
    params(("alert_id" = Uuid, Path, description = "Alert id")),
    responses((status = 200, description = "The alert"),
        (status = 404, description = "No such alert"),
        (status = 409, description = "Alert not open")))]
pub async fn flow_alert_ack(
    Operator(caller): Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    OptionalJson(given): OptionalJson<Acknowledgement>,
) -> Result<Json<AlertView>, Problem> {
    let length = given.note.as_ref().map_or(0, |note| note.chars().count());
    if length > NOTE_CHARS_MAX {
        let message = format!("found {length} characters, allowed up to {NOTE_CHARS_MAX}");
        return Err(Problem::field("/note", FieldCode::Length, message));
    }
    let alert = AlertId::new(id);
    let command = AcknowledgeAlert { alert, by: caller.username.clone(), note: given.note };
    world.submit(command).await?;
    let view = world.view();
    let held = view.automation.alerts.get(&alert).ok_or_else(|| missing("alert", id))?;
    Ok(Json(AlertView::of(alert, held)))
}
