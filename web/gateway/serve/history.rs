//! The history of readings of a gateway: opened, and begun anew where its file is damaged.

use std::path::Path;

use groundwave_files::aside::move_aside;
use groundwave_http::Failure;
use groundwave_telemetry::TelemetryStore;

/// Suffix of a damaged file that was moved aside.
pub(super) const DAMAGED: &str = "damaged";

/// Opens the history. A damaged file is moved aside and a new one begun: readings are worth less than a
/// gateway that serves.
///
/// # Errors
/// When the file is in use, of another format, or cannot be read, moved or written.
pub(super) fn open(path: &Path) -> Result<TelemetryStore, Failure> {
    let is_emptied = path.metadata().is_ok_and(|file| file.len() == 0);
    if is_emptied {
        tracing::error!(
            "history of readings {}: the file is empty; a new one begins",
            path.display()
        );
    }
    // Before it holds anything: positions of nodes are private.
    groundwave_http::create_for_owner(path)?;
    let err = match TelemetryStore::open(path) {
        Ok(history) => return Ok(history),
        Err(err) if err.is_damaged => err,
        Err(err) => return Err(Failure::input(err)),
    };
    let aside = move_aside(path, DAMAGED)?;
    tracing::error!(
        "{err}; a new history begins, the damaged file is {}: remove it, or put a copy in its place \
         (groundwave restore) while the gateway is stopped",
        aside.display()
    );
    groundwave_http::create_for_owner(path)?;
    TelemetryStore::open(path).map_err(Failure::input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_history_is_moved_aside_and_a_new_one_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("telemetry.redb");
        drop(open(&path).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for (bytes, name) in [
            (&whole[..whole.len() / 2], "telemetry.redb.damaged"),
            (&[b'x'; 9_000][..], "telemetry.redb.damaged.2"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            drop(open(&path).unwrap());
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), bytes);
            drop(open(&path).unwrap());
        }
        // A file in use is not damaged.
        let _held = open(&path).unwrap();
        assert!(open(&path).is_err());
        assert!(!folder.path().join("telemetry.redb.damaged.3").exists());
    }
}
