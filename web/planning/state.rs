//! State of the planning server.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_engine::{Handle, Health, Recorded};
use groundwave_systems::Snapshot;
use groundwave_systems::deployment::{DeploymentId, DeploymentView, PlannedNode};
use groundwave_systems::site::NodeId;
use groundwave_systems::terrain::Terrain;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::coverage::Registry;
use super::kept::{Basis, Kept};
use super::turns::Turns;
use crate::http::Problem;
use crate::http::admission::Source;
use crate::http::streams::OpenStreams;

/// Long analyses of a client that may wait.
const WAITING_PER_CLIENT_MAX: usize = 64;
/// Long analyses of all clients that may wait.
const WAITING_MAX: usize = 512;
/// Coverage streams of a client.
const STREAMS_PER_CLIENT_MAX: usize = 256;
/// Coverage streams of all clients.
const STREAMS_MAX: usize = 1_024;

/// Probe of the store; the text describes it.
pub type StoreProbe = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Copies the store as of its last commit into a new file.
pub type StoreCopier = Arc<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// Source of static files.
#[derive(Debug, Clone)]
pub enum Frontend {
    /// A folder.
    Folder(PathBuf),
    /// Built-in page.
    BuiltIn,
}

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
    pub world: Handle<Snapshot>,
    /// Terrain.
    pub terrain: Arc<dyn Terrain>,
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
    /// Results of whole deployments.
    pub kept: Kept,
    analyses: Arc<Semaphore>,
    turns: Arc<Turns>,
}

impl Planner {
    /// Server over a world and its terrain.
    #[must_use]
    pub fn new(
        world: Handle<Snapshot>,
        terrain: Arc<dyn Terrain>,
        store: StoreProbe,
        copy: StoreCopier,
        frontend: Frontend,
        stop: CancellationToken,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Parts {
            world,
            jobs: Registry::new(Arc::clone(&terrain), stop.clone()),
            terrain,
            stop,
            store,
            copy,
            frontend,
            streams: OpenStreams::new(STREAMS_PER_CLIENT_MAX, STREAMS_MAX),
            kept: Kept::default(),
            analyses: Arc::new(Semaphore::new(cores)),
            // One core is left to short analyses.
            turns: Turns::new((cores - 1).max(1), WAITING_PER_CLIENT_MAX, WAITING_MAX),
        }))
    }

    /// Submits a command and waits until it is on disk.
    ///
    /// # Errors
    /// The refusal.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        Ok(self.world.submit(command)?.reply().await?)
    }

    /// Deployment with this id.
    ///
    /// # Errors
    /// 404.
    pub fn deployment(&self, id: Uuid) -> Result<Arc<DeploymentView>, Problem> {
        let view = self.world.view();
        let found = view.plan.deployments.get(&DeploymentId::new(id));
        found
            .cloned()
            .ok_or_else(|| Problem::not_found("deployment", id))
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

    /// Runs a short computation off the threads that serve connections, no more at once than there
    /// are cores.
    ///
    /// # Errors
    /// The computation's own, or 500 when it panicked.
    pub async fn analyse<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = Arc::clone(&self.analyses).acquire_owned().await;
        self.compute(permit, work).await
    }

    /// Runs a long computation when the client's turn comes. Short ones do not wait for it.
    ///
    /// # Errors
    /// 429 or 503 when too many wait; otherwise as [`Self::analyse`].
    pub async fn analyse_in_turn<T: Send + 'static>(
        &self,
        client: Source,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turns.take(client).await?;
        self.compute(turn, work).await
    }

    /// Runs a computation that holds `permit` until its end, also when its client went away.
    async fn compute<T: Send + 'static>(
        &self,
        permit: impl Send + 'static,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let terrain = Arc::clone(&self.terrain);
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work(&*terrain);
            drop(permit);
            outcome
        });
        done.await
            .unwrap_or_else(|err| Err(Problem::internal(format!("an analysis failed: {err}"))))
    }

    /// Inputs of an analysis of a whole deployment.
    #[must_use]
    pub fn basis(&self, deployment: &DeploymentView) -> Basis {
        let nodes = self
            .world
            .view()
            .plan
            .nodes_of(deployment.id)
            .cloned()
            .collect();
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
