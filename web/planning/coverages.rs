//! Coverage endpoints: start a job, get its results, stream its progress.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use groundwave_http::document::Bytes;
use groundwave_http::event_stream::{EventStream, LastEventId};
use groundwave_http::{Json, JsonBody, Origin, Path, Problem, Query, attachment, file_stem, id};
use groundwave_raster::Site;
use groundwave_simulation::coverage::{CoverageRequest, SITES_MAX};
use groundwave_simulation::deployment::PlannedNode;
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::Planner;
use super::coverage::{JobRequest, events, export as write, tiles as squares};
use super::links::one_deployment;
use super::wire::coverage::{
    CoverageAccepted, CoverageFormat, CoverageFormatQuery, CoverageLayer, CoverageQuestion,
    CoverageSnapshot, JobStatus,
};

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
pub async fn create_coverage(
    State(planner): State<Planner>,
    Origin(client): Origin,
    JsonBody(asked): JsonBody<CoverageQuestion>,
) -> Result<(StatusCode, [(header::HeaderName, String); 1], Json<CoverageAccepted>), Problem> {
    let sources = sources(&planner, &asked)?;
    let deployment = planner.deployment(sources[0].deployment.uuid())?;
    let asked = JobRequest::new(&asked, &sources, &deployment.outline.environment)?;
    let job_id = planner.jobs.begin(id::mint(), client, asked, planner.losses())?;
    let location = [(header::LOCATION, format!("/api/v1/coverage/{job_id}"))];
    let accepted = Json(CoverageAccepted { job_id });
    Ok((StatusCode::ACCEPTED, location, accepted))
}

/// The transmitting nodes of a request.
fn sources(planner: &Planner, asked: &CoverageQuestion) -> Result<Vec<Arc<PlannedNode>>, Problem> {
    let more = &asked.more_source_node_ids;
    if more.len() >= SITES_MAX {
        let (found, allowed) = (more.len(), SITES_MAX - 1);
        let what = format!("`more_source_node_ids` has {found} nodes, allowed are up to {allowed}");
        return Err(Problem::bad_request(what));
    }
    let mut sources: Vec<Arc<PlannedNode>> = Vec::new();
    for id in std::iter::once(&asked.source_node_id).chain(more) {
        let source = planner.node(*id)?;
        if sources.iter().any(|one| one.id == source.id) {
            let what = format!("the node {id} is given twice, allowed is once");
            return Err(Problem::bad_request(what));
        }
        if let Some(first) = sources.first() {
            one_deployment(first, &source)?;
        }
        sources.push(source);
    }
    Ok(sources)
}

/// Get a coverage job with its results so far
#[utoipa::path(get, path = "/api/v1/coverage/{id}", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id")),
    responses(
        (status = 200, description = "Status, bounds, statistics and cells"),
        (status = 404, description = "No such job, or evicted")))]
pub async fn fetch_coverage(
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
pub async fn delete_coverage(
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
/// subscriber gets everything from the start. A comment keeps the connection alive every 15 s.
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
) -> Result<EventStream, Problem> {
    let job = planner.jobs.get(id)?;
    let permit = planner.streams.open(client)?;
    Ok(permit.events(events(job, planner.stop.clone())))
}

/// Stream the cells of a coverage job in squares
///
/// Server-Sent Events: `started` (rows, columns, bounds, source_node_ids, sensitivity_dbm), then for each
/// square of 64 by 64 cells a `tile` (row, column, rows, columns, received_power_cdbm,
/// link_probability_percent, server) with its
/// number as the id, then `done` (statistics), or `failed` (detail). With `Last-Event-ID` the squares
/// after that one follow. A comment keeps the connection alive every 15 s.
#[utoipa::path(get, path = "/api/v1/coverage/{id}/tiles", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id"),
        ("last-event-id" = Option<String>, Header, description = "Number of the last received square")),
    responses(
        (status = 200, description = "The events", body = String, content_type = "text/event-stream"),
        (status = 404, description = "No such job, or evicted"),
        (status = 429, description = "Too many streams of this client are open"),
        (status = 503, description = "Too many streams are open")))]
pub async fn tiles(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    last: LastEventId,
) -> Result<EventStream, Problem> {
    let job = planner.jobs.get(id)?;
    let permit = planner.streams.open(client)?;
    let first = last.number::<u32>().map_or(0, |last| last.saturating_add(1));
    Ok(permit.events(squares(job, first, planner.stop.clone())))
}

/// Export a finished coverage job
///
/// `png`, `png_world` and `kmz` show the link margin or, with `layer=probability`, the probability that the
/// link works. `tif` has received power (dBm), link margin (dB), that probability (%) and with several
/// transmitting nodes the server as bands.
#[utoipa::path(get, path = "/api/v1/coverage/{id}/export", tag = "coverage",
    params(("id" = Uuid, Path, description = "Job id"),
        ("format" = CoverageFormat, Query, description = "Format"),
        ("layer" = Option<CoverageLayer>, Query,
            description = "Layer of `png`, `png_world` and `kmz`: `margin` unless given, or `probability`")),
    responses(
        (status = 200, description = "File",
            content((inline(Bytes) = "image/png"),
                (inline(Bytes) = "application/zip"),
                (inline(Bytes) = "image/tiff; application=geotiff; profile=cloud-optimized"),
                (inline(Bytes) = "application/vnd.google-earth.kmz"))),
        (status = 404, description = "No such job, or evicted"),
        (status = 409, description = "The job has not ended, or failed")))]
pub async fn export_coverage(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    Query(asked): Query<CoverageFormatQuery>,
) -> Result<([(header::HeaderName, String); 2], Vec<u8>), Problem> {
    let job = planner.jobs.get(id)?;
    if job.progress().status != JobStatus::Done {
        let what = "the coverage is not finished: follow its stream until `done`";
        return Err(Problem::new(StatusCode::CONFLICT, what));
    }
    let view = planner.world.view();
    let CoverageFormatQuery { format, layer } = asked;
    let written = planner.transfer(move || {
        let sites = job.asked.sources.iter().zip(&job.asked.setups);
        let site = |(id, setup): (&Uuid, &CoverageRequest)| {
            let node = view.plan.nodes.get(&NodeId::new(*id));
            // A node that was deleted since is named by its id.
            let name = node.map_or_else(|| id.to_string(), |node| node.name.clone());
            Site::new(name, setup.position.lat_deg(), setup.position.lon_deg())
        };
        let sites: Vec<_> = sites.map(site).collect();
        let subject = subject(&sites);
        let written = write(&job, &sites, format, layer, &file_stem(&subject));
        let written =
            written.map_err(|err| Problem::internal(format!("write the coverage: {err}")));
        Ok((written?, subject))
    });
    let (content, subject) = written.await?;
    let headers = [
        (header::CONTENT_TYPE, format.media_type().to_owned()),
        (header::CONTENT_DISPOSITION, attachment(&subject, format.extension())),
    ];
    Ok((headers, content))
}

/// Subject of the file of a coverage: the first of its transmitting nodes, and how many more.
fn subject(sites: &[Site]) -> String {
    match sites {
        [] => "coverage".to_owned(),
        [site] => format!("coverage of {}", site.name),
        [first, more @ ..] => format!("coverage of {} and {} more", first.name, more.len()),
    }
}

groundwave_http::schema_refs!(CoverageFormat, CoverageLayer);
