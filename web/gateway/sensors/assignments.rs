//! Sensor assignment endpoints.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::config::Versioned;
use groundwave_gateway::peripheral::SensorAssignment;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::Tag;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, Shown};
use crate::services::world::World;

/// Sensor assignment, with its revision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SensorAssignmentView {
    /// Assignment id.
    pub assignment_id: Uuid,
    /// Assignment.
    #[serde(flatten)]
    pub assignment: SensorAssignment,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for SensorAssignmentView {
    type Object = SensorAssignment;

    fn of(assignment_id: Uuid, versioned: &Versioned<SensorAssignment>) -> Self {
        Self {
            assignment_id,
            assignment: versioned.object.clone(),
            revision: Revision::of(versioned),
        }
    }
}

/// List sensor assignments
#[utoipa::path(get, path = "/v1/sensors/i2c/assignments", tag = "sensors", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn sensor_assignments(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<SensorAssignmentView>>, Problem> {
    config_objects::list(&world, &paging, |_| true)
}

/// Assign a sensor to an address
///
/// Without a node it is read by the gateway itself, else by the agent of the node from its next
/// heartbeat on. Nothing is accessed without an assignment.
#[utoipa::path(post, path = "/v1/sensors/i2c/assignments", tag = "sensors",
    responses((status = 201, description = "The assignment",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Address assigned already, or too many sensors of the machine")))]
pub async fn sensor_assignment_create(
    _: Operator,
    State(world): State<World>,
    StrictJson(assignment): StrictJson<SensorAssignment>,
) -> Result<(StatusCode, Tag, Json<SensorAssignmentView>), Problem> {
    config_objects::create(&world, assignment).await
}

/// Replace a sensor assignment
#[utoipa::path(put, path = "/v1/sensors/i2c/assignments/{assignment_id}", tag = "sensors",
    params(("assignment_id" = Uuid, Path, description = "Assignment id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The assignment",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such assignment"),
        (status = 409, description = "Address assigned already, or too many sensors of the machine"),
        (status = 412, description = "Changed since that revision")))]
pub async fn sensor_assignment_replace(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(assignment): StrictJson<SensorAssignment>,
) -> Result<(Tag, Json<SensorAssignmentView>), Problem> {
    config_objects::replace(&world, id, &headers, assignment).await
}

/// Remove a sensor assignment
#[utoipa::path(delete, path = "/v1/sensors/i2c/assignments/{assignment_id}", tag = "sensors",
    params(("assignment_id" = Uuid, Path, description = "Assignment id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such assignment"),
        (status = 412, description = "Changed since that revision")))]
pub async fn sensor_assignment_remove(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<SensorAssignment>(&world, id, &headers).await
}
