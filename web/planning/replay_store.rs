//! Uploaded logs, in files that are gone with the server.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_engine::log::{LogError, Reader};
use groundwave_systems::terrain::Terrain;
use tempfile::NamedTempFile;
use uuid::Uuid;

use super::wire::replay::ReplayInfo;
use crate::http::Problem;

/// Logs kept at once; of more the one uploaded first leaves.
const KEPT_MAX: usize = 8;

/// Opens the terrain that the inputs of a log name.
pub type LogTerrain =
    Arc<dyn Fn(&BTreeMap<String, String>) -> Result<Arc<dyn Terrain>, String> + Send + Sync>;

/// Uploaded log.
#[derive(Debug)]
pub struct StoredLog {
    /// Summary of the content.
    pub info: ReplayInfo,
    file: NamedTempFile,
}

/// Writes an uploaded log into a file.
///
/// # Errors
/// 507 when the disk fails.
pub fn store(content: &[u8]) -> Result<NamedTempFile, Problem> {
    let write = || {
        let mut file = NamedTempFile::new()?;
        file.write_all(content)?;
        Ok(file)
    };
    write().map_err(|err: std::io::Error| {
        let what = format!("store the log: {err}");
        Problem::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, what)
    })
}

/// Opens a stored log for reading.
///
/// # Errors
/// When it is no log.
pub fn open(file: &NamedTempFile) -> Result<Reader<BufReader<File>>, LogError> {
    let file = file.reopen().map_err(LogError::Read)?;
    Reader::open(BufReader::new(file))
}

impl StoredLog {
    /// A log with its content in short.
    #[must_use]
    pub fn new(info: ReplayInfo, file: NamedTempFile) -> Self {
        Self { info, file }
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub fn open(&self) -> Result<Reader<BufReader<File>>, LogError> {
        open(&self.file)
    }
}

/// Uploaded logs by id; ids rise with time.
#[derive(Debug, Default)]
pub struct ReplayStore(Mutex<BTreeMap<Uuid, Arc<StoredLog>>>);

impl ReplayStore {
    /// Adds a log.
    pub fn add(&self, log: StoredLog) {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.insert(log.info.id, Arc::new(log));
        while logs.len() > KEPT_MAX {
            logs.pop_first();
        }
    }

    /// The logs in the order of their upload.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<StoredLog>> {
        let logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.values().cloned().collect()
    }

    /// The log with this id.
    ///
    /// # Errors
    /// 404.
    pub fn get(&self, id: Uuid) -> Result<Arc<StoredLog>, Problem> {
        let logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = logs.get(&id).cloned();
        found.ok_or_else(|| Problem::not_found("replay", id))
    }

    /// Removes a log.
    ///
    /// # Errors
    /// 404.
    pub fn delete(&self, id: Uuid) -> Result<(), Problem> {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = logs.remove(&id).map(drop);
        gone.ok_or_else(|| Problem::not_found("replay", id))
    }
}
