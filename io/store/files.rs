//! Changes of files that must last, counted; tests record them to rebuild what a power loss leaves.

pub mod reopened;
pub mod simulated;
pub(crate) mod through;

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, Builder, Database, DatabaseError, StorageBackend};

/// A change of a file.
#[derive(Debug, Clone)]
pub enum Change<'a> {
    /// Written at an offset, bytes.
    Written(u64, &'a [u8]),
    /// As [`Change::Written`], on disk when it is over.
    WrittenThrough(u64, &'a [u8]),
    /// Cut off or filled with zeros to a length, bytes.
    Sized(u64),
    /// All changes before it are on disk.
    Synced,
    /// Removed.
    Removed,
    /// Renamed.
    Renamed(&'a Path),
    /// Names of the folder's files are on disk.
    FolderSynced,
}

/// The files of a store or a history. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Files {
    written_bytes: Arc<AtomicU64>,
    #[doc(hidden)]
    pub record: Option<Arc<simulated::Recording>>,
    /// While it is set, writes to databases find no space.
    #[doc(hidden)]
    pub is_full: Arc<std::sync::atomic::AtomicBool>,
}

impl Files {
    /// Notes a change that was made.
    pub fn note(&self, path: &Path, change: &Change<'_>) {
        if let Change::Written(_, bytes) | Change::WrittenThrough(_, bytes) = change {
            let count = bytes.len() as u64;
            self.written_bytes.fetch_add(count, Ordering::Relaxed);
        }
        if let Some(record) = &self.record {
            record.note(path, change);
        }
    }

    /// Bytes written to the files so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// Opens a database. A new one gets its name when all of it is on disk: a file that a loss of power
    /// left half made would have to be removed by hand.
    pub fn open_database(&self, path: &Path, builder: &Builder) -> Result<Database, DatabaseError> {
        if !path.exists() {
            let mut fresh = path.as_os_str().to_owned();
            fresh.push(".new");
            let fresh = PathBuf::from(fresh);
            let made = self.make_database(&fresh, path, builder);
            if made.is_err() {
                // The error to report is the first one.
                let _ = std::fs::remove_file(&fresh);
            }
            made?;
        }
        builder.create_with_backend(self.open(path)?)
    }

    fn make_database(
        &self,
        fresh: &Path,
        path: &Path,
        builder: &Builder,
    ) -> Result<(), DatabaseError> {
        match std::fs::remove_file(fresh) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err.into()),
            _ => self.note(fresh, &Change::Removed),
        }
        drop(builder.create_with_backend(self.open(fresh)?)?);
        File::open(fresh)?.sync_all()?;
        self.note(fresh, &Change::Synced);
        std::fs::rename(fresh, path)?;
        self.note(fresh, &Change::Renamed(path));
        groundwave_files::sync_folder(path)?;
        self.note(path, &Change::FolderSynced);
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<DatabaseFile, DatabaseError> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        Ok(DatabaseFile {
            file: FileBackend::new(options.open(path)?)?,
            path: path.to_owned(),
            files: self.clone(),
        })
    }
}

/// The file of redb.
#[derive(Debug)]
struct DatabaseFile {
    file: FileBackend,
    path: PathBuf,
    files: Files,
}

impl StorageBackend for DatabaseFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.files.note(&self.path, &Change::Sized(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()?;
        self.files.note(&self.path, &Change::Synced);
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.files.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write(offset, bytes)?;
        self.files.note(&self.path, &Change::Written(offset, bytes));
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(from, to)
    }

    fn try_lock_shared_range(
        &self,
        from: Bound<u64>,
        to: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(from, to)
    }

    fn lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(from, to)
    }

    fn lock_shared_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(from, to)
    }

    fn unlock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(from, to)
    }

    fn query_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(from, to)
    }
}
