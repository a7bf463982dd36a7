//! What handlers share.

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
use crate::http::Problem;

/// Asks the store whether it is reachable; the text says what it is.
pub type StoreProbe = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Copies the store as of its last commit into a new file.
pub type StoreCopier = Arc<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// Where static files come from.
#[derive(Debug, Clone)]
pub enum Frontend {
    /// A folder.
    Folder(PathBuf),
    /// The page built into the program.
    BuiltIn,
}

/// The server. Cheap to clone: every request has one.
#[derive(Clone)]
pub struct Planner(Arc<Parts>);

impl Deref for Planner {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What the server is made of.
pub struct Parts {
    /// The world.
    pub world: Handle<Snapshot>,
    /// The ground.
    pub terrain: Arc<dyn Terrain>,
    /// Coverage jobs.
    pub jobs: Registry,
    /// Cancelled when the server stops, so that streams end.
    pub stop: CancellationToken,
    /// How to reach the store.
    pub store: StoreProbe,
    /// How to copy the store.
    pub copy: StoreCopier,
    /// Where static files come from.
    pub frontend: Frontend,
    analyses: Arc<Semaphore>,
}

impl Planner {
    /// A server over `world`, whose nodes stand on `terrain`.
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
            analyses: Arc::new(Semaphore::new(cores)),
        }))
    }

    /// Hands a command to the world and waits until it is on disk.
    ///
    /// # Errors
    /// What the world refused.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        Ok(self.world.submit(command)?.reply().await?)
    }

    /// The deployment with this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn deployment(&self, id: Uuid) -> Result<Arc<DeploymentView>, Problem> {
        let view = self.world.view();
        let found = view.plan.deployments.get(&DeploymentId::new(id));
        found
            .cloned()
            .ok_or_else(|| Problem::not_found("deployment", id))
    }

    /// The node with this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn node(&self, id: Uuid) -> Result<Arc<PlannedNode>, Problem> {
        let view = self.world.view();
        let found = view.plan.nodes.get(&NodeId::new(id));
        found.cloned().ok_or_else(|| Problem::not_found("node", id))
    }

    /// Runs a computation off the threads that serve connections, no more at once than there are
    /// cores.
    ///
    /// # Errors
    /// What the computation refused, or that it panicked.
    pub async fn analyse<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Terrain) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = Arc::clone(&self.analyses).acquire_owned().await;
        let terrain = Arc::clone(&self.terrain);
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work(&*terrain);
            drop(permit);
            outcome
        });
        done.await
            .unwrap_or_else(|err| Err(Problem::internal(format!("an analysis failed: {err}"))))
    }

    /// Whether the world takes commands.
    ///
    /// # Errors
    /// When it does not.
    pub fn well(&self) -> Result<(), Problem> {
        match self.world.health() {
            Health::Ready => Ok(()),
            Health::Stopped => Err(Problem::unavailable("the world has stopped")),
            Health::Broken(what) => Err(Problem::unavailable(format!("the world broke: {what}"))),
        }
    }
}
