//! Terrain: options, lookup and identity.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::FalseyValueParser;
use groundwave_engine::ReplayError;
use groundwave_io::hex::hex;
use groundwave_io::scenario::{self, Scenario};
use groundwave_io::sweep::TerrainFiles;
use groundwave_io::terrain::{OffTiles, TerrainStack};
use groundwave_systems::terrain::{Flat, Terrain};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Failure;

/// Sources of terrain and geoid.
#[derive(Args, Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TerrainOptions {
    /// Folder of SRTM tiles (.hgt, .hgt.zip, .hgt.gz)
    #[arg(long, value_name = "DIR", env = "PLAN_SRTM_DIR")]
    pub srtm_dir: Option<PathBuf>,

    /// EGM96 geoid grid: WW15MGH.DAC or egm96_15.gtx
    #[arg(long, value_name = "FILE", env = "PLAN_GEOID")]
    pub geoid: Option<PathBuf>,

    /// Take ground without a tile as known, at 0 m above sea level: open sea, or flat earth
    #[arg(long, env = "GROUNDWAVE_FLAT_EARTH", value_parser = FalseyValueParser::new())]
    pub flat_earth: bool,
}

/// Key of a log header: the terrain has no tiles, and nothing says that the ground is flat.
const NO_TERRAIN: &str = "no_terrain";
/// Key of a log header: ground without a tile is said to lie at sea level.
const FLAT_EARTH: &str = "flat_earth";

/// Ways out of missing terrain, for messages.
pub const REMEDY: &str = "name a folder of tiles with --srtm-dir (`make data` fetches N57E011), \
                          or say --flat-earth if the ground is flat at 0 m";

/// The terrain and its description in a log header.
pub struct OpenTerrain {
    /// The terrain.
    pub terrain: Arc<dyn Terrain>,
    /// The same where it is made of tiles.
    stack: Option<Arc<TerrainStack>>,
    /// Absolute paths of the files it is read from, for those who open it again on this machine.
    pub source: TerrainOptions,
    /// Inputs of the log header; tiles are named with their digests where the log has a digest.
    pub inputs: BTreeMap<String, String>,
}

impl TerrainOptions {
    /// These options, and those of `other` where they leave something open.
    #[must_use]
    pub fn or(&self, other: Self) -> Self {
        Self {
            srtm_dir: self.srtm_dir.clone().or(other.srtm_dir),
            geoid: self.geoid.clone().or(other.geoid),
            flat_earth: self.flat_earth || other.flat_earth,
        }
    }

    /// The options as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Options that were written as JSON; none where they cannot be read.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    /// The requested terrain, else that of `make data`, else none.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn open(&self) -> Result<OpenTerrain, Failure> {
        self.tiles(None, None)
    }

    /// The terrain of a scenario; options override its folder. A scenario that names none has none.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_scenario(&self, scenario: &Scenario) -> Result<OpenTerrain, Failure> {
        match &scenario.terrain {
            scenario::Terrain::Flat { .. } if !scenario.names_terrain && !self.flat_earth => {
                open(None, None, false)
            }
            scenario::Terrain::Flat { elevation_msl_m } => Ok(flat(*elevation_msl_m)),
            scenario::Terrain::Tiles {
                names,
                directory,
                geoid,
            } => {
                let ground = self.tiles(directory.as_deref(), geoid.as_deref())?;
                self.require(names, &ground)?;
                Ok(ground)
            }
        }
    }

    /// The terrain a log was recorded on. Logs name tiles by their digests, which a replay
    /// compares; those of earlier versions name folders, which are used where they still exist.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_log(&self, inputs: &BTreeMap<String, String>) -> Result<OpenTerrain, Failure> {
        let path = |key: &str| inputs.get(key).map(PathBuf::from);
        let recorded = |key: &str| path(key).filter(|path| path.exists());
        let without_geoid = match inputs.get(GEOID_DIGEST) {
            Some(digest) => digest == NONE,
            None => inputs.contains_key("terrain") && !inputs.contains_key("geoid"),
        };
        let geoid = || {
            let given = self.geoid.clone().or_else(|| recorded("geoid"));
            given.or_else(|| downloaded(GEOID_FILE))
        };
        let geoid = (!without_geoid).then(geoid).flatten();
        if inputs.contains_key(NO_TERRAIN) {
            return open(None, geoid, false);
        }
        let Some(flat_msl_m) = inputs.get("flat_msl_m") else {
            let flat_earth = self.flat_earth || inputs.contains_key(FLAT_EARTH);
            let folder = self.srtm_dir.clone().or_else(|| recorded("srtm_dir"));
            return open(folder.or_else(|| downloaded("srtm")), geoid, flat_earth);
        };
        let elevation_msl_m: f64 = flat_msl_m.parse().map_err(|_| {
            Failure::Input(format!(
                "invalid flat_msl_m of the log: found {flat_msl_m:?}, allowed a number"
            ))
        })?;
        // Flat ground with a geoid is always at 0 m.
        match geoid.filter(|_| elevation_msl_m == 0.0) {
            Some(geoid) => open(None, Some(geoid), true),
            None => Ok(flat(elevation_msl_m)),
        }
    }

    /// The terrain a sweep was planned on, in the files it was `found` in unless options name
    /// others; products of other terrain would not fit its cells.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_sweep(
        &self,
        identity: &BTreeMap<String, String>,
        found: &TerrainFiles,
    ) -> Result<OpenTerrain, Failure> {
        let mut options = self.clone();
        options.flat_earth |= identity.contains_key(FLAT_EARTH);
        let ground = match identity.get("flat_msl_m").map(|height| height.parse()) {
            Some(Ok(elevation_msl_m)) => flat(elevation_msl_m),
            Some(Err(_)) => {
                return Err(Failure::Input(
                    "invalid flat_msl_m of the sweep plan: not a number".to_owned(),
                ));
            }
            None if identity.contains_key(NO_TERRAIN) => open(None, None, false)?,
            None => options.tiles(found.srtm_dir.as_deref(), found.geoid.as_deref())?,
        };
        if ground.identity()? != *identity {
            let what =
                "the terrain differs from that of the sweep plan; name its folder with --srtm-dir";
            return Err(Failure::Input(what.to_owned()));
        }
        Ok(ground)
    }

    fn tiles(&self, folder: Option<&Path>, geoid: Option<&Path>) -> Result<OpenTerrain, Failure> {
        let folder = self.srtm_dir.clone().or(folder.map(Path::to_owned));
        let geoid = self.geoid.clone().or(geoid.map(Path::to_owned));
        open(
            folder.or_else(|| downloaded("srtm")),
            geoid.or_else(|| downloaded(GEOID_FILE)),
            self.flat_earth,
        )
    }

    /// Rejects a scenario whose tiles are missing.
    fn require(&self, names: &[String], ground: &OpenTerrain) -> Result<(), Failure> {
        for name in names {
            let tile: groundwave_systems::terrain::TileId = name.parse().map_err(Failure::input)?;
            let centre = groundwave_systems::terrain::GeoPoint::new(
                f64::from(tile.south_deg()) + 0.5,
                f64::from(tile.west_deg()) + 0.5,
            )
            .map_err(Failure::input)?;
            if ground.terrain.resolution_arcsec(centre).is_none() {
                ground.check_tiles()?;
                let folder = ground.source.srtm_dir.as_deref();
                let place = folder.map_or(String::new(), |at| format!(" in {}", at.display()));
                return Err(Failure::Input(format!(
                    "missing terrain tile {name} of the scenario{place}; fetch it with \
                     `make data` or name its folder with --srtm-dir"
                )));
            }
        }
        Ok(())
    }
}

impl OpenTerrain {
    /// Identity of the terrain: file names and SHA-256 digests, equal on all machines with the
    /// same tiles.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn identity(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut identity = BTreeMap::new();
        for key in ["flat_msl_m", NO_TERRAIN, FLAT_EARTH] {
            if let Some(value) = self.inputs.get(key) {
                identity.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(folder) = &self.source.srtm_dir {
            identity.extend(digests(folder)?);
        }
        Ok(identity)
    }

    /// Files of the terrain on this machine.
    #[must_use]
    pub fn files(&self) -> TerrainFiles {
        TerrainFiles {
            srtm_dir: self.source.srtm_dir.clone(),
            geoid: self.source.geoid.clone(),
        }
    }

    /// Fails, with exit code 3, where samples of a result lie on ground without data.
    ///
    /// # Errors
    /// [`Failure::no_terrain`] if `missing_samples` of `samples` is above 0.
    pub fn require_data(&self, missing_samples: u32, samples: usize) -> Result<(), Failure> {
        if missing_samples == 0 {
            return Ok(());
        }
        let why = match &self.source.srtm_dir {
            Some(folder) => {
                let folder = folder.display();
                format!("{missing_samples} of {samples} samples lie off the tiles in {folder}")
            }
            None => "no folder of tiles".to_owned(),
        };
        Err(Failure::no_terrain(format!(
            "no terrain data: {why}; {REMEDY}"
        )))
    }

    /// Fails when a tile that was read is damaged: its samples would count as missing.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn check_tiles(&self) -> Result<(), Failure> {
        let tiles = self.stack.as_ref().and_then(|stack| stack.tiles());
        let faults = tiles.map(|tiles| tiles.faults()).unwrap_or_default();
        let Some((_, fault)) = faults.first() else {
            return Ok(());
        };
        Err(Failure::input(fault))
    }
}

/// Key of the digest of the geoid among the inputs of a log.
const GEOID_DIGEST: &str = "geoid_sha256";
/// The value of [`GEOID_DIGEST`] without a geoid.
const NONE: &str = "none";
/// The geoid of `make data`.
const GEOID_FILE: &str = "geoid/WW15MGH.DAC";

/// A file or folder of `make data`, if it is there.
fn downloaded(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("GROUNDWAVE_DATA").map_or(PathBuf::from(".data"), PathBuf::from);
    Some(data.join(name)).filter(|path| path.exists())
}

fn absolute(path: Option<PathBuf>) -> Option<PathBuf> {
    path.map(|path| path.canonicalize().unwrap_or(path))
}

/// Opens tiles and a geoid. Ground without a tile is unknown, or at sea level with `flat_earth`.
fn open(
    folder: Option<PathBuf>,
    geoid: Option<PathBuf>,
    flat_earth: bool,
) -> Result<OpenTerrain, Failure> {
    let stack = TerrainStack::open(folder.as_deref(), geoid.as_deref()).map_err(Failure::input)?;
    let stack = stack.off_tiles(match flat_earth {
        true => OffTiles::SeaLevel,
        false => OffTiles::Unknown,
    });
    let inputs = inputs_of(&stack, flat_earth);
    let stack = Arc::new(stack);
    Ok(OpenTerrain {
        terrain: stack.clone(),
        stack: Some(stack),
        source: TerrainOptions {
            srtm_dir: absolute(folder),
            geoid: absolute(geoid),
            flat_earth,
        },
        inputs,
    })
}

/// The failure of a replay; where files of the terrain are others, with the options that name them.
pub fn replay_failure(error: ReplayError) -> Failure {
    match error {
        ReplayError::Files { .. } => Failure::Input(format!(
            "{error}; name the terrain of the log with --srtm-dir and --geoid"
        )),
        error => Failure::input(error),
    }
}

/// Inputs of the header of a log: no paths, which mean nothing elsewhere and tell about a machine.
pub fn inputs_of(stack: &TerrainStack, flat_earth: bool) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::from([("terrain".to_owned(), stack.describe().name)]);
    let off_tiles = match (stack.tiles(), flat_earth) {
        (Some(_), false) => None,
        (Some(_), true) => Some((FLAT_EARTH, "")),
        (None, true) => Some(("flat_msl_m", "0")),
        (None, false) => Some((NO_TERRAIN, "")),
    };
    if let Some((key, value)) = off_tiles {
        inputs.insert(key.to_owned(), value.to_owned());
    }
    let digest = stack.geoid_digest();
    inputs.insert(
        GEOID_DIGEST.to_owned(),
        digest.unwrap_or_else(|| NONE.to_owned()),
    );
    inputs
}

/// SHA-256 of each tile in a folder, by file name.
fn digests(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    use sha2::{Digest, Sha256};
    /// Size of a read, bytes.
    const CHUNK_BYTES: usize = 1 << 16;
    let mut tiles = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        let endings = [".hgt", ".gz", ".zip"];
        if endings.iter().any(|ending| lower.ends_with(ending)) {
            tiles.push((name, path));
        }
    }
    // In parallel: with many tiles this dominates the start of a sweep.
    let digest = |(name, path): (String, PathBuf)| {
        let mut file = std::fs::File::open(path)?;
        let (mut digest, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
        loop {
            match file.read(&mut chunk)? {
                0 => break,
                read => digest.update(&chunk[..read]),
            }
        }
        Ok((name, hex(&digest.finalize())))
    };
    tiles.into_par_iter().map(digest).collect()
}

fn flat(elevation_msl_m: f64) -> OpenTerrain {
    let terrain = Flat { elevation_msl_m };
    let inputs = BTreeMap::from([
        ("flat_msl_m".to_owned(), elevation_msl_m.to_string()),
        ("terrain".to_owned(), terrain.describe().name),
    ]);
    OpenTerrain {
        terrain: Arc::new(terrain),
        stack: None,
        source: TerrainOptions::default(),
        inputs,
    }
}
