//! Logs that can be replayed: uploads in files that are gone with the server, and files of others.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_engine::log::{LogError, Reader};
use groundwave_http::Problem;
use groundwave_model::terrain::Terrain;
use groundwave_scenario::changes::Change;
use tempfile::NamedTempFile;
use uuid::Uuid;

use super::wire::replay::ReplayInfo;

/// Uploads and variants kept at once; of more the one made first leaves.
const KEPT_MAX: usize = 8;

/// Opens the terrain that the inputs of a log name.
pub type LogTerrain =
    Arc<dyn Fn(&BTreeMap<String, String>) -> Result<Arc<dyn Terrain>, String> + Send + Sync>;

/// File of a log.
#[derive(Debug)]
pub enum LogFile {
    /// An upload, which is gone with its last user.
    Uploaded(NamedTempFile),
    /// A file that was named when the server started.
    Named(PathBuf),
}

/// A log, or a log with changes.
#[derive(Debug)]
pub struct StoredLog {
    /// Summary of the content.
    pub info: ReplayInfo,
    /// Changes, in the order of their times.
    pub changes: Vec<Change>,
    file: Arc<LogFile>,
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

impl LogFile {
    /// Opens it for reading.
    ///
    /// # Errors
    /// When it is no log, or cannot be read.
    pub fn open(&self) -> Result<Reader<BufReader<File>>, LogError> {
        let file = match self {
            Self::Uploaded(file) => file.reopen(),
            Self::Named(path) => File::open(path),
        };
        let mut log = Reader::open(BufReader::new(file.map_err(LogError::Read)?))?;
        groundwave_simulation::evaluation::compare(&mut log);
        Ok(log)
    }
}

impl StoredLog {
    /// A log with its content in short.
    #[must_use]
    pub fn new(info: ReplayInfo, file: LogFile) -> Self {
        Self::new_of(info, Arc::new(file))
    }

    /// A variant of this log.
    #[must_use]
    pub fn variant(&self, id: Uuid, changes: Vec<Change>) -> Self {
        let info = ReplayInfo { id, base_id: Some(self.info.id), ..self.info.clone() };
        let file = Arc::clone(&self.file);
        Self::new_of(info, file).with_changes(changes)
    }

    /// The log with changes, in the order of their times.
    #[must_use]
    pub fn with_changes(mut self, changes: Vec<Change>) -> Self {
        let text = |change: &Change| format!("{} s: {}", change.at_s(), change.describe());
        self.info.changes = changes.iter().map(text).collect();
        self.changes = changes;
        self
    }

    fn new_of(info: ReplayInfo, file: Arc<LogFile>) -> Self {
        let changes = Vec::new();
        Self { info, changes, file }
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub fn open(&self) -> Result<Reader<BufReader<File>>, LogError> {
        self.file.open()
    }

    fn leaves(&self) -> bool {
        self.info.base_id.is_some() || matches!(*self.file, LogFile::Uploaded(_))
    }
}

/// Logs by id; ids rise with time.
#[derive(Debug, Default)]
pub struct ReplayStore(Mutex<BTreeMap<Uuid, Arc<StoredLog>>>);

impl ReplayStore {
    /// Adds a log.
    pub fn add(&self, log: StoredLog) {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.insert(log.info.id, Arc::new(log));
        while logs.values().filter(|log| log.leaves()).count() > KEPT_MAX {
            let first = logs.iter().find(|(_, log)| log.leaves());
            let Some((&first, _)) = first else { return };
            logs.remove(&first);
        }
    }

    /// The logs in the order in which they came.
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
