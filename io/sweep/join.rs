//! Several processes that carry out one sweep: each takes units that are neither there nor leased,
//! until all are there.
//!
//! Workers come and go without a word: a lease of one that died lapses, and another takes its unit. A
//! worker begins in a region where nobody is at work and goes through it in order, so that it touches
//! few tiles of terrain; where all have somebody it helps from their ends.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groundwave_engine::Pacer;
use groundwave_files::wall::MachineClock;

use super::lease::{self, Claim, Held, Leases, Watch, Worker};
use super::plan::Unit;
use super::work::{Evaluate, Sweep, SweepError, region, regional};

/// Shortest and longest time between two looks at units that others hold.
const LOOK: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Outcome of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Joined {
    /// Units of the sweep.
    pub units: usize,
    /// Those that this worker computed.
    pub computed: usize,
    /// Of them, those taken over from a worker that died or gave up.
    pub taken_over: usize,
}

/// Next step of a thread of a worker.
#[derive(Debug, PartialEq)]
enum Next {
    /// Compute this unit.
    Compute(Unit),
    /// Look again later: others hold all that is left.
    Wait,
    /// All units are there.
    Done,
}

/// Units of a square degree that are not known to be there, in order.
struct Region {
    square: [i64; 2],
    left: VecDeque<Unit>,
}

#[derive(Default)]
struct State {
    /// By their squares.
    regions: Vec<Region>,
    /// Region that is worked in, or that is looked at first.
    current: usize,
    is_begun: bool,
    held: BTreeMap<Unit, Held>,
    watch: Watch,
    joined: Joined,
}

/// Claims of one process; its threads share them.
struct Claims<'s> {
    sweep: &'s Sweep,
    leases: Leases<'s>,
    state: Mutex<State>,
}

impl<'s> Claims<'s> {
    fn new(sweep: &'s Sweep, leases: Leases<'s>) -> Self {
        let mut units = sweep.plan.units();
        regional(&sweep.plan, &mut units);
        let all = units.len();
        let square = |unit: &Unit| region(&sweep.plan, *unit);
        let regions: Vec<Region> = (units.chunk_by(|one, next| square(one) == square(next)))
            .map(|units| Region {
                square: square(&units[0]),
                left: units.iter().copied().collect(),
            })
            .collect();
        let start = leases.worker.id % regions.len().max(1) as u64;
        let state = State {
            current: start as usize,
            regions,
            joined: Joined { units: all, ..Joined::default() },
            ..State::default()
        };
        Self { sweep, leases, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a unit at `now_ns` of this process; `there` hears of units that others finished.
    fn next(&self, now_ns: u64, there: &dyn Fn(Unit)) -> Result<Next, SweepError> {
        let mut state = self.state();
        let count = state.regions.len();
        // First on in the region begun, then in one whose first unit is free.
        for turn in 0..count {
            let region = (state.current + turn) % count;
            let is_own = turn == 0 && state.is_begun;
            let reach = if is_own { usize::MAX } else { 1 };
            if let Some(unit) = self.seek(&mut state, region, reach, now_ns, there)? {
                state.current = region;
                state.is_begun = true;
                return Ok(Next::Compute(unit));
            }
        }
        // Then help others from the end.
        for turn in 0..count {
            let region = (state.current + turn) % count;
            let left = state.regions[region].left.iter().rev();
            for unit in left.copied().collect::<Vec<_>>() {
                if self.take(&mut state, unit, now_ns, there)? {
                    return Ok(Next::Compute(unit));
                }
            }
        }
        let is_done = state.regions.iter().all(|region| region.left.is_empty());
        Ok(if is_done { Next::Done } else { Next::Wait })
    }

    /// Takes one of the first `reach` units of a region that are not there.
    fn seek(
        &self,
        state: &mut State,
        region: usize,
        reach: usize,
        now_ns: u64,
        there: &dyn Fn(Unit),
    ) -> Result<Option<Unit>, SweepError> {
        let mut at = 0;
        while at < reach
            && let Some(&unit) = state.regions[region].left.get(at)
        {
            if self.take(state, unit, now_ns, there)? {
                return Ok(Some(unit));
            }
            // One that is there went, and the next is in its place.
            at += usize::from(state.regions[region].left.get(at) == Some(&unit));
        }
        Ok(None)
    }

    /// Takes a unit, if it is free; one that is there is crossed out.
    fn take(
        &self,
        state: &mut State,
        unit: Unit,
        now_ns: u64,
        there: &dyn Fn(Unit),
    ) -> Result<bool, SweepError> {
        if state.held.contains_key(&unit) {
            return Ok(false);
        }
        let path = self.sweep.unit_path(unit);
        let is_there = || Ok(self.sweep.open(unit)?.is_some());
        let claim = state.watch.claim(self.leases, &path, now_ns, is_there);
        match claim.map_err(self.failed(path))? {
            Claim::Taken(held, number) => {
                state.joined.taken_over += usize::from(number > 0);
                state.held.insert(unit, held);
                Ok(true)
            }
            Claim::Busy => Ok(false),
            Claim::There => {
                self.cross_out(state, unit);
                there(unit);
                Ok(false)
            }
        }
    }

    /// Gives up a unit that is there now, or that could not be computed.
    fn end(&self, unit: Unit, is_there: bool) -> Result<(), SweepError> {
        let mut state = self.state();
        let held = state.held.remove(&unit);
        let path = self.sweep.unit_path(unit);
        if is_there {
            self.cross_out(&mut state, unit);
            state.joined.computed += 1;
            return lease::clear(&path).map_err(self.failed(path));
        }
        held.map_or(Ok(()), |held| self.leases.release(&held)).map_err(self.failed(path))
    }

    fn cross_out(&self, state: &mut State, unit: Unit) {
        state.watch.forget(&self.sweep.unit_path(unit));
        let square = region(&self.sweep.plan, unit);
        let found = state.regions.binary_search_by_key(&square, |region| region.square);
        let Ok(found) = found else { return };
        let left = &mut state.regions[found].left;
        if let Some(at) = left.iter().position(|left| *left == unit) {
            left.remove(at);
        }
    }

    /// Renews all leases that are held.
    fn renew(&self) -> io::Result<()> {
        let mut state = self.state();
        let mut held = state.held.values_mut();
        held.try_for_each(|held| self.leases.renew(held))
    }

    fn failed(&self, path: PathBuf) -> impl FnOnce(io::Error) -> SweepError {
        let operation = "lease";
        move |err| SweepError::Disk { operation, path, err }
    }
}

impl Sweep {
    /// Takes part in a sweep until all of its units are there, with as many threads as the pool has.
    /// Leases of this worker lapse after `lease_s` s without a renewal, and it renews them four times as
    /// often. `done` hears of each unit, and whether it was found.
    ///
    /// # Errors
    /// As [`Sweep::work`]; units that are held are then free for others.
    pub fn join(
        &self,
        worker: &Worker,
        lease_s: u64,
        stop: &AtomicBool,
        evaluate: Evaluate<'_>,
        done: impl Fn(Unit, bool) + Sync,
    ) -> Result<Joined, SweepError> {
        let claims = Claims::new(self, Leases { worker, lease_s });
        let lease = Duration::from_secs(lease_s);
        let look = (lease / 16).clamp(LOOK[0], LOOK[1]);
        let clock = MachineClock::start();
        let failed = AtomicBool::new(false);
        let work = || -> Result<(), SweepError> {
            let mut clock = clock;
            loop {
                if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                    return Err(SweepError::Stopped);
                }
                match claims.next(clock.monotonic_ns(), &|unit| done(unit, true))? {
                    Next::Compute(unit) => {
                        let made = self.make(unit, stop, evaluate, |_| Ok(()));
                        let ended = claims.end(unit, made.is_ok());
                        made.and(ended)?;
                        done(unit, false);
                    }
                    Next::Wait => std::thread::sleep(look),
                    Next::Done => return Ok(()),
                }
            }
        };
        let (over, ends) = mpsc::channel::<()>();
        let outcomes = std::thread::scope(|scope| {
            scope.spawn(|| {
                let ends = ends;
                while ends.recv_timeout(lease / 4) == Err(RecvTimeoutError::Timeout) {
                    if let Err(error) = claims.renew() {
                        tracing::warn!(%error, "leases of a sweep not renewed");
                    }
                }
            });
            // Not threads of the pool: one that waits for rows of its unit there could begin another
            // unit before it goes on.
            let threads = (0..rayon::current_num_threads()).map(|_| {
                scope.spawn(|| {
                    let outcome = work();
                    failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
                    outcome
                })
            });
            let threads: Vec<_> = threads.collect();
            let outcomes = threads.into_iter().map(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            let outcomes: Vec<_> = outcomes.collect();
            drop(over);
            outcomes
        });
        // Threads that stopped because another failed say less than that one.
        let mut stopped = Ok(());
        for outcome in outcomes {
            match outcome {
                Err(SweepError::Stopped) => stopped = Err(SweepError::Stopped),
                outcome => outcome?,
            }
        }
        stopped?;
        Ok(claims.state().joined)
    }
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
