//! Cameras: where their pictures come from.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_simulation::site::{NodeId, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigObject, WithoutNode};

/// Source of the pictures of a camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CameraSource {
    /// Video device of this machine.
    V4l2,
    /// MJPEG over HTTP.
    HttpMjpeg,
    /// RTSP: JPEG, or H.264 by ffmpeg.
    Rtsp,
    /// MJPEG over HTTP of a node, at its overlay address.
    Node,
}

/// Camera. Written by `camera.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Source.
    #[garde(skip)]
    pub source: CameraSource,
    /// Video device, such as `/dev/video0`.
    #[garde(inner(length(bytes, min = 1, max = 16)))]
    pub device: Option<String>,
    /// URL without user information; of a node its port and path, such as `:8080/?action=stream`.
    #[garde(inner(length(bytes, min = 1, max = 1024)))]
    pub url: Option<String>,
    /// Node.
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub node_id: Option<NodeId>,
    /// User name and password, sealed.
    #[garde(inner(length(bytes, max = 8_192)))]
    pub sealed_auth: Option<String>,
    /// Width requested from a device, pixels.
    #[garde(range(min = 16, max = 7_680))]
    pub width: u32,
    /// Height requested from a device, pixels.
    #[garde(range(min = 16, max = 4_320))]
    pub height: u32,
    /// Maximum frame rate for a viewer, frames/s.
    #[garde(range(min = 1, max = 60))]
    pub fps: u32,
    /// Started: it is started again with the gateway.
    #[serde(default)]
    #[garde(skip)]
    pub is_started: bool,
}

impl Kind for Camera {
    const NAME: &'static str = "camera";
}

impl ConfigObject for Camera {
    const KIND: &'static str = "camera";
    const COUNT_MAX: usize = 64;

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn check(&self, _: Id<Self>, world: &World) -> Result<(), Refusal> {
        let needs = match self.source {
            CameraSource::V4l2 => [true, false, false],
            CameraSource::HttpMjpeg | CameraSource::Rtsp => [false, true, false],
            CameraSource::Node => [false, self.url.is_some(), true],
        };
        let has = [self.device.is_some(), self.url.is_some(), self.node_id.is_some()];
        let keys = ["device", "url", "node_id"];
        for ((key, needed), is_set) in keys.into_iter().zip(needs).zip(has) {
            if needed != is_set {
                let value = if is_set { "a value" } else { "none" };
                let allowed =
                    if needed { "a value for this source" } else { "none for this source" };
                return Err(Refusal::invalid(key, value, allowed));
            }
        }
        let form = match (self.source, self.url.as_deref()) {
            (CameraSource::HttpMjpeg, Some(url)) => {
                ("http:// or https://", url.starts_with("http://") || url.starts_with("https://"))
            }
            (CameraSource::Rtsp, Some(url)) => ("rtsp://", url.starts_with("rtsp://")),
            (CameraSource::Node, Some(url)) => (":PORT/PATH or /PATH", url.starts_with([':', '/'])),
            _ => ("", true),
        };
        if let (allowed, false) = form {
            return Err(Refusal::invalid("url", "another form", allowed));
        }
        if let Some(node) = self.node_id {
            let nodes = world.resource::<Index<NodeKind>>();
            if nodes.get(node).is_err() {
                return Err(Refusal::invalid("node_id", node, "the id of a node that exists"));
            }
        }
        Ok(())
    }

    fn without_node(&self, node: NodeId) -> WithoutNode<Self> {
        match self.node_id == Some(node) {
            true => WithoutNode::Nothing,
            false => WithoutNode::Same,
        }
    }
}
