//! The interfaces that the page may request at its own address.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use groundwave_http::Json;
use serde::Serialize;

use super::basemap::{self, Basemap};

/// Interfaces at one address: the path in front of those of the interface, `None` if it is not
/// served there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Planning server.
    pub planning: Option<&'static str>,
    /// Mesh gateway.
    pub gateway: Option<&'static str>,
    /// Port of the gateway's own address, which agents ask; absent where the page comes from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_port: Option<u16>,
    /// Path of a base map, a PMTiles archive; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basemap: Option<&'static str>,
}

impl Offer {
    /// A planning server alone.
    pub const PLANNING: Self =
        Self { planning: Some(""), gateway: None, gateway_port: None, basemap: None };

    /// A gateway alone.
    pub const GATEWAY: Self =
        Self { planning: None, gateway: Some(""), gateway_port: None, basemap: None };

    /// The same with a base map, if there is one.
    #[must_use]
    pub fn with_basemap(self, basemap: Option<&Basemap>) -> Self {
        Self { basemap: basemap.map(|_| basemap::PATH), ..self }
    }
}

impl IntoResponse for Offer {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-cache")], Json(self)).into_response()
    }
}
