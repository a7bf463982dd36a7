//! Ground of the server: the configured folders, and fetches into one of them.

use std::path::PathBuf;
use std::sync::Arc;

use groundwave_http::option_value::{require_existing_if_some, require_file_if_some};
use groundwave_http::{Failure, Problem};
use groundwave_model::terrain::{SharedTerrain, Terrain, TileId};
use groundwave_planning::ground::{GroundSource, GroundSourceChoice, TileProgress};
use groundwave_planning::wire::coverage::Bounds;
use groundwave_planning::wire::ground::{GroundData, GroundTerms};
use groundwave_setup::fetch::{Fetching, too_large};
use groundwave_setup::terrain::{
    GEOID_CONTENT, NamedCover, TERRAIN_CONTENT, TerrainOptions, budget_bytes, cover,
};
use groundwave_terrain::cache::{Cache, Event, LAND_COVER, squares_within};
use groundwave_terrain::{LandCover, OffTiles, TerrainStack};
use tokio_util::sync::CancellationToken;

use super::config::ServerConfig;

/// Folder of fetched land cover below a folder of fetched terrain that was named.
const COVER_FOLDER: &str = "land-cover";

fn terrain_options(config: &ServerConfig) -> TerrainOptions {
    TerrainOptions { terrain_cache: config.terrain_cache.clone(), ..TerrainOptions::default() }
}

/// Opens the ground of a configuration: its folder, its fetched terrain, or none.
pub(super) fn open(config: &ServerConfig) -> Result<TerrainStack, Failure> {
    let fetched = terrain_options(config).fetched_folder(config.srtm_dir.is_some());
    let folders: Vec<_> = config.srtm_dir.iter().cloned().chain(fetched).collect();
    require_existing_if_some("--srtm-dir", config.srtm_dir.as_deref(), TERRAIN_CONTENT)?;
    require_file_if_some("--geoid", config.geoid.as_deref(), GEOID_CONTENT)?;
    let posts = config.posts.unwrap_or_default();
    let stack = TerrainStack::open_folders(&folders, config.geoid.as_deref(), posts);
    let off_tiles = match config.flat_earth {
        true => OffTiles::SeaLevel,
        false => OffTiles::AssumedSeaLevel,
    };
    let stack = stack.map_err(Failure::input)?.off_tiles(off_tiles);
    let stack = stack.with_budget(budget_bytes(config.memory_mb));
    let cover = match &config.land_cover {
        Some(place) => cover(NamedCover {
            place: Some(place),
            cache: config.terrain_cache.as_deref(),
            is_offline: config.offline,
        })?,
        None => fetched_cover(config),
    };
    Ok(stack.with_cover(cover))
}

/// Folder of the land cover that the page fetches.
fn cover_folder(config: &ServerConfig) -> Option<PathBuf> {
    match &config.terrain_cache {
        Some(folder) => Some(folder.join(COVER_FOLDER)),
        None => terrain_options(config).cover_folder().ok(),
    }
}

/// Folder of the land cover in use, named or fetched.
pub(super) fn cover_in_use(config: &ServerConfig) -> Option<PathBuf> {
    let fetched = || {
        let folder = cover_folder(config)?;
        let index = Cache::new(folder.clone()).index().ok()?;
        (!index.files.is_empty()).then_some(folder)
    };
    config.land_cover.clone().or_else(fetched)
}

/// Options of the terrain that the inputs of a replayed log name.
pub(super) fn log_terrain(config: &ServerConfig) -> TerrainOptions {
    TerrainOptions {
        srtm_dir: config.srtm_dir.clone(),
        geoid: config.geoid.clone(),
        land_cover: cover_in_use(config),
        offline: config.offline,
        // The folder of the first fetch is not there yet.
        terrain_cache: config.terrain_cache.clone().filter(|folder| folder.is_dir()),
        memory_mb: config.memory_mb,
        ..TerrainOptions::default()
    }
}

/// Land cover that was fetched; a folder that cannot be used counts as none, with a line in the log.
fn fetched_cover(config: &ServerConfig) -> Option<LandCover> {
    match LandCover::open(&cover_in_use(config)?) {
        Ok(cover) => Some(cover),
        Err(error) => {
            tracing::warn!("fetched land cover is not used: {error}");
            None
        }
    }
}

/// Source of ground of a configuration.
struct ConfiguredGround {
    config: ServerConfig,
    data: GroundData,
    folder: PathBuf,
    /// Terrain of the world.
    world: Arc<SharedTerrain>,
}

/// Reason why a configuration fetches no data of a kind.
fn refusal(config: &ServerConfig, data: GroundData) -> Option<&'static str> {
    if config.offline {
        return Some("this server was started with --offline");
    }
    if config.flat_earth {
        return Some("this server takes ground as flat (--flat-earth)");
    }
    if config.record.is_some() {
        return Some("this server records (--record): a log has one ground");
    }
    match data {
        GroundData::Heights => (config.srtm_dir.is_some() && config.terrain_cache.is_none()).then_some(
            "this server reads its ground from --srtm-dir alone; with --terrain-cache DIR it fetches into that folder",
        ),
        GroundData::LandCover => config.land_cover.is_some().then_some(
            "this server reads its land cover from --land-cover alone; without it, it uses what the page fetches",
        ),
    }
}

/// Source of the data that the page fetches, or the reason why it fetches none.
///
/// # Errors
/// When the data set is unknown or its address is malformed.
pub(super) fn source(
    config: &ServerConfig,
    data: GroundData,
    world: Arc<SharedTerrain>,
) -> Result<GroundSourceChoice, Failure> {
    if let Some(why) = refusal(config, data) {
        return Ok(Err(why.to_owned()));
    }
    let folder = match data {
        GroundData::Heights => terrain_options(config).cache_folder().ok(),
        GroundData::LandCover => cover_folder(config),
    };
    let Some(folder) = folder else {
        let why = "this server has no folder for fetched ground; --terrain-cache DIR names one";
        return Ok(Err(why.to_owned()));
    };
    let ground = ConfiguredGround { config: config.clone(), data, folder, world };
    ground.fetching()?;
    Ok(Ok(Arc::new(ground)))
}

impl ConfiguredGround {
    fn fetching(&self) -> Result<Fetching, Failure> {
        let (source, url) = match self.data {
            GroundData::Heights => (&*self.config.terrain_source, &self.config.terrain_url),
            GroundData::LandCover => (LAND_COVER.id, &self.config.land_cover_url),
        };
        Fetching::new(self.folder.clone(), Some(source), url.as_deref(), None)
    }
}

impl GroundSource for ConfiguredGround {
    fn terms(&self) -> GroundTerms {
        let fetching = self.fetching().expect("the source was checked at the start");
        let about = (fetching.source.about)();
        GroundTerms {
            name: about.name,
            address: fetching.base_url,
            licence: about.licence,
            attribution: about.attribution,
            tile_max_mb: fetching.source.tile_mb,
        }
    }

    fn lacking(&self, bounds: Bounds, terrain: &dyn Terrain) -> Result<Vec<TileId>, Problem> {
        let Bounds { south, west, north, east } = bounds;
        let unusable = |why: Failure| Problem::unavailable(why.message().to_owned());
        let squares = squares_within([south, west, north, east])
            .ok_or_else(|| Problem::bad_request(too_large().message().to_owned()))?;
        self.fetching().and_then(|fetching| fetching.lacking(&squares, terrain)).map_err(unusable)
    }

    fn consent(&self) -> Result<(), String> {
        let fetching = self.fetching().map_err(|why| why.message().to_owned())?;
        let inner = fetching.cache.consent(fetching.source);
        let below =
            self.config.terrain_cache.as_ref().filter(|_| self.data == GroundData::LandCover);
        // With an index a folder of terrain is not searched for files below it, as land cover.
        let outer = below.map_or(Ok(()), |folder| Cache::new(folder.clone()).consent(&LAND_COVER));
        inner.and(outer).map_err(|error| error.to_string())
    }

    fn fetch(
        &self,
        tile: TileId,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(TileProgress),
    ) -> Result<(), String> {
        let fetching = self.fetching().map(|fetching| fetching.stopped_by(stop.clone()));
        let fetched = fetching.and_then(|fetching| {
            fetching.fetch(tile, |event| match event {
                Event::Bytes { received, length } => {
                    progress(TileProgress::Bytes(received, length))
                }
                Event::Absent => progress(TileProgress::Absent),
                Event::Stored => {}
            })
        });
        fetched.map_err(|why| why.message().to_owned())
    }

    fn renew(&self) -> Result<Arc<dyn Terrain>, String> {
        let stack = open(&self.config).map_err(|why| why.message().to_owned())?;
        let terrain: Arc<dyn Terrain> = Arc::new(stack);
        self.world.replace(Arc::clone(&terrain));
        Ok(terrain)
    }
}
