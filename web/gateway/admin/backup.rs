//! Backup endpoint: sealed copy of the store.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::gateway::access::Admin;
use crate::gateway::services::backups::Backups;
use crate::gateway::services::world::{World, blocking};
use crate::http::Problem;
use crate::http::document::Bytes;
use crate::http::show::typed;
use crate::http::time::rfc3339;

/// A copy of the store as of its last commit, with accounts and secrets, sealed
///
/// The seal's key follows from the gateway's `token.key`: `groundwave restore --token-key` opens it.
#[utoipa::path(post, path = "/v1/admin/backup", tag = "admin",
    responses((status = 200, description = "The sealed copy", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 409, description = "Another is being made")))]
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
