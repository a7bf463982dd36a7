//! The direction in a path: a port of the daemon.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use groundwave_http::endpoints::Describe;
use groundwave_http::{Path, Problem};
use groundwave_impair::Direction;

use super::Daemon;

/// Direction of a path, which the daemon has a port for.
#[derive(Debug)]
pub struct PortPath(pub Direction);

impl Describe for PortPath {}

impl FromRequestParts<Daemon> for PortPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, daemon: &Daemon) -> Result<Self, Problem> {
        let Path(name) = Path::<String>::from_request_parts(parts, daemon).await?;
        let direction = daemon.ports.directions().find(|direction| direction.name() == name);
        direction.map(Self).ok_or_else(|| daemon.ports.unknown(&name))
    }
}
