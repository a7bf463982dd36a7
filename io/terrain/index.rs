//! Index of fetched terrain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::about::About;

/// Name of the index in the folder of the cache.
pub const INDEX_FILE: &str = "index.json";

/// Largest index that is read, bytes.
const INDEX_BYTES_MAX: u64 = 1 << 26;

/// Reason why an index cannot be used.
#[derive(Debug, Error)]
pub enum IndexError {
    /// It cannot be read or written.
    #[error("{operation} {}: {err}", path.display())]
    Disk {
        /// Operation that failed.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        err: io::Error,
    },
    /// A file stands where the folder should be.
    #[error("invalid folder of terrain: found a file at {}, allowed a folder", folder.display())]
    NotFolder {
        /// The file.
        folder: PathBuf,
    },
    /// It is damaged.
    #[error("{}: invalid index: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Error of the parser.
        reason: String,
    },
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Short name of the source.
    pub source: String,
    /// Name it was published under.
    pub name: String,
    /// Path below the folder of the cache.
    pub file: PathBuf,
    /// Address it came from.
    pub url: String,
    /// Length, bytes.
    pub length: u64,
    /// Version at the server; absent where it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// SHA-256 digest of the bytes, pinned at the first receipt.
    pub sha256: String,
    /// Data set.
    pub about: About,
}

/// Files that were fetched, and consents to fetch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Files by source and name: `glo30/N57E011`.
    #[serde(default)]
    pub files: BTreeMap<String, Entry>,
    /// Squares that a source does not publish, mostly open sea: `glo30/N57E009`.
    #[serde(default)]
    pub absent: BTreeSet<String>,
    /// Sources whose use was consented to.
    #[serde(default)]
    pub consents: BTreeSet<String>,
}

impl Index {
    /// The index of a folder; none without one.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>, IndexError> {
        let path = folder.join(INDEX_FILE);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) if err.kind() == io::ErrorKind::NotADirectory => {
                return Err(IndexError::NotFolder { folder: folder.to_owned() });
            }
            Err(err) => return Err(disk("read", &path)(err)),
        };
        let bad = |reason: String| IndexError::Damaged { path: path.clone(), reason };
        if length > INDEX_BYTES_MAX {
            return Err(bad(format!("found {length} bytes, allowed {INDEX_BYTES_MAX}")));
        }
        let bytes = fs::read(&path).map_err(disk("read", &path))?;
        let index: Self = serde_json::from_slice(&bytes).map_err(|err| bad(err.to_string()))?;
        // A file elsewhere on the machine is none of the cache.
        let is_below = |entry: &&Entry| {
            let mut parts = entry.file.components();
            parts.all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        if let Some(entry) = index.files.values().find(|entry| !is_below(entry)) {
            return Err(bad(format!(
                "found file {}, allowed files of the cache",
                entry.file.display()
            )));
        }
        Ok(Some(index))
    }

    /// Writes the index; a reader finds the old one or this one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), IndexError> {
        let path = folder.join(INDEX_FILE);
        let mut json = serde_json::to_vec_pretty(self).expect("an index is plain data");
        json.push(b'\n');
        let written = groundwave_raster::write_whole(&path, &json);
        written.map_err(|err| disk("write", &path)(err.into_io()))
    }
}

fn disk(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IndexError {
    let path = path.to_owned();
    move |err| IndexError::Disk { operation, path, err }
}
