//! Where analyses run: off the threads that serve connections, long ones also off the threads that
//! compute the world and below the priority of both.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use groundwave_engine::parallel::{self, BackgroundPool};
use groundwave_files::priority;
use groundwave_http::Problem;
use groundwave_http::admission::Source;
use groundwave_http::spans::in_span;
use groundwave_model::terrain::{SharedTerrain, Terrain};
use tokio::sync::{Semaphore, oneshot};

use super::fair_queue::{FairQueue, Permit};

/// Long analyses of a client that may wait.
const WAITING_PER_CLIENT_MAX: usize = 64;
/// Long analyses of all clients that may wait.
const WAITING_MAX: usize = 512;

/// Documents that are read or written at once.
const DOCUMENTS_MAX: usize = 2;

/// Outcome of a computation, or of a panic.
type Outcome<T> = Result<T, Problem>;

/// Analyses over a terrain.
#[derive(Clone)]
pub struct Analyses {
    terrain: Arc<SharedTerrain>,
    short: Arc<Semaphore>,
    documents: Arc<Semaphore>,
    long: Arc<FairQueue>,
    background: BackgroundPool,
}

impl Analyses {
    /// Analyses on this machine.
    #[must_use]
    pub fn new(terrain: Arc<SharedTerrain>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // A long analysis is a thread of its own, with those of the pool one for each core.
        let permits = (cores - 1).max(1);
        Self {
            terrain,
            short: Arc::new(Semaphore::new(cores)),
            documents: Arc::new(Semaphore::new(DOCUMENTS_MAX)),
            long: FairQueue::new(permits, WAITING_PER_CLIENT_MAX, WAITING_MAX),
            background: BackgroundPool::new(parallel::threads().saturating_sub(1), lower),
        }
    }

    /// Runs a short computation, no more at once than there are cores.
    ///
    /// # Errors
    /// The computation's own, or 500 when it panicked.
    pub async fn short<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Terrain) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let terrain = self.terrain.current();
        run(&self.short, move || work(&*terrain)).await
    }

    /// Reads or writes a whole document: an import, an export, a backup. Short computations do not wait
    /// for it.
    ///
    /// # Errors
    /// As [`Self::short`].
    pub async fn document<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        run(&self.documents, work).await
    }

    /// Runs a long computation that waits in the fair queue of the clients. Short ones and the world do
    /// not wait for it.
    ///
    /// # Errors
    /// 429 or 503 when too many wait; otherwise as [`Self::short`].
    pub async fn long<T: Send + 'static>(
        &self,
        client: Source,
        work: impl FnOnce(&dyn Terrain) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let permit = self.long.acquire(client).await?;
        let terrain = self.terrain.current();
        let done = self.in_background(permit, move || work(&*terrain))?;
        in_span("analysis", done).await.unwrap_or_else(|err| Err(failed(&err)))
    }

    /// Runs `work` on a thread of its own, which holds `permit` until its end, also when its client
    /// went away.
    fn in_background<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl FnOnce() -> Outcome<T> + Send + 'static,
    ) -> Outcome<oneshot::Receiver<Outcome<T>>> {
        let (give, done) = oneshot::channel();
        let background = self.background.clone();
        // Not a thread of the runtime: one cannot be given its priority back.
        let thread = std::thread::Builder::new().name("analysis".to_owned());
        let spawned = thread.spawn(move || {
            lower();
            let outcome = catch_unwind(AssertUnwindSafe(|| background.install(work)));
            let panicked = || Err(failed(&"it panicked; the server's log says more"));
            drop(permit);
            // The client may have gone away.
            let _ = give.send(outcome.unwrap_or_else(|_| panicked()));
        });
        match spawned {
            Ok(_) => Ok(done),
            Err(err) => Err(Problem::unavailable(format!("no thread for an analysis: {err}"))),
        }
    }
}

/// Runs `work` with one of `permits`, which it holds until its end, also when its client went away.
async fn run<T: Send + 'static>(
    permits: &Arc<Semaphore>,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let permit = Arc::clone(permits).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let outcome = work();
        drop(permit);
        outcome
    });
    done.await.unwrap_or_else(|err| Err(failed(&err)))
}

fn failed(why: &dyn std::fmt::Display) -> Problem {
    Problem::internal(format!("an analysis failed: {why}"))
}

fn lower() {
    if let Err(err) = priority::lower() {
        tracing::debug!(%err, "a long analysis has the usual priority");
    }
}
