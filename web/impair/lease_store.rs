//! Leases of the daemon and their file.

use std::path::PathBuf;

use groundwave_engine::FaultKind;
use groundwave_http::Problem;
use groundwave_io_impair::leases::Leases;
use groundwave_io_impair::state_file;

/// Leases and their file.
#[derive(Debug, Default)]
pub struct LeaseStore {
    /// Leases.
    pub table: Leases,
    /// `None` keeps them in memory only.
    file: Option<PathBuf>,
}

impl LeaseStore {
    /// Leases that are kept in a file.
    pub fn of(table: Leases, file: PathBuf) -> Self {
        let file = Some(file);
        Self { table, file }
    }

    /// Writes the leases, so that they survive the daemon.
    pub fn save(&self) -> Result<(), Problem> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        state_file::store(file, &self.table).map_err(|err| {
            let what = format!("write the leases {}: {err}", file.display());
            match FaultKind::of(&err).may_pass() {
                true => Problem::storage_full(what),
                false => Problem::internal(what),
            }
        })
    }

    /// As [`Self::save`], where there is nobody to refuse.
    pub fn save_anyway(&self) {
        if let Err(problem) = self.save() {
            tracing::error!(problem = problem.detail, "leases are in memory only");
        }
    }
}
