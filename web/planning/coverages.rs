//! Coverage endpoints: start a job, get its results, stream its progress.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use uuid::Uuid;

use super::Planner;
use super::coverage::{JobRequest, events};
use super::wire::coverage::{CoverageAccepted, CoverageQuestion, CoverageSnapshot};
use crate::http::{Json, JsonBody, Origin, Path, Problem, id};

/// Start a coverage job of a node
///
/// The grid is a square of `resolution` by `resolution` cells around the source; each cell is a
/// full link to a receiver at its centre, as `/api/v1/links/analyze` would have it.
#[utoipa::path(post, path = "/api/v1/coverage", tag = "coverage",
    responses(
        (status = 202, description = "Job accepted",
            headers(("location" = String, description = "URL"))),
        (status = 404, description = "No such node"),
        (status = 429, description = "Too many jobs of this client wait"),
        (status = 503, description = "Too many jobs wait")))]
pub async fn create(
    State(planner): State<Planner>,
    Origin(client): Origin,
    JsonBody(asked): JsonBody<CoverageQuestion>,
) -> Result<
    (
        StatusCode,
        [(header::HeaderName, String); 1],
        Json<CoverageAccepted>,
    ),
    Problem,
> {
    let source = planner.node(asked.source_node_id)?;
    let deployment = planner.deployment(source.deployment.uuid())?;
    let asked = JobRequest::new(&asked, &source, &deployment.outline.environment)?;
    let job_id = planner.jobs.begin(id::mint(), client, asked)?;
    let location = [(header::LOCATION, format!("/api/v1/coverage/{job_id}"))];
    let accepted = Json(CoverageAccepted { job_id });
    Ok((StatusCode::ACCEPTED, location, accepted))
}

/// Get a coverage job with its results so far
#[utoipa::path(get, path = "/api/v1/coverage/{id}", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id")),
    responses(
        (status = 200, description = "Status, bounds, statistics and cells"),
        (status = 404, description = "No such job, or evicted")))]
pub async fn fetch(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<CoverageSnapshot>, Problem> {
    Ok(Json(planner.jobs.get(id)?.snapshot()))
}

/// Cancel and delete a coverage job
///
/// A job that has not ended is cancelled; its streams end with `failed`.
#[utoipa::path(delete, path = "/api/v1/coverage/{id}", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "No such job, or evicted")))]
pub async fn delete(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    planner.jobs.delete(id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stream the progress of a coverage job
///
/// Server-Sent Events: `started` (rows, cols), then for each row its `tile`s (row, col, lat, lon,
/// rx_power_dbm, verdict) and `row_done` (row), then `done`, or `failed` (detail). A late
/// subscriber hears everything from the start. A comment keeps the connection alive every 15 s.
#[utoipa::path(get, path = "/api/v1/coverage/{id}/stream", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id")),
    responses(
        (status = 200, description = "The events", body = String, content_type = "text/event-stream"),
        (status = 404, description = "No such job, or evicted"),
        (status = 429, description = "Too many streams of this client are open"),
        (status = 503, description = "Too many streams are open")))]
pub async fn stream(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
) -> Result<Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>>, Problem> {
    let job = planner.jobs.get(id)?;
    let permit = planner.streams.open(client)?;
    let events = permit.hold(events(job, planner.stop.clone()));
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Sse::new(events).keep_alive(alive))
}

/// Between two signs of life on a quiet stream.
const KEEP_ALIVE: std::time::Duration = std::time::Duration::from_secs(15);
