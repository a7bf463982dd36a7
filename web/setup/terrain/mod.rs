//! Terrain: options, lookup and identity.

mod fallbacks;
mod fetched;
mod open;
mod recorded;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{BoolishValueParser, PathBufValueParser, TypedValueParser};
use groundwave_http::Failure;
use groundwave_http::option_value::folder_path;
use groundwave_model::terrain::{
    GeoPoint, Posts, Profile, SWAPPED, Terrain, TerrainUse, TileId, is_swapped,
};
use groundwave_scenario::{Scenario, Terrain as ScenarioTerrain};
use groundwave_sweep::{Plan, TerrainFiles};
use groundwave_terrain::cache::INDEX_FILE;
use groundwave_terrain::{Ignored, LandCover, Supplying, TerrainStack};
use serde::{Deserialize, Serialize};

use super::fetch::squares_under;
use fallbacks::first;
pub use fetched::{has_consent, is_dialogue};
use open::{
    COVER_CONTENT, FLAT_EARTH, GEOID_FILE, NO_TERRAIN, POSTS, Sources, digests, downloaded, flat,
    open, require, user_cache,
};

pub use fallbacks::Fallbacks;
pub use open::{
    GEOID_CONTENT, NamedCover, TERRAIN_CONTENT, address_of, budget_bytes, cover, inputs_of,
};
pub use recorded::replay_failure;
pub use values::{memory_mb, posts_parser};

/// Sources of terrain and geoid.
#[derive(Args, Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TerrainOptions {
    /// Values that stand behind those of a scenario. First: clap takes values out as it reads them.
    #[command(flatten)]
    #[serde(skip)]
    pub fallbacks: Fallbacks,

    /// Folder of terrain: SRTM tiles (.hgt, .hgt.zip, .hgt.gz), GeoTIFF files
    #[arg(long, value_name = "DIR", env = "PLAN_SRTM_DIR")]
    pub srtm_dir: Option<PathBuf>,

    /// EGM96 geoid grid: WW15MGH.DAC or egm96_15.gtx
    #[arg(long, value_name = "FILE", env = "PLAN_GEOID")]
    pub geoid: Option<PathBuf>,

    /// Folder of land cover: GeoTIFF files of ESA WorldCover, NLCD, CORINE, canopy or building heights, or of
    /// classes in a classes.toml; or the address (https://) of one such file, which is read by windows; with it ITU-R
    /// P.1812 is the model where none is named
    #[arg(long, value_name = "DIR|URL", env = "GROUNDWAVE_LAND_COVER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub land_cover: Option<PathBuf>,

    /// Take ground without a tile as known, at 0 m above sea level: open sea, or flat earth; --flat-earth=false takes
    /// tiles in place of the flat ground of a scenario
    #[arg(long, env = "GROUNDWAVE_FLAT_EARTH", value_parser = BoolishValueParser::new())]
    pub flat_earth: bool,

    /// Folder of fetched terrain; its default is used where no other folder is named [default:
    /// groundwave/terrain in the cache folder of the user]
    #[arg(long, value_name = "DIR", env = "GROUNDWAVE_TERRAIN_CACHE",
        value_parser = PathBufValueParser::new().try_map(folder_path))]
    pub terrain_cache: Option<PathBuf>,

    /// Fetch tiles of Copernicus GLO-30 that are missing into that folder first, without a question; its terms are
    /// printed
    #[arg(long, visible_alias = "yes", env = "GROUNDWAVE_TERRAIN_FETCH", value_parser = BoolishValueParser::new())]
    #[serde(skip)]
    pub fetch: bool,

    /// `true` if missing tiles are offered on a terminal.
    #[arg(skip)]
    #[serde(skip)]
    pub is_offering: bool,

    /// Fetch nothing: of land cover at an address, windows that were read before are used
    #[arg(long, env = "GROUNDWAVE_OFFLINE", value_parser = BoolishValueParser::new())]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,

    /// Height between posts: `interpolated` between four, or that of the `nearest` one as SPLAT! takes it
    /// [default: that of the scenario, else interpolated]
    #[arg(long, value_name = "WAY", env = "GROUNDWAVE_POSTS", value_parser = posts_parser())]
    pub posts: Option<Posts>,

    /// Memory of decoded terrain, MB: the least recently used is dropped and decoded again when needed
    /// [default: a quarter of the machine's]
    #[arg(long = "memory", value_name = "MB", env = "GROUNDWAVE_MEMORY", value_parser = memory_mb)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
}

/// Ways out of missing terrain, for messages.
pub const REMEDY: &str = "fetch tiles with `groundwave terrain fetch` or --fetch, name a folder of tiles with \
                          --srtm-dir (`make data` fetches N57E011), or say --flat-earth if the ground is flat at 0 m";

/// Tiles that a message names at most.
const NAMED_TILES_MAX: usize = 4;

/// Ways out for a scenario that names no ground: fetched tiles do not count for it.
fn remedy_of_unnamed(scenario: &Scenario) -> String {
    let squares = squares_under(scenario).unwrap_or_default();
    let names: Vec<_> = squares.iter().map(|square| format!("\"{square}\"")).collect();
    let tiles = match names.len() {
        1..=NAMED_TILES_MAX => names.join(", "),
        _ => "...".to_owned(),
    };
    format!(
        "the scenario names no ground: add [terrain] with tiles = [{tiles}], which `groundwave terrain fetch` gets, or \
         flat_msl_m = 0; or name a folder of tiles with --srtm-dir, or say --flat-earth if the ground is flat at 0 m"
    )
}

/// Advice where ground lies in voids of tiles.
pub const VOIDS_REMEDY: &str =
    "fill the voids of the tiles (`gdal_fillnodata`) or take another data set";

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
    /// Ways out where ground is missing, for messages.
    pub remedy: String,
}

impl TerrainOptions {
    /// These options, and those of `other` where they leave something open.
    #[must_use]
    pub fn or(&self, other: Self) -> Self {
        Self {
            srtm_dir: first(self.srtm_dir.as_ref(), self.fallbacks.srtm_dir, other.srtm_dir),
            geoid: first(self.geoid.as_ref(), self.fallbacks.geoid, other.geoid),
            land_cover: first(
                self.land_cover.as_ref(),
                self.fallbacks.land_cover,
                other.land_cover,
            ),
            flat_earth: self.flat_earth || other.flat_earth,
            terrain_cache: self.terrain_cache.clone().or(other.terrain_cache),
            posts: self.posts.or(other.posts),
            fetch: self.is_fetching() || other.fetch,
            is_offering: self.is_offering || other.is_offering,
            offline: self.is_offline() || other.offline,
            fallbacks: Fallbacks::default(),
            memory_mb: self.memory_mb.or(other.memory_mb),
        }
    }

    /// No terrain at all.
    ///
    /// # Errors
    /// Never; as the others of its kind.
    pub fn bare() -> Result<OpenTerrain, Failure> {
        open(Sources::default())
    }

    /// Folder of fetched terrain.
    ///
    /// # Errors
    /// When none is given and the user has no folder for caches.
    pub fn cache_folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.terrain_cache.clone().or_else(user_cache);
        folder.ok_or_else(|| {
            let what = "no folder for fetched terrain: name one with --terrain-cache";
            Failure::Input(what.to_owned())
        })
    }

    /// Folder of fetched land cover.
    ///
    /// # Errors
    /// When none is given and the user has no folder for caches.
    pub fn cover_folder(&self) -> Result<PathBuf, Failure> {
        if self.terrain_cache.is_some() {
            return self.cache_folder();
        }
        let folder = self.cache_folder()?;
        Ok(folder.with_file_name("land-cover"))
    }

    /// Fetched terrain, where it is requested, or nothing else is and it is there.
    fn cache(&self, is_named: bool) -> Option<PathBuf> {
        let has_files = |folder: &PathBuf| folder.join(INDEX_FILE).is_file();
        let default = || user_cache().filter(|folder| !is_named && has_files(folder));
        match &self.terrain_cache {
            // The first fetch makes it.
            Some(folder) if self.is_fetching() && !folder.exists() => None,
            Some(folder) => Some(folder.clone()),
            None => default(),
        }
    }

    /// Fetched terrain of a server, which fetches more into it: a folder that is there, of these options, or the
    /// default where no other folder is named.
    #[must_use]
    pub fn fetched_folder(&self, is_named: bool) -> Option<PathBuf> {
        self.cache(is_named).filter(|folder| folder.is_dir())
    }

    /// The options as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!(Self { offline: self.is_offline(), ..self.clone() }).to_string()
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
        self.tiles(None, None, None)
    }

    /// The terrain of a scenario; options override it, flat ground too. A scenario that names none has that of
    /// the options, or none.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_scenario(&self, scenario: &Scenario) -> Result<OpenTerrain, Failure> {
        let own = self.land_cover.as_ref();
        let land_cover = first(own, self.fallbacks.land_cover, scenario.land_cover.clone());
        let names = ["--land-cover", "land_cover of [terrain]"];
        require(land_cover.as_deref(), own, names, COVER_CONTENT)?;
        Self { land_cover, ..self.clone() }.for_ground_of(scenario)
    }

    /// The terrain of a scenario with the land cover of these options.
    fn for_ground_of(&self, scenario: &Scenario) -> Result<OpenTerrain, Failure> {
        let Fallbacks { srtm_dir, fetch, terrain_cache, is_tiled, .. } = self.fallbacks;
        let is_supplied = is_tiled
            || (self.srtm_dir.is_some() && !(srtm_dir && scenario.names_terrain))
            || (self.terrain_cache.is_some() && !terrain_cache)
            || (self.is_fetching() && !(fetch && scenario.names_terrain));
        match &scenario.terrain {
            ScenarioTerrain::Flat { .. } if is_supplied => {
                self.supplied(scenario, |options| options.tiles(None, None, None))
            }
            ScenarioTerrain::Flat { .. } if !scenario.names_terrain && !self.flat_earth => {
                let sources = self.cover_alone();
                Ok(OpenTerrain { remedy: remedy_of_unnamed(scenario), ..open(sources)? })
            }
            ScenarioTerrain::Flat { elevation_msl_m } => flat(*elevation_msl_m, self.cover_alone()),
            ScenarioTerrain::Tiles { names, directory, geoid, posts } => {
                let (folder, geoid) = (directory.as_deref(), geoid.as_deref());
                let ground =
                    self.supplied(scenario, |options| options.tiles(folder, geoid, *posts))?;
                self.require(names, &ground)?;
                Ok(ground)
            }
        }
    }

    fn tiles(
        &self,
        folder: Option<&Path>,
        geoid: Option<&Path>,
        posts: Option<Posts>,
    ) -> Result<OpenTerrain, Failure> {
        let Fallbacks { srtm_dir, geoid: of_geoid, posts: of_posts, .. } = self.fallbacks;
        let folder = first(self.srtm_dir.as_ref(), srtm_dir, folder.map(Path::to_owned));
        let geoid = first(self.geoid.as_ref(), of_geoid, geoid.map(Path::to_owned));
        let cache = self.cache(folder.is_some());
        self.require_existing([folder.as_deref(), geoid.as_deref(), cache.as_deref()])?;
        open(Sources {
            cache,
            folder: folder.or_else(|| downloaded("srtm")),
            geoid: geoid.or_else(|| downloaded(GEOID_FILE)),
            flat_earth: self.flat_earth,
            land_cover: self.land_cover.clone(),
            is_offline: self.is_offline(),
            posts: first(self.posts.as_ref(), of_posts, posts).unwrap_or_default(),
            memory_mb: self.memory_mb,
        })
    }

    /// Land cover over no tiles.
    fn cover_alone(&self) -> Sources {
        Sources {
            land_cover: self.land_cover.clone(),
            is_offline: self.is_offline(),
            ..Sources::default()
        }
    }

    /// Rejects a scenario whose tiles are missing, unless ground without a tile is known.
    fn require(&self, names: &[String], ground: &OpenTerrain) -> Result<(), Failure> {
        if self.flat_earth {
            return Ok(());
        }
        for name in names {
            let tile: TileId = name.parse().map_err(Failure::input)?;
            let centre =
                GeoPoint::new(f64::from(tile.south_deg()) + 0.5, f64::from(tile.west_deg()) + 0.5)
                    .map_err(Failure::input)?;
            if ground.terrain.resolution_arcsec(centre).is_none() {
                ground.check_tiles()?;
                let folders = ground.folders();
                let place = match folders.is_empty() {
                    true => String::new(),
                    false => format!(" in {folders}"),
                };
                return Err(Failure::Input(format!(
                    "missing terrain tile {name} of the scenario{place}; fetch it with \
                     `groundwave terrain fetch {name}` or `make data`, or name its folder with --srtm-dir; \
                     where it is open sea, which is not published, say --flat-earth"
                )));
            }
        }
        Ok(())
    }
}

/// Number of files whose digests are computed for [`OpenTerrain::identity_of_files`].
pub const DIGESTS_MAX: usize = 64;

impl OpenTerrain {
    /// Identity of the terrain of a sweep: names of the files near its sites with their SHA-256 digests,
    /// equal on all machines with the same ones. Others in their folders do not matter: they may be a
    /// whole continent's.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn identity(&self, plan: &Plan) -> Result<BTreeMap<String, String>, Failure> {
        let cover = self.stack.iter().filter_map(|stack| stack.cover());
        let cover = cover.flat_map(LandCover::supplying);
        let files = plan.files_near(self.supplying().into_iter().chain(cover).collect());
        let source = &self.source;
        let folders = source.srtm_dir.iter().chain(&source.terrain_cache);
        let mut identity = digests(&files, folders)?;
        for key in ["flat_msl_m", NO_TERRAIN, FLAT_EARTH, POSTS] {
            if let Some(value) = self.inputs.get(key) {
                identity.insert(key.to_owned(), value.clone());
            }
        }
        Ok(identity)
    }

    /// Identity of the terrain of many runs: digests of all its files, or of more than [`DIGESTS_MAX`], such as a
    /// whole continent's, names and lengths; equal on all machines with the same ones.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn identity_of_files(&self) -> Result<BTreeMap<String, String>, Failure> {
        let cover = self.stack.iter().filter_map(|stack| stack.cover());
        let cover = cover.flat_map(LandCover::supplying);
        let files: Vec<_> = self.supplying().into_iter().chain(cover).collect();
        if files.len() <= DIGESTS_MAX {
            let source = &self.source;
            return digests(&files, source.srtm_dir.iter().chain(&source.terrain_cache));
        }
        let length = |file: &Supplying| {
            let length = std::fs::metadata(&file.path).map(|metadata| metadata.len().to_string());
            Ok((file.name.clone(), file.digest.clone().map_or(length, Ok)?))
        };
        files.iter().map(length).collect()
    }

    /// Files that supply its heights, by the names in its identity.
    #[must_use]
    pub fn supplying(&self) -> Vec<Supplying> {
        let stack = self.stack.as_ref();
        stack.map_or_else(Vec::new, |stack| stack.supplying())
    }

    /// Sets the latitudes of the positions to come, deg, so that no more of tiles needs to be
    /// decoded.
    pub fn expect(&self, lat_deg: [f64; 2]) {
        if let Some(stack) = &self.stack {
            stack.expect(lat_deg);
        }
    }

    /// Folders of its tiles, for messages.
    fn folders(&self) -> String {
        let folders = self.source.srtm_dir.iter().chain(&self.source.terrain_cache);
        let folders: Vec<_> = folders.map(|folder| folder.display().to_string()).collect();
        folders.join(" and ")
    }

    /// Attributions that products of this terrain must carry.
    #[must_use]
    pub fn attributions(&self) -> Vec<String> {
        let source = self.terrain.describe();
        source.attributions().into_iter().map(str::to_owned).collect()
    }

    /// Files of the terrain on this machine.
    #[must_use]
    pub fn files(&self) -> TerrainFiles {
        TerrainFiles {
            srtm_dir: self.source.srtm_dir.clone(),
            geoid: self.source.geoid.clone(),
            cache: self.source.terrain_cache.clone(),
            land_cover: self.source.land_cover.clone(),
        }
    }

    /// Fails, with exit code 3, where the ground of a result is unknown.
    ///
    /// # Errors
    /// [`Failure::no_terrain`] for [`PathGround::Unknown`](groundwave_model::terrain::PathGround::Unknown).
    pub fn require_data(&self, profile: &Profile) -> Result<(), Failure> {
        if profile.ground.is_enough() {
            return Ok(());
        }
        let folders = self.folders();
        let TerrainUse { void_samples, missing_samples, .. } = profile.terrain;
        let samples = profile.elevation_msl_m.len();
        let mut parts = Vec::new();
        if missing_samples > 0 && folders.is_empty() {
            parts.push("no folder of tiles".to_owned());
        } else if missing_samples > 0 && self.supplying().is_empty() {
            parts.push(format!("no .hgt tile or GeoTIFF file that can be used in {folders}"));
        } else if missing_samples > 0 {
            parts.push(format!(
                "{missing_samples} of {samples} samples lie off the tiles in {folders}"
            ));
        }
        if void_samples > 0 {
            parts.push(format!("{void_samples} of {samples} samples lie in voids of the tiles"));
        }
        let why = parts.join(", ");
        if missing_samples == 0 {
            return Err(Failure::no_terrain(format!("no terrain data: {why}; {VOIDS_REMEDY}")));
        }
        let ends = [0, samples.saturating_sub(1)].map(|end| profile.point(end));
        let hint = self.swapped_hint(&ends.into_iter().flatten().collect::<Vec<_>>());
        Err(Failure::no_terrain(format!("no terrain data: {why}{hint}; {}", self.remedy)))
    }

    /// Question for a message where positions seem to have latitude and longitude swapped; else empty.
    #[must_use]
    pub fn swapped_hint(&self, positions: &[GeoPoint]) -> String {
        match is_swapped(&*self.terrain, positions) {
            true => format!("; {SWAPPED}"),
            false => String::new(),
        }
    }

    /// Fails when a tile that was read is damaged: its samples would count as missing.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn check_tiles(&self) -> Result<(), Failure> {
        match self.stack.as_ref().and_then(|stack| stack.fault()) {
            Some(fault) => Err(Failure::input(fault)),
            None => Ok(()),
        }
    }

    /// Files that look like terrain and are not used.
    #[must_use]
    pub fn ignored(&self) -> &[Ignored] {
        self.stack.as_ref().map_or(&[], |stack| stack.ignored())
    }

    /// Decodes every file once.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn check_all(&self) -> Result<(), Failure> {
        let stack = self.stack.as_ref();
        stack.map_or(Ok(()), |stack| stack.check().map_err(Failure::input))
    }
}
