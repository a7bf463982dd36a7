//! The driver of a sweep: asks for the units that are missing until none is, and takes them in.
//!
//! Units in the folder are done, units in the store only need to be fetched. Jobs follow each other while
//! others run, so that no executor waits for the last unit of a job. The result of a job is used for the
//! reasons of failures alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundwave_engine::Pacer;
use groundwave_files::causes::with_causes;
use groundwave_files::wall::MachineClock;
use groundwave_sweep::{Sweep, SweepError, Unit};
use groundwave_terrain::Supplying;
use rayon::prelude::*;
use thiserror::Error;
use tokio::runtime::Runtime;

use super::job::{Address, Job, JobError, State};
use super::keys;
use super::missing::Missing;
use super::status::status;
use super::store::{Store, StoreError};
use super::tiles::Tile;

/// Failures in a row without a unit after which the sweep fails.
const JOBS_IN_VAIN: u32 = 5;
/// Time between two looks at jobs.
const LOOK: Duration = Duration::from_millis(100);
/// Jobs that are looked at at a time.
const LOOKS: usize = 16;
/// Time between two listings of the store, ms; longer where listing takes long.
const LIST_MS: u64 = 500;
/// Time between two looks for executors, ms.
const SLOTS_MS: u64 = 5_000;
/// Longest pause after a failure, s.
const PAUSE_MAX_S: u64 = 5;
/// Time without a unit after which it is told that there are no executors, ms.
const IDLE_MS: u64 = 10_000;
/// Time after which a job that its scheduler does not know is lost, ms: a new one is known at once.
const UNKNOWN_MS: u64 = 5_000;

/// Reasons why a sweep is not complete.
#[derive(Debug, Error)]
pub enum DriverError {
    /// The folder of the sweep.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Jobs fail.
    #[error("{JOBS_IN_VAIN} jobs in a row made no unit")]
    Jobs(#[source] JobError),
    /// A file of terrain cannot be read any more.
    #[error("read tile {path}")]
    Tile {
        /// File of the tile.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Threads of the machine.
    #[error("start a runtime")]
    Runtime(#[source] io::Error),
}

/// A sweep on a cluster.
pub struct Driver<'s> {
    /// The sweep, in its folder.
    pub sweep: &'s Sweep,
    /// The store that driver and executors share.
    pub store: &'s Store,
    /// The scheduler.
    pub cluster: &'s Address,
    /// Files that supply the heights.
    pub terrain: &'s [Supplying],
    /// Ends the run when set; units that executors are evaluating are kept.
    pub stop: &'s AtomicBool,
    /// Hears of each unit, and whether it was there.
    pub done: &'s (dyn Fn(Unit, bool) + Sync),
    /// Hears what goes wrong and is tried again.
    pub tell: &'s (dyn Fn(&str) + Sync),
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Driven {
    /// Units of the sweep.
    pub units: usize,
    /// Of them, those that were in the folder or in the store.
    pub found: usize,
    /// Jobs that were sent.
    pub jobs: u32,
    /// Units that were given up, with the last reason.
    pub failed: Vec<(Unit, String)>,
}

/// A job that a scheduler has.
struct Sent {
    job: Job,
    units: Vec<u64>,
    /// Time since which the scheduler does not know it, ms.
    unknown_ms: Option<u64>,
}

/// A run of a driver.
struct Run<'d, 's> {
    driver: &'d Driver<'s>,
    runtime: Runtime,
    clock: MachineClock,
    session: String,
    missing: Missing,
    sent: VecDeque<Sent>,
    jobs: u32,
    /// Units that all executors evaluate at a time.
    slots: Option<usize>,
    /// Times of the next listing and of the next look for executors, ms.
    list_ms: u64,
    slots_ms: u64,
    /// Time of the last unit, or of the last word about missing executors, ms.
    progress_ms: u64,
}

impl Driver<'_> {
    /// Runs until all units are in the folder, or given up.
    ///
    /// # Errors
    /// [`DriverError`]; what is done stays, and the same call goes on.
    pub fn run(&self) -> Result<Driven, DriverError> {
        self.publish()?;
        let missing = self.sweep.missing_units()?;
        let all = self.sweep.plan.units();
        let absent: BTreeSet<u64> = missing.iter().map(|(place, _)| *place).collect();
        for (place, unit) in (0..).zip(&all) {
            if !absent.contains(&place) {
                (self.done)(*unit, true);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(DriverError::Runtime)?;
        let mut run = Run {
            driver: self,
            runtime,
            clock: MachineClock::start(),
            session: format!("groundwave-{:016x}", getrandom::u64().unwrap_or(0)),
            missing: Missing::new(missing),
            sent: VecDeque::new(),
            jobs: 0,
            slots: None,
            list_ms: 0,
            slots_ms: 0,
            progress_ms: 0,
        };
        run.collect(true)?;
        let found = all.len() - run.missing.count();
        let ended = run.until_settled();
        // Whatever the scheduler says to it, the run is over.
        for mut sent in run.sent.drain(..) {
            drop(run.runtime.block_on(sent.job.cancel()));
        }
        if ended.is_err() {
            run.collect(false)?;
        }
        ended?;
        Ok(Driven { units: all.len(), found, jobs: run.jobs, failed: run.missing.failed() })
    }

    /// Puts plan and terrain into the store; files of terrain that are there stay.
    fn publish(&self) -> Result<(), DriverError> {
        let Sweep { plan, digest, .. } = self.sweep;
        let json = serde_json::to_vec(plan).expect("a plan is plain data");
        self.store.put(&keys::plan(digest), json.into())?;
        let files = self.terrain.iter().filter_map(|file| {
            let tile = Tile {
                name: file.name.clone(),
                sha256: plan.terrain.get(&file.name)?.clone(),
                bounds_deg: file.bounds_deg,
                about: file.about.clone(),
            };
            Some((tile, &file.path))
        });
        let files: Vec<_> = files.collect();
        // Side by side: a bucket takes many at a time.
        files.par_iter().try_for_each(|(tile, path)| {
            let read = |err| DriverError::Tile { path: path.to_path_buf(), err };
            let key = keys::terrain(&tile.sha256);
            let length = fs::metadata(path).map_err(read)?.len();
            // An executor looks at its digest.
            if self.store.length(&key)? != Some(length) {
                (self.tell)(&format!("putting {} into {}", tile.name, self.store.address()));
                self.store.put(&key, fs::read(path).map_err(read)?.into())?;
            }
            Ok::<(), DriverError>(())
        })?;
        let tiles: Vec<_> = files.iter().map(|(tile, _)| tile).collect();
        let json = serde_json::to_vec(&tiles).expect("tiles are plain data");
        Ok(self.store.put(&keys::tiles(digest), json.into())?)
    }
}

impl Run<'_, '_> {
    fn now_ms(&mut self) -> u64 {
        self.clock.monotonic_ns() / 1_000_000
    }

    fn until_settled(&mut self) -> Result<(), DriverError> {
        let (mut in_vain, mut before) = (0, self.missing.progress());
        while !self.missing.is_settled() {
            if let Err(error) = self.step()? {
                let now = self.missing.progress();
                in_vain = if now == before { in_vain + 1 } else { 1 };
                before = now;
                // A scheduler may come back at any time; jobs that fail again and again do not end well.
                let next = match error {
                    JobError::Scheduler { .. } => {
                        // It may have forgotten them, and units that are asked for twice are made once.
                        let sent: Vec<_> = self.sent.drain(..).collect();
                        sent.iter().for_each(|sent| self.missing.release(&sent.units));
                        "trying again"
                    }
                    error if in_vain >= JOBS_IN_VAIN => return Err(DriverError::Jobs(error)),
                    _ => "its units are asked for again",
                };
                (self.driver.tell)(&format!("{}; {next}", with_causes(&error)));
                self.pause(Duration::from_secs(PAUSE_MAX_S.min(1 << in_vain.min(3))))?;
            }
            self.pause(LOOK)?;
        }
        Ok(())
    }

    /// Looks at store, executors and jobs, and sends what may be sent.
    fn step(&mut self) -> Result<Result<(), JobError>, DriverError> {
        let now_ms = self.now_ms();
        if now_ms >= self.list_ms {
            self.collect(false)?;
            let took_ms = self.now_ms() - now_ms;
            self.list_ms = now_ms + LIST_MS.max(10 * took_ms);
        }
        if now_ms >= self.slots_ms {
            self.slots = self.runtime.block_on(slots(self.driver.cluster));
            self.slots_ms = now_ms + SLOTS_MS;
        }
        if self.slots == Some(0) && now_ms >= self.progress_ms + IDLE_MS {
            self.progress_ms = now_ms;
            let (cluster, store) = (self.driver.cluster, self.driver.store.address());
            (self.driver.tell)(&format!(
                "{cluster} has no executor; start one: groundwave cluster executor --scheduler {cluster} --store {store}"
            ));
        }
        for _ in 0..self.sent.len().min(LOOKS) {
            let Some(sent) = self.sent.pop_front() else {
                break;
            };
            if let Err(error) = self.look(sent)? {
                return Ok(Err(error));
            }
        }
        if self.missing.is_settled() {
            return Ok(Ok(()));
        }
        Ok(self.send())
    }

    /// Looks at a job; keeps it unless it ended.
    fn look(&mut self, mut sent: Sent) -> Result<Result<(), JobError>, DriverError> {
        let now_ms = self.now_ms();
        let outcomes = match self.runtime.block_on(sent.job.state()) {
            Ok(State::Done(outcomes)) => Ok(outcomes),
            Ok(State::Running) => {
                sent.unknown_ms = None;
                self.sent.push_back(sent);
                return Ok(Ok(()));
            }
            Ok(State::Unknown) => {
                let since_ms = *sent.unknown_ms.get_or_insert(now_ms);
                if now_ms < since_ms + UNKNOWN_MS {
                    self.sent.push_back(sent);
                    return Ok(Ok(()));
                }
                Err(sent.job.forgotten())
            }
            Err(error) => Err(error),
        };
        // What it made is not missing.
        self.collect(false)?;
        self.missing.release(&sent.units);
        Ok(outcomes.map(|outcomes| {
            for outcome in outcomes {
                self.missing.note(outcome);
            }
        }))
    }

    /// Sends jobs until executors have enough to do.
    fn send(&mut self) -> Result<(), JobError> {
        loop {
            let tasks = self.missing.next_job(self.slots.unwrap_or(1));
            if tasks.is_empty() {
                return Ok(());
            }
            let digest = &self.driver.sweep.digest;
            let job = Job::submit(self.driver.cluster, &self.session, digest, &tasks);
            let job = self.runtime.block_on(job)?;
            let units = tasks.concat();
            self.missing.ask(&units);
            self.jobs += 1;
            self.sent.push_back(Sent { job, units, unknown_ms: None });
        }
    }

    /// Takes units that are in the store into the folder.
    fn collect(&mut self, found: bool) -> Result<(), DriverError> {
        let Driver { sweep, store, done, tell, .. } = self.driver;
        let keys = store.list(&keys::units(&sweep.digest))?;
        let there: BTreeMap<&str, &str> =
            (keys.iter()).filter_map(|key| Some((keys::unit_name(key)?, key.as_str()))).collect();
        let taken = self.missing.units().into_par_iter().map(|(place, unit)| {
            let name = sweep.plan.name(&sweep.digest, unit);
            let Some(key) = there.get(name.as_str()) else {
                return Ok(None);
            };
            // One that another driver removed is missing.
            let Some(bytes) = store.get(key)? else {
                return Ok(None);
            };
            if sweep.admit(unit, &bytes)? {
                done(unit, found);
                return Ok(Some(place));
            }
            tell(&format!("{key} in {} is not whole; it is made again", store.address()));
            store.remove(key)?;
            Ok(None)
        });
        let taken: Result<Vec<Option<u64>>, DriverError> = taken.collect();
        let taken: BTreeSet<u64> = taken?.into_iter().flatten().collect();
        if !taken.is_empty() {
            self.missing.found(&taken);
            self.progress_ms = self.now_ms();
        }
        Ok(())
    }

    /// Waits, unless it is told to stop.
    fn pause(&self, time: Duration) -> Result<(), DriverError> {
        let mut left = time;
        while !left.is_zero() {
            if self.driver.stop.load(Ordering::Relaxed) {
                return Err(SweepError::Stopped.into());
            }
            let step = left.min(LOOK);
            std::thread::sleep(step);
            left -= step;
        }
        Ok(())
    }
}

/// Units that all executors evaluate at a time; none when the scheduler does not say.
async fn slots(cluster: &Address) -> Option<usize> {
    let state = status(cluster).await.ok()?;
    let slots = state.executors.iter();
    Some(slots.map(|one| one.specification.vcores as usize).sum())
}
