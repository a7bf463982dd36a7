//! Units that a driver still wants: which are asked for, which are next, which are given up.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_sweep::Unit;

use super::function::Outcome;

/// Tries of a unit after which it is given up.
pub const TRIES: u32 = 3;

/// Tasks that are asked for at a time, for each unit that executors evaluate at a time: enough for none
/// to wait while the driver looks elsewhere.
const TASKS_A_SLOT: usize = 4;
/// Least number of them.
const TASKS_MIN: usize = 8;
/// Tasks of a job: each carries the units of all tasks of its job, some half a kilobyte a task.
const JOB_TASKS: usize = 128;
/// Units of a task: what an executor that dies takes with it.
const UNITS_MAX: usize = 16;

/// Units that are missing, by their places in the plan's order.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// With their turns in the order in which they are asked for.
    units: BTreeMap<u64, (usize, Unit)>,
    /// Turns and places of those that are not given up and that no job has.
    open: BTreeSet<(usize, u64)>,
    /// Those that a job has.
    asked: BTreeSet<u64>,
    tries: BTreeMap<u64, (u32, String)>,
}

impl Missing {
    /// Units in the order in which they are to be asked for.
    pub fn new(units: Vec<(u64, Unit)>) -> Self {
        let turns = || units.iter().enumerate();
        Self {
            units: turns().map(|(turn, (place, unit))| (*place, (turn, *unit))).collect(),
            open: turns().map(|(turn, (place, _))| (turn, *place)).collect(),
            ..Self::default()
        }
    }

    /// Places and units.
    pub fn units(&self) -> Vec<(u64, Unit)> {
        let units = self.units.iter();
        units.map(|(place, (_, unit))| (*place, *unit)).collect()
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// True once all are there or given up.
    pub fn is_settled(&self) -> bool {
        self.asked.is_empty() && self.open.is_empty()
    }

    /// Tasks of the next job for executors that evaluate so many units at a time; none while enough are
    /// asked for. Tasks get smaller towards the end, so that all executors end at about the same time.
    pub fn next_job(&self, slots: usize) -> Vec<Vec<u64>> {
        let target = (slots * TASKS_A_SLOT).max(TASKS_MIN);
        let size = (self.open.len() + self.asked.len()).div_ceil(target).clamp(1, UNITS_MAX);
        let goal = target * size;
        let room = goal.saturating_sub(self.asked.len());
        if room < goal.div_ceil(4) {
            return Vec::new();
        }
        let units = size * room.div_ceil(size).min(JOB_TASKS);
        let next: Vec<u64> = self.open.iter().take(units).map(|(_, place)| *place).collect();
        next.chunks(size).map(<[u64]>::to_vec).collect()
    }

    /// Notes that a job has these units.
    pub fn ask(&mut self, places: &[u64]) {
        for place in places {
            if let Some((turn, _)) = self.units.get(place) {
                self.open.remove(&(*turn, *place));
                self.asked.insert(*place);
            }
        }
    }

    /// Notes that the job that had these units ended.
    pub fn release(&mut self, places: &[u64]) {
        for place in places {
            self.asked.remove(place);
            self.reopen(*place);
        }
    }

    /// Puts a unit where it may be asked for, if it is missing and neither given up nor asked for.
    fn reopen(&mut self, place: u64) {
        let Some((turn, _)) = self.units.get(&place) else {
            return;
        };
        let tries = self.tries.get(&place).map_or(0, |(tries, _)| *tries);
        if tries < TRIES && !self.asked.contains(&place) {
            self.open.insert((*turn, place));
        } else {
            self.open.remove(&(*turn, place));
        }
    }

    /// Notes why a unit of a job that ended is not in the store.
    pub fn note(&mut self, outcome: Outcome) {
        if !self.units.contains_key(&outcome.unit) {
            return;
        }
        let reason = outcome.error.unwrap_or_else(|| {
            "an executor says that it made it, but it is not in the store or not whole".to_owned()
        });
        let (tries, last) = self.tries.entry(outcome.unit).or_default();
        *tries += 1;
        *last = reason;
        self.reopen(outcome.unit);
    }

    /// Takes out units that are there now.
    pub fn found(&mut self, places: &BTreeSet<u64>) {
        for place in places {
            self.asked.remove(place);
            if let Some((turn, _)) = self.units.remove(place) {
                self.open.remove(&(turn, *place));
            }
        }
    }

    /// A number that changes with each unit that is there or was tried.
    pub fn progress(&self) -> (usize, u32) {
        let tries = self.tries.values().map(|(tries, _)| tries);
        (self.units.len(), tries.sum())
    }

    /// Units that are missing, with the last reason.
    pub fn failed(&self) -> Vec<(Unit, String)> {
        let reason = |place| self.tries.get(place).map(|(_, last)| last.clone());
        let units = self.units.iter();
        units.map(|(place, (_, unit))| (*unit, reason(place).unwrap_or_default())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(units: u64) -> Missing {
        let unit = |place: u64| Unit { variant: 0, row: 0, col: place as u32 };
        Missing::new((0..units).map(|place| (place * 3, unit(place))).collect())
    }

    fn outcome(unit: u64, error: Option<&str>) -> Outcome {
        Outcome { unit, error: error.map(str::to_owned), seconds: 0.0 }
    }

    /// Jobs until enough is asked for.
    fn ask_all(missing: &mut Missing, slots: usize) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        loop {
            let tasks = missing.next_job(slots);
            if tasks.is_empty() {
                return all;
            }
            assert!(tasks.len() <= JOB_TASKS);
            assert!(tasks.iter().all(|task| (1..=UNITS_MAX).contains(&task.len())));
            missing.ask(&tasks.concat());
            all.extend(tasks);
        }
    }

    #[test]
    fn jobs_hold_each_unit_once_in_order_and_are_enough_for_all_slots() {
        for (units, slots) in [(1, 0), (5, 1), (40, 2), (700, 2), (5000, 3), (100_000, 16_000)] {
            let mut missing = missing(units);
            let mut asked = Vec::new();
            while !missing.units.is_empty() {
                let tasks = ask_all(&mut missing, slots);
                let all = missing.units.len().min(slots * TASKS_A_SLOT);
                let waiting = missing.asked.len();
                assert!(waiting >= all * 3 / 4, "{units} {slots}: {waiting} of {all}");
                asked.extend(tasks.concat());
                // Half of what is asked for comes.
                let half = missing.asked.len().div_ceil(2);
                let there = missing.asked.iter().take(half).copied().collect();
                missing.found(&there);
            }
            let all: Vec<u64> = (0..units).map(|place| place * 3).collect();
            assert_eq!(asked, all, "{units} {slots}");
            assert!(missing.is_settled());
        }
    }

    #[test]
    fn units_of_a_job_that_ended_are_asked_for_again() {
        let mut missing = missing(3);
        let tasks = missing.next_job(1);
        missing.ask(&tasks.concat());
        assert!(missing.next_job(1).is_empty() && !missing.is_settled());
        missing.found(&BTreeSet::from([3]));
        missing.release(&tasks.concat());
        assert_eq!(missing.next_job(1).concat(), [0, 6]);
    }

    #[test]
    fn a_unit_is_given_up_after_its_tries_and_the_others_stay() {
        let mut missing = missing(2);
        missing.note(outcome(9, None));
        assert_eq!(missing.progress(), (2, 0));
        missing.note(outcome(3, None));
        for _ in 1..TRIES {
            assert_eq!(missing.next_job(1).concat(), [0, 3]);
            missing.note(outcome(3, Some("no such tile")));
        }
        assert_eq!(missing.next_job(1).concat(), [0]);
        missing.found(&BTreeSet::from([0]));
        assert!(missing.is_settled());
        let [(unit, reason)] = &missing.failed()[..] else {
            panic!("{missing:?}");
        };
        assert_eq!((unit.col, reason.as_str()), (1, "no such tile"));
    }
}
