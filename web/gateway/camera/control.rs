//! Devices, status, start and stop of cameras.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_engine::Id;
use groundwave_gateway::camera::Camera;
use groundwave_gateway::config::Expected;
use groundwave_http::problem::ProblemKind;
use groundwave_http::{Json, Path, Problem};
use groundwave_io_gateway::camera::v4l2;
use groundwave_io_gateway::camera::v4l2::VideoDevice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::camera::hub::{CameraStatus, Cameras, Upstreams};
use crate::services::config_objects::{find, objects, write};
use crate::services::world::{World, blocking};
use crate::state::Gateway;

/// Node that reports a camera.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeCamera {
    /// Node id.
    pub node_id: Uuid,
    /// Hostname.
    pub hostname: String,
}

/// Cameras that can be defined.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Detected {
    /// Video devices of this machine.
    pub devices: Vec<VideoDevice>,
    /// Nodes whose heartbeats name the capability `camera`.
    pub nodes: Vec<NodeCamera>,
}

/// Detect cameras
#[utoipa::path(get, path = "/v1/camera/detect", tag = "camera",
    responses((status = 200, description = "Video devices with their formats, and nodes with cameras")))]
pub async fn camera_detect(
    _: Operator,
    State(world): State<World>,
) -> Result<Json<Detected>, Problem> {
    let devices = blocking(|| Ok(v4l2::detect())).await?;
    let view = world.view();
    let nodes = view.fleet.nodes.iter().filter_map(|(id, node)| {
        let heartbeat = &node.last_heartbeat.as_deref()?.heartbeat;
        let has_camera = heartbeat.capabilities.iter().any(|capability| capability == "camera");
        has_camera.then(|| NodeCamera { node_id: id.uuid(), hostname: heartbeat.hostname.clone() })
    });
    let nodes = nodes.collect();
    Ok(Json(Detected { devices, nodes }))
}

/// Get the status of a camera
#[utoipa::path(get, path = "/v1/camera/{camera_id}/status", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id")),
    responses((status = 200, description = "State and rates"),
        (status = 404, description = "No such camera")))]
pub async fn camera_status(
    _: Viewer,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Path(id): Path<Uuid>,
) -> Result<Json<CameraStatus>, Problem> {
    find::<Camera>(&world, id)?;
    Ok(Json(hub.status(id)))
}

/// Attempts to write a definition that others change too.
const ATTEMPTS_MAX: usize = 8;

/// Records in the definition of a camera that it was started or stopped.
async fn record_started(world: &World, id: Uuid, is_started: bool) -> Result<(), Problem> {
    let mut changed = Ok(());
    for _ in 0..ATTEMPTS_MAX {
        let versioned = find::<Camera>(world, id)?;
        if versioned.object.is_started == is_started {
            return Ok(());
        }
        let object = Camera { is_started, ..versioned.object.clone() };
        let expected = Expected::Revision(versioned.revision);
        changed = write(world, id, object, expected).await.map(drop);
        match &changed {
            Err(problem) if problem.status == 412 => {}
            _ => return changed,
        }
    }
    changed
}

/// Services of a gateway for its upstreams.
fn upstreams(gateway: &Gateway) -> Upstreams {
    Upstreams {
        world: gateway.world.clone(),
        outbound: gateway.outbound.clone(),
        vault: gateway.vault.clone(),
    }
}

/// Starts the cameras that were started when the gateway ended.
pub fn start_again(gateway: &Gateway) {
    let cameras = objects::<Camera>(&gateway.world);
    for (id, _) in cameras.iter().filter(|(_, versioned)| versioned.object.is_started) {
        let hub = &gateway.cameras;
        hub.start(id, upstreams(gateway), &gateway.stop);
    }
}

/// Start a camera, now and with the gateway
#[utoipa::path(post, path = "/v1/camera/{camera_id}/start", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id")),
    responses((status = 202, description = "Starting, or started before"),
        (status = 404, description = "No such camera"),
        (status = 503, description = "The video device is not there")))]
pub async fn camera_start(
    _: Operator,
    State(gateway): State<Gateway>,
    Path(id): Path<Uuid>,
) -> Result<(StatusCode, Json<CameraStatus>), Problem> {
    let versioned = find::<Camera>(&gateway.world, id)?;
    if let Some(device) = &versioned.object.device
        && !FilePath::new(device).exists()
    {
        let problem = Problem::unavailable(format!("missing video device {device}"));
        return Err(problem.of_kind(ProblemKind::BackendAbsent));
    }
    record_started(&gateway.world, id, true).await?;
    let hub = &gateway.cameras;
    let status = hub.start(Id::new(id), upstreams(&gateway), &gateway.stop);
    Ok((StatusCode::ACCEPTED, Json(status)))
}

/// Stop a camera; the streams of its viewers end
#[utoipa::path(post, path = "/v1/camera/{camera_id}/stop", tag = "camera",
    params(("camera_id" = Uuid, Path, description = "Camera id")),
    responses((status = 200, description = "Stopped, or stopped before"),
        (status = 404, description = "No such camera")))]
pub async fn camera_stop(
    _: Operator,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Path(id): Path<Uuid>,
) -> Result<Json<CameraStatus>, Problem> {
    record_started(&world, id, false).await?;
    hub.stop(id);
    Ok(Json(hub.status(id)))
}
