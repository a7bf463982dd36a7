//! Deployment endpoints.

use axum::extract::State;
use axum::http::{StatusCode, header};
use groundwave_http::{Json, JsonBody, Path, Problem, id};
use groundwave_model::terrain::Terrain as _;
use groundwave_simulation::deployment::{DeleteDeployment, DeploymentId};
use uuid::Uuid;

use super::Planner;
use super::wire::deployment::{Deployment, DeploymentPatch, NewDeployment};

/// List all deployments
#[utoipa::path(get, path = "/api/v1/deployments", tag = "deployments",
    responses((status = 200, description = "All deployments, oldest first")))]
pub async fn list_deployments(State(planner): State<Planner>) -> Json<Vec<Deployment>> {
    let view = planner.world.view();
    let all = view.plan.deployments.values();
    Json(all.map(|found| Deployment::from(&**found)).collect())
}

/// Create a deployment
#[utoipa::path(post, path = "/api/v1/deployments", tag = "deployments",
    responses(
        (status = 201, description = "Created",
            headers(("location" = String, description = "URL"))),
        (status = 409, description = "Too many deployments")))]
pub async fn create_deployment(
    State(planner): State<Planner>,
    JsonBody(new): JsonBody<NewDeployment>,
) -> Result<(StatusCode, [(header::HeaderName, String); 1], Json<Deployment>), Problem> {
    let id = id::mint();
    let has_cover = planner.terrain.has_cover();
    planner.submit(new.command(DeploymentId::new(id), has_cover)?).await?;
    let made = planner.deployment(id)?;
    let location = [(header::LOCATION, format!("/api/v1/deployments/{id}"))];
    Ok((StatusCode::CREATED, location, Json(Deployment::from(&*made))))
}

/// Fetch a deployment
#[utoipa::path(get, path = "/api/v1/deployments/{id}", tag = "deployments",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "The deployment"),
        (status = 404, description = "No such deployment")))]
pub async fn fetch_deployment(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<Deployment>, Problem> {
    Ok(Json(Deployment::from(&*planner.deployment(id)?)))
}

/// Update a deployment
///
/// Absent and null fields stay; `clear_region: true` removes the region.
#[utoipa::path(patch, path = "/api/v1/deployments/{id}", tag = "deployments",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "Updated deployment"),
        (status = 404, description = "No such deployment")))]
pub async fn update_deployment(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(patch): JsonBody<DeploymentPatch>,
) -> Result<Json<Deployment>, Problem> {
    let has_cover = planner.terrain.has_cover();
    planner.submit(patch.command(DeploymentId::new(id), has_cover)?).await?;
    Ok(Json(Deployment::from(&*planner.deployment(id)?)))
}

/// Delete a deployment, with its nodes
#[utoipa::path(delete, path = "/api/v1/deployments/{id}", tag = "deployments",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "No such deployment")))]
pub async fn delete_deployment(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let deployment = DeploymentId::new(id);
    planner.submit(DeleteDeployment { deployment }).await?;
    Ok(StatusCode::NO_CONTENT)
}
