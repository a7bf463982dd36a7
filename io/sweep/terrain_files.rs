//! Folder of tiles and geoid that a sweep was planned on: where a merge looks for them.
//!
//! Not part of the plan: workers on other machines may have the same tiles elsewhere.

use std::fs;
use std::io;
use std::path::PathBuf;

use groundwave_files::address::is_address;
use serde::{Deserialize, Serialize};

use super::shared_file::write_once;
use super::work::{Sweep, SweepError};

/// Name of the file in the folder of a sweep.
const FILE_NAME: &str = "terrain.json";

/// Files of a terrain on one machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerrainFiles {
    /// Folder of tiles; absent without tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srtm_dir: Option<PathBuf>,
    /// Geoid; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geoid: Option<PathBuf>,
    /// Folder of fetched terrain; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// Folder of land cover; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub land_cover: Option<PathBuf>,
}

impl Sweep {
    /// Writes down where the terrain lies, if it has files.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when it cannot be written.
    pub fn note_terrain(&self, files: &TerrainFiles) -> Result<(), SweepError> {
        let folders = [&files.srtm_dir, &files.cache, &files.land_cover];
        if folders.into_iter().all(Option::is_none) {
            return Ok(());
        }
        let path = self.folder().join(FILE_NAME);
        let mut json = serde_json::to_vec_pretty(files).expect("paths are plain data");
        json.push(b'\n');
        // Every worker of a machine notes the same.
        write_once(&path, &json).map_err(|err| SweepError::Disk { operation: "write", path, err })
    }

    /// Files written down that are on this machine; none where nothing was written.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when the note cannot be read.
    pub fn noted_terrain(&self) -> Result<TerrainFiles, SweepError> {
        let path = self.folder().join(FILE_NAME);
        let found: TerrainFiles = match fs::read(&path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(TerrainFiles::default()),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(err) => Err(err),
        }
        .map_err(|err| SweepError::Disk { operation: "read", path, err })?;
        let there = |path: Option<PathBuf>| path.filter(|path| path.exists());
        // An address is the same on every machine.
        let is_remote = |path: &PathBuf| path.to_str().is_some_and(is_address);
        Ok(TerrainFiles {
            srtm_dir: there(found.srtm_dir),
            geoid: there(found.geoid),
            cache: there(found.cache),
            land_cover: found.land_cover.filter(|path| is_remote(path) || path.exists()),
        })
    }
}
