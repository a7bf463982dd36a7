//! The machine the gateway runs on.

use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use groundwave_io::readings::board::{self, Board};
use groundwave_io::readings::cpu::{self, Cpu, Ticks};
use groundwave_io::readings::host::{self, SystemInfo};
use groundwave_io::readings::{ReadingError, Root};
use groundwave_systems::account::AccountRole;

use crate::gateway::access::Viewer;
use crate::gateway::services::kernel::unread;
use crate::gateway::state::Gateway;
use crate::http::{Json, Problem};

/// Two looks at the processor that are compared are at least so far apart, ns.
const APART_NS: u64 = 1_000_000_000;

/// An earlier look at the processor.
#[derive(Debug, Default)]
pub struct LastLook(Mutex<Option<(u64, Vec<Ticks>)>>);

impl LastLook {
    /// Looks again at `now_ns`.
    fn look(&self, root: &Root, now_ns: u64) -> Result<Cpu, ReadingError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = held
            .as_ref()
            .filter(|(at_ns, _)| now_ns.saturating_sub(*at_ns) >= APART_NS);
        let found = cpu::read(root, before.map(|(_, ticks)| ticks.as_slice()))?;
        if before.is_some() || held.is_none() {
            *held = Some((now_ns, cpu::ticks(root)?));
        }
        Ok(found)
    }
}

/// The machine: names, memory, storage, clock
#[utoipa::path(get, path = "/v1/system/info", tag = "system",
    responses((status = 200, description = "As it is now")))]
pub async fn system_info(
    _: Viewer,
    State(gateway): State<Gateway>,
) -> Result<Json<SystemInfo>, Problem> {
    let look = || host::info(&Root::default()).map_err(unread);
    Ok(Json(gateway.block(look).await?))
}

/// The processor: how busy, how fast, how hot
#[utoipa::path(get, path = "/v1/system/cpu", tag = "system",
    responses((status = 200, description = "Work since an earlier request, or since the machine started")))]
pub async fn system_cpu(_: Viewer, State(gateway): State<Gateway>) -> Result<Json<Cpu>, Problem> {
    let held = gateway.clone();
    let look = move || {
        let found = held.last_look.look(&Root::default(), held.now_ns());
        found.map_err(unread)
    };
    Ok(Json(gateway.block(look).await?))
}

/// The board
#[utoipa::path(get, path = "/v1/system/board", tag = "system",
    responses((status = 200, description = "Its serial number is for administrators")))]
pub async fn system_board(
    Viewer(caller): Viewer,
    State(gateway): State<Gateway>,
) -> Result<Json<Board>, Problem> {
    let mut found = gateway.block(|| Ok(board::read(&Root::default()))).await?;
    if caller.role < AccountRole::Admin {
        found.serial = None;
    }
    Ok(Json(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_between_looks_that_are_apart() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let lay = |busy: u64, idle: u64| {
            let line = format!("cpu {busy} 0 0 {idle}\ncpu0 {busy} 0 0 {idle}\n");
            std::fs::write(folder.path().join("proc/stat"), line).unwrap();
        };
        let (held, root) = (LastLook::default(), Root::at(folder.path()));
        let usage = |now_ns| held.look(&root, now_ns).unwrap().usage_pct[0];
        lay(50, 50);
        assert_eq!(usage(0), 50.0);
        // Too soon for the difference to say anything: since the start again.
        lay(51, 50);
        assert!((usage(10) - 5100.0 / 101.0).abs() < 1e-9);
        lay(50, 150);
        assert_eq!(usage(APART_NS), 0.0);
        lay(125, 175);
        assert_eq!(usage(3 * APART_NS), 75.0);
    }
}
