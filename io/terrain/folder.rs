//! Files of terrain in folders, with the data sets they belong to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::about::About;
use super::archive;
use super::index::{Entry, Index};
use super::name;

/// Maximum depth of folders below a folder of terrain: `skadi/N57/N57E011.hgt.gz` has 2.
const DEPTH_MAX: usize = 4;

/// Formats of terrain that are not read, by the end of their names; GDAL converts each.
const OTHER_FORMATS: [(&str, &str); 14] = [
    (".dt0", "DTED"),
    (".dt1", "DTED"),
    (".dt2", "DTED"),
    (".asc", "Esri ASCII grid"),
    (".bil", "Esri BIL"),
    (".flt", "Esri float grid"),
    (".adf", "Esri grid"),
    (".dem", "USGS DEM"),
    (".img", "Erdas Imagine"),
    (".nc", "netCDF"),
    (".grd", "grid of GMT or Surfer"),
    (".vrt", "GDAL virtual raster"),
    (".gpkg", "GeoPackage"),
    (".hgt.xz", "tile packed with xz"),
];

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

/// Name of a format of terrain that is not read; `None` for others.
fn other_format(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let format = OTHER_FORMATS.iter().find(|(end, _)| lower.ends_with(end));
    format.map(|(_, format)| *format)
}

impl Folders {
    /// Reads the names in folders and in those below them, to a depth of [`DEPTH_MAX`]. A folder without a
    /// description has that of the one above it.
    pub fn read(folders: &[PathBuf]) -> Result<Self, DirectoryError> {
        let mut all = Self::default();
        // A link to a folder above would be walked for ever.
        let mut visited = BTreeSet::new();
        for folder in folders {
            all.add(folder, None, DEPTH_MAX, &mut visited)
                .map_err(|source| DirectoryError { path: folder.clone(), source })?;
        }
        Ok(all)
    }

    fn add(
        &mut self,
        folder: &Path,
        above: Option<&About>,
        depth: usize,
        visited: &mut BTreeSet<PathBuf>,
    ) -> std::io::Result<()> {
        if !visited.insert(fs::canonicalize(folder)?) {
            return Ok(());
        }
        let index = Index::read(folder).map_err(std::io::Error::other)?;
        // The index of a cache names the files below it.
        let depth = if index.is_some() { 0 } else { depth };
        for entry in index.into_iter().flat_map(|index| index.files.into_values()) {
            self.add_fetched(folder, entry);
        }
        let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
        paths.sort_unstable();
        let described = About::of_folder(folder)?;
        let described = described.as_ref().or(above);
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name::parse(&name).is_none() && !is_raster(&name) {
                // What cannot be entered, or is part of something else, is passed over.
                if depth > 0 && !name.starts_with('.') {
                    self.add_below(&path, described, depth - 1, visited);
                }
                continue;
            }
            if let Some(format) = other_format(&name) {
                let remedy = match name.to_ascii_lowercase().ends_with(".xz") {
                    true => format!("`xz -d {name}` unpacks it"),
                    false => format!("`gdal_translate {name} {name}.tif` converts it"),
                };
                let reason = format!(
                    "{format} is not read; allowed: .hgt tiles and GeoTIFF files ({remedy})"
                );
                self.ignored.push(Ignored { path, reason });
                continue;
            }
            let about = described.cloned().unwrap_or_else(|| About::of_path(&path, &name));
            let source = self.source(about);
            match archive::tiles(&path, &name) {
                None => self.files.push(Found { path, name, source }),
                Some(tiles) => {
                    let tile = |name| Found { path: path.clone(), name, source };
                    self.files.extend(tiles.into_iter().map(tile));
                }
            }
        }
        Ok(())
    }

    fn add_below(
        &mut self,
        folder: &Path,
        above: Option<&About>,
        depth: usize,
        visited: &mut BTreeSet<PathBuf>,
    ) {
        if let Err(error) = self.add(folder, above, depth, visited) {
            let reason = format!("folder cannot be read: {error}");
            self.ignored.push(Ignored { path: folder.to_owned(), reason });
        }
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
        // Entries of earlier builds do not state the sea bed.
        let terrain_tiles = About::terrain_tiles();
        let about = match entry.about.name == terrain_tiles.name {
            true => terrain_tiles,
            false => entry.about,
        };
        let source = self.source(about);
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

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
