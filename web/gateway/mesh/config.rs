//! Mesh configuration endpoints: read, change, confirm.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_http::json_body::StrictJson;
use groundwave_http::tag::Tag;
use groundwave_http::{Json, Problem};
use tokio_util::sync::CancellationToken;

use crate::access::{Admin, Viewer};
use crate::services::confirmation::{Confirmation, ConfirmationTime};
use crate::services::mesh_config::{
    ChangedSettings, MeshConfigService, MeshSettings, NewMeshSettings,
};
use crate::services::world::{World, blocking};

/// Get the mesh configuration, without keys
#[utoipa::path(get, path = "/v1/mesh/config", tag = "mesh",
    responses((status = 200, description = "Settings as the kernel holds them",
        headers(("etag" = String, description = "Revision")))))]
pub async fn mesh_config(
    _: Viewer,
    State(config): State<Arc<MeshConfigService>>,
) -> Result<(Tag, Json<MeshSettings>), Problem> {
    let settings = blocking(move || config.read()).await?;
    Ok((settings.tag(), Json(settings)))
}

/// Change the mesh configuration; undone unless confirmed
#[utoipa::path(put, path = "/v1/mesh/config", tag = "mesh",
    params(("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "Configuration in force",
            headers(("etag" = String, description = "New revision"))),
        (status = 409, description = "Another change awaits confirmation"),
        (status = 412, description = "Changed since that revision")))]
pub async fn mesh_config_put(
    _: Admin,
    State(config): State<Arc<MeshConfigService>>,
    State(world): State<World>,
    State(stop): State<CancellationToken>,
    headers: HeaderMap,
    StrictJson(new): StrictJson<NewMeshSettings>,
) -> Result<(Tag, Json<ChangedSettings>), Problem> {
    let within = ConfirmationTime::of(new.confirm_within_s)?;
    let service = Arc::clone(&config);
    let (settings, divergence, confirm_token) =
        blocking(move || service.change(&headers, &new)).await?;
    let token = confirm_token.clone();
    tokio::spawn(async move {
        within.over(&stop).await;
        let work = move || {
            config.undo(&token);
            Ok(())
        };
        if let Err(err) = blocking(work).await {
            tracing::error!(err = err.detail, "mesh configuration could not be restored");
        }
    });
    let changed = ChangedSettings {
        confirm_by: within.deadline(world.now_s()),
        settings,
        divergence,
        confirm_token,
    };
    Ok((changed.settings.tag(), Json(changed)))
}

/// Confirm a change of the mesh configuration
#[utoipa::path(post, path = "/v1/mesh/config/confirm", tag = "mesh",
    responses((status = 204, description = "Created"),
        (status = 404, description = "No pending change with that token"),
        (status = 410, description = "Change already undone")))]
pub async fn mesh_config_confirm(
    _: Admin,
    State(config): State<Arc<MeshConfigService>>,
    StrictJson(confirmation): StrictJson<Confirmation>,
) -> Result<StatusCode, Problem> {
    config.confirm(&confirmation.confirm_token)?;
    Ok(StatusCode::NO_CONTENT)
}
