//! Errors of the history of readings.

use std::io;

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
    cause: String,
}

impl HistoryError {
    /// An error of the content: the file is as it was.
    pub(super) fn new(cause: String) -> Self {
        Self { kind: FaultKind::Failed, effect: Effect::None, cause }
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
        Self { kind, effect: Effect::of(&err), cause: err.to_string() }
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
