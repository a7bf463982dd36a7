//! Configuration of the server: its options, environment variables and defaults.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::{BoolishValueParser, PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use groundwave_engine::Engine;
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::{file_path, folder_path, require_file, require_file_if_some};
use groundwave_model::terrain::Posts;
use groundwave_page::{Basemap, Frontend, Source};
use groundwave_planning::{ReplayWorld, StoredLog, open_log};
use groundwave_setup::fetch::{mirror, source_parser};
use groundwave_setup::terrain::{memory_mb, posts_parser};
use groundwave_store::journal_file::FileJournal;
use groundwave_web_gateway::serve::STEP_NS;
use groundwave_web_gateway::serve::gateway::GatewayConfig;

use super::service_options::ServiceOptions;
use crate::engine::EngineArg;

/// A service of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Radio planning on terrain, port 8787
    Planning,
    /// Live mesh gateway, port 8080
    Gateway,
}

/// Configuration of the server.
#[derive(Debug, Clone, Args)]
pub struct ServerConfig {
    /// Options on the command line that one service alone has. First: the values of other fields are taken out of
    /// what it looks at.
    #[command(flatten)]
    pub service_options: ServiceOptions,

    /// Services [default: both]
    #[arg(value_enum, value_name = "SERVICE")]
    pub services: Vec<Service>,

    /// Address of the planning API
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        value_parser = groundwave_http::socket_address,
        default_value = "127.0.0.1:8787"
    )]
    pub bind: SocketAddr,

    /// Store file; created if missing
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db",
        value_parser = PathBufValueParser::new().try_map(file_path))]
    pub db: PathBuf,

    /// Folder of static files [default: frontend/ if it exists, else a built-in page]
    #[arg(long, env = "PLAN_FRONTEND", value_name = "DIR")]
    pub frontend: Option<PathBuf>,

    /// Base map of the page: a PMTiles archive with roads and names [default: none, coasts and borders]
    #[arg(long, env = "PLAN_BASEMAP", value_name = "FILE")]
    pub basemap: Option<PathBuf>,

    /// Folder of terrain: .hgt tiles, GeoTIFF files [default: none, ground at 0 m assumed and reported as missing]
    #[arg(long, env = "PLAN_SRTM_DIR", value_name = "DIR")]
    pub srtm_dir: Option<PathBuf>,

    /// Folder of fetched terrain, into which the page fetches more; its default is used where no --srtm-dir is
    /// named [default: groundwave/terrain in the cache folder of the user]
    #[arg(long, env = "GROUNDWAVE_TERRAIN_CACHE", value_name = "DIR",
        value_parser = PathBufValueParser::new().try_map(folder_path))]
    pub terrain_cache: Option<PathBuf>,

    /// Data set that the page fetches: glo30 (Copernicus, 30 m, surface) or srtm (30 m, surface)
    #[arg(
        long,
        env = "GROUNDWAVE_TERRAIN_SOURCE",
        value_name = "NAME",
        value_parser = source_parser(),
        hide_possible_values = true,
        default_value = "glo30"
    )]
    pub terrain_source: String,

    /// Address of a mirror of that data set with the same paths [default: that of the data set]
    #[arg(long, env = "GROUNDWAVE_TERRAIN_URL", value_name = "URL", value_parser = mirror)]
    pub terrain_url: Option<String>,

    /// Fetch no terrain for the page
    #[arg(long, env = "PLAN_OFFLINE", value_parser = BoolishValueParser::new())]
    pub offline: bool,

    /// Folder of land cover: GeoTIFF files of ESA WorldCover, NLCD, CORINE, canopy or building heights, or of
    /// classes in a classes.toml; or the address (https://) of one such file, which is read by windows [default: that
    /// which the page fetched, beside the fetched terrain]
    #[arg(long, env = "PLAN_LAND_COVER", value_name = "DIR|URL")]
    pub land_cover: Option<PathBuf>,

    /// Address of a mirror of the land cover that the page fetches, ESA WorldCover 2021 [default: that of the
    /// data set]
    #[arg(long, env = "GROUNDWAVE_LAND_COVER_URL", value_name = "URL", value_parser = mirror)]
    pub land_cover_url: Option<String>,

    /// Take ground without a tile as known, at 0 m above sea level: open sea, or flat earth
    #[arg(long, env = "PLAN_FLAT_EARTH", value_parser = BoolishValueParser::new())]
    pub flat_earth: bool,

    /// Height between posts of the terrain: `interpolated` between four, or that of the `nearest` one
    /// [default: interpolated]
    #[arg(long, env = "PLAN_POSTS", value_name = "WAY", value_parser = posts_parser())]
    pub posts: Option<Posts>,

    /// Memory of decoded terrain, MB: the least recently used is dropped and decoded again when needed
    /// [default: a quarter of the machine's]
    #[arg(long = "memory", env = "PLAN_MEMORY", value_name = "MB", value_parser = memory_mb)]
    pub memory_mb: Option<u64>,

    /// Processor of placements: `cpu`; `gpu`, with the same sites, or the cpu with the reason in the log; `auto`
    #[arg(
        long,
        env = "PLAN_ENGINE",
        value_name = "ENGINE",
        default_value = "cpu",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub engine: EngineArg,

    /// EGM96 geoid grid [default: none, undulation 0 m]
    #[arg(long, env = "PLAN_GEOID", value_name = "FILE")]
    pub geoid: Option<PathBuf>,

    /// Record every command to a new log file, for `replay`; it starts with the content of the store,
    /// which includes secrets of the gateway, and has mode 0600. Each further start has a file of its
    /// own: NAME.2.gwlog, NAME.3.gwlog and so on
    #[arg(long, env = "GROUNDWAVE_RECORD", value_name = "FILE",
        value_parser = PathBufValueParser::new().try_map(file_path))]
    pub record: Option<PathBuf>,

    /// Log to list on the page for replay; can be given several times
    #[arg(long = "replay", value_name = "FILE")]
    pub replays: Vec<PathBuf>,

    /// Configuration of the gateway.
    #[command(flatten)]
    pub gateway: GatewayConfig,
}

impl ServerConfig {
    /// `true` if a service is served.
    #[must_use]
    pub fn has(&self, service: Service) -> bool {
        self.services.is_empty() || self.services.contains(&service)
    }

    /// Refuses options on the command line of a service that is not served.
    ///
    /// # Errors
    /// With the first such option.
    pub fn refuse_unserved(&self) -> Result<(), Failure> {
        let refusal = match (self.has(Service::Planning), self.has(Service::Gateway)) {
            (false, _) => self.service_options.refusal_of_planning(),
            (_, false) => self.service_options.refusal_of_gateway(),
            (true, true) => None,
        };
        refusal.map_or(Ok(()), |refusal| Err(Failure::Input(refusal)))
    }

    /// Source of the page's files, with its base map.
    pub(super) fn frontend(&self) -> Result<Frontend, Failure> {
        let source = match &self.frontend {
            Some(folder) if folder.is_dir() => Source::Folder(folder.clone()),
            Some(folder) => {
                return Err(Failure::Input(format!(
                    "missing frontend folder {}",
                    folder.display()
                )));
            }
            None => Some(PathBuf::from("frontend"))
                .filter(|folder| folder.is_dir())
                .map_or(Source::BuiltIn, Source::Folder),
        };
        let archive = "a PMTiles archive";
        require_file_if_some("--basemap", self.basemap.as_deref(), archive)?;
        let basemap =
            self.basemap.as_deref().map(Basemap::open).transpose().map_err(Failure::Input)?;
        Ok(Frontend { source, basemap })
    }

    /// The logs to list, each read once.
    pub(super) fn logs(&self) -> Result<Vec<StoredLog>, Failure> {
        let logs = self.replays.iter().map(|path| {
            require_file("--replay", path, "a log (.gwlog)")?;
            let log = open_log(ReplayWorld::new::<Snapshot>(world), path);
            log.map_err(|why| Failure::Input(format!("invalid --replay {}: {why}", path.display())))
        });
        logs.collect()
    }

    /// Records each command from now on to a new file, which begins with the content of the store.
    pub(super) fn record(
        &self,
        path: &Path,
        inputs: BTreeMap<String, String>,
        engine: &mut Engine<Snapshot>,
    ) -> Result<(), Failure> {
        let header = Header { format: FORMAT, seed: 0, step_ns: STEP_NS, inputs };
        let (journal, path) = FileJournal::create_beside(path, &header).map_err(Failure::input)?;
        groundwave_http::restrict_to_owner(&path)?;
        tracing::info!("recorded to {}", path.display());
        let started = engine.record_from_here(journal);
        started.map_err(Failure::Machine)?;
        engine.checkpoint_every(CHECKPOINT_TICKS);
        Ok(())
    }
}
