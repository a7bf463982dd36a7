//! Live coverages of deployments, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundwave_http::{Problem, id};
use groundwave_model::radio::Station;
use groundwave_model::terrain::Terrain;
use groundwave_simulation::coverage::live::LiveCoverage;
use groundwave_simulation::deployment::DeploymentId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::wire::mesh_coverage::MeshCoverageSetup;

/// Most deployments with a live coverage: each takes up to 200 MB, twice that with interference.
const LIVE_MAX: usize = 4;

/// Live coverage of a deployment.
pub struct Live {
    /// Distinguishes it from earlier ones of the deployment.
    pub epoch: Uuid,
    /// Settings without the failed nodes, which may change.
    pub setup: MeshCoverageSetup,
    /// Receiver of every cell.
    pub receiver: Station,
    /// Cancelled when it is replaced or deleted.
    pub stop: CancellationToken,
    /// Held while a layer is computed: tasks wait for it without a thread.
    coverage: tokio::sync::Mutex<LiveCoverage>,
    failure: Mutex<Option<String>>,
    /// Nodes taken as failed.
    failed: watch::Sender<Vec<Uuid>>,
    /// Number of changes so far: of cells, transmitters or progress.
    changes: watch::Sender<u64>,
}

impl Live {
    /// A live coverage that nobody follows yet.
    #[must_use]
    pub fn new(
        mut setup: MeshCoverageSetup,
        receiver: Station,
        coverage: LiveCoverage,
        stop: CancellationToken,
    ) -> Self {
        Self {
            epoch: id::mint(),
            failed: watch::Sender::new(std::mem::take(&mut setup.failed_node_ids)),
            setup,
            receiver,
            stop,
            coverage: tokio::sync::Mutex::new(coverage),
            failure: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// The coverage itself.
    pub async fn coverage(&self) -> tokio::sync::MutexGuard<'_, LiveCoverage> {
        self.coverage.lock().await
    }

    /// The coverage itself, for threads that compute.
    pub fn hold_coverage(&self) -> tokio::sync::MutexGuard<'_, LiveCoverage> {
        self.coverage.blocking_lock()
    }

    /// Nodes taken as failed, from now on.
    #[must_use]
    pub fn watch_failed(&self) -> watch::Receiver<Vec<Uuid>> {
        self.failed.subscribe()
    }

    /// Takes other nodes as failed, if that is the only difference to the settings. Returns true if so.
    pub fn fail(&self, setup: &MeshCoverageSetup) -> bool {
        let mut others = setup.clone();
        let failed = std::mem::take(&mut others.failed_node_ids);
        let is_same = others == self.setup;
        if is_same {
            self.failed.send_replace(failed);
        }
        is_same
    }

    /// Computes all cells again, over other ground.
    pub fn renew(&self, terrain: Arc<dyn Terrain>) {
        self.hold_coverage().renew(terrain);
        // Wakes those who follow the nodes.
        self.failed.send_modify(|_| {});
    }

    /// Number of changes so far, from now on.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Tells that something changed.
    pub fn tell(&self, failure: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Reason why the nodes cannot be followed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone()
    }
}

/// Live coverages by deployment.
#[derive(Default)]
pub struct LiveCoverages(Mutex<BTreeMap<DeploymentId, Arc<Live>>>);

impl LiveCoverages {
    fn table(&self) -> MutexGuard<'_, BTreeMap<DeploymentId, Arc<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The live coverage of a deployment.
    ///
    /// # Errors
    /// 404 without one.
    pub fn get(&self, deployment: DeploymentId) -> Result<Arc<Live>, Problem> {
        let found = self.table().get(&deployment).map(Arc::clone);
        found.ok_or_else(|| Problem::not_found("live coverage of a deployment", deployment))
    }

    /// All live coverages.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Live>> {
        self.table().values().map(Arc::clone).collect()
    }

    /// Adds a live coverage in place of the one before. Of more than [`LIVE_MAX`] the one begun first ends.
    pub fn set(&self, deployment: DeploymentId, live: Arc<Live>) {
        let mut table = self.table();
        if let Some(before) = table.insert(deployment, live) {
            before.stop.cancel();
        }
        while table.len() > LIVE_MAX {
            // Epochs rise with time.
            let oldest = table.iter().min_by_key(|(_, live)| live.epoch);
            let Some(oldest) = oldest.map(|(deployment, _)| *deployment) else {
                return;
            };
            if let Some(gone) = table.remove(&oldest) {
                gone.stop.cancel();
            }
        }
    }

    /// Ends the live coverage of a deployment.
    ///
    /// # Errors
    /// 404 without one.
    pub fn delete(&self, deployment: DeploymentId) -> Result<(), Problem> {
        let gone = self.table().remove(&deployment);
        let none = || Problem::not_found("live coverage of a deployment", deployment);
        gone.map(|live| live.stop.cancel()).ok_or_else(none)
    }

    /// Ends this live coverage if it is still the one of its deployment.
    pub fn end(&self, deployment: DeploymentId, live: &Arc<Live>) {
        let mut table = self.table();
        if table.get(&deployment).is_some_and(|own| Arc::ptr_eq(own, live)) {
            table.remove(&deployment);
        }
        live.stop.cancel();
    }
}
