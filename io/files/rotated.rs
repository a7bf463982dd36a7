//! Files that grow by lines, within a bound: a file that is full is numbered, the oldest is removed.
//!
//! `PATH` is written to; `PATH.1` is the one before it, `PATH.2` the one before that.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bounds of a rotated file.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Longest file, bytes.
    pub file_bytes: u64,
    /// Files beside the one that is written to.
    pub older_files: usize,
}

impl Bounds {
    /// 16 MiB a file, 128 MiB in all.
    pub const USUAL: Self = Self { file_bytes: 16 << 20, older_files: 7 };
}

/// Space that is set aside at once, bytes.
const RESERVE_BYTES: u64 = 64 << 10;

/// A file that is rotated.
#[derive(Debug)]
pub struct RotatedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Length up to which space is set aside, bytes.
    reserved_bytes: u64,
    bounds: Bounds,
}

/// Path of the file `age` rotations ago.
fn aged(path: &Path, age: usize) -> PathBuf {
    if age == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{age}"));
    name.into()
}

/// Opens a file for reading and appending, mode 0600.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

impl RotatedFile {
    /// Opens the file, or creates it with mode 0600.
    ///
    /// # Errors
    /// Of the file system.
    pub fn open(path: &Path, bounds: Bounds) -> io::Result<Self> {
        let file = open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes, reserved_bytes: 0, bounds })
    }

    /// All files of `path`, the oldest first.
    #[must_use]
    pub fn files(path: &Path) -> Vec<PathBuf> {
        let older = (1..).map(|age| aged(path, age)).take_while(|path| path.exists());
        let mut files: Vec<_> = std::iter::once(path.to_owned()).chain(older).collect();
        files.reverse();
        files.retain(|path| path.exists());
        files
    }

    /// Cuts off what follows the first `bytes` of the file that is written to.
    ///
    /// # Errors
    /// Of the file system.
    pub fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        (self.bytes, self.reserved_bytes) = (bytes, 0);
        Ok(())
    }

    /// Sets space aside for lines of `bytes`, so that they are written even when the disk is full then.
    ///
    /// # Errors
    /// When there is no space, and others of the file system.
    pub fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        if self.bytes + bytes > self.reserved_bytes {
            let ahead = bytes.max(RESERVE_BYTES);
            crate::space::reserve(&self.file, self.bytes, ahead)?;
            self.reserved_bytes = self.bytes + ahead;
        }
        Ok(())
    }

    /// Numbers the files anew and begins an empty one.
    fn rotate(&mut self) -> io::Result<()> {
        // What was set aside and not used is given back.
        self.file.set_len(self.bytes)?;
        for age in (0..self.bounds.older_files).rev() {
            match std::fs::rename(aged(&self.path, age), aged(&self.path, age + 1)) {
                Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
                _ => {}
            }
        }
        if self.bounds.older_files == 0 {
            std::fs::remove_file(&self.path)?;
        }
        self.file = open(&self.path)?;
        (self.bytes, self.reserved_bytes) = (0, 0);
        Ok(())
    }
}

impl Write for RotatedFile {
    /// Writes whole lines: all of `bytes` lie in one file. After an error nothing of them does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len() as u64;
        if self.bytes > 0 && self.bytes + count > self.bounds.file_bytes {
            self.rotate()?;
        }
        if let Err(err) = self.file.write_all(bytes) {
            self.cut(self.bytes)?;
            return Err(err);
        }
        self.bytes += count;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stays_within_its_bounds_and_keeps_the_latest_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let bounds = Bounds { file_bytes: 100, older_files: 2 };
        for number in 0..200 {
            // Opened anew at times, as by a restart.
            let mut file = RotatedFile::open(&path, bounds).unwrap();
            file.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        let files = RotatedFile::files(&path);
        assert_eq!(files.len(), 3);
        let mut text = String::new();
        for file in &files {
            assert!(std::fs::metadata(file).unwrap().len() <= 100);
            text += &std::fs::read_to_string(file).unwrap();
        }
        let numbers: Vec<u32> =
            text.lines().map(|line| line.trim_start_matches("line ").parse().unwrap()).collect();
        let first = numbers[0];
        assert!(first > 150, "{first}");
        assert_eq!(numbers, (first..200).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_longer_than_a_file_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let bounds = Bounds { file_bytes: 4, older_files: 0 };
        let mut file = RotatedFile::open(&path, bounds).unwrap();
        file.write_all(b"short\n").unwrap();
        file.write_all(b"longer than allowed\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"longer than allowed\n");
    }
}
