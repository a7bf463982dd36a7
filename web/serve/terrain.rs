//! Terrain: options, lookup and identity.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::FalseyValueParser;
use groundwave_io::hex::hex;
use groundwave_io::scenario::{self, Scenario};
use groundwave_io::sweep::TerrainFiles;
use groundwave_io::terrain::{OffTiles, TerrainStack};
use groundwave_systems::terrain::{Flat, Terrain};
use rayon::prelude::*;

use super::Failure;

/// Sources of terrain and geoid.
#[derive(Args, Debug, Clone, Default)]
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
    /// Inputs of the log header.
    pub inputs: BTreeMap<String, String>,
}

impl TerrainOptions {
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
                Ok(no_terrain(None))
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

    /// The terrain a log was recorded on.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_log(&self, inputs: &BTreeMap<String, String>) -> Result<OpenTerrain, Failure> {
        if let Some(flat_msl_m) = inputs.get("flat_msl_m") {
            let elevation_msl_m = flat_msl_m.parse().map_err(|_| {
                Failure::Input(format!(
                    "invalid flat_msl_m of the log: found {flat_msl_m:?}, allowed a number"
                ))
            })?;
            return Ok(flat(elevation_msl_m));
        }
        let path = |key: &str| {
            inputs
                .get(key)
                .map(PathBuf::from)
                .filter(|path| path.exists())
        };
        let (folder, geoid) = (path("srtm_dir"), path("geoid"));
        if inputs.contains_key(NO_TERRAIN) {
            let stack = TerrainStack::open(None, geoid.as_deref()).map_err(Failure::input)?;
            return Ok(no_terrain(Some(stack)));
        }
        let mut options = self.clone();
        options.flat_earth |= inputs.contains_key(FLAT_EARTH);
        options.tiles(folder.as_deref(), geoid.as_deref())
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
            None if identity.contains_key(NO_TERRAIN) => no_terrain(None),
            None => options.tiles(found.srtm_dir.as_deref(), found.geoid.as_deref())?,
        };
        if ground.identity()? != *identity {
            let what =
                "the terrain differs from that of the sweep plan; name its folder with --srtm-dir";
            return Err(Failure::Input(what.to_owned()));
        }
        Ok(ground)
    }

    /// Inputs of a log header for a server: options only, nothing from `make data`.
    pub fn server_inputs(&self) -> BTreeMap<String, String> {
        let mut inputs = BTreeMap::new();
        insert_path(&mut inputs, "srtm_dir", self.srtm_dir.as_deref());
        insert_path(&mut inputs, "geoid", self.geoid.as_deref());
        let (key, value) = match (&self.srtm_dir, self.flat_earth) {
            (Some(_), false) => return inputs,
            (Some(_), true) => (FLAT_EARTH, ""),
            (None, true) => ("flat_msl_m", "0"),
            (None, false) => (NO_TERRAIN, ""),
        };
        inputs.insert(key.to_owned(), value.to_owned());
        inputs
    }

    /// Ground off the tiles.
    fn off_tiles(&self) -> OffTiles {
        match self.flat_earth {
            true => OffTiles::SeaLevel,
            false => OffTiles::Unknown,
        }
    }

    fn tiles(&self, folder: Option<&Path>, geoid: Option<&Path>) -> Result<OpenTerrain, Failure> {
        let data =
            std::env::var_os("GROUNDWAVE_DATA").map_or(PathBuf::from(".data"), PathBuf::from);
        let downloaded = |name: &str| Some(data.join(name)).filter(|path| path.exists());
        let folder = self
            .srtm_dir
            .clone()
            .or(folder.map(Path::to_owned))
            .or_else(|| downloaded("srtm"));
        let geoid = self
            .geoid
            .clone()
            .or(geoid.map(Path::to_owned))
            .or_else(|| downloaded("geoid/WW15MGH.DAC"));
        let stack = TerrainStack::open(folder.as_deref(), geoid.as_deref());
        let stack = stack.map_err(Failure::input)?.off_tiles(self.off_tiles());
        let found = Self {
            srtm_dir: folder,
            geoid,
            flat_earth: self.flat_earth,
        };
        let mut inputs = found.server_inputs();
        inputs.insert("terrain".to_owned(), stack.describe().name);
        let stack = Arc::new(stack);
        Ok(OpenTerrain {
            terrain: stack.clone(),
            stack: Some(stack),
            inputs,
        })
    }

    /// Rejects a scenario whose tiles are missing.
    fn require(&self, names: &[String], ground: &OpenTerrain) -> Result<(), Failure> {
        let folder = ground.inputs.get("srtm_dir");
        for name in names {
            let tile: groundwave_systems::terrain::TileId = name.parse().map_err(Failure::input)?;
            let centre = groundwave_systems::terrain::GeoPoint::new(
                f64::from(tile.south_deg()) + 0.5,
                f64::from(tile.west_deg()) + 0.5,
            )
            .map_err(Failure::input)?;
            if ground.terrain.resolution_arcsec(centre).is_none() {
                ground.check_tiles()?;
                let place = folder.map_or("no tile folder".to_owned(), |folder| folder.clone());
                return Err(Failure::Input(format!(
                    "missing terrain tile {name} of the scenario in {place}; fetch it with \
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
        if let Some(folder) = self.inputs.get("srtm_dir") {
            identity.extend(digests(Path::new(folder))?);
        }
        Ok(identity)
    }

    /// Files of the terrain on this machine.
    #[must_use]
    pub fn files(&self) -> TerrainFiles {
        let path = |key: &str| self.inputs.get(key).map(PathBuf::from);
        TerrainFiles {
            srtm_dir: path("srtm_dir"),
            geoid: path("geoid"),
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
        let why = match self.inputs.get("srtm_dir") {
            Some(folder) => {
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

/// Inserts an absolute path: it is found from any working directory of a replay.
fn insert_path(inputs: &mut BTreeMap<String, String>, key: &str, path: Option<&Path>) {
    if let Some(path) = path.and_then(|path| path.canonicalize().ok()) {
        inputs.insert(key.to_owned(), path.display().to_string());
    }
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

/// No tiles and no statement about the ground, with a geoid if there is one.
fn no_terrain(stack: Option<TerrainStack>) -> OpenTerrain {
    let stack = Arc::new(stack.unwrap_or_default());
    let inputs = BTreeMap::from([
        (NO_TERRAIN.to_owned(), String::new()),
        ("terrain".to_owned(), stack.describe().name),
    ]);
    OpenTerrain {
        terrain: stack.clone(),
        stack: Some(stack),
        inputs,
    }
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
        inputs,
    }
}
