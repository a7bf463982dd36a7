//! Leases of the daemon: what lies over the state that is set without them, and their ends.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_http::Problem;
use groundwave_impair::{Applied, Direction, Impairment};
use groundwave_io_impair::leases::{LEASES_MAX, Lease, LeasedFields, Leases, Moment, Owner};
use groundwave_io_impair::state_file;

use super::audit;
use super::lease_store::LeaseStore;
use super::state::{Daemon, Outcome, Ports};
use super::wire::{AppliedState, DURATION_NS_MAX, DURATION_NS_MIN};

/// Allowed durations of a lease, ns: 1 ms to a year.
const DURATION_NS: RangeInclusive<u64> = DURATION_NS_MIN..=DURATION_NS_MAX;
/// Longest wait before the clock is read again: the machine may sleep meanwhile.
const LOOK: Duration = Duration::from_secs(1);
/// Wait after a state could not be restored.
const RETRY: Duration = Duration::from_secs(1);
/// Longest name of an owner, characters.
const NAME_CHARS_MAX: usize = 64;

fn check_duration(duration_ns: u64) -> Result<(), Problem> {
    if DURATION_NS.contains(&duration_ns) {
        return Ok(());
    }
    Err(Problem::bad_request(format!(
        "invalid duration: found {duration_ns}, allowed {} to {} ns",
        DURATION_NS.start(),
        DURATION_NS.end()
    )))
}

fn check(ports: &Ports, changes: &BTreeMap<Direction, LeasedFields>) -> Result<(), Problem> {
    for (direction, change) in changes {
        if !ports.directions().any(|port| port == *direction) {
            return Err(ports.unknown(direction.name()));
        }
        let invalid = |what: String| Problem::bad_request(format!("changes.{direction}: {what}"));
        let checked = change.impairment.validate();
        checked.map_err(|refusal| invalid(refusal.to_string()))?;
        change.check().map_err(invalid)?;
    }
    Ok(())
}

fn gone(id: u64) -> Problem {
    Problem::not_found("lease", id)
}

impl Daemon {
    /// This daemon with the leases of one that ran before, which are kept in `file`.
    ///
    /// # Errors
    /// When the file is damaged.
    pub async fn with_leases(self, file: PathBuf) -> std::io::Result<Self> {
        let table = state_file::load(&file)?;
        let mut store = self.leases.lock().await;
        *store = LeaseStore::of(table, file);
        drop(store);
        Ok(self)
    }

    /// Puts in force what the leases of a daemon that ran before leave: those that are over end.
    pub async fn resume_leases(&self) {
        let mut store = self.leases.lock().await;
        for direction in store.table.directions() {
            if !self.ports.directions().any(|port| port == direction) {
                store.table.clear(direction);
                tracing::warn!(target: "audit", %direction, outcome = "leases of a port that is not configured are dropped");
            }
        }
        for id in store.table.due(&Moment::now()) {
            store.table.end(id);
            tracing::info!(target: "audit", lease = id, outcome = "ended while the daemon was down");
        }
        for direction in store.table.directions() {
            self.settle_in_time(&mut store, direction).await;
        }
        store.save_anyway();
        for lease in store.table.all() {
            self.watch(lease.id);
        }
    }

    /// All leases.
    pub async fn leases(&self) -> Leases {
        self.leases.lock().await.table.clone()
    }

    /// Response of a reading, with the leases of the direction and the refusal of its last request.
    pub async fn state(&self, direction: Direction, mut applied: Applied) -> AppliedState {
        let refusal = self.refusal(direction, &applied);
        applied.divergence.extend(refusal);
        let state = AppliedState::of(direction, applied, self.requested(direction));
        state.with_leases(&self.leases.lock().await.table)
    }

    /// Replaces the state of a direction, beneath its leases; without `beneath`, leased fields that have
    /// the value in force were read and stay what they were. With `revisions`, only if the direction has one
    /// of them.
    pub async fn replace(
        &self,
        direction: Direction,
        wanted: Impairment,
        beneath: bool,
        revisions: Option<&[&str]>,
    ) -> Outcome {
        // The leases may cover every field of it, and the world would not see it now.
        if let Err(refusal) = wanted.validate() {
            return Outcome { before: None, after: Err(refusal.into()) };
        }
        let mut store = self.leases.lock().await;
        if let Some(revisions) = revisions
            && let Err(problem) = self.check_revision(&store.table, direction, revisions).await
        {
            return Outcome { before: None, after: Err(problem) };
        }
        if !store.table.is_leased(direction) {
            let outcome = self.shape(direction, Some(wanted)).await;
            // What was to be restored is replaced; by a change that is refused it is not.
            if outcome.after.is_ok() && store.table.base(direction).is_some() {
                store.table.forget_base(direction);
                store.save_anyway();
            }
            return outcome;
        }
        let requested = self.requested(direction).unwrap_or_default();
        let read = self.read(direction).await.map(|applied| applied.impairment);
        let in_force = [&requested, read.as_ref().unwrap_or(&requested)];
        let base = match beneath {
            true => wanted,
            false => store.table.without_leased(direction, &wanted, &in_force),
        };
        let before = store.table.clone();
        store.table.set_base(direction, Some(base));
        let outcome = self.shape(direction, store.table.compose(direction)).await;
        if outcome.after.is_err() {
            store.table = before;
        }
        store.save_anyway();
        outcome
    }

    /// Refuses a change of another revision of a direction than the present one.
    async fn check_revision(
        &self,
        leases: &Leases,
        direction: Direction,
        revisions: &[&str],
    ) -> Result<(), Problem> {
        let applied = self.read(direction).await?;
        let present = AppliedState::of(direction, applied, None).with_leases(leases);
        if revisions.contains(&present.revision().as_str()) {
            return Ok(());
        }
        let what = format!("{direction} has changed since the revision in If-Match: read it again");
        Err(Problem::new(StatusCode::PRECONDITION_FAILED, what))
    }

    /// Removes the impairment of a direction, and ends its leases.
    pub async fn clear(&self, direction: Direction) -> Outcome {
        let mut store = self.leases.lock().await;
        let before = store.table.clone();
        store.table.clear(direction);
        let outcome = self.shape(direction, None).await;
        if outcome.after.is_err() {
            store.table = before;
        } else if store.table != before {
            store.save_anyway();
        }
        outcome
    }

    /// State in force in a direction without leases: what lies beneath the first one.
    async fn base_of(&self, direction: Direction) -> Result<Option<Impairment>, Problem> {
        if let Some(granted) = self.granted(direction) {
            return Ok(Some(granted));
        }
        let found = self.read(direction).await?.impairment;
        Ok(Some(found).filter(|found| !found.is_empty()))
    }

    /// Notes what is in force in directions without leases: it lies beneath the first one.
    async fn note_bases(
        &self,
        store: &mut LeaseStore,
        directions: &[Direction],
    ) -> Result<(), Problem> {
        let mut bases = Vec::new();
        for direction in directions {
            // A base that is to be restored is one already.
            if store.table.base(*direction).is_none() {
                bases.push((*direction, self.base_of(*direction).await?));
            }
        }
        for (direction, base) in bases {
            store.table.set_base(direction, base);
        }
        Ok(())
    }

    /// Begins a lease and puts it in force.
    ///
    /// # Errors
    /// For invalid changes and durations, for too many leases, and those of the kernel; then nothing
    /// changed.
    pub async fn begin_lease(
        &self,
        owner: Owner,
        duration_ns: u64,
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> Result<Lease, Problem> {
        check_duration(duration_ns)?;
        check(&self.ports, &changes)?;
        if changes.is_empty() {
            let what = "invalid changes: found none, allowed those of one direction or more";
            return Err(Problem::bad_request(what));
        }
        let name = owner.name.as_deref().unwrap_or("-");
        if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) {
            let what = format!("invalid owner: allowed 1 to {NAME_CHARS_MAX} characters");
            return Err(Problem::bad_request(what));
        }
        let mut store = self.leases.lock().await;
        if store.table.all().len() >= LEASES_MAX {
            let what = format!("{LEASES_MAX} leases are in force, and no more are allowed");
            return Err(Problem::new(StatusCode::CONFLICT, what));
        }
        let before = store.table.clone();
        let directions: Vec<_> = changes.keys().copied().collect();
        self.note_bases(&mut store, &directions).await?;
        let id = store.table.begin(owner, &Moment::now(), duration_ns, changes);
        self.put_in_force(&mut store, before, &directions).await?;
        self.watch(id);
        store.table.get(id).cloned().ok_or_else(|| gone(id))
    }

    /// Renews a lease, with other changes of the directions named.
    ///
    /// # Errors
    /// 404 after its end; as [`Self::begin_lease`], then it stays as it was.
    pub async fn renew_lease(
        &self,
        id: u64,
        duration_ns: u64,
        changes: BTreeMap<Direction, LeasedFields>,
    ) -> Result<Lease, Problem> {
        check_duration(duration_ns)?;
        check(&self.ports, &changes)?;
        let mut store = self.leases.lock().await;
        let before = store.table.clone();
        let directions: Vec<_> = changes.keys().copied().collect();
        self.note_bases(&mut store, &directions).await?;
        if !store.table.renew(id, &Moment::now(), duration_ns, changes) {
            store.table = before;
            return Err(gone(id));
        }
        self.put_in_force(&mut store, before, &directions).await?;
        store.table.get(id).cloned().ok_or_else(|| gone(id))
    }

    /// Writes the leases and puts them in force in some directions; after a failure all is as `before`.
    async fn put_in_force(
        &self,
        store: &mut LeaseStore,
        before: Leases,
        directions: &[Direction],
    ) -> Result<(), Problem> {
        // On disk first: a lease in force that nobody knows of would never end.
        if let Err(problem) = store.save() {
            store.table = before;
            return Err(problem);
        }
        for (count, direction) in directions.iter().enumerate() {
            let composed = store.table.compose(*direction);
            let Err(problem) = self.shape(*direction, composed).await.after else {
                continue;
            };
            let leased = std::mem::replace(&mut store.table, before);
            // The direction that was refused is as it was; those before it are put back.
            for direction in &directions[..=count] {
                let earlier = match store.table.base(*direction) {
                    Some(_) => store.table.compose(*direction),
                    None => leased.base(*direction).flatten().cloned(),
                };
                let _ = self.shape(*direction, earlier).await;
            }
            store.save_anyway();
            return Err(problem);
        }
        Ok(())
    }

    /// Ends a lease: its fields return to what lies beneath.
    ///
    /// # Errors
    /// 404 after its end. A state that cannot be restored is tried again until it can.
    pub async fn end_lease(&self, id: u64) -> Result<Lease, Problem> {
        let mut store = self.leases.lock().await;
        let lease = store.table.end(id).ok_or_else(|| gone(id))?;
        store.save_anyway();
        for direction in lease.changes.keys() {
            self.settle_in_time(&mut store, *direction).await;
        }
        Ok(lease)
    }

    /// Puts in force what the leases of a direction leave.
    async fn settle(&self, store: &mut LeaseStore, direction: Direction) -> Result<(), Problem> {
        let left = store.table.compose(direction);
        self.shape(direction, left).await.after?;
        store.table.forget_base(direction);
        store.save_anyway();
        Ok(())
    }

    /// As [`Self::settle`]; after a failure it is tried again until the state beneath is in force, or
    /// another one is. A failure that lasts is logged at growing intervals.
    async fn settle_in_time(&self, store: &mut LeaseStore, direction: Direction) {
        let log = move |problem: Problem, attempts: u64| {
            let problem = problem.detail;
            tracing::error!(%direction, problem, attempts, "the state beneath a lease is not restored yet");
        };
        let Err(problem) = self.settle(store, direction).await else {
            return;
        };
        log(problem, 1);
        let daemon = self.clone();
        tokio::spawn(async move {
            for attempts in 2_u64.. {
                tokio::time::sleep(RETRY).await;
                let mut store = daemon.leases.lock().await;
                if store.table.base(direction).is_none() {
                    return;
                }
                match daemon.settle(&mut store, direction).await {
                    Ok(()) => {
                        tracing::info!(%direction, attempts, "the state beneath a lease is restored");
                        return;
                    }
                    Err(problem) if attempts >= 60 && attempts.is_power_of_two() => {
                        log(problem, attempts);
                    }
                    Err(_) => {}
                }
            }
        });
    }

    /// Ends a lease at its time.
    fn watch(&self, id: u64) {
        let daemon = self.clone();
        tokio::spawn(async move {
            loop {
                let left_ns = match daemon.leases.lock().await.table.get(id) {
                    Some(lease) => lease.left_ns(&Moment::now()),
                    None => return,
                };
                if left_ns == 0 {
                    // It may have been cancelled at this moment.
                    if let Ok(lease) = daemon.end_lease(id).await {
                        audit::ended(&lease);
                    }
                    return;
                }
                tokio::time::sleep(Duration::from_nanos(left_ns).min(LOOK)).await;
            }
        });
    }
}
