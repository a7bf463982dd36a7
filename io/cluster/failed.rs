//! Failures of an executor: a full disk, after which it ends, and all others.

use std::io::{self, ErrorKind};
use std::path::Path;

use groundwave_io::sweep::SweepError;

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
            SweepError::Disk {
                operation,
                path,
                err,
            } => failed(operation, &path, &err),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Other(with_causes(&error))
    }
}

/// An error and its causes in one line.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
