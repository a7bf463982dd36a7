//! Files that appear complete or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::RasterError;

/// A file being written beside its final place, as `.NAME.part`.
///
/// The part is renamed by [`PartFile::commit`] and removed when dropped before that. Its name is
/// fixed, so that a run that was killed leaves at most one, which the next run takes over; a
/// lock on it refuses a second writer at the same time.
#[derive(Debug)]
pub struct PartFile {
    file: Option<BufWriter<File>>,
    part: PathBuf,
    path: PathBuf,
}

impl PartFile {
    /// Begins the file that will be `path`.
    ///
    /// # Errors
    /// When the part cannot be made or another process is writing it.
    pub fn create(path: &Path) -> Result<Self, RasterError> {
        Self::open(path, "part").map_err(RasterError::write(path))
    }

    /// Begins a file that serves the making of `path` and is never committed.
    pub(super) fn scratch(path: &Path) -> Result<Self, RasterError> {
        Self::working(path, "spool")
    }

    /// As [`PartFile::scratch`], a second one with a name of its own.
    pub(super) fn working(path: &Path, extension: &str) -> Result<Self, RasterError> {
        Self::open(path, extension).map_err(RasterError::write(path))
    }

    /// The file itself for reads and writes at positions, which are not buffered.
    pub(super) fn file(&self) -> io::Result<&File> {
        let file = self.file.as_ref().map(BufWriter::get_ref);
        file.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn open(path: &Path, extension: &str) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let part = path.with_file_name(format!(".{}.{extension}", name.to_string_lossy()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            // Another process may own what is there: cut only under the lock.
            .truncate(false)
            .open(&part)?;
        file.try_lock().map_err(|err| match err {
            TryLockError::WouldBlock => in_use(),
            TryLockError::Error(err) => err,
        })?;
        // The owner may have renamed the file between our opening and our locking it.
        if !part.exists() {
            return Err(in_use());
        }
        file.set_len(0)?;
        Ok(Self {
            file: Some(BufWriter::with_capacity(1 << 18, file)),
            part,
            path: path.to_owned(),
        })
    }

    /// The name it will have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For `map_err` on writes to this file.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> RasterError + 'static {
        let path = self.path.clone();
        move |source| RasterError::Write { path: path.clone(), source }
    }

    /// Puts the file in its place, on the disk and complete.
    ///
    /// # Errors
    /// When the last bytes cannot be written or the file cannot be renamed.
    pub fn commit(mut self) -> Result<(), RasterError> {
        let path = self.path.clone();
        self.settle(true).map_err(RasterError::write(&path))
    }

    /// Renames the file to its final name without waiting for the disk: a killed process leaves it
    /// complete, a power failure may not. For files with a check of their own completeness.
    ///
    /// # Errors
    /// As [`PartFile::commit`].
    pub fn place(mut self) -> Result<(), RasterError> {
        let path = self.path.clone();
        self.settle(false).map_err(RasterError::write(&path))
    }

    fn settle(&mut self, lasting: bool) -> io::Result<()> {
        // Only now taken: while it is there, dropping removes the part.
        let file = self.writer()?;
        file.flush()?;
        if lasting {
            file.get_ref().sync_all()?;
        }
        fs::rename(&self.part, &self.path)?;
        self.file = None;
        Ok(())
    }

    fn writer(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The file itself for reading back, with everything written so far in it.
    pub(super) fn flushed(&mut self) -> io::Result<&mut File> {
        let writer = self.writer()?;
        writer.flush()?;
        Ok(writer.get_mut())
    }
}

/// Error for a file that another process is writing.
fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing this file")
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush()
    }
}

impl Seek for PartFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer()?.seek(to)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // A part that stays is overwritten by the next run; the error has no receiver.
            fs::remove_file(&self.part).ok();
        }
    }
}

/// Writes a whole small file.
///
/// # Errors
/// As [`PartFile`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RasterError> {
    let mut part = PartFile::create(path)?;
    part.write_all(bytes).map_err(RasterError::write(path))?;
    part.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            names.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_committed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.tif");
        let mut part = PartFile::create(&path).unwrap();
        part.write_all(b"half").unwrap();
        assert_eq!(listing(dir.path()), [".layer.tif.part"]);
        part.commit().unwrap();
        assert_eq!(listing(dir.path()), ["layer.tif"]);
        assert_eq!(fs::read(&path).unwrap(), b"half");
    }

    #[test]
    fn a_file_given_up_leaves_nothing_and_spares_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.tif");
        write_whole(&path, b"old").unwrap();
        let mut part = PartFile::create(&path).unwrap();
        part.write_all(b"new").unwrap();
        drop(part);
        assert_eq!(listing(dir.path()), ["layer.tif"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn file_of_a_killed_run_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.tif");
        fs::write(dir.path().join(".layer.tif.part"), b"longer than what follows").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(listing(dir.path()), ["layer.tif"]);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_second_writer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer.tif");
        let first = PartFile::create(&path).unwrap();
        let error = PartFile::create(&path).unwrap_err().into_io();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert_eq!(error.to_string(), "another process is writing this file");
        first.commit().unwrap();
        assert!(path.exists());
    }
}
