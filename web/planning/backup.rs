//! Backup endpoint.

use std::path::Path;

use axum::extract::State;
use axum::http::{HeaderName, header};
use groundwave_http::Problem;
use groundwave_http::document::Bytes;

use super::Planner;

/// Bytes of a file that tells a full disk from another failure.
const PROBE_BYTES: usize = 1 << 20;

/// True if the disk of a folder has space.
fn takes_bytes(folder: &Path) -> bool {
    std::fs::write(folder.join("probe"), vec![0; PROBE_BYTES]).is_ok()
}

/// Back up the store
///
/// Input of `groundwave restore`. Copying the file of a running server is not safe.
#[utoipa::path(get, path = "/api/v1/backup", tag = "operation",
    responses(
        (status = 200, description = "Backup", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 500, description = "The store cannot be copied"),
        (status = 507, description = "No space for the copy")))]
pub async fn backup(
    State(planner): State<Planner>,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), Problem> {
    let copy = planner.copy.clone();
    let made = planner.transfer(move || {
        let failed = |why: String| Problem::internal(format!("copy the store: {why}"));
        let folder = tempfile::tempdir().map_err(|err| failed(err.to_string()))?;
        let path = folder.path().join("backup.redb");
        copy(&path).map_err(|why| match takes_bytes(folder.path()) {
            true => failed(why),
            false => Problem::storage_full(format!("copy the store: {why}")),
        })?;
        std::fs::read(&path).map_err(|err| failed(err.to_string()))
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"groundwave-backup.redb\""),
    ];
    Ok((headers, made.await?))
}
