//! Registry of jobs, and their order of execution.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groundwave_systems::coverage::CoverageJob;
use groundwave_systems::terrain::Terrain;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::job::{Job, JobRequest};
use crate::http::Problem;

/// Retention of an ended job.
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
    pub fn begin(&self, id: Uuid, asked: JobRequest) -> Result<Uuid, Problem> {
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

#[cfg(test)]
mod tests {
    use groundwave_systems::coverage::{CoverageRequest, Grid, Sampling};
    use groundwave_systems::radio::Environment;
    use groundwave_systems::terrain::{Flat, GeoPoint};

    use super::*;
    use crate::planning::wire::coverage::JobStatus;
    use crate::planning::wire::radio::default_station;

    fn asked() -> JobRequest {
        let position = GeoPoint::new(57.0, 11.0).unwrap();
        JobRequest {
            source: Uuid::nil(),
            radius_km: 5.0,
            samples: 8,
            setup: CoverageRequest {
                position,
                transmitter: default_station(),
                receiver: default_station(),
                environment: Environment::default(),
                packet_octets: 1500,
                sampling: Sampling::Count(8),
                radius_m: f64::INFINITY,
            },
            grid: Grid::square(position, 5_000.0, 4).unwrap(),
        }
    }

    fn registry() -> Registry {
        Registry::new(Arc::new(Flat::default()), CancellationToken::new())
    }

    async fn done(job: &Job) {
        let mut progress = job.watch();
        let ended = progress.wait_for(|progress| progress.status == JobStatus::Done);
        ended.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_is_evicted_ten_minutes_after_its_end_and_not_before() {
        let registry = registry();
        let id = registry.begin(Uuid::from_u128(1), asked()).unwrap();
        done(&registry.get(id).unwrap()).await;
        tokio::time::sleep(Duration::from_secs(599)).await;
        assert_eq!(registry.get(id).unwrap().progress().rows_done, 4);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let gone = registry.get(id).unwrap_err();
        assert_eq!(gone.status, 404);
    }

    #[tokio::test(start_paused = true)]
    async fn jobs_are_bounded_and_room_comes_back() {
        let registry = registry();
        for i in 0..JOBS_MAX {
            registry.begin(Uuid::from_u128(i as u128), asked()).unwrap();
        }
        let id = Uuid::from_u128(JOBS_MAX as u128);
        let refused = registry.begin(id, asked()).unwrap_err();
        assert_eq!(refused.status, 503);
        for i in 0..JOBS_MAX {
            done(&registry.get(Uuid::from_u128(i as u128)).unwrap()).await;
        }
        tokio::time::sleep(RETENTION + Duration::from_secs(1)).await;
        registry.begin(id, asked()).unwrap();
    }
}
