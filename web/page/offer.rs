//! The interfaces that the page may ask at its own address.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::http::Json;

/// Interfaces at one address: the path in front of those of the interface, `None` if it is not
/// served there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Planning server.
    pub planning: Option<&'static str>,
    /// Mesh gateway.
    pub gateway: Option<&'static str>,
}

impl Offer {
    /// A planning server alone.
    pub const PLANNING: Self = Self {
        planning: Some(""),
        gateway: None,
    };

    /// A gateway alone.
    pub const GATEWAY: Self = Self {
        planning: None,
        gateway: Some(""),
    };
}

impl IntoResponse for Offer {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-cache")], Json(self)).into_response()
    }
}
