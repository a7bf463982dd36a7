//! Which jobs there are, and their turns.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groundwave_systems::coverage::CoverageJob;
use groundwave_systems::terrain::Terrain;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::job::{Asked, Job};
use crate::http::Problem;

/// How long a job that ended is kept.
pub const RETENTION: Duration = Duration::from_secs(600);

/// Jobs kept at once, waiting ones included: half a gigabyte of the largest ones.
pub const JOBS_MAX: usize = 256;

/// Cells between two words of progress: some milliseconds of work.
const CELLS_PER_STEP: u32 = 2048;

/// Jobs in memory. Each uses all cores, so they take turns.
#[derive(Clone)]
pub struct Registry {
    jobs: Arc<Mutex<BTreeMap<Uuid, Arc<Job>>>>,
    turn: Arc<Semaphore>,
    terrain: Arc<dyn Terrain>,
    stop: CancellationToken,
}

impl Registry {
    /// No jobs yet.
    #[must_use]
    pub fn new(terrain: Arc<dyn Terrain>, stop: CancellationToken) -> Self {
        Self {
            jobs: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
            terrain,
            stop,
        }
    }

    /// The job with this id.
    ///
    /// # Errors
    /// When there is none, or it is no longer kept.
    pub fn get(&self, id: Uuid) -> Result<Arc<Job>, Problem> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = jobs.get(&id).cloned();
        found.ok_or_else(|| Problem::not_found("coverage job", id))
    }

    /// Takes a job on. It runs without anybody watching, and is evicted [`RETENTION`] after its
    /// end.
    ///
    /// # Errors
    /// When a value is not allowed or there are too many jobs.
    pub fn begin(&self, id: Uuid, asked: Asked) -> Result<Uuid, Problem> {
        let work = CoverageJob::new(asked.setup.clone(), asked.grid, Arc::clone(&self.terrain))?;
        let job = Arc::new(Job::new(id, asked));
        {
            let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            if jobs.len() >= JOBS_MAX {
                let what = format!(
                    "{JOBS_MAX} coverage jobs are kept, the most; each goes {} minutes after its end",
                    RETENTION.as_secs() / 60
                );
                return Err(Problem::unavailable(what));
            }
            jobs.insert(id, Arc::clone(&job));
        }
        tokio::spawn(self.clone().run(job, work));
        Ok(id)
    }

    async fn run(self, job: Arc<Job>, mut work: CoverageJob) {
        let permit = Arc::clone(&self.turn).acquire_owned().await;
        let (worker, stop) = (Arc::clone(&job), self.stop.clone());
        let computed = tokio::task::spawn_blocking(move || {
            worker.begin();
            let outcome = catch_unwind(AssertUnwindSafe(|| compute(&worker, &mut work, &stop)));
            let panicked =
                || Err("the computation panicked; the server's log says more".to_owned());
            worker.end(outcome.unwrap_or_else(|_| panicked()));
            drop(permit);
        });
        if let Err(err) = computed.await {
            job.end(Err(format!("the computation was lost: {err}")));
        }
        tokio::select! {
            () = tokio::time::sleep(RETENTION) => {}
            () = self.stop.cancelled() => {}
        }
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.remove(&job.id);
    }
}

fn compute(job: &Job, work: &mut CoverageJob, stop: &CancellationToken) -> Result<(), String> {
    loop {
        if stop.is_cancelled() {
            return Err("the server is stopping".to_owned());
        }
        let before = work.progress().rows_done;
        let after = work.step(CELLS_PER_STEP);
        let rows = before..after.rows_done;
        job.add(after.rows_done, rows.flat_map(|row| work.row(row)));
        if after.is_done() {
            return Ok(());
        }
    }
}
