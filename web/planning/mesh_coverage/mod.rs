//! Live coverage of the mesh of a deployment: set, state, squares of cells.

mod events;
mod follow;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_http::event_stream::{EventStream, LastEventId};
use groundwave_http::{Json, JsonBody, Origin, Path, Problem};
use groundwave_simulation::coverage::Grid;
use groundwave_simulation::coverage::live::{Interference, LiveCoverage, TransmitterView};
use groundwave_simulation::deployment::DeploymentId;
use uuid::Uuid;

use super::Planner;
use super::coverage::{ReceiverPlace, receiver};
use super::live_coverages::Live;
use super::wire::coverage::{Bounds, CoverageEngine};
use super::wire::mesh_coverage::{
    MeshCoverageSetup, MeshCoverageState, MeshInterference, MeshTransmitter,
};
use super::wire::place::point;
use super::wire::radio::{RadioConfig, default_station};

/// Begin or replace the live coverage of a deployment
///
/// Each cell is the link from the node with the largest margin, over noise or with `interference` over noise and
/// the other nodes that share its spectrum. It follows the deployment: after a node
/// was moved, changed, added or deleted, only the cells it reaches are computed again; likewise if a
/// request differs from the one before in nothing but the failed nodes. It is kept in
/// memory, for up to four deployments: with a fifth, the one begun first ends.
#[utoipa::path(put, path = "/api/v1/deployments/{id}/mesh-coverage", tag = "coverage",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "State"),
        (status = 404, description = "No such deployment")))]
pub async fn set_mesh_coverage(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(setup): JsonBody<MeshCoverageSetup>,
) -> Result<Json<MeshCoverageState>, Problem> {
    let deployment = planner.deployment(id)?;
    if let Ok(live) = planner.live.get(deployment.id)
        && live.fail(&setup)
    {
        return Ok(Json(state(&live).await));
    }
    let basis = planner.basis(&deployment);
    let base = basis.nodes.first().map(|node| node.station.clone()).unwrap_or_else(default_station);
    let place = ReceiverPlace {
        height_agl_m: setup.rx_height_agl_m,
        surroundings: setup.rx_surroundings,
        indoor: setup.rx_indoor,
    };
    let receiver = receiver(setup.receiver.clone(), place, &base)?;
    let grid = grid(&setup)?;
    let mut coverage = LiveCoverage::new(grid, planner.terrain.current())?;
    if let Some(MeshInterference { duty_percent, shadowing_correlation }) = setup.interference {
        let duty_share = duty_percent / 100.0;
        coverage =
            coverage.with_interference(Interference { duty_share, shadowing_correlation })?;
    }
    if let Some(source) = planner.losses() {
        coverage = coverage.with_losses(source);
    }
    let stop = planner.stop.child_token();
    let live = Arc::new(Live::new(setup, receiver, coverage, stop));
    planner.live.set(deployment.id, Arc::clone(&live));
    follow::begin(&planner, deployment.id, &live);
    Ok(Json(state(&live).await))
}

/// Get the state of the live coverage of a deployment
#[utoipa::path(get, path = "/api/v1/deployments/{id}/mesh-coverage", tag = "coverage",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "State"),
        (status = 404, description = "No such deployment, or it has no live coverage")))]
pub async fn mesh_coverage(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<MeshCoverageState>, Problem> {
    let live = planner.live.get(DeploymentId::new(id))?;
    Ok(Json(state(&live).await))
}

/// End the live coverage of a deployment
#[utoipa::path(delete, path = "/api/v1/deployments/{id}/mesh-coverage", tag = "coverage",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 204, description = "Ended"),
        (status = 404, description = "No such deployment, or it has no live coverage")))]
pub async fn delete_mesh_coverage(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    planner.live.delete(DeploymentId::new(id))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stream the cells of the live coverage of a deployment
///
/// Server-Sent Events: `state` at the start and when nodes or progress change (as the state, with server
/// numbers), `tile` for each square of 64 by 64 cells that has changed (row, column, rows, columns,
/// received_power_cdbm,
/// link_probability_percent, server, sinr_cdb), `failed` (detail) at the end. Cells of squares that never came have no
/// server. With `Last-Event-ID` only the squares that changed since then follow. A comment keeps the
/// connection alive every 15 s.
#[utoipa::path(get, path = "/api/v1/deployments/{id}/mesh-coverage/tiles", tag = "coverage",
    params(("id" = Uuid, Path, description = "Deployment id"),
        ("last-event-id" = Option<String>, Header, description = "Id of the last received event")),
    responses(
        (status = 200, description = "The events", body = String, content_type = "text/event-stream"),
        (status = 404, description = "No such deployment, or it has no live coverage"),
        (status = 429, description = "Too many streams of this client are open"),
        (status = 503, description = "Too many streams are open")))]
pub async fn mesh_coverage_tiles(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    last: LastEventId,
) -> Result<EventStream, Problem> {
    let live = planner.live.get(DeploymentId::new(id))?;
    let permit = planner.streams.open(client)?;
    Ok(permit.events(events::events(live, last.text())))
}

/// Whole cells over the area of a request.
fn grid(setup: &MeshCoverageSetup) -> Result<Grid, Problem> {
    let cell_arcsec = setup.cell_arcsec;
    if !(1.0..=3600.0).contains(&cell_arcsec) {
        let what = format!("`cell_arcsec` is {cell_arcsec}, allowed is [1, 3600]");
        return Err(Problem::bad_request(what));
    }
    let Bounds { south, west, north, east } = setup.bounds;
    let (_, _) = (point(south, west)?, point(north, east)?);
    if south >= north {
        let what = format!("`bounds.south` is {south}, allowed is below `bounds.north`, {north}");
        return Err(Problem::bad_request(what));
    }
    let cell_deg = cell_arcsec / 3_600.0;
    let count = |deg: f64| ((deg / cell_deg - 1e-9).ceil().max(1.0)) as u32;
    let sides = [count(north - south), count(setup.bounds.width_deg())];
    // The last row may not reach beyond the pole, nor the last column around the Earth.
    let rows = sides[0].min(((north + 90.0) / cell_deg) as u32);
    let columns = sides[1].min((360.0 / cell_deg + 1e-9) as u32);
    let grid = Grid::new([north, west], [cell_deg; 2], [rows, columns]);
    grid.map_err(|bad| Problem::bad_request(bad.to_string()))
}

async fn state(live: &Live) -> MeshCoverageState {
    let coverage = live.coverage().await;
    let (grid, progress) = (coverage.grid(), coverage.progress());
    let [height_deg, width_deg] = grid.cell_size_deg();
    let east = grid.west_deg() + width_deg * f64::from(grid.columns());
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let node = |own: TransmitterView| MeshTransmitter {
        node_id: own.id.uuid(),
        sensitivity_dbm: finite(own.sensitivity_dbm),
        required_sinr_db: finite(own.required_sinr_db),
    };
    let nodes = coverage.transmitters();
    MeshCoverageState {
        rows: grid.rows(),
        columns: grid.columns(),
        bounds: Bounds {
            south: grid.north_deg() - height_deg * f64::from(grid.rows()),
            west: grid.west_deg(),
            north: grid.north_deg(),
            east: if east > 180.0 { east - 360.0 } else { east },
        },
        cell_arcsec: live.setup.cell_arcsec,
        receiver: RadioConfig::of(&live.receiver),
        rx_height_agl_m: live.receiver.height_agl_m,
        rx_surroundings: live.receiver.surroundings,
        rx_indoor: live.receiver.indoor,
        interference: live.setup.interference,
        failed_node_ids: live.watch_failed().borrow().clone(),
        revision: progress.revision,
        pending_nodes: progress.stale,
        evaluated_cells: progress.evaluated_cells,
        nodes: nodes.into_iter().map(|own| own.map(node)).collect(),
        failure: live.failure(),
        engine: coverage.engine_use().map(CoverageEngine::from),
    }
}
