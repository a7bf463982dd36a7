//! Stored calibration baseline: uninterpreted JSON.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::Value;

use super::{Baseline, Daemon};
use crate::http::{Json, Problem};

impl Baseline {
    fn stored(&self) -> Result<Value, Problem> {
        let path = self.path.display();
        let text = (self.read)().map_err(|err| Problem::internal(format!("read {path}: {err}")))?;
        let text = text.ok_or_else(|| {
            let what = format!("no calibration baseline is stored at {path}");
            Problem::new(StatusCode::NOT_FOUND, what)
        })?;
        serde_json::from_str(&text)
            .map_err(|err| Problem::internal(format!("{path}: invalid JSON document: {err}")))
    }
}

/// Get the stored calibration baseline
#[utoipa::path(get, path = "/v1/calibration/baseline", tag = "calibration",
    responses(
        (status = 200, description = "Stored document"),
        (status = 404, description = "No baseline stored")))]
pub async fn fetch(State(daemon): State<Daemon>) -> Result<Json<Value>, Problem> {
    let baseline = daemon.baseline;
    // A file on a slow disk must not hold up other connections.
    let read = tokio::task::spawn_blocking(move || baseline.stored()).await;
    read.unwrap_or_else(|err| Err(Problem::internal(format!("the reading failed: {err}"))))
        .map(Json)
}
