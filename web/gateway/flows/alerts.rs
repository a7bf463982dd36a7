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

/// Maximum length of a note, characters.
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
    fn of(id: AlertId, record: &AlertRecord) -> Self {
        let time = |at_ms: u64| rfc3339(at_ms * 1_000_000);
        Self {
            alert_id: id.uuid(),
            flow_id: record.flow.uuid(),
            execution_id: record.execution.uuid(),
            node_id: record.node,
            severity: record.severity,
            message: record.message.clone(),
            key: record.key.clone(),
            state: record.state,
            count: record.count,
            opened_at: time(record.opened_ms),
            acked_by: record.acked_by.clone(),
            acked_at: record.acked_ms.map(time),
            note: record.note.clone(),
            closed_at: record.closed_ms.map(time),
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
    Query(query): Query<AlertQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<AlertView>>, Problem> {
    let view = world.view();
    let all = view
        .automation
        .alerts
        .iter()
        .filter(|(_, record)| query.state.is_none_or(|state| state == record.state))
        .map(|(id, record)| (id.uuid().to_string(), (*id, record)));
    Ok(Json(paging.of(all, |(id, record)| AlertView::of(id, record))?))
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
    OptionalJson(acknowledgement): OptionalJson<Acknowledgement>,
) -> Result<Json<AlertView>, Problem> {
    let length = acknowledgement.note.as_ref().map_or(0, |note| note.chars().count());
    if length > NOTE_CHARS_MAX {
        let message = format!("found {length} characters, allowed up to {NOTE_CHARS_MAX}");
        return Err(Problem::field("/note", FieldCode::Length, message));
    }
    let alert = AlertId::new(id);
    let command =
        AcknowledgeAlert { alert, by: caller.username.clone(), note: acknowledgement.note };
    world.submit(command).await?;
    let view = world.view();
    let record = view.automation.alerts.get(&alert).ok_or_else(|| missing("alert", id))?;
    Ok(Json(AlertView::of(alert, record)))
}
