//! Registry of jobs, and their order of execution.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_http::Problem;
use groundwave_http::admission::Source;
use groundwave_http::spans::in_span;
use groundwave_model::coverage::LossSource;
use groundwave_model::terrain::{SharedTerrain, Terrain};
use groundwave_simulation::coverage::CoverageJob;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::super::fair_queue::FairQueue;
use super::job::{Job, JobRequest};

/// Retention of an ended job.
pub const RETENTION: Duration = Duration::from_secs(600);

/// Jobs kept at once, waiting ones included: half a gigabyte of the largest ones.
pub const JOBS_MAX: usize = 256;

/// Jobs of a client that have not ended: others have the rest.
pub const PENDING_PER_CLIENT_MAX: usize = 192;

/// Wait recommended to a client when there are too many jobs, s.
const RETRY_S: u32 = 5;

/// Cause of failure of a job that was deleted before its end.
const CANCELLED: &str = "the job was cancelled";

/// Cells between two words of progress: some milliseconds of work.
const CELLS_PER_STEP: u32 = 2048;

/// The same with losses of another processor, each of whose calls takes a millisecond.
const CELLS_PER_CALL: u32 = 1 << 15;

/// A job that is kept.
struct Slot {
    job: Arc<Job>,
    client: Source,
    /// Rank among the jobs that ended, the earliest first; `None` before its end.
    ended: Option<u64>,
}

/// Jobs that are kept.
#[derive(Default)]
struct Table {
    slots: BTreeMap<Uuid, Slot>,
    ends: u64,
}

impl Table {
    /// Evicts the job that ended first, of the client with the most ended ones; whether there was one.
    fn evict(&mut self) -> bool {
        let mut ended = BTreeMap::<Source, (usize, u64, Uuid)>::new();
        for (id, slot) in &self.slots {
            let Some(rank) = slot.ended else { continue };
            let first = ended.entry(slot.client).or_insert((0, rank, *id));
            first.0 += 1;
            if rank < first.1 {
                (first.1, first.2) = (rank, *id);
            }
        }
        let most = ended.values().max_by_key(|(count, rank, _)| (*count, Reverse(*rank)));
        let evicted = most.map(|(_, _, id)| *id);
        evicted.is_some_and(|id| self.remove(id).is_some())
    }

    /// Cancels a job and forgets it.
    fn remove(&mut self, id: Uuid) -> Option<Arc<Job>> {
        let slot = self.slots.remove(&id)?;
        slot.job.cancel();
        Some(slot.job)
    }
}

/// Jobs in memory. Each uses all cores, so they take turns, and so do their clients.
#[derive(Clone)]
pub struct Registry {
    jobs: Arc<Mutex<Table>>,
    queue: Arc<FairQueue>,
    terrain: Arc<SharedTerrain>,
    stop: CancellationToken,
}

impl Registry {
    /// No jobs yet.
    #[must_use]
    pub fn new(terrain: Arc<SharedTerrain>, stop: CancellationToken) -> Self {
        Self { jobs: Arc::default(), queue: FairQueue::new(1, JOBS_MAX, JOBS_MAX), terrain, stop }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job with this id.
    ///
    /// # Errors
    /// When there is none, or it is no longer kept.
    pub fn get(&self, id: Uuid) -> Result<Arc<Job>, Problem> {
        let table = self.table();
        let found = table.slots.get(&id).map(|slot| Arc::clone(&slot.job));
        found.ok_or_else(|| Problem::not_found("coverage job", id))
    }

    /// Cancels a job, if it has not ended, and forgets it.
    ///
    /// # Errors
    /// When there is none, or it is no longer kept.
    pub fn delete(&self, id: Uuid) -> Result<(), Problem> {
        let removed = self.table().remove(id).map(drop);
        removed.ok_or_else(|| Problem::not_found("coverage job", id))
    }

    /// Takes a job of `client` on. It runs without anybody watching, and is evicted [`RETENTION`]
    /// after its end, or earlier when the table is full. Losses come from `source`, where there is one.
    ///
    /// # Errors
    /// When a value is not allowed or there are too many jobs that have not ended.
    pub fn begin(
        &self,
        id: Uuid,
        client: Source,
        asked: JobRequest,
        source: Option<Arc<dyn LossSource>>,
    ) -> Result<Uuid, Problem> {
        let work = CoverageJob::of_sites(asked.setups.clone(), asked.grid, self.terrain.current())?;
        let work = match source {
            Some(source) => work.with_losses(source),
            None => work,
        };
        let job = Arc::new(Job::new(id, asked, self.terrain.has_cover()));
        {
            let mut table = self.table();
            let pending = table.slots.values().filter(|slot| slot.ended.is_none());
            let own = pending.filter(|slot| slot.client == client).count();
            if own >= PENDING_PER_CLIENT_MAX {
                let what = format!(
                    "too many coverage jobs wait: found {own}, allowed {PENDING_PER_CLIENT_MAX}; \
                     DELETE /api/v1/coverage/ID cancels one"
                );
                let status = StatusCode::TOO_MANY_REQUESTS;
                return Err(Problem::new(status, what).retry_after(RETRY_S));
            }
            if table.slots.len() >= JOBS_MAX && !table.evict() {
                let what =
                    format!("too many coverage jobs of all clients wait: allowed {JOBS_MAX}");
                return Err(Problem::unavailable(what).retry_after(RETRY_S));
            }
            let slot = Slot { job: Arc::clone(&job), client, ended: None };
            table.slots.insert(id, slot);
        }
        tokio::spawn(self.clone().run(job, client, work));
        Ok(id)
    }

    async fn run(self, job: Arc<Job>, client: Source, work: CoverageJob) {
        let (id, cancelled) = (job.id, job.cancelled());
        let outcome = tokio::select! {
            outcome = self.compute(&job, client, work) => outcome,
            // A job that waits leaves its queue; one that runs ends at its next step.
            () = cancelled.cancelled() => Err(CANCELLED.to_owned()),
        };
        if let Err(why) = outcome {
            job.end(Err(why));
        }
        {
            let mut table = self.table();
            table.ends += 1;
            let rank = table.ends;
            if let Some(slot) = table.slots.get_mut(&id) {
                slot.ended = Some(rank);
            }
        }
        drop(job);
        tokio::select! {
            () = tokio::time::sleep(RETENTION) => {}
            () = self.stop.cancelled() => {}
            () = cancelled.cancelled() => {}
        }
        self.table().remove(id);
    }

    /// Computes a job when the client's turn comes; an error is one that the job does not know yet.
    async fn compute(
        &self,
        job: &Arc<Job>,
        client: Source,
        mut work: CoverageJob,
    ) -> Result<(), String> {
        let permit = self.queue.acquire(client).await.map_err(|problem| problem.detail)?;
        let (worker, stop) = (Arc::clone(job), self.stop.clone());
        let computed = tokio::task::spawn_blocking(move || {
            worker.begin();
            let outcome = catch_unwind(AssertUnwindSafe(|| compute(&worker, &mut work, &stop)));
            let panicked =
                || Err("the computation panicked; the server's log says more".to_owned());
            worker.end(outcome.unwrap_or_else(|_| panicked()));
            drop(permit);
        });
        in_span("coverage", computed)
            .await
            .map_err(|err| format!("the computation was lost: {err}"))
    }
}

fn compute(job: &Job, work: &mut CoverageJob, stop: &CancellationToken) -> Result<(), String> {
    let cancelled = job.cancelled();
    loop {
        if stop.is_cancelled() {
            return Err("the server is stopping".to_owned());
        }
        if cancelled.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        let before = work.progress().rows_done;
        let cells = if work.engine_use().is_some() { CELLS_PER_CALL } else { CELLS_PER_STEP };
        let after = work.step(cells);
        job.note(work.engine_use());
        let rows = before..after.rows_done;
        let found = rows.flat_map(|row| work.row(row).iter().zip(work.servers(row)));
        job.add(after.rows_done, found);
        if after.is_done() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::radio::Environment;
    use groundwave_model::terrain::{Flat, GeoPoint};
    use groundwave_simulation::coverage::{CoverageRequest, Grid, Sampling};

    use super::*;
    use crate::wire::coverage::JobStatus;
    use crate::wire::radio::default_station;

    fn asked() -> JobRequest {
        let position = GeoPoint::new(57.0, 11.0).unwrap();
        JobRequest {
            source: Uuid::nil(),
            radius_km: 5.0,
            samples: 8,
            sources: vec![Uuid::nil()],
            setups: vec![CoverageRequest {
                position,
                transmitter: default_station(),
                receiver: default_station(),
                environment: Environment::default(),
                packet_octets: 1500,
                sampling: Sampling::Count(8),
                radius_m: f64::INFINITY,
            }],
            grid: Grid::square(position, 5_000.0, 4).unwrap(),
        }
    }

    fn registry() -> Registry {
        Registry::new(
            Arc::new(SharedTerrain::new(Arc::new(Flat::default()))),
            CancellationToken::new(),
        )
    }

    fn client(last: usize) -> Source {
        let last = u8::try_from(last).unwrap();
        Source::of(std::net::IpAddr::from([192, 0, 2, last]))
    }

    async fn done(job: &Job) {
        let mut progress = job.watch();
        let ended = progress.wait_for(|progress| progress.status == JobStatus::Done);
        ended.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_is_evicted_ten_minutes_after_its_end_and_not_before() {
        let registry = registry();
        let id = registry.begin(Uuid::from_u128(1), client(1), asked(), None).unwrap();
        done(&registry.get(id).unwrap()).await;
        tokio::time::sleep(Duration::from_secs(599)).await;
        assert_eq!(registry.get(id).unwrap().progress().rows_done, 4);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let gone = registry.get(id).unwrap_err();
        assert_eq!(gone.status, 404);
    }

    #[tokio::test]
    async fn a_stream_ends_with_failed_when_the_server_stops() {
        use axum::response::IntoResponse;
        use groundwave_http::streams::OpenStreams;
        let stop = CancellationToken::new();
        // Its turn never comes.
        let job = Arc::new(Job::new(Uuid::from_u128(1), asked(), false));
        let stream = super::super::events::events(job, stop.clone());
        let permit = OpenStreams::new(1, 1).open(client(1)).unwrap();
        let body = permit.events(stream).into_response().into_body();
        stop.cancel();
        let bytes = axum::body::to_bytes(body, 1 << 16).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.starts_with("event: started"), "{text}");
        let end = "event: failed\ndata: {\"detail\":\"the server is stopping\"}\n\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn jobs_are_bounded_and_room_comes_back() {
        let registry = registry();
        for i in 0..JOBS_MAX {
            let id = Uuid::from_u128(i as u128);
            registry.begin(id, client(i % 2), asked(), None).unwrap();
        }
        let id = Uuid::from_u128(JOBS_MAX as u128);
        let refused = registry.begin(id, client(9), asked(), None).unwrap_err();
        assert_eq!(refused.status, 503);
        assert_eq!(refused.retry_after_s, Some(RETRY_S));
        for i in 0..JOBS_MAX {
            done(&registry.get(Uuid::from_u128(i as u128)).unwrap()).await;
        }
        tokio::time::sleep(RETENTION + Duration::from_secs(1)).await;
        registry.begin(id, client(9), asked(), None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_table_evicts_what_ended_first_of_the_client_with_most() {
        let registry = registry();
        let id = |i: usize| Uuid::from_u128(i as u128);
        for i in 0..JOBS_MAX {
            registry.begin(id(i), client(usize::from(i == 0)), asked(), None).unwrap();
            done(&registry.get(id(i)).unwrap()).await;
            // The paused clock goes on once every other task waits: the registry has noted the end.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        registry.begin(id(JOBS_MAX), client(2), asked(), None).unwrap();
        // The oldest of all belongs to another client.
        assert!(registry.get(id(0)).is_ok());
        assert_eq!(registry.get(id(1)).unwrap_err().status, 404);
        assert!(registry.get(id(2)).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_leaves_room_for_others() {
        let registry = registry();
        let id = |i: usize| Uuid::from_u128(i as u128);
        for i in 0..PENDING_PER_CLIENT_MAX {
            registry.begin(id(i), client(1), asked(), None).unwrap();
        }
        let refused = registry.begin(id(999), client(1), asked(), None).unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (429, Some(RETRY_S)));
        registry.begin(id(999), client(2), asked(), None).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_deleted_job_leaves_the_queue_and_its_watchers_are_told() {
        let registry = registry();
        let [first, second] = [1, 2].map(Uuid::from_u128);
        registry.begin(first, client(1), asked(), None).unwrap();
        registry.begin(second, client(1), asked(), None).unwrap();
        let job = registry.get(second).unwrap();
        registry.delete(second).unwrap();
        assert_eq!(registry.delete(second).unwrap_err().status, 404);
        let mut progress = job.watch();
        let ended = progress.wait_for(|progress| progress.status == JobStatus::Failed);
        ended.await.unwrap();
        assert_eq!(job.failure().as_deref(), Some(CANCELLED));
        done(&registry.get(first).unwrap()).await;
    }
}
