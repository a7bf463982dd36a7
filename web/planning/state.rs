//! State of the planning server.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use groundwave_engine::{Handle, Health, Recorded};
use groundwave_http::Problem;
use groundwave_http::admission::Source;
use groundwave_http::spans::in_span;
use groundwave_http::streams::OpenStreams;
use groundwave_model::coverage::LossSource;
use groundwave_model::coverage::placement::{Exact, ServedCells};
use groundwave_model::terrain::{SharedTerrain, Terrain, TileId};
use groundwave_page::Frontend;
use groundwave_simulation::WorldView;
use groundwave_simulation::deployment::{DeploymentId, DeploymentView, PlannedNode};
use groundwave_simulation::site::{NodeId, RenewTerrain};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::analyses::Analyses;
use super::analysis_cache::{AnalysisCache, Basis};
use super::change_log::ChangeLogs;
use super::coverage::Registry;
use super::ground::GroundFetches;
use super::live_coverages::LiveCoverages;
use super::recorder::RecordDocument;
use super::replay_store::{LogTerrain, ReplayStore, StoredLog};
use super::replay_world::{ReplayWorld, Replaying};
use super::tile_cache::TileCache;

/// Coverage streams of a client.
const STREAMS_PER_CLIENT_MAX: usize = 256;
/// Coverage streams of all clients.
const STREAMS_MAX: usize = 1_024;

/// Probe of the store; the text describes it.
pub type StoreProbe = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Copies the store as of its last commit into a new file.
pub type StoreCopier = Arc<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// Planning server. Cheap to clone.
#[derive(Clone)]
pub struct Planner(Arc<Parts>);

impl Deref for Planner {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Services of the server.
pub struct Parts {
    /// The world.
    pub world: Handle<WorldView>,
    /// Terrain.
    pub terrain: Arc<SharedTerrain>,
    /// Fetches of more terrain.
    pub ground: GroundFetches,
    /// Coverage jobs.
    pub jobs: Registry,
    /// Cancelled when the server stops, so that streams end.
    pub stop: CancellationToken,
    /// Probe of the store.
    pub store: StoreProbe,
    /// Copier of the store.
    pub copy: StoreCopier,
    /// Source of static files.
    pub frontend: Frontend,
    /// Open streams of coverage jobs.
    pub streams: Arc<OpenStreams<Source>>,
    /// Cached results of whole deployments.
    pub cache: AnalysisCache,
    /// Changes of the deployments that somebody watches.
    pub changes: ChangeLogs,
    /// Live coverages by deployment.
    pub live: LiveCoverages,
    /// Uploaded logs.
    pub replays: ReplayStore,
    /// World in which logs are replayed.
    pub replay_world: ReplayWorld,
    /// Opens the terrain of a log.
    pub log_terrain: LogTerrain,
    /// Cached pictures of the ground.
    pub tiles: TileCache,
    analyses: Analyses,
    /// Recorder of documents, where the program has one.
    recorder: OnceLock<Arc<RecordDocument>>,
    /// Source of the cells that sites serve, where it is another than the exact evaluation.
    served: OnceLock<Arc<dyn ServedCells>>,
    /// Source of the losses of coverages, where there is another processor.
    losses: OnceLock<Arc<dyn LossSource>>,
}

impl Planner {
    /// Server over a world and its terrain.
    #[must_use]
    pub fn new(
        world: Handle<WorldView>,
        terrain: Arc<dyn Terrain>,
        store: StoreProbe,
        copy: StoreCopier,
        replay_world: ReplayWorld,
        log_terrain: LogTerrain,
        frontend: Frontend,
        stop: CancellationToken,
    ) -> Self {
        let terrain = Arc::new(SharedTerrain::new(terrain));
        let analyses = Analyses::new(Arc::clone(&terrain));
        Self(Arc::new(Parts {
            world,
            jobs: Registry::new(Arc::clone(&terrain), stop.clone()),
            terrain,
            ground: GroundFetches::default(),
            stop,
            store,
            copy,
            frontend,
            streams: OpenStreams::new(STREAMS_PER_CLIENT_MAX, STREAMS_MAX),
            cache: AnalysisCache::default(),
            changes: ChangeLogs::default(),
            live: LiveCoverages::default(),
            replays: ReplayStore::default(),
            replay_world,
            log_terrain,
            tiles: TileCache::default(),
            analyses,
            recorder: OnceLock::new(),
            served: OnceLock::new(),
            losses: OnceLock::new(),
        }))
    }

    /// Sets the recorder of documents that are uploaded for a replay; the first call counts.
    pub fn set_recorder(&self, recorder: RecordDocument) {
        let _ = self.recorder.set(Arc::new(recorder));
    }

    /// Recorder of documents; none where only logs are replayed.
    #[must_use]
    pub fn recorder(&self) -> Option<Arc<RecordDocument>> {
        self.recorder.get().cloned()
    }

    /// Sets another processor for placement and coverages; the first call counts.
    pub fn set_engine(&self, engine: Arc<impl ServedCells + LossSource + 'static>) {
        let _ = self.served.set(Arc::clone(&engine) as Arc<dyn ServedCells>);
        let _ = self.losses.set(engine);
    }

    /// Source of the losses of coverages; `None` for the exact evaluation.
    #[must_use]
    pub fn losses(&self) -> Option<Arc<dyn LossSource>> {
        self.losses.get().cloned()
    }

    /// Source of the cells that sites serve: by default the exact evaluation.
    #[must_use]
    pub fn served(&self) -> Arc<dyn ServedCells> {
        self.served.get().map_or_else(|| Arc::new(Exact) as Arc<dyn ServedCells>, Arc::clone)
    }

    /// Takes other ground, after `tiles` were fetched: what was computed over the one before is dropped or
    /// computed again, and clients that watch a deployment get an event.
    ///
    /// # Errors
    /// When the world takes no commands.
    pub async fn renew_terrain(
        &self,
        terrain: Arc<dyn Terrain>,
        tiles: &[TileId],
    ) -> Result<(), Problem> {
        self.terrain.replace(Arc::clone(&terrain));
        self.cache.clear();
        self.tiles.renew();
        for live in self.live.all() {
            let terrain = Arc::clone(&terrain);
            let renewal = tokio::task::spawn_blocking(move || live.renew(terrain));
            renewal.await.map_err(|err| Problem::internal(err.to_string()))?;
        }
        let renewed = self.submit(RenewTerrain {}).await;
        let tiles: Vec<_> = tiles.iter().map(ToString::to_string).collect();
        self.changes.add_to_all("ground", &json!({ "tiles": tiles }));
        renewed
    }

    /// Submits a command and waits until it is on disk.
    ///
    /// # Errors
    /// The refusal.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        let reply = self.world.submit(command)?.reply();
        Ok(in_span(C::NAME, reply).await?)
    }

    /// Deployment with this id.
    ///
    /// # Errors
    /// 404.
    pub fn deployment(&self, id: Uuid) -> Result<Arc<DeploymentView>, Problem> {
        let view = self.world.view();
        let found = view.plan.deployments.get(&DeploymentId::new(id));
        found.cloned().ok_or_else(|| Problem::not_found("deployment", id))
    }

    /// Node with this id.
    ///
    /// # Errors
    /// 404.
    pub fn node(&self, id: Uuid) -> Result<Arc<PlannedNode>, Problem> {
        let view = self.world.view();
        let found = view.plan.nodes.get(&NodeId::new(id));
        found.cloned().ok_or_else(|| Problem::not_found("node", id))
    }

    /// Runs a short computation, see `Analyses::short`.
    ///
    /// # Errors
    /// The computation's own, or 500 when it panicked.
    pub async fn analyse<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.analyses.short(work).await
    }

    /// Runs a long computation in the fair queue, see `Analyses::long`.
    ///
    /// # Errors
    /// 429 or 503 when too many wait; otherwise as [`Self::analyse`].
    pub async fn analyse_queued<T: Send + 'static>(
        &self,
        client: Source,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.analyses.long(client, work).await
    }

    /// Runs a replay over the terrain of its log in the fair queue.
    ///
    /// # Errors
    /// 409 where the terrain is not that of the log; otherwise as [`Self::analyse_queued`].
    pub async fn replay_queued<T: Send + 'static>(
        &self,
        client: Source,
        log: Arc<StoredLog>,
        work: impl FnOnce(Replaying<'_>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (open, world) = (self.log_terrain.clone(), self.replay_world);
        let queued = self.analyse_queued(client, move |_| {
            let terrain =
                open(&log.info.inputs).map_err(|why| Problem::new(StatusCode::CONFLICT, why))?;
            work(Replaying { log: &log, world, terrain: &terrain })
        });
        queued.await
    }

    /// Reads or writes a whole document, see `Analyses::document`.
    ///
    /// # Errors
    /// As [`Self::analyse`].
    pub async fn transfer<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.analyses.document(work).await
    }

    /// Inputs of an analysis of a whole deployment.
    #[must_use]
    pub fn basis(&self, deployment: &DeploymentView) -> Basis {
        let nodes = self.world.view().plan.nodes_of(deployment.id).cloned().collect();
        Basis {
            deployment: deployment.id,
            environment: deployment.outline.environment.clone(),
            nodes,
        }
    }

    /// Checks that the world accepts commands.
    ///
    /// # Errors
    /// 503.
    pub fn well(&self) -> Result<(), Problem> {
        match self.world.health() {
            Health::Ready => Ok(()),
            Health::Full(what) => Err(Problem::unavailable(format!("storage: full: {what}"))),
            Health::Stopped => Err(Problem::unavailable("the world has stopped")),
            Health::Broken(what) => Err(Problem::unavailable(format!("the world broke: {what}"))),
        }
    }
}
