//! Sealed backups of the store.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};
use std::{fmt, io};

use axum::http::StatusCode;
use groundwave_credentials::seal::{backup_key, seal};
use groundwave_engine::{FaultKind, StoreFault};
use groundwave_http::Problem;

use super::kernel::absent;

/// Copies the store into a new file.
pub type Copier = Box<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// Copies the store into a new file; a failure has a kind.
pub type StorageCopier = Box<dyn Fn(&Path) -> Result<(), StoreFault> + Send + Sync>;

/// Maker of backups.
pub struct Backups {
    key: [u8; 32],
    copier: OnceLock<StorageCopier>,
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
        Self { key: backup_key(token_key), copier: OnceLock::new(), busy: Mutex::default() }
    }

    /// Sets the function that copies the store; once.
    pub fn set_copier(&self, copier: Copier) {
        self.set_storage_copier(Box::new(move |path| {
            copier(path).map_err(|cause| StoreFault {
                kind: FaultKind::Failed,
                operation: "copy",
                cause,
            })
        }));
    }

    /// As [`Self::set_copier`], for a function whose failures have a kind.
    pub fn set_storage_copier(&self, copier: StorageCopier) {
        let _ = self.copier.set(copier);
    }

    /// Sealed copy of the store as of its last commit. Blocks.
    ///
    /// # Errors
    /// 409 while another one is made, 503 without a store, 507 without space for the copy.
    pub fn make(&self) -> Result<Vec<u8>, Problem> {
        let _alone = match self.busy.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                let detail = "another backup in progress";
                return Err(Problem::new(StatusCode::CONFLICT, detail).retry_after(5));
            }
        };
        let copier = self.copier.get().ok_or_else(|| absent("gateway without a store"))?;
        let failed = |err: &dyn fmt::Display, kind: FaultKind| {
            let detail = format!("backup: {err}");
            match kind.may_pass() {
                true => Problem::storage_full(detail),
                false => Problem::internal(detail),
            }
        };
        let of_file = |err: io::Error| failed(&err, FaultKind::of(&err));
        let folder = tempfile::tempdir().map_err(of_file)?;
        let path = folder.path().join("copy.redb");
        copier(&path).map_err(|fault| failed(&fault, fault.kind))?;
        let plain = std::fs::read(&path).map_err(of_file)?;
        seal(&self.key, &plain).map_err(|err| failed(&err, FaultKind::Failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_credentials::seal::unseal;

    #[test]
    fn copies_are_whole_and_sealed_one_at_a_time() {
        let backups = Backups::new(&[1; 32]);
        assert_eq!(backups.make().unwrap_err().status, 503);
        backups.set_copier(Box::new(|path| {
            std::fs::write(path, b"everything").map_err(|err| err.to_string())
        }));
        let sealed = backups.make().unwrap();
        assert_eq!(unseal(&backup_key(&[1; 32]), &sealed).unwrap(), b"everything");
        let alone = backups.busy.lock().unwrap();
        assert_eq!(backups.make().unwrap_err().status, 409);
        drop(alone);
        assert!(backups.make().is_ok());
    }
}
