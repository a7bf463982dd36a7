//! Which terrain a subcommand stands on.

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

use super::failure::Failure;

/// Where tiles and the geoid are.
#[derive(Args, Debug, Clone, Default)]
pub struct GroundArgs {
    /// Folder of SRTM tiles (.hgt, .hgt.zip, .hgt.gz)
    #[arg(long, value_name = "DIR", env = "PLAN_SRTM_DIR")]
    pub srtm_dir: Option<PathBuf>,

    /// EGM96 grid, WW15MGH.DAC or egm96_15.gtx
    #[arg(long, value_name = "FILE", env = "PLAN_GEOID")]
    pub geoid: Option<PathBuf>,
}

/// The terrain, and how a log says which it was.
pub struct Ground {
    /// The terrain.
    pub terrain: Arc<dyn Terrain>,
    /// The same, where it is made of tiles.
    stack: Option<Arc<TerrainStack>>,
    /// Entries of the log header.
    pub inputs: BTreeMap<String, String>,
}

impl GroundArgs {
    /// What was asked for, else what `make data` fetched, else flat ground, which says so.
    pub fn open(&self) -> Result<Ground, Failure> {
        self.tiles(None, None)
    }

    /// The ground of a scenario. Its own folder gives way to the command line.
    pub fn for_scenario(&self, wanted: &scenario::Terrain) -> Result<Ground, Failure> {
        match wanted {
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

    /// The ground a log was made on.
    pub fn for_log(&self, inputs: &BTreeMap<String, String>) -> Result<Ground, Failure> {
        if let Some(flat_msl_m) = inputs.get("flat_msl_m") {
            let elevation_msl_m = flat_msl_m.parse().map_err(|_| {
                Failure::Input(format!(
                    "the log's flat_msl_m is {flat_msl_m:?}, not a number"
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

    /// The ground a sweep was planned on; another one would draw other maps around the same cells.
    pub fn for_sweep(&self, identity: &BTreeMap<String, String>) -> Result<Ground, Failure> {
        let ground = match identity.get("flat_msl_m").map(|height| height.parse()) {
            Some(Ok(elevation_msl_m)) => flat(elevation_msl_m),
            Some(Err(_)) => {
                return Err(Failure::Input(
                    "the plan's flat_msl_m is no number".to_owned(),
                ));
            }
            None => self.open()?,
        };
        if ground.identity()? != *identity {
            let what = "the terrain is not the one the sweep was planned on; say --srtm-dir";
            return Err(Failure::Input(what.to_owned()));
        }
        Ok(ground)
    }

    /// How the log of a server says what it stands on: what it was told, and nothing fetched.
    pub fn of_server(&self) -> BTreeMap<String, String> {
        let mut inputs = BTreeMap::new();
        note(&mut inputs, "srtm_dir", self.srtm_dir.as_deref());
        note(&mut inputs, "geoid", self.geoid.as_deref());
        if self.srtm_dir.is_none() {
            inputs.insert("flat_msl_m".to_owned(), "0".to_owned());
        }
        inputs
    }

    fn tiles(&self, folder: Option<&Path>, geoid: Option<&Path>) -> Result<Ground, Failure> {
        let data =
            std::env::var_os("GROUNDWAVE_DATA").map_or(PathBuf::from(".data"), PathBuf::from);
        let fetched = |name: &str| Some(data.join(name)).filter(|path| path.exists());
        let folder = self
            .srtm_dir
            .clone()
            .or(folder.map(Path::to_owned))
            .or_else(|| fetched("srtm"));
        let geoid = self
            .geoid
            .clone()
            .or(geoid.map(Path::to_owned))
            .or_else(|| fetched("geoid/WW15MGH.DAC"));
        let stack =
            TerrainStack::open(folder.as_deref(), geoid.as_deref()).map_err(Failure::input)?;
        let mut inputs = BTreeMap::new();
        note(&mut inputs, "srtm_dir", folder.as_deref());
        note(&mut inputs, "geoid", geoid.as_deref());
        if folder.is_none() {
            inputs.insert("flat_msl_m".to_owned(), "0".to_owned());
        }
        inputs.insert("terrain".to_owned(), stack.describe().name);
        let stack = Arc::new(stack);
        Ok(Ground {
            terrain: stack.clone(),
            stack: Some(stack),
            inputs,
        })
    }

    /// Refuses a scenario whose tiles are not there.
    fn require(&self, names: &[String], ground: &Ground) -> Result<(), Failure> {
        let folder = ground.inputs.get("srtm_dir");
        for name in names {
            let tile: groundwave_systems::terrain::TileId = name.parse().map_err(Failure::input)?;
            let centre = groundwave_systems::terrain::GeoPoint::new(
                f64::from(tile.south_deg()) + 0.5,
                f64::from(tile.west_deg()) + 0.5,
            )
            .map_err(Failure::input)?;
            if ground.terrain.resolution_arcsec(centre).is_none() {
                ground.refuse_faults()?;
                let place = folder.map_or("no tile folder".to_owned(), |folder| folder.clone());
                return Err(Failure::Input(format!(
                    "the scenario needs the terrain tile {name}, which is not in {place}; fetch it \
                     with `make data` or say --srtm-dir"
                )));
            }
        }
        Ok(())
    }
}

impl Ground {
    /// What the terrain is, to the bit: names of its parts and digests of their bytes. Two
    /// processes on two machines over the same tiles say the same.
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

    /// Refuses to go on, or to show a result, over a tile that was needed and is damaged: its
    /// samples would count as missing, and the user would look for another tile.
    pub fn refuse_faults(&self) -> Result<(), Failure> {
        let tiles = self.stack.as_ref().and_then(|stack| stack.tiles());
        let faults = tiles.map(|tiles| tiles.faults()).unwrap_or_default();
        let Some((_, fault)) = faults.first() else {
            return Ok(());
        };
        Err(Failure::input(fault))
    }
}

/// Notes a path, an absolute one: it finds the data again from wherever a log is replayed.
fn note(inputs: &mut BTreeMap<String, String>, key: &str, path: Option<&Path>) {
    if let Some(path) = path.and_then(|path| path.canonicalize().ok()) {
        inputs.insert(key.to_owned(), path.display().to_string());
    }
}

/// SHA-256 of every tile in a folder, by file name.
fn digests(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    use sha2::{Digest, Sha256};
    /// Read at once: a whole tile would have to be given memory first.
    const PIECE_BYTES: usize = 1 << 16;
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
    // Side by side: of many tiles, or packed fine ones, this is most of what there is to begin with.
    let digest = |(name, path): (String, PathBuf)| {
        let mut file = std::fs::File::open(path)?;
        let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
        loop {
            match file.read(&mut piece)? {
                0 => break,
                read => digest.update(&piece[..read]),
            }
        }
        Ok((name, hex(&digest.finalize())))
    };
    tiles.into_par_iter().map(digest).collect()
}

fn flat(elevation_msl_m: f64) -> Ground {
    let terrain = Flat { elevation_msl_m };
    let inputs = BTreeMap::from([
        ("flat_msl_m".to_owned(), elevation_msl_m.to_string()),
        ("terrain".to_owned(), terrain.describe().name),
    ]);
    Ground {
        terrain: Arc::new(terrain),
        stack: None,
        inputs,
    }
}
