//! Files of terrain in folders, with the data sets they belong to.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::about::About;
use super::index::{Entry, Index};

/// Reasons for refusing a directory.
#[derive(Debug, Error)]
#[error("terrain directory {}", path.display())]
pub struct DirectoryError {
    /// The directory.
    pub path: PathBuf,
    /// Error of the operating system.
    pub source: std::io::Error,
}

/// A file that looks like a tile and is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The file.
    pub path: PathBuf,
    /// Reason it is not used.
    pub reason: String,
}

/// A file of terrain.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub path: PathBuf,
    /// Name it was published under.
    pub name: String,
    /// Number of its data set.
    pub source: usize,
}

/// Files of several folders.
#[derive(Debug, Default)]
pub(super) struct Folders {
    pub files: Vec<Found>,
    pub sources: Vec<About>,
    pub ignored: Vec<Ignored>,
}

/// True for the name of a GeoTIFF file.
pub(super) fn is_raster(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.ends_with(".tif") || lower.ends_with(".tiff")
}

impl Folders {
    /// Reads the names in folders, not in folders below them.
    pub fn read(folders: &[PathBuf]) -> Result<Self, DirectoryError> {
        let mut all = Self::default();
        for folder in folders {
            all.add(folder).map_err(|source| DirectoryError { path: folder.clone(), source })?;
        }
        Ok(all)
    }

    fn add(&mut self, folder: &Path) -> std::io::Result<()> {
        let index = Index::read(folder).map_err(std::io::Error::other)?;
        for entry in index.into_iter().flat_map(|index| index.files.into_values()) {
            self.add_fetched(folder, entry);
        }
        let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
        paths.sort_unstable();
        let described = About::of_folder(folder)?;
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let about = described.clone().unwrap_or_else(|| About::of_file(&name));
            let source = self.source(about);
            self.files.push(Found { path, name, source });
        }
        Ok(())
    }

    /// A file of the cache, if it is as long as it was.
    fn add_fetched(&mut self, folder: &Path, entry: Entry) {
        let path = folder.join(&entry.file);
        let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if length != entry.length {
            let reason = format!(
                "found {length} bytes, allowed {}; `groundwave terrain fetch` fetches it again",
                entry.length
            );
            self.ignored.push(Ignored { path, reason });
            return;
        }
        let source = self.source(entry.about);
        self.files.push(Found { path, name: entry.name, source });
    }

    /// Number of a data set.
    fn source(&mut self, about: About) -> usize {
        let position = self.sources.iter().position(|source| *source == about);
        position.unwrap_or_else(|| {
            self.sources.push(about);
            self.sources.len() - 1
        })
    }
}
