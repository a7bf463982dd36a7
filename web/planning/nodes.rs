//! Node endpoints.

use axum::extract::State;
use axum::http::{StatusCode, header};
use groundwave_http::{Json, JsonBody, Path, Problem, id};
use groundwave_simulation::deployment::{DeploymentId, TemplateId};
use groundwave_simulation::site::{NodeId, RemoveNode};
use uuid::Uuid;

use super::Planner;
use super::wire::node::{NewNode, NewPosition, Node, NodePatch};

/// List the nodes of a deployment
#[utoipa::path(get, path = "/api/v1/deployments/{id}/nodes", tag = "nodes",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "Nodes, oldest first"),
        (status = 404, description = "No such deployment")))]
pub async fn list_nodes(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<Node>>, Problem> {
    let deployment = planner.deployment(id)?.id;
    let view = planner.world.view();
    let nodes = view.plan.nodes_of(deployment);
    Ok(Json(nodes.map(|node| Node::from(&**node)).collect()))
}

/// Create a node in a deployment
#[utoipa::path(post, path = "/api/v1/deployments/{id}/nodes", tag = "nodes",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 201, description = "Created",
            headers(("location" = String, description = "URL"))),
        (status = 404, description = "No such deployment or template"),
        (status = 409, description = "Too many nodes")))]
pub async fn create_node(
    State(planner): State<Planner>,
    Path(within): Path<Uuid>,
    JsonBody(new): JsonBody<NewNode>,
) -> Result<(StatusCode, [(header::HeaderName, String); 1], Json<Node>), Problem> {
    let view = planner.world.view();
    let template = new.template_id.map(|id| {
        // One status for two resources: the test with made-up requests cannot tell a template that
        // another request deleted from a missing deployment, so that its check of resources just
        // created leaves this operation out (tests/it/planning/schemathesis.toml).
        let found = view.plan.templates.get(&TemplateId::new(id));
        found.ok_or_else(|| Problem::not_found("template", id))
    });
    let template = template.transpose()?.map(|found| &found.content);
    let id = id::mint();
    let command = new.command(NodeId::new(id), DeploymentId::new(within), template)?;
    planner.submit(command).await?;
    let made = planner.node(id)?;
    let location = [(header::LOCATION, format!("/api/v1/nodes/{id}"))];
    Ok((StatusCode::CREATED, location, Json(Node::from(&*made))))
}

/// Fetch a node
#[utoipa::path(get, path = "/api/v1/nodes/{id}", tag = "nodes",
    params(("id" = Uuid, Path, description = "Node id")),
    responses(
        (status = 200, description = "The node"),
        (status = 404, description = "No such node")))]
pub async fn fetch_node(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<Node>, Problem> {
    Ok(Json(Node::from(&*planner.node(id)?)))
}

/// Update a node
///
/// Absent and null fields stay; `clear_pointing: true` points the antenna at the
/// other end of each link.
#[utoipa::path(patch, path = "/api/v1/nodes/{id}", tag = "nodes",
    params(("id" = Uuid, Path, description = "Node id")),
    responses(
        (status = 200, description = "Updated node"),
        (status = 404, description = "No such node")))]
pub async fn update_node(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(patch): JsonBody<NodePatch>,
) -> Result<Json<Node>, Problem> {
    let before = planner.node(id)?;
    planner.submit(patch.command(before.id, &before.station)?).await?;
    Ok(Json(Node::from(&*planner.node(id)?)))
}

/// Move a node
#[utoipa::path(put, path = "/api/v1/nodes/{id}/position", tag = "nodes",
    params(("id" = Uuid, Path, description = "Node id")),
    responses(
        (status = 200, description = "Updated node"),
        (status = 404, description = "No such node")))]
pub async fn relocate(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(position): JsonBody<NewPosition>,
) -> Result<Json<Node>, Problem> {
    let before = planner.node(id)?;
    planner.submit(position.command(before.id)?).await?;
    Ok(Json(Node::from(&*planner.node(id)?)))
}

/// Delete a node
#[utoipa::path(delete, path = "/api/v1/nodes/{id}", tag = "nodes",
    params(("id" = Uuid, Path, description = "Node id")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "No such node")))]
pub async fn delete_node(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    // A node of the running mesh is not this interface's to take away.
    let node = planner.node(id)?.id;
    planner.submit(RemoveNode { node }).await?;
    Ok(StatusCode::NO_CONTENT)
}
