//! Backup endpoint: sealed copy of the store.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use groundwave_http::Problem;
use groundwave_http::document::Bytes;
use groundwave_http::show::typed;
use groundwave_http::time::rfc3339;

use crate::access::Admin;
use crate::services::backups::Backups;
use crate::services::world::{World, blocking};

/// Back up the store, sealed
///
/// The copy is as of the last commit, with accounts and secrets. The sealing key is derived from
/// the gateway's `token.key`; `groundwave restore --token-key` opens it.
#[utoipa::path(post, path = "/v1/admin/backup", tag = "admin",
    responses((status = 200, description = "Sealed backup", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 409, description = "Another backup in progress"),
        (status = 507, description = "No space for the copy")))]
pub async fn backup(
    _: Admin,
    State(backups): State<Arc<Backups>>,
    State(world): State<World>,
) -> Result<Response, Problem> {
    let bytes = blocking(move || backups.make()).await?;
    let day = rfc3339(world.now_s() * 1_000_000_000);
    let day = day.split('T').next().unwrap_or_default();
    let name = format!("attachment; filename=\"gateway-{day}.sealed\"");
    let name = [(header::CONTENT_DISPOSITION, name)];
    Ok((name, typed("application/octet-stream", bytes)).into_response())
}
