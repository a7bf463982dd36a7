//! The driver of a sweep: asks for the units that are missing until none is, and takes them in.
//!
//! Units in the folder are done, units in the store only need to be fetched. The result of a job is used
//! for the reasons of failures alone.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundwave_engine::Pacer;
use groundwave_io::sweep::{Sweep, SweepError, Unit};
use groundwave_io::wall::MachineClock;
use rayon::prelude::*;
use thiserror::Error;
use tokio::runtime::Runtime;

use super::function::Outcome;
use super::job::{Address, Job, JobError, State};
use super::keys;
use super::status::status;
use super::store::{Store, StoreError};
use super::units::{files, with_causes};

/// Tries of a unit after which it is given up.
pub const TRIES: u32 = 3;
/// Jobs in a row that fail without a unit after which the sweep fails.
const JOBS_IN_VAIN: u32 = 5;
/// Tasks of a job for each unit that executors evaluate at a time: few enough to keep plans small, as
/// each task carries the whole, many enough for all to end at about the same time.
const TASKS_A_SLOT: usize = 4;
/// Tasks of a job.
const TASKS_MAX: usize = 1024;
/// Units of a task: what an executor that dies takes with it.
const UNITS_MAX: usize = 16;
/// Time between two looks at a job.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two listings of the store, ms; longer where listing takes long.
const LIST_MS: u64 = 500;
/// Longest pause after a failure, s.
const PAUSE_MAX_S: u64 = 5;
/// Time without a unit after which executors are looked for, ms.
const IDLE_MS: u64 = 10_000;

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
    /// A tile changed since the plan was made.
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
    /// Files of the terrain, by the names in the plan.
    pub tiles: &'s BTreeMap<String, PathBuf>,
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
    /// Evaluation time of all units, s, as far as executors could tell it.
    pub evaluated_s: f64,
    /// Units that failed [`TRIES`] times, with the last reason.
    pub failed: Vec<(Unit, String)>,
}

/// Units that are missing, in the order in which they are asked for, and what is known of them.
struct Missing {
    units: Vec<(u64, Unit)>,
    tries: BTreeMap<u64, (u32, String)>,
}

impl Missing {
    /// Units that are not given up.
    fn open(&self) -> Vec<u64> {
        let places = self.units.iter().map(|(place, _)| *place);
        let is_open = |place: &u64| {
            self.tries
                .get(place)
                .is_none_or(|(tries, _)| *tries < TRIES)
        };
        places.filter(is_open).collect()
    }

    fn note(&mut self, outcome: Outcome) {
        if let Some(error) = outcome.error {
            let (tries, last) = self.tries.entry(outcome.unit).or_default();
            *tries += 1;
            *last = error;
        }
    }
}

/// Tasks of the next job: the first of `open`, in their order.
fn tasks(open: &[u64], slots: usize) -> Vec<Vec<u64>> {
    let tasks = (slots * TASKS_A_SLOT).clamp(8, TASKS_MAX);
    let units = open.len().div_ceil(tasks).clamp(1, UNITS_MAX);
    let tasks = open.chunks(units).take(tasks);
    tasks.map(<[u64]>::to_vec).collect()
}

impl Driver<'_> {
    /// Runs until all units are in the folder, or given up.
    ///
    /// # Errors
    /// [`DriverError`]; what is done stays, and the same call goes on.
    pub fn run(&self) -> Result<Driven, DriverError> {
        self.publish()?;
        let mut missing = Missing {
            units: self.sweep.missing_units()?,
            tries: BTreeMap::new(),
        };
        let all = self.sweep.plan.units();
        let mut driven = Driven {
            units: all.len(),
            ..Driven::default()
        };
        let absent: BTreeMap<u64, Unit> = missing.units.iter().copied().collect();
        for unit in (0..)
            .zip(all)
            .filter(|(place, _)| !absent.contains_key(place))
        {
            (self.done)(unit.1, true);
        }
        self.collect(&mut missing, true)?;
        driven.found = driven.units - missing.units.len();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(DriverError::Runtime)?;
        let session = format!("groundwave-{:016x}", getrandom::u64().unwrap_or(0));
        let mut in_vain = 0;
        loop {
            let open = missing.open();
            if open.is_empty() {
                break;
            }
            let before = missing.units.len();
            let noted = missing.tries.len();
            match self.job(&runtime, &session, &open, &mut missing, &mut driven) {
                Err(Ended::Stop(error)) => return Err(error),
                Ok(()) => {}
                Err(Ended::Job(error)) => {
                    let is_idle = missing.units.len() == before && missing.tries.len() == noted;
                    in_vain = if is_idle { in_vain + 1 } else { 1 };
                    // A scheduler may come back at any time; jobs that fail again and again do not end well.
                    if matches!(error, JobError::Scheduler { .. }) {
                        (self.tell)(&format!("{}; trying again", with_causes(&error)));
                    } else if in_vain >= JOBS_IN_VAIN {
                        return Err(DriverError::Jobs(error));
                    } else {
                        (self.tell)(&format!(
                            "{}; its units are asked for again",
                            with_causes(&error)
                        ));
                    }
                    self.pause(Duration::from_secs(PAUSE_MAX_S.min(1 << in_vain.min(3))))?;
                }
            }
        }
        let reason = |place| missing.tries.get(place).map(|(_, last)| last.clone());
        let failed = missing.units.iter();
        driven.failed = failed
            .map(|(place, unit)| (*unit, reason(place).unwrap_or_default()))
            .collect();
        Ok(driven)
    }

    /// Puts plan and terrain into the store, as far as they are not there.
    fn publish(&self) -> Result<(), DriverError> {
        let key = keys::plan(&self.sweep.digest);
        let json = serde_json::to_vec(&self.sweep.plan).expect("a plan is plain data");
        if self.store.length(&key)? != Some(json.len() as u64) {
            self.store.put(&key, json.into())?;
        }
        for (name, sha256) in files(&self.sweep.plan) {
            let key = keys::terrain(sha256);
            let Some(path) = self.tiles.get(name) else {
                continue;
            };
            let read = |err| DriverError::Tile {
                path: path.clone(),
                err,
            };
            let length = fs::metadata(path).map_err(read)?.len();
            // An executor looks at its digest.
            if self.store.length(&key)? != Some(length) {
                (self.tell)(&format!("putting {name} into {}", self.store.address()));
                self.store.put(&key, fs::read(path).map_err(read)?.into())?;
            }
        }
        Ok(())
    }

    /// Sends a job and watches it until it ends.
    fn job(
        &self,
        runtime: &Runtime,
        session: &str,
        open: &[u64],
        missing: &mut Missing,
        driven: &mut Driven,
    ) -> Result<(), Ended> {
        let slots = runtime.block_on(self.slots()).unwrap_or(1);
        let tasks = tasks(open, slots);
        let digest = &self.sweep.digest;
        let job = Job::submit(self.cluster, session, digest, &tasks);
        let mut job = runtime.block_on(job)?;
        driven.jobs += 1;
        let mut clock = MachineClock::start();
        let (mut listed_ms, mut progress_ms) = (0, 0);
        loop {
            if let Err(stopped) = self.pause(LOOK) {
                // Whatever the scheduler says to it, the run is over.
                drop(runtime.block_on(job.cancel()));
                self.collect(missing, false)?;
                return Err(Ended::Stop(stopped));
            }
            let now_ms = clock.monotonic_ns() / 1_000_000;
            if now_ms >= listed_ms {
                if self.collect(missing, false)? > 0 {
                    progress_ms = now_ms;
                }
                let took_ms = clock.monotonic_ns() / 1_000_000 - now_ms;
                listed_ms = now_ms + LIST_MS.max(10 * took_ms);
            }
            let state = runtime.block_on(job.state());
            match state {
                Ok(State::Running) if now_ms >= progress_ms + IDLE_MS => {
                    progress_ms = now_ms;
                    if runtime.block_on(self.slots()) == Some(0) {
                        (self.tell)(&format!(
                            "{} has no executor; start one: groundwave cluster executor --scheduler {} --store {}",
                            self.cluster,
                            self.cluster,
                            self.store.address()
                        ));
                    }
                }
                Ok(State::Running) => {}
                Ok(State::Done(outcomes)) => {
                    for outcome in outcomes {
                        driven.evaluated_s += outcome.seconds;
                        missing.note(outcome);
                    }
                    self.collect(missing, false)?;
                    return Ok(());
                }
                Err(error) => {
                    self.collect(missing, false)?;
                    return Err(Ended::Job(error));
                }
            }
        }
    }

    /// Units that all executors evaluate at a time; none when the scheduler does not say.
    async fn slots(&self) -> Option<usize> {
        let state = status(self.cluster).await.ok()?;
        let slots = state.executors.iter();
        Some(slots.map(|one| one.specification.vcores as usize).sum())
    }

    /// Takes units that are in the store into the folder; the number of those taken.
    fn collect(&self, missing: &mut Missing, found: bool) -> Result<usize, DriverError> {
        let digest = &self.sweep.digest;
        let keys = self.store.list(&keys::units(digest))?;
        let there: BTreeMap<&str, &str> = (keys.iter())
            .filter_map(|key| Some((keys::unit_name(key)?, key.as_str())))
            .collect();
        let taken = missing.units.par_iter().map(|&(place, unit)| {
            let name = self.sweep.plan.name(digest, unit);
            let Some(key) = there.get(name.as_str()) else {
                return Ok(None);
            };
            // One that another driver removed is missing.
            let Some(bytes) = self.store.get(key)? else {
                return Ok(None);
            };
            if self.sweep.admit(unit, &bytes)? {
                (self.done)(unit, found);
                return Ok(Some(place));
            }
            (self.tell)(&format!(
                "{key} in {} is not whole; it is made again",
                self.store.address()
            ));
            self.store.remove(key)?;
            Ok(None)
        });
        let taken: Result<Vec<Option<u64>>, DriverError> = taken.collect();
        let taken: Vec<u64> = taken?.into_iter().flatten().collect();
        let mut sorted = taken.clone();
        sorted.sort_unstable();
        missing
            .units
            .retain(|(place, _)| sorted.binary_search(place).is_err());
        Ok(taken.len())
    }

    /// Waits, unless it is told to stop.
    fn pause(&self, time: Duration) -> Result<(), DriverError> {
        let mut left = time;
        while !left.is_zero() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(SweepError::Stopped.into());
            }
            let step = left.min(LOOK);
            std::thread::sleep(step);
            left -= step;
        }
        Ok(())
    }
}

/// End of a job without a result.
enum Ended {
    /// It may be sent again.
    Job(JobError),
    /// The run is over.
    Stop(DriverError),
}

impl From<JobError> for Ended {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

impl From<DriverError> for Ended {
    fn from(error: DriverError) -> Self {
        Self::Stop(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_hold_the_first_units_once_and_are_enough_for_all_slots() {
        for (units, slots) in [
            (1, 0),
            (5, 1),
            (40, 2),
            (700, 2),
            (5000, 3),
            (100_000, 1000),
        ] {
            let open: Vec<u64> = (0..units).map(|place| place * 3).collect();
            let tasks = tasks(&open, slots);
            let asked: Vec<u64> = tasks.concat();
            assert_eq!(asked, open[..asked.len()], "{units} {slots}");
            assert!(tasks.len() <= TASKS_MAX && tasks.iter().all(|task| task.len() <= UNITS_MAX));
            let enough = open.len().min(slots * TASKS_A_SLOT).min(TASKS_MAX);
            assert!(
                tasks.len() >= enough.div_ceil(2),
                "{units} {slots}: {}",
                tasks.len()
            );
        }
    }

    #[test]
    fn a_unit_is_given_up_after_its_tries_and_the_others_stay() {
        let unit = |col| Unit {
            variant: 0,
            row: 0,
            col,
        };
        let mut missing = Missing {
            units: vec![(0, unit(0)), (1, unit(1))],
            tries: BTreeMap::new(),
        };
        let outcome = |error: Option<&str>| Outcome {
            unit: 1,
            error: error.map(str::to_owned),
            seconds: 0.0,
        };
        missing.note(outcome(None));
        for _ in 0..TRIES {
            assert_eq!(missing.open(), [0, 1]);
            missing.note(outcome(Some("no such tile")));
        }
        assert_eq!(missing.open(), [0]);
        assert_eq!(missing.tries[&1].1, "no such tile");
    }
}
