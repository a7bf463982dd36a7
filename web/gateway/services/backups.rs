//! Sealed backups of the store.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

use axum::http::StatusCode;
use groundwave_io::gateway::seal::{backup_key, seal};

use super::kernel::absent;
use crate::http::Problem;

/// Copies the store into a new file.
pub type Copier = Box<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// Maker of backups.
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

    /// Sets the function that copies the store; once.
    pub fn set_copier(&self, copier: Copier) {
        let _ = self.copier.set(copier);
    }

    /// Sealed copy of the store as of its last commit. Blocks.
    ///
    /// # Errors
    /// 409 while another one is made, 503 without a store.
    pub fn make(&self) -> Result<Vec<u8>, Problem> {
        let _alone = match self.busy.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                let detail = "another backup in progress";
                return Err(Problem::new(StatusCode::CONFLICT, detail).retry_after(5));
            }
        };
        let copier = self.copier.get();
        let copier = copier.ok_or_else(|| absent("gateway without a store"))?;
        let failed = |err: &dyn fmt::Display| Problem::internal(format!("backup: {err}"));
        let folder = tempfile::tempdir().map_err(|err| failed(&err))?;
        let path = folder.path().join("copy.redb");
        copier(&path).map_err(|err| failed(&err))?;
        let plain = std::fs::read(&path).map_err(|err| failed(&err))?;
        seal(&self.key, &plain).map_err(|err| failed(&err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_io::gateway::seal::unseal;

    #[test]
    fn copies_are_whole_and_sealed_one_at_a_time() {
        let backups = Backups::new(&[1; 32]);
        assert_eq!(backups.make().unwrap_err().status, 503);
        backups.set_copier(Box::new(|path| {
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
