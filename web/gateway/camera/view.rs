//! Cameras as clients see and define them.

use groundwave_gateway::camera::{Camera, CameraSource};
use groundwave_gateway::config::Versioned;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::services::camera::hub::CameraState;
use crate::services::camera::source::CameraAuth;
use crate::services::config_objects::Revision;
use crate::services::secrets::redacted;

/// Camera.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CameraView {
    /// Camera id.
    pub camera_id: Uuid,
    /// Name.
    pub name: String,
    /// Source of the pictures.
    pub source: CameraSource,
    /// Video device.
    pub device: Option<String>,
    /// URL, without its query.
    pub url: Option<String>,
    /// Node id.
    pub node_id: Option<Uuid>,
    /// Credentials are held; they are not shown.
    pub has_auth: bool,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Maximum frame rate for a viewer, frames/s.
    pub fps: u32,
    /// State.
    pub state: CameraState,
    /// Path of the stream.
    pub stream_url: String,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl CameraView {
    pub(super) fn of(id: Uuid, versioned: &Versioned<Camera>, state: CameraState) -> Self {
        let camera = &versioned.object;
        Self {
            camera_id: id,
            name: camera.name.clone(),
            source: camera.source,
            device: camera.device.clone(),
            url: camera.url.as_deref().map(redacted),
            node_id: camera.node_id.map(|node| node.uuid()),
            has_auth: camera.sealed_auth.is_some(),
            width: camera.width,
            height: camera.height,
            fps: camera.fps,
            state,
            stream_url: format!("/v1/camera/{id}/stream"),
            revision: Revision::of(versioned),
        }
    }
}

/// Definition of a camera.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCamera {
    /// Name, unique.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Source of the pictures.
    pub source: CameraSource,
    /// Video device of `v4l2`, such as `/dev/video0`.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub device: Option<String>,
    /// URL of `http_mjpeg` and `rtsp`, without user information; port and path of `node`.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub url: Option<String>,
    /// Node of `node`.
    #[serde(default)]
    pub node_id: Option<Uuid>,
    /// Credentials, write-only.
    #[serde(default)]
    pub auth: Option<CameraAuth>,
    /// Width requested from a device, pixels; default 640.
    #[serde(default)]
    #[schemars(range(min = 16, max = 7680))]
    pub width: Option<u32>,
    /// Height requested from a device, pixels; default 480.
    #[serde(default)]
    #[schemars(range(min = 16, max = 4320))]
    pub height: Option<u32>,
    /// Maximum frame rate for a viewer, frames/s; default 10.
    #[serde(default)]
    #[schemars(range(min = 1, max = 60))]
    pub fps: Option<u32>,
}

/// Changes of a camera; absent fields stay.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraChange {
    /// Name, unique.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// Video device.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub device: Option<String>,
    /// URL; held credentials must be given anew with another host.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub url: Option<String>,
    /// Credentials, write-only.
    #[serde(default)]
    pub auth: Option<CameraAuth>,
    /// Width requested from a device, pixels.
    #[serde(default)]
    #[schemars(range(min = 16, max = 7680))]
    pub width: Option<u32>,
    /// Height requested from a device, pixels.
    #[serde(default)]
    #[schemars(range(min = 16, max = 4320))]
    pub height: Option<u32>,
    /// Maximum frame rate for a viewer, frames/s.
    #[serde(default)]
    #[schemars(range(min = 1, max = 60))]
    pub fps: Option<u32>,
}

impl CameraChange {
    /// The camera with the changes, without credentials.
    pub(super) fn apply(self, to: &mut Camera) {
        let Self { name, device, url, width, height, fps, auth: _ } = self;
        if let Some(name) = name {
            to.name = name;
        }
        to.device = device.or(to.device.take());
        // The form that a view shows is no other URL: its query stays.
        let is_shown = url.is_some() && url == to.url.as_deref().map(redacted);
        to.url = url.filter(|_| !is_shown).or(to.url.take());
        to.width = width.unwrap_or(to.width);
        to.height = height.unwrap_or(to.height);
        to.fps = fps.unwrap_or(to.fps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_as_a_view_shows_it_keeps_its_query() {
        let camera = |url: &str| Camera {
            name: "c".to_owned(),
            source: CameraSource::Rtsp,
            device: None,
            url: Some(url.to_owned()),
            node_id: None,
            sealed_auth: None,
            width: 640,
            height: 480,
            fps: 10,
            is_started: false,
        };
        let changed = |before: &str, url: &str| {
            let mut camera = camera(before);
            let change = CameraChange { url: Some(url.to_owned()), ..CameraChange::default() };
            change.apply(&mut camera);
            camera.url.unwrap()
        };
        let before = "rtsp://10.41.0.9/x?pw=canary";
        assert_eq!(changed(before, &redacted(before)), before);
        assert_eq!(changed(before, "rtsp://10.41.0.9/y?redacted"), "rtsp://10.41.0.9/y?redacted");
        assert_eq!(changed("rtsp://10.41.0.9/x", "rtsp://10.41.0.8/x"), "rtsp://10.41.0.8/x");
    }
}
