//! Units on an executor: plan and terrain out of the store, the unit into it.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_sweep::{Plan, Sweep, Unit, evaluator};

use super::failed::{Failed, failed};
use super::function::Made;
use super::keys;
use super::store::Store;
use super::tiles::{OpenGround, Tiles};

/// Plans that an executor keeps open.
const PLANS_MAX: usize = 4;

/// A plan that was taken out of the store.
struct Prepared {
    sweep: Sweep,
    units: Vec<Unit>,
    tiles: Tiles,
}

/// Units of any plan in a store.
pub struct Units {
    store: Store,
    folder: PathBuf,
    open: OpenGround,
    /// Hears why this executor can take no more units.
    leave: Box<dyn Fn(&str) + Send + Sync>,
    /// The last ones used, newest last.
    plans: Mutex<Vec<(String, Arc<Prepared>)>>,
    never: AtomicBool,
}

impl Units {
    /// Units out of `store`, with scratch files and terrain in `folder`. `leave` hears once the folder
    /// takes no more: the executor must end, so that others take its units.
    #[must_use]
    pub fn new(
        store: Store,
        folder: PathBuf,
        open: OpenGround,
        leave: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        Self { store, folder, open, leave, plans: Mutex::default(), never: AtomicBool::new(false) }
    }

    /// Evaluates the unit at a place of a plan's order, unless it is in the store.
    ///
    /// # Errors
    /// What failed, for the driver.
    pub fn make(&self, digest: &str, place: u64) -> Result<Made, String> {
        let made = self.try_make(digest, place);
        if let Err(Failed::Full(what)) = &made {
            (self.leave)(what);
        }
        made.map_err(|failed| match failed {
            Failed::Full(what) | Failed::Other(what) => what,
        })
    }

    fn try_make(&self, digest: &str, place: u64) -> Result<Made, Failed> {
        let prepared = self.prepared(digest)?;
        let Prepared { sweep, units, tiles } = &*prepared;
        let unit = usize::try_from(place).ok().and_then(|at| units.get(at));
        let Some(&unit) = unit else {
            let all = units.len();
            return Err(Failed::Other(format!("unit {place} of the plan {digest}: it has {all}")));
        };
        let key = keys::unit(&sweep.plan, digest, unit);
        if self.store.length(&key)?.is_some() {
            return Ok(Made::Found);
        }
        let ground = tiles.ground(&sweep.plan, unit, &self.open)?;
        let evaluate = evaluator(&sweep.plan, ground.terrain()).map_err(Failed::Other)?;
        sweep.compute(unit, &self.never, &evaluate)?;
        // Before it is kept: a damaged file leaves cells without ground.
        ground.check().map_err(Failed::Other)?;
        let path = sweep.unit_path(unit);
        let bytes = fs::read(&path).map_err(|err| failed("read", &path, &err))?;
        self.store.put(&key, bytes.into())?;
        tracing::debug!(plan = digest, unit = place, "unit made");
        fs::remove_file(&path).map_err(|err| failed("remove", &path, &err))?;
        Ok(Made::Evaluated)
    }

    fn prepared(&self, digest: &str) -> Result<Arc<Prepared>, Failed> {
        // Held while a plan is prepared: other units of it wait instead of fetching the same.
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = plans.iter().position(|(held, _)| held == digest) {
            let found = plans.remove(at);
            let prepared = found.1.clone();
            plans.push(found);
            return Ok(prepared);
        }
        let prepared = Arc::new(self.prepare(digest)?);
        plans.push((digest.to_owned(), prepared.clone()));
        if plans.len() > PLANS_MAX {
            plans.remove(0);
        }
        Ok(prepared)
    }

    fn prepare(&self, digest: &str) -> Result<Prepared, Failed> {
        let key = keys::plan(digest);
        let Some(json) = self.store.get(&key)? else {
            let address = self.store.address();
            return Err(Failed::Other(format!(
                "no plan {digest} in the store {address} of this executor; driver and executors need the same store"
            )));
        };
        let plan: Plan = serde_json::from_slice(&json)
            .map_err(|err| Failed::Other(format!("{key} in the store: {err}")))?;
        let found = plan.digest();
        if found != digest {
            return Err(Failed::Other(format!(
                "{key} in the store has the digest {found}: this executor is of another version than the driver"
            )));
        }
        let folder = self.folder.join("plans").join(digest);
        let kept = self.folder.join("terrain");
        let tiles = Tiles::new(self.store.clone(), kept, folder.join("terrain"), digest)?;
        let units = plan.units();
        let sweep = Sweep::enter(plan, &folder)?;
        Ok(Prepared { sweep, units, tiles })
    }
}
