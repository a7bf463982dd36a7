//! Small files of `/proc`, `/sys` and `/etc`, below a root that tests move.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ReadingError;

/// Longest file read here, bytes; those of `/proc` and `/sys` are some kilobytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Folder that contains `/proc`, `/sys` and `/etc`.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Default for Root {
    /// This machine's.
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl Root {
    /// Files below `path`, as a test lays them.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The path of a file below, `relative` without a leading slash.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// The bytes of a file, cut at a mebibyte.
    pub fn bytes(&self, relative: &str) -> Result<Vec<u8>, ReadingError> {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            let file = fs::File::open(self.path(relative))?;
            io::Read::read_to_end(&mut io::Read::take(file, FILE_BYTES_MAX), &mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|err| ReadingError::io(format!("/{relative}"), err))
    }

    /// The text of a file; bytes that are no UTF-8 are replaced.
    pub fn text(&self, relative: &str) -> Result<String, ReadingError> {
        let bytes = self.bytes(relative)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The trimmed text of a file, `None` when it is not there or empty.
    pub fn line(&self, relative: &str) -> Option<String> {
        let text = self.text(relative).ok()?;
        let text = text.trim().trim_matches('\0').trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The number in a file, `None` when it is not there or no number.
    pub fn number<T: std::str::FromStr>(&self, relative: &str) -> Option<T> {
        self.line(relative)?.parse().ok()
    }

    /// Names in a folder, sorted; none when it is not there.
    pub fn names(&self, relative: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(relative)) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}
