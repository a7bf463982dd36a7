//! Errors of the history of readings.

use std::io;
use std::path::Path;

use groundwave_engine::FaultKind;
use thiserror::Error;

pub use groundwave_store::files::reopened::{Effect, WorkError};

/// Error of the history of readings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("history of readings: {cause}")]
pub struct HistoryError {
    /// Kind of the failure.
    pub kind: FaultKind,
    pub(super) effect: Effect,
    /// The file is damaged: opened again, it is as bad.
    pub is_damaged: bool,
    cause: String,
}

impl HistoryError {
    /// An error of the content: the file is as it was.
    pub(super) fn new(cause: String) -> Self {
        Self { kind: FaultKind::Failed, effect: Effect::None, is_damaged: false, cause }
    }

    /// An error of the file at `path`, which could not be opened.
    pub(super) fn of_open(path: &Path, err: impl Into<redb::Error>) -> Self {
        let err = Self::from(err);
        let cause = format!("open {}: {}", path.display(), err.cause);
        Self { kind: FaultKind::Failed, effect: Effect::None, cause, ..err }
    }

    /// An error of another file, into which the history is copied.
    pub(super) fn of_copy(err: redb::Error) -> Self {
        Self { effect: Effect::None, ..Self::from(err) }
    }
}

impl<E: Into<redb::Error>> From<E> for HistoryError {
    fn from(err: E) -> Self {
        let err = err.into();
        let kind = match &err {
            redb::Error::Io(err) => FaultKind::of(err),
            _ => FaultKind::Failed,
        };
        let is_damaged = match &err {
            redb::Error::Corrupted(_) => true,
            redb::Error::Io(err) => err.kind() == io::ErrorKind::InvalidData,
            _ => false,
        };
        Self { kind, effect: Effect::of(&err), is_damaged, cause: err.to_string() }
    }
}

impl WorkError for HistoryError {
    fn effect(&self) -> Effect {
        self.effect
    }
}

impl From<HistoryError> for io::Error {
    fn from(err: HistoryError) -> Self {
        let kind = match err.kind {
            FaultKind::Full => io::ErrorKind::StorageFull,
            FaultKind::ReadOnly => io::ErrorKind::ReadOnlyFilesystem,
            FaultKind::Failed => io::ErrorKind::Other,
        };
        Self::new(kind, err)
    }
}
