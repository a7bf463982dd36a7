//! Terrain: options, lookup and identity.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use groundwave_io::hex::hex;
use groundwave_io::scenario;
use groundwave_io::terrain::TerrainStack;
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
}

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
    /// The requested terrain, else that of `make data`, else flat ground.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn open(&self) -> Result<OpenTerrain, Failure> {
        self.tiles(None, None)
    }

    /// The terrain of a scenario; options override its folder.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_scenario(&self, terrain: &scenario::Terrain) -> Result<OpenTerrain, Failure> {
        match terrain {
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
        self.tiles(path("srtm_dir").as_deref(), path("geoid").as_deref())
    }

    /// The terrain a sweep was planned on; products of other terrain would not fit its cells.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_sweep(&self, identity: &BTreeMap<String, String>) -> Result<OpenTerrain, Failure> {
        let ground = match identity.get("flat_msl_m").map(|height| height.parse()) {
            Some(Ok(elevation_msl_m)) => flat(elevation_msl_m),
            Some(Err(_)) => {
                return Err(Failure::Input(
                    "invalid flat_msl_m of the sweep plan: not a number".to_owned(),
                ));
            }
            None => self.open()?,
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
        if self.srtm_dir.is_none() {
            inputs.insert("flat_msl_m".to_owned(), "0".to_owned());
        }
        inputs
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
        let stack =
            TerrainStack::open(folder.as_deref(), geoid.as_deref()).map_err(Failure::input)?;
        let mut inputs = BTreeMap::new();
        insert_path(&mut inputs, "srtm_dir", folder.as_deref());
        insert_path(&mut inputs, "geoid", geoid.as_deref());
        if folder.is_none() {
            inputs.insert("flat_msl_m".to_owned(), "0".to_owned());
        }
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
        match (self.inputs.get("flat_msl_m"), self.inputs.get("srtm_dir")) {
            (Some(flat_msl_m), _) => {
                identity.insert("flat_msl_m".to_owned(), flat_msl_m.clone());
            }
            (None, Some(folder)) => {
                for (name, digest) in digests(Path::new(folder))? {
                    identity.insert(name, digest);
                }
            }
            (None, None) => {}
        }
        Ok(identity)
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
