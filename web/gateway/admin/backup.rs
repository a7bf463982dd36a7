//! A copy of everything, sealed.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_io::gateway::seal::{backup_key, seal};

use crate::gateway::access::Admin;
use crate::gateway::services::kernel::absent;
use crate::gateway::state::Gateway;
use crate::http::Problem;
use crate::http::document::Bytes;
use crate::http::show::typed;
use crate::http::time::rfc3339;

/// Copies the store into a new file.
pub type Copier = Box<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// How copies are made.
pub struct Backups {
    key: [u8; 32],
    copier: OnceLock<Copier>,
    busy: Mutex<()>,
}

impl fmt::Debug for Backups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Backups")
    }
}

impl Backups {
    /// Copies sealed with the key that follows from the key of tokens; none before there is a store
    /// to copy.
    #[must_use]
    pub fn new(token_key: &[u8; 32]) -> Self {
        Self {
            key: backup_key(token_key),
            copier: OnceLock::new(),
            busy: Mutex::default(),
        }
    }

    /// Says how the store is copied; the first to say it counts.
    pub fn of(&self, copier: Copier) {
        let _ = self.copier.set(copier);
    }

    /// A sealed copy of the store as of its last commit.
    fn make(&self) -> Result<Vec<u8>, Problem> {
        let _alone = match self.busy.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                let detail = "another backup is being made";
                return Err(Problem::new(StatusCode::CONFLICT, detail).retry_after(5));
            }
        };
        let copier = self.copier.get();
        let copier = copier.ok_or_else(|| absent("this gateway keeps no store"))?;
        let failed = |err: &dyn fmt::Display| Problem::internal(format!("backup: {err}"));
        let folder = tempfile::tempdir().map_err(|err| failed(&err))?;
        let path = folder.path().join("copy.redb");
        copier(&path).map_err(|err| failed(&err))?;
        let plain = std::fs::read(&path).map_err(|err| failed(&err))?;
        seal(&self.key, &plain).map_err(|err| failed(&err))
    }
}

/// A copy of the store as of its last commit, with accounts and secrets, sealed
///
/// The seal's key follows from the gateway's `token.key`: `groundwave restore --token-key` opens it.
#[utoipa::path(post, path = "/v1/admin/backup", tag = "admin",
    responses((status = 200, description = "The sealed copy", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 409, description = "Another is being made")))]
pub async fn backup(_: Admin, State(gateway): State<Gateway>) -> Result<Response, Problem> {
    let held = gateway.clone();
    let bytes = gateway.block(move || held.backups.make()).await?;
    let day = rfc3339(gateway.now_s() * 1_000_000_000);
    let day = day.split('T').next().unwrap_or_default();
    let name = format!("attachment; filename=\"gateway-{day}.sealed\"");
    let name = [(header::CONTENT_DISPOSITION, name)];
    Ok((name, typed("application/octet-stream", bytes)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_io::gateway::seal::unseal;

    #[test]
    fn copies_are_whole_and_sealed_one_at_a_time() {
        let backups = Backups::new(&[1; 32]);
        assert_eq!(backups.make().unwrap_err().status, 503);
        backups.of(Box::new(|path| {
            std::fs::write(path, b"everything").map_err(|err| err.to_string())
        }));
        let sealed = backups.make().unwrap();
        assert_eq!(
            unseal(&backup_key(&[1; 32]), &sealed).unwrap(),
            b"everything"
        );
        let alone = backups.busy.lock().unwrap();
        assert_eq!(backups.make().unwrap_err().status, 409);
        drop(alone);
        assert!(backups.make().is_ok());
    }
}
