//! Host endpoints: system, processor, board.

use std::sync::Arc;

use axum::extract::State;
use groundwave_gateway::account::AccountRole;
use groundwave_http::{Json, Problem};

use crate::access::Viewer;
use crate::services::host::{Board, Cpu, Host, SystemInfo};
use crate::services::world::{World, blocking};

/// Host information: names, memory, storage, clock
#[utoipa::path(get, path = "/v1/system/info", tag = "system",
    responses((status = 200, description = "Host information")))]
pub async fn system_info(
    _: Viewer,
    State(host): State<Arc<Host>>,
) -> Result<Json<SystemInfo>, Problem> {
    Ok(Json(blocking(move || host.info()).await?))
}

/// Processor load, frequency and temperature
#[utoipa::path(get, path = "/v1/system/cpu", tag = "system",
    responses((status = 200, description = "Load since an earlier request, or since boot")))]
pub async fn system_cpu(
    _: Viewer,
    State(host): State<Arc<Host>>,
    State(world): State<World>,
) -> Result<Json<Cpu>, Problem> {
    Ok(Json(blocking(move || host.cpu(world.now_ns())).await?))
}

/// Board model; the serial number for admins only
#[utoipa::path(get, path = "/v1/system/board", tag = "system",
    responses((status = 200, description = "Board model, and its serial number for admins")))]
pub async fn system_board(
    Viewer(caller): Viewer,
    State(host): State<Arc<Host>>,
) -> Result<Json<Board>, Problem> {
    let mut board = blocking(move || Ok(host.board())).await?;
    if caller.role < AccountRole::Admin {
        board.serial = None;
    }
    Ok(Json(board))
}
