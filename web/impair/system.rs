//! System endpoint.

use axum::extract::State;
use groundwave_http::Json;

use super::Daemon;
use super::wire::SystemRecord;

/// Get version, ports and capabilities
#[utoipa::path(get, path = "/v1/system", tag = "system",
    responses((status = 200, description = "The system record")))]
pub async fn system(State(daemon): State<Daemon>) -> Json<SystemRecord> {
    let mut record = SystemRecord::of(&daemon.ports);
    // sysfs has the interfaces of the daemon's own namespace.
    for port in record.ports.iter_mut().filter(|port| port.mtu.is_none()) {
        let applied = daemon.read(port.direction).await.ok();
        port.mtu = applied.and_then(|applied| applied.mtu_bytes).filter(|bytes| *bytes > 0);
    }
    Json(record)
}
