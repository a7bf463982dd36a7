//! Leases: changes of impairments that end by themselves, over the state beneath them.
//!
//! The state in force in a direction is its base with the fields of each lease laid over it, in the order
//! in which the leases began. So leases end in any order, and what is set without a lease changes the
//! base. Times are those of the wall clock: a lease ends at its time whatever restarts meanwhile.

use std::collections::BTreeMap;

use groundwave_impair::{Direction, Impairment, ImpairmentField};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most leases at a time.
pub const LEASES_MAX: usize = 64;

/// Holder of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LeaseOwner")]
pub struct Owner {
    /// Name that it gave; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// User id of the process; absent if the kernel does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Process id; absent if the kernel does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
}

/// Fields of a direction that a lease sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeasedFields {
    /// Their values; absent ones are not impaired.
    pub impairment: Impairment,
    /// The fields.
    pub fields: Vec<ImpairmentField>,
}

/// A lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// Number, from 1.
    pub id: u64,
    /// Holder.
    pub owner: Owner,
    /// Wall clock of its begin, ns since the Unix epoch.
    pub starts_wall_ns: u64,
    /// Wall clock of its end, ns since the Unix epoch.
    pub ends_wall_ns: u64,
    /// Changes, by direction.
    pub changes: BTreeMap<Direction, LeasedFields>,
}

/// All leases, with what lies beneath them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Leases {
    /// Number of the last lease.
    last_id: u64,
    /// In the order in which they began.
    leases: Vec<Lease>,
    /// State beneath the leases of a direction; `None` is a direction that is left alone.
    bases: BTreeMap<Direction, Option<Impairment>>,
}

impl Leases {
    /// All leases, in the order in which they began.
    #[must_use]
    pub fn all(&self) -> &[Lease] {
        &self.leases
    }

    /// The lease with a number.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.id == id)
    }

    /// Leases that set something in a direction.
    pub fn of(&self, direction: Direction) -> impl Iterator<Item = &Lease> {
        let leases = self.leases.iter();
        leases.filter(move |lease| lease.changes.contains_key(&direction))
    }

    /// True if a lease sets something in a direction.
    #[must_use]
    pub fn is_leased(&self, direction: Direction) -> bool {
        self.of(direction).next().is_some()
    }

    /// State beneath the leases of a direction, if it is known.
    #[must_use]
    pub fn base(&self, direction: Direction) -> Option<Option<&Impairment>> {
        self.bases.get(&direction).map(Option::as_ref)
    }

    /// Directions whose base is known: those with leases, and those whose base is to be restored.
    #[must_use]
    pub fn directions(&self) -> Vec<Direction> {
        self.bases.keys().copied().collect()
    }

    /// Sets the state beneath the leases of a direction.
    pub fn set_base(&mut self, direction: Direction, base: Option<Impairment>) {
        self.bases.insert(direction, base);
    }

    /// Forgets the state beneath a direction without leases: it is in force.
    pub fn forget_base(&mut self, direction: Direction) {
        if !self.is_leased(direction) {
            self.bases.remove(&direction);
        }
    }

    /// State that is to be in force in a direction.
    #[must_use]
    pub fn compose(&self, direction: Direction) -> Option<Impairment> {
        let base = self.bases.get(&direction).cloned().flatten();
        if !self.is_leased(direction) {
            return base;
        }
        let mut composed = base.unwrap_or_default();
        for lease in self.of(direction) {
            if let Some(change) = lease.changes.get(&direction) {
                for field in &change.fields {
                    field.copy(&change.impairment, &mut composed);
                }
            }
        }
        Some(composed)
    }

    /// `wanted` as a base: a field under a lease that has the value of what is `in_force` was read, not
    /// changed, and stays what it was beneath.
    #[must_use]
    pub fn without_leased(
        &self,
        direction: Direction,
        wanted: &Impairment,
        in_force: &[&Impairment],
    ) -> Impairment {
        let before = self.bases.get(&direction).cloned().flatten().unwrap_or_default();
        let mut base = wanted.clone();
        for field in ImpairmentField::ALL {
            let is_leased = self.of(direction).any(|lease| {
                let change = lease.changes.get(&direction);
                change.is_some_and(|change| change.fields.contains(&field))
            });
            if is_leased && in_force.iter().any(|state| field.is_equal(state, wanted)) {
                field.copy(&before, &mut base);
            }
        }
        base
    }

    /// Begins a lease; its number.
    pub fn begin(
        &mut self,
        owner: Owner,
        (starts_wall_ns, ends_wall_ns): (u64, u64),
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> u64 {
        self.last_id += 1;
        self.leases.push(Lease { id: self.last_id, owner, starts_wall_ns, ends_wall_ns, changes });
        self.last_id
    }

    /// Changes the end of a lease, and what it sets in some directions; `false` without such a lease.
    pub fn renew(
        &mut self,
        id: u64,
        ends_wall_ns: u64,
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> bool {
        let Some(lease) = self.leases.iter_mut().find(|lease| lease.id == id) else {
            return false;
        };
        lease.ends_wall_ns = ends_wall_ns;
        lease.changes.extend(changes);
        true
    }

    /// Ends a lease.
    pub fn end(&mut self, id: u64) -> Option<Lease> {
        let place = self.leases.iter().position(|lease| lease.id == id)?;
        Some(self.leases.remove(place))
    }

    /// Ends all leases in a direction, and forgets what lies beneath them.
    pub fn clear(&mut self, direction: Direction) {
        for lease in &mut self.leases {
            lease.changes.remove(&direction);
        }
        self.leases.retain(|lease| !lease.changes.is_empty());
        self.bases.remove(&direction);
    }

    /// Numbers of the leases that are over at a wall-clock time, ns since the Unix epoch.
    #[must_use]
    pub fn due(&self, wall_ns: u64) -> Vec<u64> {
        let due = self.leases.iter().filter(|lease| lease.ends_wall_ns <= wall_ns);
        due.map(|lease| lease.id).collect()
    }
}

#[cfg(test)]
#[path = "leases_tests.rs"]
mod tests;
