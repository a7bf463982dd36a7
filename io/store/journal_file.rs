//! The command log as a file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use groundwave_engine::log::{Entry, Header, Journal, LogError, Reader, Writer};
use thiserror::Error;

/// Error of a log file.
#[derive(Debug, Error)]
pub enum JournalError {
    /// Creation failed.
    #[error("create log {path}")]
    Create {
        /// Path of the log.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Opening failed.
    #[error("open log {path}")]
    Open {
        /// Path of the log.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Contents that are not a log, or damaged.
    #[error("log {path}")]
    Read {
        /// Path of the log.
        path: PathBuf,
        /// Cause.
        #[source]
        err: LogError,
    },
}

/// Maximum number of logs beside each other.
const LOGS_MAX: u32 = 100_000;

/// `NAME.NUMBER.EXTENSION` of a path; the path itself for the first.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// An append-only log file. `commit` reaches the disk, not only the kernel.
pub struct FileJournal {
    out: Writer<BufWriter<File>>,
    /// Length up to which space is set aside, bytes.
    reserved_bytes: u64,
}

/// Space that a tick may take, bytes.
const TICK_BYTES: u64 = 1 << 20;
/// Space that is set aside at once, bytes.
const RESERVE_BYTES: u64 = 4 << 20;

impl FileJournal {
    /// Begins a new log. An existing file is never overwritten.
    ///
    /// # Errors
    /// [`JournalError::Create`], also when the file exists.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let begin = |file: File| -> io::Result<Self> {
            let out = Writer::begin(BufWriter::new(file), header)?;
            out.get_ref().get_ref().sync_all()?;
            groundwave_files::sync_folder(path)?;
            Ok(Self { out, reserved_bytes: 0 })
        };
        let create = || {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            // Without its header a log is of no use, and the next one would be refused beside it.
            begin(file).inspect_err(|_| drop(std::fs::remove_file(path)))
        };
        create().map_err(|err| JournalError::Create { path: path.to_owned(), err })
    }

    /// Begins a new log at `path`, or where there is one at `NAME.2.gwlog`, `NAME.3.gwlog` and so on
    /// beside it; returns its path. An existing file is never overwritten.
    ///
    /// # Errors
    /// [`JournalError::Create`].
    pub fn create_beside(path: &Path, header: &Header) -> Result<(Self, PathBuf), JournalError> {
        let mut number = 1;
        loop {
            let numbered = numbered(path, number);
            match Self::create(&numbered, header) {
                Err(JournalError::Create { err, .. })
                    if err.kind() == io::ErrorKind::AlreadyExists && number < LOGS_MAX =>
                {
                    number += 1;
                }
                journal => return Ok((journal?, numbered)),
            }
        }
    }

    /// Continues a log after its last complete entry, without a torn tail.
    ///
    /// # Errors
    /// [`JournalError::Read`] for any other damage; the file is left as it is.
    pub fn append_to(path: &Path) -> Result<(Self, Header, u64), JournalError> {
        let mut log = open(path)?;
        let read = |err| JournalError::Read { path: path.to_owned(), err };
        while log.next_entry().map_err(read)?.is_some() {}
        let (header, torn_bytes) = (log.header().clone(), log.torn_bytes());
        let out = log.writer(|end| {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            file.sync_all()?;
            Ok(BufWriter::new(file))
        });
        let out = out.map_err(|err| JournalError::Open { path: path.to_owned(), err })?;
        let journal = Self { out, reserved_bytes: 0 };
        Ok((journal, header, torn_bytes))
    }
}

impl Journal for FileJournal {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.out.append(entry)
    }

    fn commit(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().get_ref().sync_data()
    }

    fn space(&mut self) -> io::Result<()> {
        let file = self.out.get_ref().get_ref();
        let length = file.metadata()?.len();
        if length + TICK_BYTES > self.reserved_bytes {
            groundwave_files::space::reserve(file, length, RESERVE_BYTES)?;
            self.reserved_bytes = length + RESERVE_BYTES;
        }
        Ok(())
    }
}

/// A log that is made as a whole and can be made again, as of a converted recording: a commit reaches the kernel,
/// and only [`sync`](Self::sync) the disk.
pub struct WholeJournal(FileJournal);

impl WholeJournal {
    /// See [`FileJournal::create`].
    ///
    /// # Errors
    /// [`JournalError::Create`], also when the file exists.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        FileJournal::create(path, header).map(Self)
    }

    /// Makes a log durable after its journal was dropped.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn sync(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

impl Journal for WholeJournal {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.0.append(entry)
    }

    fn commit(&mut self) -> io::Result<()> {
        self.0.out.flush()
    }

    fn space(&mut self) -> io::Result<()> {
        self.0.space()
    }
}

impl Drop for FileJournal {
    /// Closes the log with its index; seeking in one without is slower.
    fn drop(&mut self) {
        if let Err(err) = self.out.close() {
            tracing::warn!(%err, "a log was left without its index");
        }
        if self.reserved_bytes > 0 {
            let file = self.out.get_ref().get_ref();
            // What was set aside and not used is given back; a failure costs only space.
            let _ = file.metadata().and_then(|data| file.set_len(data.len()));
        }
    }
}

/// Opens a log for reading.
///
/// # Errors
/// [`JournalError::Open`] or [`JournalError::Read`].
pub fn open(path: &Path) -> Result<Reader<BufReader<File>>, JournalError> {
    let file = File::open(path).map_err(|err| JournalError::Open { path: path.to_owned(), err })?;
    Reader::open(BufReader::new(file))
        .map_err(|err| JournalError::Read { path: path.to_owned(), err })
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_engine::log::{FORMAT, Mark};

    fn header() -> Header {
        Header { format: FORMAT, seed: 1, step_ns: 1_000, inputs: Default::default() }
    }

    fn mark(tick: u64) -> Entry {
        Entry::Mark(Mark {
            tick,
            digest: "d".to_owned(),
            parts: Default::default(),
            files: Default::default(),
        })
    }

    fn ticks(path: &Path) -> Vec<u64> {
        let mut log = open(path).unwrap();
        let mut ticks = Vec::new();
        while let Some(Entry::Mark(mark)) = log.next_entry().unwrap() {
            ticks.push(mark.tick);
        }
        ticks
    }

    #[test]
    fn a_torn_file_is_continued_after_its_last_complete_entry() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.gwlog");
        let mut journal = FileJournal::create(&path, &header()).unwrap();
        for tick in 1..=3 {
            journal.append(&mark(tick)).unwrap();
            journal.commit().unwrap();
        }
        drop(journal);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let length = file.metadata().unwrap().len();
        // As a killed writer leaves it: without the index (44 bytes, 16 behind them), mid-entry.
        file.set_len(length - 60 - 5).unwrap();

        let (mut journal, found, torn_bytes) = FileJournal::append_to(&path).unwrap();
        assert_eq!(found, header());
        assert!(torn_bytes > 0);
        journal.append(&mark(9)).unwrap();
        journal.commit().unwrap();
        assert_eq!(ticks(&path), [1, 2, 9]);
    }

    #[test]
    fn each_start_has_a_log_of_its_own_beside_the_earlier_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("today.gwlog");
        for (name, tick) in [("today.gwlog", 1), ("today.2.gwlog", 2), ("today.3.gwlog", 3)] {
            let (mut journal, own) = FileJournal::create_beside(&path, &header()).unwrap();
            assert_eq!(own, folder.path().join(name));
            journal.append(&mark(tick)).unwrap();
            journal.commit().unwrap();
        }
        assert_eq!(ticks(&path), [1]);
        assert_eq!(ticks(&folder.path().join("today.3.gwlog")), [3]);
        let absent = folder.path().join("absent").join("today.gwlog");
        assert!(FileJournal::create_beside(&absent, &header()).is_err());
    }

    #[test]
    fn an_existing_file_is_not_overwritten_and_a_foreign_one_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thesis.txt");
        std::fs::write(&path, "two years of work").unwrap();
        assert!(matches!(FileJournal::create(&path, &header()), Err(JournalError::Create { .. })));
        assert!(matches!(FileJournal::append_to(&path), Err(JournalError::Read { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two years of work");
    }
}
