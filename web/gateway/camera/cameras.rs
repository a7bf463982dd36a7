//! Definitions of cameras.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::camera::Camera;
use groundwave_gateway::config::{Expected, Versioned};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::{Json, Path, Problem, Query, id};
use groundwave_outbound::Outbound;
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::view::{CameraChange, CameraView, NewCamera};
use crate::access::{Admin, Viewer};
use crate::services::camera::hub::{CameraState, Cameras};
use crate::services::camera::source;
use crate::services::camera::source::CameraAuth;
use crate::services::config_objects;
use crate::services::config_objects::objects;
use crate::services::vault::Vault;
use crate::services::world::World;
use crate::state::Gateway;

fn seal(auth: Option<&CameraAuth>, vault: &Vault, id: Uuid) -> Result<Option<String>, Problem> {
    let sealed = auth.map(|auth| {
        auth.check()?;
        auth.seal(vault, id)
    });
    sealed.transpose()
}

/// List cameras
#[utoipa::path(get, path = "/v1/camera", tag = "camera", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn cameras(
    _: Viewer,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<CameraView>>, Problem> {
    let cameras = objects::<Camera>(&world);
    let all = cameras.iter().map(|(id, versioned)| (id.uuid().to_string(), (id.uuid(), versioned)));
    let show = |(id, versioned): (Uuid, &Arc<Versioned<Camera>>)| {
        CameraView::of(id, versioned, hub.status(id).state)
    };
    Ok(Json(paging.of(all, show)?))
}

/// Define a camera
#[utoipa::path(post, path = "/v1/camera", tag = "camera",
    responses((status = 201, description = "The camera, stopped",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists")))]
pub async fn camera_create(
    _: Admin,
    State(world): State<World>,
    State(vault): State<Vault>,
    State(outbound): State<Outbound>,
    StrictJson(new): StrictJson<NewCamera>,
) -> Result<(StatusCode, Tag, Json<CameraView>), Problem> {
    let id = id::mint();
    let object = Camera {
        name: new.name,
        source: new.source,
        device: new.device,
        url: new.url,
        node_id: new.node_id.map(NodeId::new),
        sealed_auth: seal(new.auth.as_ref(), &vault, id)?,
        width: new.width.unwrap_or(640),
        height: new.height.unwrap_or(480),
        fps: new.fps.unwrap_or(10),
        is_started: false,
    };
    source::check(&outbound, &object).await?;
    let expected = Expected::Absent;
    let versioned = config_objects::write(&world, id, object, expected).await?;
    let view = CameraView::of(id, &versioned, CameraState::Stopped);
    Ok((StatusCode::CREATED, tag(versioned.revision), Json(view)))
}

/// Get a camera
#[utoipa::path(get, path = "/v1/camera/{camera_id}", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id")),
    responses((status = 200, description = "The camera, without credentials",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such camera")))]
pub async fn camera_fetch(
    _: Viewer,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<CameraView>), Problem> {
    let versioned = config_objects::find(&world, id)?;
    let view = CameraView::of(id, &versioned, hub.status(id).state);
    Ok((tag(versioned.revision), Json(view)))
}

/// Scheme, host and port of the URL of a camera.
fn origin(camera: &Camera) -> Option<&str> {
    let url = camera.url.as_deref()?;
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '\\', '?', '#']);
    Some(&url[..end.map_or(url.len(), |end| start + end)])
}

/// Update a camera and stop it
#[utoipa::path(patch, path = "/v1/camera/{camera_id}", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The camera, stopped",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such camera"),
        (status = 409, description = "Name exists"),
        (status = 412, description = "Changed since that revision")))]
pub async fn camera_patch(
    _: Admin,
    State(gateway): State<Gateway>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(change): StrictJson<CameraChange>,
) -> Result<(Tag, Json<CameraView>), Problem> {
    let before = config_objects::find::<Camera>(&gateway.world, id)?;
    let expected = Expected::Revision(if_match_revision(&headers)?.unwrap_or(before.revision));
    let sealed = seal(change.auth.as_ref(), &gateway.vault, id)?;
    let mut object = before.object.clone();
    change.apply(&mut object);
    object.is_started = false;
    if sealed.is_some() {
        object.sealed_auth = sealed;
    } else if object.sealed_auth.is_some() && origin(&object) != origin(&before.object) {
        let message = "missing credentials: those held are not sent to another host or port";
        return Err(Problem::field("/auth", FieldCode::Missing, message));
    }
    source::check(&gateway.outbound, &object).await?;
    let versioned = config_objects::write(&gateway.world, id, object, expected).await?;
    gateway.cameras.stop(id);
    Ok((tag(versioned.revision), Json(CameraView::of(id, &versioned, CameraState::Stopped))))
}

/// Stop and remove a camera
#[utoipa::path(delete, path = "/v1/camera/{camera_id}", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Stopped and removed"),
        (status = 404, description = "No such camera"),
        (status = 412, description = "Changed since that revision")))]
pub async fn camera_remove(
    _: Admin,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let removed = config_objects::remove::<Camera>(&world, id, &headers).await?;
    hub.stop(id);
    Ok(removed)
}
