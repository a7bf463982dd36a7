//! Delivery endpoints: work outside that is not made yet, and the dead-letter list.

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::automation::{Delivery, DeliveryId, DiscardDelivery, ResendDelivery};
use groundwave_http::page::{Page, Paging};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::world::World;

/// State of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Attempts are made.
    Pending,
    /// No further attempt is made.
    Dead,
}

/// Delivery, without secrets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryView {
    /// Delivery id; value of `Idempotency-Key`.
    pub delivery_id: Uuid,
    /// Flow id.
    pub flow_id: Uuid,
    /// Execution id.
    pub execution_id: Uuid,
    /// Step.
    pub step_id: String,
    /// Kind of the action.
    pub kind: String,
    /// State.
    pub state: DeliveryState,
    /// Attempts so far.
    pub attempts: u32,
    /// Time of the next attempt, RFC 3339.
    pub next_at: Option<String>,
    /// Error of the last attempt.
    pub error: Option<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Request.
    pub request: Value,
}

impl DeliveryView {
    fn of(id: DeliveryId, delivery: &Delivery) -> Self {
        let is_waiting = !delivery.dead && !delivery.in_flight;
        Self {
            delivery_id: id.uuid(),
            flow_id: delivery.flow.uuid(),
            execution_id: delivery.execution.uuid(),
            step_id: delivery.step_id.clone(),
            kind: delivery.request.word().to_owned(),
            state: match delivery.dead {
                true => DeliveryState::Dead,
                false => DeliveryState::Pending,
            },
            attempts: delivery.attempts,
            next_at: is_waiting.then(|| rfc3339(delivery.next_ms * 1_000_000)),
            error: delivery.error.clone(),
            created_at: rfc3339(delivery.created_ms * 1_000_000),
            request: delivery.request.shown(),
        }
    }
}

/// Filter of deliveries.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveryQuery {
    /// State; `dead` is the dead-letter list
    #[param(schema_with = groundwave_http::document::schema_ref::<DeliveryState>, required = false)]
    pub state: Option<DeliveryState>,
}

/// List deliveries that are not made yet
#[utoipa::path(get, path = "/v1/flows/deliveries", tag = "flows", params(DeliveryQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn flow_deliveries(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<DeliveryQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<DeliveryView>>, Problem> {
    let view = world.view();
    let fits = |dead: bool| {
        let is_dead = query.state.map(|state| state == DeliveryState::Dead);
        is_dead.is_none_or(|is_dead| is_dead == dead)
    };
    let all = view
        .automation
        .deliveries
        .iter()
        .filter(|(_, delivery)| fits(delivery.dead))
        .map(|(id, delivery)| (id.uuid().to_string(), (*id, delivery)));
    Ok(Json(paging.of(all, |(id, delivery)| DeliveryView::of(id, delivery))?))
}

/// Attempt a delivery of the dead-letter list again
#[utoipa::path(post, path = "/v1/flows/deliveries/{delivery_id}/resend", tag = "flows",
    params(("delivery_id" = Uuid, Path, description = "Delivery id")),
    responses((status = 202, description = "Attempts begin again, with the same key"),
        (status = 404, description = "No such delivery"),
        (status = 409, description = "Attempts are being made")))]
pub async fn flow_delivery_resend(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let delivery = DeliveryId::new(id);
    world.submit(ResendDelivery { delivery }).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Remove a delivery from the dead-letter list
#[utoipa::path(delete, path = "/v1/flows/deliveries/{delivery_id}", tag = "flows",
    params(("delivery_id" = Uuid, Path, description = "Delivery id")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such delivery"),
        (status = 409, description = "Attempts are being made")))]
pub async fn flow_delivery_discard(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let delivery = DeliveryId::new(id);
    world.submit(DiscardDelivery { delivery }).await?;
    Ok(StatusCode::NO_CONTENT)
}
