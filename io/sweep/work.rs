//! Doing the units: those of a share that are not there yet, side by side.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use thiserror::Error;

use super::difference::differences;
use super::engine::EngineSummary;
use super::plan::{Plan, TILE_CELLS, Unit};
use super::shared_file::write_once;
use super::unit::SiteTile;
use super::unit_file::{self, UnitReader, UnitWriter};

/// Reasons for stopping a sweep.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The folder holds another sweep.
    #[error("{folder} holds another sweep: {differences}; choose another folder")]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// Keys of the two plans with both values.
        differences: String,
    },
    /// Another process is writing the same file.
    #[error(
        "{path} is in use by another process; allowed: one process a folder, or several with --join or --shard"
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The folder cannot be used.
    #[error("{operation} {path}")]
    Disk {
        /// Operation.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// A unit could not be evaluated.
    #[error("evaluate tile {row}, {col}: {what}")]
    Evaluate {
        /// Tile row.
        row: u32,
        /// Tile column.
        col: u32,
        /// Cause.
        what: String,
    },
    /// Units are missing that a merge needs.
    #[error("{missing} of {all} units are missing; run the other shards first")]
    Unfinished {
        /// Number of missing units.
        missing: usize,
        /// Number of units.
        all: usize,
    },
    /// The units do not hold what a product is made of.
    #[error(
        "the units in {folder} hold no {product}; compute them in another folder: \
         groundwave sweep SCENARIO -o DIR --products {product}"
    )]
    NoColumn {
        /// The folder.
        folder: PathBuf,
        /// Name of the product.
        product: &'static str,
    },
    /// Rasters cannot be written in a reference system.
    #[error("{cause}")]
    Crs {
        /// Value found and values allowed.
        cause: String,
    },
    /// It was asked to stop.
    #[error("stopped; finished units stay and are not computed again")]
    Stopped,
    /// A product could not be written.
    #[error("write {what}: {cause}")]
    Product {
        /// Which.
        what: String,
        /// Cause.
        cause: String,
    },
}

/// One share of the units: `index` of `count`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of this share, 1 to `count`.
    pub index: u32,
    /// Number of shares.
    pub count: u32,
}

impl Shard {
    /// Everything.
    pub const ALL: Self = Self { index: 1, count: 1 };

    /// True if the unit at `place` in the plan's order belongs to this share. Neighbours go to
    /// different shares, so that all finish at about the same time.
    #[must_use]
    pub fn holds(self, place: usize) -> bool {
        place as u64 % u64::from(self.count) == u64::from(self.index - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no share; allowed: i/N with 1 <= i <= N, such as 3/8");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let shard = Self { index: number(index)?, count: number(count)? };
        if (1..=shard.count).contains(&shard.index) { Ok(shard) } else { Err(wrong()) }
    }
}

/// Evaluates a site in the tile of a unit.
pub type Evaluate<'e> = &'e (dyn Fn(Unit, u16) -> Result<SiteTile, String> + Sync);

/// Source of the units of a run, and who hears of them.
#[derive(Clone, Copy)]
pub struct Supply<'s> {
    /// Computes units that are not in the folder; without it they must be there.
    pub evaluate: Option<Evaluate<'s>>,
    /// Ends the run between two sites of a unit when set.
    pub stop: &'s AtomicBool,
    /// Hears of each finished unit, and whether it was found.
    pub done: &'s (dyn Fn(Unit, bool) + Sync),
    /// The engine for the summary, once all units are there.
    pub engine: Option<&'s (dyn Fn() -> Option<EngineSummary> + Sync)>,
}

/// Calls `each` for all units, side by side, in the order of [`regional`].
///
/// # Errors
/// The first failure.
pub(super) fn across(
    plan: &Plan,
    mut units: Vec<Unit>,
    each: impl Fn(Unit) -> Result<(), SweepError> + Sync,
) -> Result<(), SweepError> {
    regional(plan, &mut units);
    let next = AtomicUsize::new(0);
    // One by one, so that no thread keeps some to itself while another has none left.
    let tasks = units.par_iter().with_max_len(1);
    tasks.try_for_each(|_| each(units[next.fetch_add(1, Ordering::Relaxed)]))
}

/// Side of the blocks in which units begin, units.
const BLOCK: u32 = 4;

/// Square degree, southwards and eastwards, of the block of units that holds `unit`.
pub(super) fn region(plan: &Plan, unit: Unit) -> [i64; 2] {
    let grid = &plan.grid;
    let middle = |number: u32| {
        let cells = u64::from(number / BLOCK * BLOCK + BLOCK / 2) * u64::from(TILE_CELLS);
        cells as f64 * grid.cell_deg
    };
    let lat_deg = grid.north_deg - middle(unit.row);
    let lon_deg = grid.west_deg + middle(unit.col);
    [-lat_deg.floor() as i64, lon_deg.floor() as i64]
}

/// Orders units so that those computed side by side touch few tiles of terrain and leave few tiles of
/// overviews incomplete: by square degrees, in them by blocks of 4 by 4.
pub(super) fn regional(plan: &Plan, units: &mut [Unit]) {
    units.sort_by_cached_key(|&unit| {
        let block = [unit.row / BLOCK, unit.col / BLOCK];
        (region(plan, unit), block, unit.row, unit.col, unit.variant)
    });
}

/// A plan and the folder it is carried out in.
#[derive(Debug)]
pub struct Sweep {
    /// The plan.
    pub plan: Plan,
    /// Digest of the plan.
    pub digest: String,
    folder: PathBuf,
    /// Units whose digests were found to be right, or that were written here: they are not hashed
    /// again.
    known: Mutex<BTreeSet<Unit>>,
}

/// Outcome of a run of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worked {
    /// Units of this share.
    pub units: usize,
    /// Of them, found finished.
    pub found: usize,
}

impl Sweep {
    /// Enters a folder: creates it with the plan in `manifest.json`, or finds the same plan there.
    ///
    /// # Errors
    /// [`SweepError::Foreign`] when another sweep lives there, [`SweepError::Disk`].
    pub fn enter(plan: Plan, folder: &Path) -> Result<Self, SweepError> {
        let digest = plan.digest();
        let manifest = folder.join("manifest.json");
        let disk = |operation, path: &Path| {
            let path = path.to_owned();
            move |err| SweepError::Disk { operation, path, err }
        };
        fs::create_dir_all(folder).map_err(disk("create folder", folder))?;
        match fs::read(&manifest) {
            Ok(bytes) => {
                let there = serde_json::from_slice::<Plan>(&bytes).map(|plan| plan.digest());
                if there.ok().as_ref() != Some(&digest) {
                    let differences = differences(&bytes, &plan);
                    return Err(SweepError::Foreign { folder: folder.to_owned(), differences });
                }
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                let mut json = serde_json::to_vec_pretty(&plan).expect("a plan is plain data");
                json.push(b'\n');
                write_once(&manifest, &json).map_err(disk("write", &manifest))?;
                // Another process may have begun another sweep at the same moment.
                if fs::read(&manifest).map_err(disk("read", &manifest))? != json {
                    return Self::enter(plan, folder);
                }
            }
            Err(err) => return Err(disk("read", &manifest)(err)),
        }
        Ok(Self { plan, digest, folder: folder.to_owned(), known: Mutex::default() })
    }

    /// Finds the sweep that lives in a folder.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when there is none or it cannot be read.
    pub fn find(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join("manifest.json");
        let read = || {
            let plan: Plan = serde_json::from_slice(&fs::read(&path)?)?;
            Ok(plan)
        };
        let plan = read().map_err(|err| SweepError::Disk {
            operation: "read the plan",
            path: path.clone(),
            err,
        })?;
        Ok(Self { digest: plan.digest(), plan, folder: folder.to_owned(), known: Mutex::default() })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Path of a unit's file.
    #[must_use]
    pub fn unit_path(&self, unit: Unit) -> PathBuf {
        unit_file::path(&self.folder.join("units"), &self.plan.name(&self.digest, unit))
    }

    /// Computes the missing units of a share with `evaluate`, which knows a site in a tile; `done`
    /// hears of each unit, found ones first.
    ///
    /// # Errors
    /// The first failure, or [`SweepError::Stopped`]; finished units stay in either case.
    pub fn work(
        &self,
        shard: Shard,
        stop: &AtomicBool,
        evaluate: Evaluate<'_>,
        done: impl Fn(Unit, bool) + Sync,
    ) -> Result<Worked, SweepError> {
        let units = self.plan.units();
        let share = units.into_iter().enumerate().filter(|(place, _)| shard.holds(*place));
        let mut missing = Vec::new();
        let mut worked = Worked::default();
        for (_, unit) in share {
            worked.units += 1;
            let there = self.open(unit).map_err(|err| self.unreadable(unit, err))?;
            if there.is_some() {
                worked.found += 1;
                done(unit, true);
            } else {
                missing.push(unit);
            }
        }
        across(&self.plan, missing, |unit| {
            self.make(unit, stop, evaluate, |_| Ok(()))?;
            done(unit, false);
            Ok(())
        })?;
        Ok(worked)
    }

    /// Computes one unit, site by site, which `hear` receives; a stop is heard between two sites.
    ///
    /// # Errors
    /// As [`Sweep::work`].
    pub(super) fn make(
        &self,
        unit: Unit,
        stop: &AtomicBool,
        evaluate: Evaluate<'_>,
        mut hear: impl FnMut(&SiteTile) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let Unit { row, col, .. } = unit;
        let path = self.unit_path(unit);
        let disk = |err| SweepError::Disk { operation: "write", path: path.clone(), err };
        let mut file = None;
        for site in self.plan.reaching(row, col) {
            if stop.load(Ordering::Relaxed) {
                return Err(SweepError::Stopped);
            }
            let wrong = |what| SweepError::Evaluate { row, col, what };
            let tile = evaluate(unit, site).map_err(wrong)?;
            let file = match &mut file {
                Some(file) => file,
                None => file.insert(UnitWriter::create(&path).map_err(disk)?),
            };
            file.push(&tile).map_err(disk)?;
            hear(&tile)?;
        }
        file.map_or(Ok(()), UnitWriter::commit).map_err(disk)?;
        self.known().insert(unit);
        Ok(())
    }

    pub(super) fn known(&self) -> MutexGuard<'_, BTreeSet<Unit>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a unit and looks at its digest, unless that was done before; `None` when there is none or
    /// it is not whole.
    ///
    /// # Errors
    /// When the disk fails otherwise.
    pub(super) fn open(&self, unit: Unit) -> io::Result<Option<UnitReader>> {
        let path = self.unit_path(unit);
        if self.known().contains(&unit) {
            return UnitReader::open_known(&path);
        }
        let found = UnitReader::open(&path)?;
        if found.is_some() {
            self.known().insert(unit);
        }
        Ok(found)
    }

    pub(super) fn missing(&self, missing: usize) -> SweepError {
        SweepError::Unfinished { missing, all: self.plan.units().len() }
    }

    /// Refuses to go on while units are missing.
    ///
    /// # Errors
    /// [`SweepError::Unfinished`].
    pub fn require_all(&self) -> Result<(), SweepError> {
        match self.missing_units()?.len() {
            0 => Ok(()),
            missing => Err(self.missing(missing)),
        }
    }

    /// Reads a unit that must be there.
    ///
    /// # Errors
    /// [`SweepError::Unfinished`] when it is not, [`SweepError::Disk`].
    pub fn read(&self, unit: Unit) -> Result<UnitReader, SweepError> {
        let found = self.open(unit).map_err(|err| self.unreadable(unit, err))?;
        found.ok_or_else(|| self.missing(1))
    }

    /// Error for a unit that cannot be read.
    #[must_use]
    pub fn unreadable(&self, unit: Unit, err: io::Error) -> SweepError {
        SweepError::Disk { operation: "read", path: self.unit_path(unit), err }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parsed_and_split_everything_once() {
        assert_eq!("3/8".parse(), Ok(Shard { index: 3, count: 8 }));
        for wrong in ["", "3", "0/8", "9/8", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        for place in 0..100 {
            let holders = (1..=7).filter(|index| Shard { index: *index, count: 7 }.holds(place));
            assert_eq!(holders.count(), 1);
        }
    }
}
