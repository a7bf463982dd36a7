//! Changes of deployments as streams of events: nodes, settings, and links computed again.

mod events;
mod follow;

use axum::extract::State;
use groundwave_http::event_stream::{EventStream, LastEventId};
use groundwave_http::{Origin, Path, Problem};
use groundwave_simulation::deployment::DeploymentId;
use uuid::Uuid;

use super::Planner;

/// Stream the changes of a deployment
///
/// Server-Sent Events: `started` (revision), then as it happens `node` (a node that is new or changed),
/// `node_removed` (node_id), `links` (node_id, links: all links of a node that moved or changed),
/// `links_failed` (node_id, detail), `deployment` (its settings), `ground` (tiles: ground that was fetched;
/// load the known ground, nodes and links again), `reset` (reason: load nodes and links
/// again), `removed`, which is the last. With `Last-Event-ID` the stream goes on after that event, or
/// says `reset` where it is no longer kept. A comment keeps the connection alive every 15 s.
#[utoipa::path(get, path = "/api/v1/deployments/{id}/changes", tag = "deployments",
    params(("id" = Uuid, Path, description = "Deployment id"),
        ("last-event-id" = Option<String>, Header, description = "Id of the last received event")),
    responses(
        (status = 200, description = "The events", body = String, content_type = "text/event-stream"),
        (status = 404, description = "No such deployment"),
        (status = 429, description = "Too many streams of this client are open"),
        (status = 503, description = "Too many streams are open")))]
pub async fn changes(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    last: LastEventId,
) -> Result<EventStream, Problem> {
    planner.deployment(id)?;
    let permit = planner.streams.open(client)?;
    let log = planner.changes.of(DeploymentId::new(id), |log| {
        follow::begin(planner.clone(), DeploymentId::new(id), log);
    });
    Ok(permit.events(events::events(log, last.text(), planner.stop.clone())))
}
