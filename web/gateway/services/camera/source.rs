//! Upstream of a camera.

use axum::http::{HeaderValue, Method, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_engine::Id;
use groundwave_gateway::camera::{Camera, CameraSource};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_io_gateway::camera::{
    CameraError, Deliver, RtspLogin, check_rtsp_url, read_mjpeg, read_rtsp, v4l2,
};
use groundwave_outbound::{Outbound, OutboundError, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::services::outbound::unreached;
use crate::services::vault::Vault;
use crate::services::world::World;

/// Port and path of a node's camera that names none: those of mjpg-streamer.
const NODE_STREAM: &str = ":8080/?action=stream";

/// User name and password of a camera; write-only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraAuth {
    /// User name.
    #[schemars(length(max = 256))]
    pub username: String,
    /// Password.
    #[schemars(length(max = 1024))]
    pub password: String,
}

#[derive(Serialize, Deserialize)]
struct Bound {
    camera: Uuid,
    auth: CameraAuth,
}

impl CameraAuth {
    /// Checks lengths and characters.
    ///
    /// # Errors
    /// 422.
    pub fn check(&self) -> Result<(), Problem> {
        let fields = [("username", &self.username, 256), ("password", &self.password, 1024)];
        for (name, text, maximum) in fields {
            let is_bad = text.len() > maximum || text.chars().any(char::is_control);
            if is_bad || name == "username" && text.contains(':') {
                let pointer = format!("/auth/{name}");
                let message = format!(
                    "allowed up to {maximum} bytes without control characters and, in the name, colons"
                );
                return Err(Problem::field(&pointer, FieldCode::Format, message));
            }
        }
        Ok(())
    }

    /// Sealed for a camera.
    ///
    /// # Errors
    /// 500.
    pub fn seal(&self, vault: &Vault, camera: Uuid) -> Result<String, Problem> {
        let auth = self.clone();
        let plain = serde_json::to_vec(&Bound { camera, auth })
            .map_err(|err| Problem::internal(err.to_string()))?;
        vault.seal(&plain).map_err(Problem::internal)
    }

    /// Opened for a camera.
    ///
    /// # Errors
    /// 500 when it was sealed under another key or for another camera.
    pub fn open(vault: &Vault, id: Uuid, camera: &Camera) -> Result<Option<Self>, Problem> {
        let Some(sealed) = &camera.sealed_auth else {
            return Ok(None);
        };
        let unreadable = || {
            Problem::internal(
                "credentials of the camera: sealed under another key or for another camera; set them anew",
            )
        };
        let plain = vault.unseal(sealed).map_err(|_| unreadable())?;
        let bound: Bound = serde_json::from_slice(&plain).map_err(|_| unreadable())?;
        match bound.camera == id {
            true => Ok(Some(bound.auth)),
            false => Err(unreadable()),
        }
    }
}

/// URL of an HTTP stream: that of the camera, or of its node at its overlay address.
fn http_url(world: &World, camera: &Camera) -> Result<String, CameraError> {
    let Some(node) = camera.node_id else {
        return Ok(camera.url.clone().unwrap_or_default());
    };
    let view = world.view();
    let overlay = view
        .fleet
        .nodes
        .get(&node)
        .and_then(|node| node.record.overlay_ip)
        .ok_or(CameraError::Stream("the node has no overlay address".to_owned()))?;
    let rest = camera.url.as_deref().unwrap_or(NODE_STREAM);
    Ok(format!("http://{overlay}{rest}"))
}

/// Request of an HTTP stream.
fn http_request(url: &str, auth: Option<&CameraAuth>) -> Result<Request, OutboundError> {
    let mut request = Request::new(Method::GET, url)?;
    if let Some(auth) = auth {
        let pair = STANDARD.encode(format!("{}:{}", auth.username, auth.password));
        if let Ok(mut value) = HeaderValue::from_str(&format!("Basic {pair}")) {
            value.set_sensitive(true);
            request.headers.insert(header::AUTHORIZATION, value);
        }
    }
    Ok(request)
}

/// Checks the place of a camera and that its target is allowed.
///
/// # Errors
/// 422.
pub async fn check(outbound: &Outbound, camera: &Camera) -> Result<(), Problem> {
    let wrong = |err: CameraError| match err {
        CameraError::Outbound(err) => unreached("/url", &err),
        other => Problem::field("/url", FieldCode::Format, other.to_string()),
    };
    let (host, port) = match camera.source {
        CameraSource::V4l2 => {
            return match v4l2::is_device(camera.device.as_deref().unwrap_or_default()) {
                true => Ok(()),
                false => {
                    let message = "allowed /dev/video0 to /dev/video999";
                    Err(Problem::field("/device", FieldCode::NotAllowed, message))
                }
            };
        }
        CameraSource::Rtsp => {
            let url = camera.url.as_deref().unwrap_or_default();
            check_rtsp_url(url).map_err(wrong)?
        }
        CameraSource::HttpMjpeg => {
            let url = camera.url.as_deref().unwrap_or_default();
            let request = http_request(url, None).map_err(|err| wrong(err.into()))?;
            (request.host().to_owned(), request.port())
        }
        CameraSource::Node => {
            let rest = camera.url.as_deref().unwrap_or(NODE_STREAM);
            let url = format!("http://node.invalid{rest}");
            let request = http_request(&url, None).map_err(|err| wrong(err.into()))?;
            return match request.host() == "node.invalid" {
                true => Ok(()),
                false => Err(wrong(CameraError::Url(":PORT/PATH or /PATH"))),
            };
        }
    };
    match outbound.target(&host, port).await {
        // A camera that is off has no name perhaps; it is judged again when it is read.
        Err(OutboundError::Resolve { .. }) | Ok(_) => Ok(()),
        Err(err) => Err(unreached("/url", &err)),
    }
}

/// Reads the upstream of a camera until it ends.
///
/// # Errors
/// The reason of the end.
pub async fn read(
    world: &World,
    outbound: &Outbound,
    vault: &Vault,
    id: Id<Camera>,
    camera: &Camera,
    deliver: Deliver<'_>,
) -> Result<(), CameraError> {
    let auth = CameraAuth::open(vault, id.uuid(), camera)
        .map_err(|problem| CameraError::Stream(problem.detail))?;
    match camera.source {
        CameraSource::V4l2 => {
            let device = camera.device.as_deref().unwrap_or_default();
            let format =
                v4l2::Wanted { width: camera.width, height: camera.height, fps: camera.fps };
            v4l2::read_v4l2(device, format, deliver).await
        }
        CameraSource::Rtsp => {
            let login =
                auth.map(|auth| RtspLogin { username: auth.username, password: auth.password });
            let url = camera.url.as_deref().unwrap_or_default();
            read_rtsp(outbound, url, login, deliver).await
        }
        CameraSource::HttpMjpeg | CameraSource::Node => {
            let url = http_url(world, camera)?;
            let request = http_request(&url, auth.as_ref())?;
            read_mjpeg(outbound, &request, deliver).await
        }
    }
}
