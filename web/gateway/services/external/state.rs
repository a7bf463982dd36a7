//! States and recent samples of external systems.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundwave_files::wall::wall_ns;
use groundwave_gateway::external::ExternalSystem;
use groundwave_protocol::Sample;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::probe::Probed;

/// Maximum number of samples of a system that wait for the history.
const PENDING_MAX: usize = 10_000;

/// State of an external system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SystemState {
    /// Reachable, all checks passed.
    Up,
    /// Reachable, some checks failed.
    Degraded,
    /// Not reachable.
    Down,
    /// Not polled since the start of the gateway.
    #[default]
    Unknown,
}

/// Status of an external system.
#[derive(Debug, Clone, Default)]
pub struct SystemStatus {
    pub state: SystemState,
    /// Time of the last poll, ns since the Unix epoch.
    pub last_poll_ns: Option<u64>,
    /// Error of the last poll.
    pub last_error: Option<String>,
    /// Latest value by metric, with its time in ms since the Unix epoch.
    pub latest: BTreeMap<String, (u64, f64)>,
}

#[derive(Default)]
struct Held {
    status: SystemStatus,
    /// Samples that are not in the history yet.
    pending: Vec<Sample>,
    /// Monotonic times of the next polls, ns: of the checks, and of endpoints.
    due_ns: BTreeMap<Option<Uuid>, u64>,
    /// Polls that run.
    running: BTreeSet<Option<Uuid>>,
}

/// Poll that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub system: Uuid,
    /// Endpoint; `None` for the checks of the system.
    pub endpoint: Option<Uuid>,
}

/// States of all external systems.
#[derive(Default)]
pub struct ExternalStates(Mutex<BTreeMap<Uuid, Held>>);

impl ExternalStates {
    fn systems(&self) -> MutexGuard<'_, BTreeMap<Uuid, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Status of a system.
    #[must_use]
    pub fn status(&self, id: Uuid) -> SystemStatus {
        let systems = self.systems();
        systems.get(&id).map(|system| system.status.clone()).unwrap_or_default()
    }

    /// Forgets a system, and its status after a change of its definition.
    pub fn forget(&self, id: Uuid) {
        let mut systems = self.systems();
        if let Some(system) = systems.get_mut(&id) {
            system.status = SystemStatus::default();
            system.due_ns.clear();
        }
    }

    /// Polls that are due at a monotonic time, ns; each is due again after its interval, once it was finished
    /// with [`Self::finish`]. Systems that are gone keep only what waits for the history.
    pub fn take_due<'a>(
        &self,
        definitions: impl Iterator<Item = (Uuid, &'a ExternalSystem)>,
        now_ns: u64,
    ) -> Vec<Due> {
        let mut states = self.systems();
        let mut due = Vec::new();
        let mut present = BTreeMap::new();
        for (id, system) in definitions {
            let mut of = states.remove(&id).unwrap_or_default();
            let polls = system.endpoints.iter().filter(|endpoint| endpoint.enabled).filter_map(
                |endpoint| {
                    let every_s = endpoint.poll.as_ref()?.every_s;
                    Some((Some(endpoint.endpoint_id), every_s))
                },
            );
            let polls: Vec<_> = polls.chain([(None, system.poll_interval_s)]).collect();
            of.due_ns.retain(|key, _| polls.iter().any(|(poll, _)| poll == key));
            for (endpoint, every_s) in polls {
                let next_ns = of.due_ns.entry(endpoint).or_insert(now_ns);
                if *next_ns <= now_ns {
                    *next_ns = now_ns + u64::from(every_s) * 1_000_000_000;
                    // Of a system that hangs one poll waits, not one more after each interval.
                    if of.running.insert(endpoint) {
                        due.push(Due { system: id, endpoint });
                    }
                }
            }
            present.insert(id, of);
        }
        for (id, removed) in std::mem::take(&mut *states) {
            if !removed.pending.is_empty() {
                let pending = removed.pending;
                present.insert(id, Held { pending, ..Held::default() });
            }
        }
        *states = present;
        due
    }

    /// Ends a poll that was due.
    pub fn finish(&self, due: Due) {
        if let Some(system) = self.systems().get_mut(&due.system) {
            system.running.remove(&due.endpoint);
        }
    }

    /// Records the result of a poll of the checks.
    pub fn record(&self, id: Uuid, probed: Probed) {
        let now_ns = wall_ns();
        let mut systems = self.systems();
        let system = systems.entry(id).or_default();
        system.status.state = match (probed.result.reachable, probed.failed) {
            (false, _) => SystemState::Down,
            (true, 0) => SystemState::Up,
            (true, _) => SystemState::Degraded,
        };
        system.status.last_poll_ns = Some(now_ns);
        system.status.last_error = probed.result.error;
        for (metric, value) in probed.values {
            system.add(metric, now_ns / 1_000_000, value);
        }
    }

    /// Records a poll that could not be made.
    pub fn record_error(&self, id: Uuid, error: String) {
        let mut systems = self.systems();
        let system = systems.entry(id).or_default();
        system.status.state = SystemState::Down;
        system.status.last_poll_ns = Some(wall_ns());
        system.status.last_error = Some(error);
    }

    /// Records a failed poll of an endpoint.
    pub fn degrade(&self, id: Uuid, error: String) {
        let mut systems = self.systems();
        let system = systems.entry(id).or_default();
        if system.status.state == SystemState::Up {
            system.status.state = SystemState::Degraded;
        }
        system.status.last_error = Some(error);
    }

    /// Records a value of an endpoint.
    pub fn record_value(&self, id: Uuid, metric: String, value: f64) {
        let mut systems = self.systems();
        systems.entry(id).or_default().add(metric, wall_ns() / 1_000_000, value);
    }

    /// Samples of a metric that are not in the history yet.
    #[must_use]
    pub fn pending(&self, id: Uuid, metric: &str) -> Vec<(u64, f64)> {
        let systems = self.systems();
        systems
            .get(&id)
            .map(|system| system.pending.as_slice())
            .unwrap_or_default()
            .iter()
            .filter(|sample| sample.metric == metric)
            .map(|sample| (sample.ts_ms, sample.value))
            .collect()
    }

    /// Copies of all samples that are not in the history yet.
    #[must_use]
    pub fn all_pending(&self) -> Vec<(Uuid, Vec<Sample>)> {
        let systems = self.systems();
        systems
            .iter()
            .filter(|(_, system)| !system.pending.is_empty())
            .map(|(id, system)| (*id, system.pending.clone()))
            .collect()
    }

    /// Forgets the first samples of a system: they are in the history.
    pub fn stored(&self, id: Uuid, count: usize) {
        let mut systems = self.systems();
        if let Some(system) = systems.get_mut(&id) {
            system.pending.drain(..count.min(system.pending.len()));
        }
    }
}

impl Held {
    fn add(&mut self, metric: String, ts_ms: u64, value: f64) {
        self.status.latest.insert(metric.clone(), (ts_ms, value));
        if self.pending.len() < PENDING_MAX {
            self.pending.push(Sample { metric, ts_ms, value });
        }
    }
}

#[cfg(test)]
mod tests {
    use groundwave_gateway::external::{AuthKind, Preset, TlsTrust};

    use super::*;

    #[test]
    fn polls_are_due_after_their_interval() {
        let states = ExternalStates::default();
        let system = ExternalSystem {
            name: "A".to_owned(),
            preset: Preset::Http,
            base_url: "http://10.0.0.1".to_owned(),
            auth: AuthKind::None,
            sealed_auth: None,
            poll_interval_s: 5,
            timeout_ms: 1_000,
            tls: TlsTrust::default(),
            checks: Vec::new(),
            endpoints: Vec::new(),
        };
        let id = Uuid::from_u128(1);
        let take = |at_s: u64| states.take_due([(id, &system)].into_iter(), at_s * 1_000_000_000);
        let due = |at_s: u64| {
            let due = take(at_s);
            due.iter().for_each(|one| states.finish(*one));
            due.len()
        };
        assert_eq!([due(0), due(4), due(5), due(5), due(30), due(31)], [1, 0, 1, 0, 1, 0]);
        states.forget(id);
        assert_eq!(due(31), 1);
        // One that hangs is not due once more.
        let hanging = take(36);
        assert_eq!((hanging.len(), take(41).len(), take(900).len()), (1, 0, 0));
        states.finish(hanging[0]);
        assert_eq!([due(904), due(905), due(906)], [0, 1, 0]);
    }

    #[test]
    fn samples_wait_for_the_history_and_systems_that_are_gone_leave_theirs() {
        let states = ExternalStates::default();
        let id = Uuid::from_u128(1);
        let mut probed = Probed::default();
        probed.result.reachable = true;
        probed.values.insert("up".to_owned(), 1.0);
        states.record(id, probed);
        states.record_value(id, "load".to_owned(), 0.5);
        assert_eq!(states.status(id).state, SystemState::Up);
        assert!(states.take_due(std::iter::empty(), 0).is_empty());
        assert_eq!(states.status(id).state, SystemState::Unknown);
        let waiting = states.all_pending();
        assert_eq!((waiting.len(), waiting[0].1.len()), (1, 2));
        assert_eq!(states.pending(id, "load")[0].1, 0.5);
        states.stored(id, 2);
        assert!(states.all_pending().is_empty());
        states.take_due(std::iter::empty(), 0);
        assert!(states.systems().is_empty());
    }
}
