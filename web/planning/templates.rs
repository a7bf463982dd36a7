//! Template endpoints.

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_http::{Json, JsonBody, Path, Problem, id};
use groundwave_simulation::deployment::{DeleteTemplate, TemplateId};
use uuid::Uuid;

use super::Planner;
use super::wire::template::{NewTemplate, Template};

/// List all templates
#[utoipa::path(get, path = "/api/v1/templates", tag = "templates",
    responses((status = 200, description = "All templates")))]
pub async fn list_templates(State(planner): State<Planner>) -> Json<Vec<Template>> {
    let view = planner.world.view();
    let all = view.plan.templates.values();
    Json(all.map(|found| Template::from(&**found)).collect())
}

/// Create a template
#[utoipa::path(post, path = "/api/v1/templates", tag = "templates",
    responses(
        (status = 201, description = "Created"),
        (status = 409, description = "Username exists")))]
pub async fn create_template(
    State(planner): State<Planner>,
    JsonBody(new): JsonBody<NewTemplate>,
) -> Result<(StatusCode, Json<Template>), Problem> {
    let id = TemplateId::new(id::mint());
    planner.submit(new.command(id)?).await?;
    let view = planner.world.view();
    let made = view.plan.templates.get(&id).ok_or_else(|| Problem::not_found("template", id))?;
    Ok((StatusCode::CREATED, Json(Template::from(&**made))))
}

/// Delete a template
#[utoipa::path(delete, path = "/api/v1/templates/{id}", tag = "templates",
    params(("id" = Uuid, Path, description = "Template id")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "No such template")))]
pub async fn delete_template(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let template = TemplateId::new(id);
    planner.submit(DeleteTemplate { template }).await?;
    Ok(StatusCode::NO_CONTENT)
}
