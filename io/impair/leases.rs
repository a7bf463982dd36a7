//! Leases: changes of impairments that end by themselves, over the state beneath them.
//!
//! The state in force in a direction is its base with the fields of each lease laid over it, in the order
//! in which the leases began. So leases end in any order, and what is set without a lease changes the
//! base. A lease lasts as long as it was asked for, by the time since boot: a clock that is set changes no end.
//! After another boot its end is that of the wall clock.

use std::collections::BTreeMap;

use groundwave_files::wall::{boot_id, boot_ns, wall_ns};
use groundwave_impair::{Direction, Impairment, ImpairmentField, Rule, Rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most leases at a time.
pub const LEASES_MAX: usize = 64;

/// Deviation of the wall clock below which the end of a lease by it stays as it was named, ns: it is disciplined.
const WALL_SLACK_NS: u64 = 1_000_000_000;

/// A moment by the clocks of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Wall clock, ns since the Unix epoch.
    pub wall_ns: u64,
    /// Time since boot, ns.
    pub boot_ns: u64,
    /// Identity of that boot; empty for an unknown one.
    pub boot_id: String,
}

impl Moment {
    /// The present one.
    #[must_use]
    pub fn now() -> Self {
        Self { wall_ns: wall_ns(), boot_ns: boot_ns(), boot_id: boot_id().to_owned() }
    }
}

/// Time since a boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootTime {
    /// Identity of the boot.
    pub boot_id: String,
    /// Time since then, ns.
    pub ns: u64,
}

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
    /// Names of the rules that the field `rules` sets; `None` sets all rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<String>>,
}

impl LeasedFields {
    /// Checks that something is set, each field and rule once, and that nothing beside is impaired.
    ///
    /// # Errors
    /// With the value found and the values allowed.
    pub fn check(&self) -> Result<(), String> {
        let repeated =
            (1..self.fields.len()).find(|at| self.fields[..*at].contains(&self.fields[*at]));
        if let Some(at) = repeated {
            return Err(format!("invalid fields: found {} twice", self.fields[at].name()));
        }
        if self.fields.is_empty() {
            return Err("invalid fields: found none, allowed one or more".to_owned());
        }
        let is_beside =
            |field: &ImpairmentField| field.is_in(&self.impairment) && !self.fields.contains(field);
        if let Some(field) = ImpairmentField::ALL.into_iter().find(is_beside) {
            let name = field.name();
            return Err(format!(
                "invalid impairment: found {name}, allowed the fields of `fields`"
            ));
        }
        self.rules.as_deref().map_or(Ok(()), |names| self.check_rules(names))
    }

    fn check_rules(&self, names: &[String]) -> Result<(), String> {
        if !self.fields.contains(&ImpairmentField::Rules) {
            return Err("invalid rules: found names, allowed beside the field rules".to_owned());
        }
        if names.is_empty() {
            return Err("invalid rules: found none, allowed one or more names".to_owned());
        }
        if let Some(at) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            return Err(format!("invalid rules: found {:?} twice", names[at]));
        }
        let own = self.impairment.rules.iter().flat_map(|rules| &rules.0);
        match own.map(|rule| &rule.name).find(|name| !names.contains(name)) {
            Some(name) => {
                Err(format!("invalid impairment.rules: found {name:?}, allowed those of `rules`"))
            }
            None => Ok(()),
        }
    }

    /// Lays the fields over an impairment.
    fn lay_over(&self, composed: &mut Impairment) {
        for field in &self.fields {
            match (field, &self.rules) {
                (ImpairmentField::Rules, Some(names)) => {
                    for name in names {
                        copy_rule(name, &self.impairment, composed);
                    }
                }
                _ => field.copy(&self.impairment, composed),
            }
        }
    }
}

/// The rule of an impairment with a name.
fn rule_of<'i>(name: &str, impairment: &'i Impairment) -> Option<&'i Rule> {
    let mut rules = impairment.rules.iter().flat_map(|rules| &rules.0);
    rules.find(|rule| rule.name == name)
}

/// Copies the rule with a name, or its absence: in its place where there is one, otherwise last.
fn copy_rule(name: &str, from: &Impairment, to: &mut Impairment) {
    let Rules(mut rules) = to.rules.take().unwrap_or_default();
    let place = rules.iter().position(|rule| rule.name == name);
    match (rule_of(name, from), place) {
        (Some(rule), Some(place)) => rules[place] = rule.clone(),
        (Some(rule), None) => rules.push(rule.clone()),
        (None, Some(place)) => drop(rules.remove(place)),
        (None, None) => {}
    }
    to.rules = Some(Rules(rules)).filter(|rules| !rules.0.is_empty());
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
    /// Wall clock of its end when it was named, ns since the Unix epoch.
    ends_wall_ns: u64,
    /// Time since boot of its end; absent in earlier files, and where the system has no identity of its boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends_boot: Option<BootTime>,
    /// Changes, by direction.
    pub changes: BTreeMap<Direction, LeasedFields>,
}

impl Lease {
    /// Time until its end, ns; 0 for one that is over.
    #[must_use]
    pub fn left_ns(&self, now: &Moment) -> u64 {
        match &self.ends_boot {
            Some(end) if end.boot_id == now.boot_id => end.ns.saturating_sub(now.boot_ns),
            _ => self.ends_wall_ns.saturating_sub(now.wall_ns),
        }
    }

    /// Wall clock of its end, ns since the Unix epoch: another one than before once the clock was set.
    #[must_use]
    pub fn ends_wall_ns(&self, now: &Moment) -> u64 {
        let ends_ns = now.wall_ns.saturating_add(self.left_ns(now));
        match ends_ns.abs_diff(self.ends_wall_ns) <= WALL_SLACK_NS {
            true => self.ends_wall_ns,
            false => ends_ns,
        }
    }

    fn set_end(&mut self, now: &Moment, duration_ns: u64) {
        let Moment { wall_ns, boot_ns, boot_id } = now.clone();
        self.ends_wall_ns = wall_ns.saturating_add(duration_ns);
        let ns = boot_ns.saturating_add(duration_ns);
        self.ends_boot = (!boot_id.is_empty()).then_some(BootTime { boot_id, ns });
    }
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
                change.lay_over(&mut composed);
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
        let changes = || self.of(direction).filter_map(|lease| lease.changes.get(&direction));
        for field in ImpairmentField::ALL {
            let is_whole =
                |change: &LeasedFields| field != ImpairmentField::Rules || change.rules.is_none();
            let is_leased =
                changes().any(|change| change.fields.contains(&field) && is_whole(change));
            if is_leased && in_force.iter().any(|state| field.is_equal(state, wanted)) {
                field.copy(&before, &mut base);
            }
        }
        for name in changes().flat_map(|change| change.rules.iter().flatten()) {
            let own = rule_of(name, wanted);
            if in_force.iter().any(|state| rule_of(name, state) == own) {
                copy_rule(name, &before, &mut base);
            }
        }
        base
    }

    /// Begins a lease; its number.
    pub fn begin(
        &mut self,
        owner: Owner,
        now: &Moment,
        duration_ns: u64,
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> u64 {
        self.last_id += 1;
        let (id, starts_wall_ns) = (self.last_id, now.wall_ns);
        let ends_wall_ns = starts_wall_ns;
        let mut lease = Lease { id, owner, starts_wall_ns, ends_wall_ns, ends_boot: None, changes };
        lease.set_end(now, duration_ns);
        self.leases.push(lease);
        id
    }

    /// Changes the end of a lease, and what it sets in some directions; `false` without such a lease.
    pub fn renew(
        &mut self,
        id: u64,
        now: &Moment,
        duration_ns: u64,
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> bool {
        let Some(lease) = self.leases.iter_mut().find(|lease| lease.id == id) else {
            return false;
        };
        lease.set_end(now, duration_ns);
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

    /// Numbers of the leases that are over.
    #[must_use]
    pub fn due(&self, now: &Moment) -> Vec<u64> {
        let due = self.leases.iter().filter(|lease| lease.left_ns(now) == 0);
        due.map(|lease| lease.id).collect()
    }
}

#[cfg(test)]
#[path = "leases_tests.rs"]
mod tests;
