//! Stream and snapshot of cameras.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_gateway::camera::Camera;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::{Path, Problem, Query};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::access::{Anonymous, Caller, ClientAddress, Viewer};
use crate::services::camera::hub::Cameras;
use crate::services::camera::stream::{BOUNDARY, next_frame, parts};
use crate::services::config_objects::find;
use crate::services::world::World;
use crate::state::Gateway;

/// Options of a stream.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Watch {
    /// Maximum frame rate, frames/s, at most that of the camera
    #[param(minimum = 1, maximum = 60)]
    pub fps: Option<u32>,
    /// Access token, where the gateway requires one
    pub t: Option<String>,
}

/// Header fields of pictures: not kept, not taken for anything else.
fn picture_headers(media: &str) -> Result<HeaderMap, Problem> {
    let media = HeaderValue::from_str(media).map_err(|err| Problem::internal(err.to_string()))?;
    Ok(HeaderMap::from_iter([
        (header::CONTENT_TYPE, media),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]))
}

/// Scope of an API token that watches.
const SCOPE: &str = "camera:read";

/// Checks the token of a viewer, where the gateway requires one.
fn check_token(gateway: &Gateway, token: Option<&str>) -> Result<(), Problem> {
    if !gateway.settings.camera_tokens {
        return Ok(());
    }
    let mut headers = HeaderMap::new();
    let bearer = format!("Bearer {}", token.unwrap_or_default());
    if let Ok(bearer) = HeaderValue::from_str(&bearer) {
        headers.insert(header::AUTHORIZATION, bearer);
    }
    let view = gateway.world.view();
    let now_s = gateway.world.now_s();
    let caller = Caller::identify(&gateway.tokens, &view, &headers, now_s)?;
    match caller.reaches(SCOPE) {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("insufficient scope of the API token: required {SCOPE}"),
        )
        .of_kind(ProblemKind::Forbidden)),
    }
}

/// Watch a camera
///
/// Parts of `image/jpeg`. A slow viewer gets fewer frames and delays no other.
#[utoipa::path(get, path = "/v1/camera/{camera_id}/stream", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id"), Watch),
    responses((status = 200, description = "Frames, until the camera is stopped",
            content((String = "multipart/x-mixed-replace"))),
        (status = 404, description = "No such camera"),
        (status = 409, description = "The camera is stopped"),
        (status = 429, description = "Too many viewers from this address"),
        (status = 503, description = "Too many viewers")))]
pub async fn camera_stream(
    _: Anonymous,
    State(gateway): State<Gateway>,
    ClientAddress(source): ClientAddress,
    Path(id): Path<Uuid>,
    Query(watch): Query<Watch>,
) -> Result<Response, Problem> {
    check_token(&gateway, watch.t.as_deref())?;
    let versioned = find::<Camera>(&gateway.world, id)?;
    if watch.fps.is_some_and(|fps| !(1..=60).contains(&fps)) {
        let message = "invalid fps: allowed 1 to 60";
        return Err(Problem::field("/fps", FieldCode::NotAllowed, message));
    }
    let viewer = gateway.cameras.view(id, source)?;
    let fps_max = versioned.object.fps;
    let body = Body::from_stream(parts(viewer, watch.fps.unwrap_or(fps_max).min(fps_max)));
    let headers = picture_headers(&format!("multipart/x-mixed-replace; boundary={BOUNDARY}"))?;
    Ok((headers, body).into_response())
}

/// Get one frame of a camera
#[utoipa::path(get, path = "/v1/camera/{camera_id}/snapshot", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id")),
    responses((status = 200, description = "The latest frame",
            content((String = "image/jpeg"))),
        (status = 404, description = "No such camera"),
        (status = 409, description = "The camera is stopped"),
        (status = 429, description = "Too many viewers from this address"),
        (status = 503, description = "No frame within 10 s, or too many viewers")))]
pub async fn camera_snapshot(
    _: Viewer,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    ClientAddress(source): ClientAddress,
    Path(id): Path<Uuid>,
) -> Result<Response, Problem> {
    find::<Camera>(&world, id)?;
    let viewer = hub.view(id, source)?;
    let mut frames = viewer.frames();
    let frame = next_frame(&viewer, &mut frames).await.ok_or_else(|| {
        let why = hub.status(id).error;
        Problem::unavailable(why.unwrap_or_else(|| "no frame within 10 s".to_owned()))
    })?;
    Ok((picture_headers("image/jpeg")?, frame.jpeg.clone()).into_response())
}
