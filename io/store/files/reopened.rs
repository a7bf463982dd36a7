//! A database that is closed and opened again after a failure: redb refuses everything else then.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use redb::{Database, DatabaseError};

use super::Files;

/// Effect of an error on the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// None: the content is at fault, or another file.
    None,
    /// It has to be opened again.
    Broken,
    /// An earlier failure, of another thread: nothing was tried.
    Earlier,
}

impl Effect {
    /// Effect of an error of redb.
    pub fn of(err: &redb::Error) -> Self {
        match err {
            redb::Error::PreviousIo | redb::Error::DatabaseClosed => Self::Earlier,
            _ => Self::Broken,
        }
    }
}

/// Error of work on a database.
pub trait WorkError: From<redb::Error> {
    /// Effect of the failure.
    fn effect(&self) -> Effect;
}

impl WorkError for redb::Error {
    fn effect(&self) -> Effect {
        Effect::of(self)
    }
}

#[derive(Debug)]
struct Held {
    /// `None` while it cannot be opened.
    database: Option<Database>,
    /// Number of openings.
    openings: u64,
}

/// A database that is opened again after a failure.
#[derive(Debug)]
pub struct ReopenedDatabase {
    path: PathBuf,
    files: Files,
    cache_bytes: usize,
    held: RwLock<Held>,
}

impl ReopenedDatabase {
    /// Opens a database, creating it when there is none.
    pub fn open(path: &Path, files: &Files, cache_bytes: usize) -> Result<Self, DatabaseError> {
        let database = open(path, files, cache_bytes)?;
        Ok(Self {
            path: path.to_owned(),
            files: files.clone(),
            cache_bytes,
            held: RwLock::new(Held { database: Some(database), openings: 1 }),
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Works on the database, which is opened again after a failure, and before the work if an earlier
    /// failure left it closed.
    pub fn with<T, E: WorkError>(&self, work: impl Fn(&Database) -> Result<T, E>) -> Result<T, E> {
        let mut is_retry = false;
        loop {
            let (done, openings) = {
                let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
                (held.database.as_ref().map(&work), held.openings)
            };
            match done {
                Some(Ok(done)) => return Ok(done),
                Some(Err(err)) if is_retry || err.effect() != Effect::Earlier => {
                    if err.effect() != Effect::None {
                        // The error to report is the first one; the next work opens it again.
                        let _ = self.reopen(openings);
                    }
                    return Err(err);
                }
                Some(Err(_)) | None => self.reopen(openings).map_err(redb::Error::from)?,
            }
            is_retry = true;
        }
    }

    /// Opens the database again, unless another thread did so since.
    fn reopen(&self, openings: u64) -> Result<(), DatabaseError> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if held.openings != openings && held.database.is_some() {
            return Ok(());
        }
        // Closed first: a file is open once.
        held.database = None;
        held.database = Some(open(&self.path, &self.files, self.cache_bytes)?);
        held.openings += 1;
        Ok(())
    }
}

fn open(path: &Path, files: &Files, cache_bytes: usize) -> Result<Database, DatabaseError> {
    let mut builder = Database::builder();
    files.open_database(path, builder.set_cache_size(cache_bytes))
}
