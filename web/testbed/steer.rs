//! Looking at a testbed and steering it.

use axum::extract::State;
use groundwave_http::{Json, JsonBody, Path, Problem};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::link::{FailLink, RestoreLink};
use groundwave_simulation::site::{FailNode, MoveNode, NodeId, RestoreNode, SetStation};
use groundwave_simulation::testbed::{
    AddTestbedNode, JITTER_NS_MAX, Probe, ProbeLink, RemoveTestbedNode, SetLinkShape, SetTimeScale,
};

use super::Controller;
use super::wire::{
    LinkEnds, NewLinkShape, NewNode, NewPace, NewPlace, NewProbe, NewRadio, NewSteps, Testbed,
};

/// Maximum number of steps taken at once.
const STEPS_MAX: u64 = 100_000;

/// The testbed now
#[utoipa::path(get, path = "/v1/testbed", tag = "testbed",
    responses((status = 200, description = "Nodes, links, what was predicted and what was measured")))]
pub async fn show(State(controller): State<Controller>) -> Json<Testbed> {
    Json(controller.show())
}

/// Add a node: it gets a namespace, and the links that its station has
#[utoipa::path(post, path = "/v1/nodes", tag = "nodes",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "A value out of its range, or malformed body"),
        (status = 404, description = "No such node to take the station from"),
        (status = 409, description = "The name is in use, or the testbed is full")))]
pub async fn add(
    State(controller): State<Controller>,
    JsonBody(new): JsonBody<NewNode>,
) -> Result<Json<Testbed>, Problem> {
    let position = GeoPoint::new(new.lat_deg, new.lon_deg)
        .map_err(|err| Problem::bad_request(err.to_string()))?;
    let template = match &new.like {
        Some(name) => controller.look(name)?,
        None => controller.first()?,
    };
    let station = new.station.over(template.station);
    let node = NodeId::named(&new.name);
    controller.submit(AddTestbedNode { node, name: new.name, position, station }).await?;
    Ok(Json(controller.show()))
}

/// Remove a node, with its namespace, its programs and its links
#[utoipa::path(delete, path = "/v1/nodes/{name}", tag = "nodes",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 404, description = "No such node")))]
pub async fn remove(
    State(controller): State<Controller>,
    Path(name): Path<String>,
) -> Result<Json<Testbed>, Problem> {
    let node = controller.node(&name)?;
    controller.submit(RemoveTestbedNode { node }).await?;
    Ok(Json(controller.show()))
}

/// Move a node at once
#[utoipa::path(put, path = "/v1/nodes/{name}/position", tag = "nodes",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "No such place, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn place(
    State(controller): State<Controller>,
    Path(name): Path<String>,
    JsonBody(new): JsonBody<NewPlace>,
) -> Result<Json<Testbed>, Problem> {
    let node = controller.node(&name)?;
    let position = GeoPoint::new(new.lat_deg, new.lon_deg)
        .map_err(|err| Problem::bad_request(err.to_string()))?;
    controller.submit(MoveNode { node, position }).await?;
    Ok(Json(controller.show()))
}

/// Stop a node: it carries no traffic until it is repaired
#[utoipa::path(post, path = "/v1/nodes/{name}/fail", tag = "nodes",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 404, description = "No such node")))]
pub async fn fail(
    State(controller): State<Controller>,
    Path(name): Path<String>,
) -> Result<Json<Testbed>, Problem> {
    let node = controller.node(&name)?;
    controller.submit(FailNode { node }).await?;
    Ok(Json(controller.show()))
}

/// Start a failed node again
#[utoipa::path(post, path = "/v1/nodes/{name}/repair", tag = "nodes",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 404, description = "No such node")))]
pub async fn repair(
    State(controller): State<Controller>,
    Path(name): Path<String>,
) -> Result<Json<Testbed>, Problem> {
    let node = controller.node(&name)?;
    controller.submit(RestoreNode { node }).await?;
    Ok(Json(controller.show()))
}

/// Change a node's radio or mast
#[utoipa::path(patch, path = "/v1/nodes/{name}/station", tag = "nodes",
    params(("name" = String, Path, description = "Short name of the node")),
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "A value out of its range, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn equip(
    State(controller): State<Controller>,
    Path(name): Path<String>,
    JsonBody(new): JsonBody<NewRadio>,
) -> Result<Json<Testbed>, Problem> {
    let node = controller.look(&name)?;
    let station = new.over(node.station);
    let node = node.id;
    controller.submit(SetStation { node, station }).await?;
    Ok(Json(controller.show()))
}

/// Cut the link between two nodes
#[utoipa::path(post, path = "/v1/links/cut", tag = "links",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "Not two nodes, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn cut(
    State(controller): State<Controller>,
    JsonBody(ends): JsonBody<LinkEnds>,
) -> Result<Json<Testbed>, Problem> {
    let (a, b) = controller.ends([&ends.a, &ends.b])?;
    controller.submit(FailLink { a, b }).await?;
    Ok(Json(controller.show()))
}

/// Repair a cut link
#[utoipa::path(post, path = "/v1/links/mend", tag = "links",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "Not two nodes, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn mend(
    State(controller): State<Controller>,
    JsonBody(ends): JsonBody<LinkEnds>,
) -> Result<Json<Testbed>, Problem> {
    let (a, b) = controller.ends([&ends.a, &ends.b])?;
    controller.submit(RestoreLink { a, b }).await?;
    Ok(Json(controller.show()))
}

/// Set values of a direction by hand, or give it back to the model
#[utoipa::path(put, path = "/v1/links/values", tag = "links",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "Not a link, a value out of its range, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn set_link(
    State(controller): State<Controller>,
    JsonBody(new): JsonBody<NewLinkShape>,
) -> Result<Json<Testbed>, Problem> {
    let side = controller.direction([&new.from, &new.to])?;
    // Not refused by the command: earlier logs may have one.
    if let Some(jitter_ns) = new.values.jitter_ns.filter(|jitter_ns| *jitter_ns > JITTER_NS_MAX) {
        let what = format!("invalid jitter_ns: found {jitter_ns}, allowed 0 to {JITTER_NS_MAX}");
        return Err(Problem::bad_request(what));
    }
    controller.submit(SetLinkShape { side, values: new.values }).await?;
    Ok(Json(controller.show()))
}

/// Set the time scale
#[utoipa::path(put, path = "/v1/pace", tag = "time",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "No such speed, or malformed body")))]
pub async fn pace(
    State(controller): State<Controller>,
    JsonBody(new): JsonBody<NewPace>,
) -> Result<Json<Testbed>, Problem> {
    controller.submit(SetTimeScale { speed: new.speed }).await?;
    controller.pace(new.speed);
    Ok(Json(controller.show()))
}

/// Take steps at once, at any time scale
#[utoipa::path(post, path = "/v1/steps", tag = "time",
    responses(
        (status = 200, description = "The testbed after them"),
        (status = 400, description = "Not so many, or malformed body")))]
pub async fn step(
    State(controller): State<Controller>,
    JsonBody(NewSteps { steps }): JsonBody<NewSteps>,
) -> Result<Json<Testbed>, Problem> {
    if !(1..=STEPS_MAX).contains(&steps) {
        let detail = format!("invalid steps: found {steps}, allowed 1 to {STEPS_MAX}");
        return Err(Problem::bad_request(detail));
    }
    let goal = controller.tick() + steps;
    controller.step(steps);
    controller.reached(goal).await?;
    Ok(Json(controller.show()))
}

/// Report a measurement of a link
#[utoipa::path(post, path = "/v1/probes", tag = "links",
    responses(
        (status = 200, description = "The testbed after it"),
        (status = 400, description = "Not a link, or malformed body"),
        (status = 404, description = "No such node")))]
pub async fn probe(
    State(controller): State<Controller>,
    JsonBody(new): JsonBody<NewProbe>,
) -> Result<Json<Testbed>, Problem> {
    let side = controller.direction([&new.from, &new.to])?;
    let measured = new.measured;
    let probe = Probe {
        sent: measured.sent,
        received: measured.received,
        round_trip_ms: measured.round_trip_ms,
        throughput_bps: measured.throughput_bps,
    };
    controller.submit(ProbeLink { side, probe }).await?;
    Ok(Json(controller.show()))
}

/// End the controller; the network stays as it is
#[utoipa::path(post, path = "/v1/stop", tag = "testbed",
    responses((status = 200, description = "The testbed as it is left")))]
pub async fn stop(State(controller): State<Controller>) -> Json<Testbed> {
    let links = controller.show();
    controller.stop();
    Json(links)
}
