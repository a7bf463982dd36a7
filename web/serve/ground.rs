//! Ground of the server: the configured folders, and fetches into one of them.

use std::path::PathBuf;
use std::sync::Arc;

use groundwave_http::{Failure, Problem};
use groundwave_model::terrain::{SharedTerrain, Terrain, TileId};
use groundwave_planning::ground::{GroundSource, TileProgress};
use groundwave_planning::wire::coverage::Bounds;
use groundwave_planning::wire::ground::GroundTerms;
use groundwave_setup::fetch::{Fetching, too_large};
use groundwave_setup::terrain::{TerrainOptions, budget_bytes, cover};
use groundwave_terrain::cache::{Event, squares_within};
use groundwave_terrain::{OffTiles, TerrainStack};
use tokio_util::sync::CancellationToken;

use super::config::ServerConfig;

/// Opens the ground of a configuration: its folder, its fetched terrain, or none.
pub(super) fn open(config: &ServerConfig) -> Result<TerrainStack, Failure> {
    let fetched =
        TerrainOptions { terrain_cache: config.terrain_cache.clone(), ..TerrainOptions::default() };
    let fetched = fetched.fetched_folder(config.srtm_dir.is_some());
    let folders: Vec<_> = config.srtm_dir.iter().cloned().chain(fetched).collect();
    let posts = config.posts.unwrap_or_default();
    let stack = TerrainStack::open_folders(&folders, config.geoid.as_deref(), posts);
    let off_tiles = match config.flat_earth {
        true => OffTiles::SeaLevel,
        false => OffTiles::AssumedSeaLevel,
    };
    let stack = stack.map_err(Failure::input)?.off_tiles(off_tiles);
    let stack = stack.with_budget(budget_bytes(config.memory_mb));
    Ok(stack.with_cover(cover(config.land_cover.as_deref())?))
}

/// Source of ground of a configuration.
struct ConfiguredGround {
    config: ServerConfig,
    folder: PathBuf,
    /// Terrain of the world.
    world: Arc<SharedTerrain>,
}

/// Source of the ground that the page fetches, or the reason why it fetches none.
///
/// # Errors
/// When the data set is unknown or its address is malformed.
pub(super) fn source(
    config: &ServerConfig,
    world: Arc<SharedTerrain>,
) -> Result<Result<Arc<dyn GroundSource>, String>, Failure> {
    let none = |why: &str| Ok(Err(why.to_owned()));
    if config.offline {
        return none("this server was started with --offline");
    }
    if config.flat_earth {
        return none("this server takes ground as flat (--flat-earth)");
    }
    if config.record.is_some() {
        return none("this server records (--record): a log has one ground");
    }
    if config.srtm_dir.is_some() && config.terrain_cache.is_none() {
        return none(
            "this server reads its ground from --srtm-dir alone; with --terrain-cache DIR it fetches into that folder",
        );
    }
    let options =
        TerrainOptions { terrain_cache: config.terrain_cache.clone(), ..TerrainOptions::default() };
    let Ok(folder) = options.cache_folder() else {
        return none("this server has no folder for fetched ground; --terrain-cache DIR names one");
    };
    let ground = ConfiguredGround { config: config.clone(), folder, world };
    ground.fetching()?;
    Ok(Ok(Arc::new(ground)))
}

impl ConfiguredGround {
    fn fetching(&self) -> Result<Fetching, Failure> {
        let (source, url) = (&self.config.terrain_source, self.config.terrain_url.as_deref());
        Fetching::new(self.folder.clone(), Some(source), url, None)
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
        fetching.cache.consent(fetching.source).map_err(|error| error.to_string())
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
