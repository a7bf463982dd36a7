//! Units on an executor: plan and terrain out of the store, the unit into it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groundwave_io::hex::hex;
use groundwave_io::sweep::{Plan, Sweep, SweepError, Unit, evaluator};
use groundwave_systems::terrain::Terrain;
use sha2::{Digest, Sha256};

use super::function::Made;
use super::keys;
use super::store::{Store, StoreError};

/// Terrain of a plan, opened.
pub trait Ground: Send + Sync {
    /// The terrain.
    fn terrain(&self) -> &dyn Terrain;

    /// Fails once a file that was read turned out to be damaged.
    ///
    /// # Errors
    /// Which, and why.
    fn check(&self) -> Result<(), String>;
}

/// Opens the terrain of a plan in a folder that has the files which the plan names.
pub type OpenGround = Box<dyn Fn(&Plan, &Path) -> Result<Box<dyn Ground>, String> + Send + Sync>;

/// Plans that an executor keeps open.
const PLANS_MAX: usize = 4;

/// A plan that was taken out of the store.
struct Prepared {
    sweep: Sweep,
    units: Vec<Unit>,
    ground: Box<dyn Ground>,
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
        Self {
            store,
            folder,
            open,
            leave,
            plans: Mutex::default(),
            never: AtomicBool::new(false),
        }
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
        let Prepared {
            sweep,
            units,
            ground,
        } = &*prepared;
        let unit = usize::try_from(place).ok().and_then(|at| units.get(at));
        let Some(&unit) = unit else {
            let all = units.len();
            return Err(Failed::Other(format!(
                "unit {place} of the plan {digest}: it has {all}"
            )));
        };
        let key = keys::unit(&sweep.plan, digest, unit);
        if self.store.length(&key)?.is_some() {
            return Ok(Made::Found);
        }
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
        let tiles = self.tiles(&plan, &folder.join("terrain"))?;
        let ground = (self.open)(&plan, &tiles).map_err(Failed::Other)?;
        let units = plan.units();
        let sweep = Sweep::enter(plan, &folder)?;
        Ok(Prepared {
            sweep,
            units,
            ground,
        })
    }

    /// A folder with the files of terrain that a plan names, each under its name.
    fn tiles(&self, plan: &Plan, folder: &Path) -> Result<PathBuf, Failed> {
        // What another plan of the same name left.
        match fs::remove_dir_all(folder) {
            Err(err) if err.kind() != ErrorKind::NotFound => {
                return Err(failed("remove", folder, &err));
            }
            _ => {}
        }
        fs::create_dir_all(folder).map_err(|err| failed("create", folder, &err))?;
        for (name, sha256) in files(plan) {
            let kept = self.tile(name, sha256)?;
            let link = folder.join(name);
            fs::hard_link(&kept, &link)
                .or_else(|_| fs::copy(&kept, &link).map(drop))
                .map_err(|err| failed("create", &link, &err))?;
        }
        Ok(folder.to_owned())
    }

    /// A file of terrain in the folder of this executor, fetched if it is not there or is another.
    fn tile(&self, name: &str, sha256: &str) -> Result<PathBuf, Failed> {
        let folder = self.folder.join("terrain");
        let path = folder.join(sha256);
        if let Ok(bytes) = fs::read(&path) {
            if digest(&bytes) == sha256 {
                return Ok(path);
            }
            tracing::warn!(file = %path.display(), tile = name, "a kept tile has another digest; fetched again");
        }
        let wrong = |what: String| {
            let address = self.store.address();
            Failed::Other(format!("tile {name} in the store {address}: {what}"))
        };
        let bytes: Bytes = self
            .store
            .get(&keys::terrain(sha256))?
            .ok_or_else(|| wrong("not there; the driver puts it there".to_owned()))?;
        let found = digest(&bytes);
        if found != sha256 {
            return Err(wrong(format!(
                "found the SHA-256 {found}, allowed {sha256}"
            )));
        }
        fs::create_dir_all(&folder).map_err(|err| failed("create", &folder, &err))?;
        let part = tempfile::NamedTempFile::new_in(&folder)
            .map_err(|err| failed("create", &folder, &err))?;
        fs::write(part.path(), &bytes).map_err(|err| failed("write", &path, &err))?;
        part.persist(&path)
            .map_err(|err| failed("write", &path, &err.error))?;
        Ok(path)
    }
}

/// SHA-256 of bytes, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Files of terrain of a plan: their names and SHA-256. Other entries say how they are used.
#[must_use]
pub fn files(plan: &Plan) -> BTreeMap<&str, &str> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let named = |name: &str| Path::new(name).file_name().is_some_and(|file| file == name);
    let entries = plan.terrain.iter();
    entries
        .filter(|(name, digest)| is_digest(digest) && named(name))
        .map(|(name, digest)| (name.as_str(), digest.as_str()))
        .collect()
}

/// Why a unit was not made.
#[derive(Debug)]
enum Failed {
    /// The folder of this executor takes no more.
    Full(String),
    /// Anything else.
    Other(String),
}

fn failed(operation: &str, path: &Path, err: &io::Error) -> Failed {
    let what = format!("{operation} {}: {err}", path.display());
    match err.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem => {
            Failed::Full(what)
        }
        _ => Failed::Other(what),
    }
}

impl From<SweepError> for Failed {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Disk {
                operation,
                path,
                err,
            } => failed(operation, &path, &err),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Other(with_causes(&error))
    }
}

/// An error and its causes in one line.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
