//! System endpoint.

use axum::extract::State;
use groundwave_http::Json;

use super::Daemon;
use super::wire::SystemRecord;

/// Get version, ports and capabilities
#[utoipa::path(get, path = "/v1/system", tag = "system",
    responses((status = 200, description = "The system record")))]
pub async fn system(State(daemon): State<Daemon>) -> Json<SystemRecord> {
    Json(SystemRecord::of(&daemon.ports))
}
