//! Units that are computed elsewhere: those that are missing, one of them computed, one taken in.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;

use super::plan::Unit;
use super::shared_file::write_once;
use super::unit_file;
use super::work::{Evaluate, Sweep, SweepError, regional};

impl Sweep {
    /// Computes one unit, on behalf of somebody who knows that it is missing.
    ///
    /// # Errors
    /// As [`Sweep::work`].
    pub fn compute(
        &self,
        unit: Unit,
        stop: &AtomicBool,
        evaluate: Evaluate<'_>,
    ) -> Result<(), SweepError> {
        self.make(unit, stop, evaluate, |_| Ok(()))
    }

    /// Takes in the file of a unit that was computed elsewhere; false, and nothing is written, when it
    /// is not whole.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when the folder does not take it.
    pub fn admit(&self, unit: Unit, bytes: &[u8]) -> Result<bool, SweepError> {
        if !unit_file::is_whole(bytes) {
            return Ok(false);
        }
        let path = self.unit_path(unit);
        let folder = path.parent().expect("a unit lies in a folder");
        let written = fs::create_dir_all(folder).and_then(|()| write_once(&path, bytes));
        written.map_err(|err| SweepError::Disk { operation: "write", path, err })?;
        self.known().insert(unit);
        Ok(true)
    }

    /// Units that are not in the folder, with their places in the plan's order; near ones follow each
    /// other.
    ///
    /// # Errors
    /// [`SweepError::Disk`].
    pub fn missing_units(&self) -> Result<Vec<(u64, Unit)>, SweepError> {
        let mut places = BTreeMap::new();
        for (place, unit) in (0..).zip(self.plan.units()) {
            let there = self.open(unit).map_err(|err| self.unreadable(unit, err))?;
            if there.is_none() {
                places.insert(unit, place);
            }
        }
        let mut missing: Vec<Unit> = places.keys().copied().collect();
        regional(&self.plan, &mut missing);
        let missing = missing.into_iter().map(|unit| (places[&unit], unit));
        Ok(missing.collect())
    }
}
