//! Failures of an executor: a full disk, after which it ends, and all others.

use std::io::{self, ErrorKind};
use std::path::Path;

use groundwave_files::causes::with_causes;
use groundwave_sweep::SweepError;
use groundwave_terrain::cache::IndexError;

use super::store::StoreError;

/// Why a unit was not made.
#[derive(Debug)]
pub(super) enum Failed {
    /// The folder of this executor takes no more.
    Full(String),
    /// Anything else.
    Other(String),
}

pub(super) fn failed(operation: &str, path: &Path, err: &io::Error) -> Failed {
    let what = format!("{operation} {}: {err}", path.display());
    match err.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem => {
            Failed::Full(what)
        }
        _ => Failed::Other(what),
    }
}

impl From<SweepError> for Failed {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Disk { operation, path, err } => failed(operation, &path, &err),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Disk { operation, path, err } => failed(operation, &path, &err),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Other(with_causes(&error))
    }
}
