//! Runs of a study shared among processes by leases in its folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use groundwave_engine::Pacer;
use groundwave_files::wall::MachineClock;
use groundwave_http::Failure;
use groundwave_sweep::{Claim, Held, Leases, Watch, Worker, clear_leases};
use rayon::prelude::*;

use super::cell::Cell;

/// Time without a renewal after which another process takes a run, s.
const LEASE_S: u64 = 60;
/// Time between two looks at runs of others.
const LOOK: Duration = Duration::from_millis(200);

/// Runs that this process holds, and those of others as it sees them.
struct Claims<'s> {
    leases: Leases<'s>,
    folder: &'s Path,
    watch: Mutex<Watch>,
    held: Mutex<BTreeMap<usize, Held>>,
    clock: MachineClock,
}

/// Outcome of a claim to a run.
enum End {
    /// This process computed it.
    Computed,
    /// It was there.
    There,
    /// Another process computes it.
    Busy,
}

/// Computes runs that neither are there nor are computed by another process, until all are there; the number of
/// those that this process computed. `done` is called for each run that is there.
///
/// # Errors
/// The first failure of a run, with its number.
pub fn share(
    cells: &[&Cell],
    folder: &Path,
    stop: &AtomicBool,
    run: impl Fn(&Cell) -> Result<(), Failure> + Sync,
    done: impl Fn() + Sync,
) -> Result<usize, (usize, Failure)> {
    let first = cells.first().map_or(0, |cell| cell.number);
    let worker = Worker::this().map_err(|error| (first, Failure::machine(error)))?;
    let leases = Leases { worker: &worker, lease_s: LEASE_S };
    let mut watch = Mutex::new(Watch::default());
    if let Ok(watch) = watch.get_mut() {
        watch.has_process_table = true;
    }
    let claims =
        Claims { leases, folder, watch, held: Mutex::default(), clock: MachineClock::start() };
    let (failure, computed) = (Mutex::new(None), AtomicUsize::new(0));
    let is_over =
        || stop.load(Ordering::Relaxed) || failure.lock().is_ok_and(|failure| failure.is_some());
    let (over, ends) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let ends = ends;
            let pause = Duration::from_secs(LEASE_S) / 4;
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                claims.renew();
            }
        });
        let mut waiting = cells.to_vec();
        while !waiting.is_empty() && !is_over() {
            let busy: Vec<&Cell> = waiting
                .par_iter()
                .filter(|cell| {
                    if is_over() {
                        return false;
                    }
                    match claims.take(cell, &run) {
                        Ok(End::Busy) => return true,
                        Ok(End::Computed) => {
                            computed.fetch_add(1, Ordering::Relaxed);
                            done();
                        }
                        Ok(End::There) => done(),
                        Err(own) => {
                            if let Ok(mut failure) = failure.lock() {
                                failure.get_or_insert((cell.number, own));
                            }
                        }
                    }
                    false
                })
                .copied()
                .collect();
            waiting = busy;
            if !waiting.is_empty() && !is_over() {
                std::thread::sleep(LOOK);
            }
        }
        drop(over);
    });
    match failure.into_inner() {
        Ok(Some(failure)) => Err(failure),
        _ => Ok(computed.into_inner()),
    }
}

impl Claims<'_> {
    /// Computes a run, if no other process has it.
    fn take(
        &self,
        cell: &Cell,
        run: &impl Fn(&Cell) -> Result<(), Failure>,
    ) -> Result<End, Failure> {
        // A file that is none of a run is an error, not one that is missing.
        if cell.finished(self.folder)?.is_some() {
            clear_leases(&cell.path(self.folder)).map_err(Failure::machine)?;
            return Ok(End::There);
        }
        let path = cell.path(self.folder);
        let mut clock = self.clock;
        let claim = {
            let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.claim(self.leases, &path, clock.monotonic_ns(), || path.try_exists())
        };
        let lease = match claim.map_err(Failure::machine)? {
            Claim::There => return Ok(End::There),
            Claim::Busy => return Ok(End::Busy),
            Claim::Taken(lease, _) => lease,
        };
        self.held().insert(cell.number, lease);
        let outcome = run(cell);
        let lease = self.held().remove(&cell.number);
        let is_there = path.try_exists().unwrap_or(false);
        match lease.filter(|_| !is_there) {
            None => clear_leases(&path).map_err(Failure::machine)?,
            Some(lease) => self.leases.release(&lease).map_err(Failure::machine)?,
        }
        outcome.map(|()| End::Computed)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews all leases; one that cannot be renewed lapses, and another process computes the same.
    fn renew(&self) {
        for held in self.held().values_mut() {
            if let Err(error) = self.leases.renew(held) {
                tracing::warn!(%error, "a lease of a study not renewed");
            }
        }
    }
}
