//! The last changes of each deployment that somebody watches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_http::id;
use groundwave_simulation::deployment::DeploymentId;
use serde::Serialize;
use tokio::sync::watch;
use uuid::Uuid;

/// Changes kept of a deployment.
const KEPT_MAX: usize = 1_024;
/// Octets kept of a deployment.
const BYTES_MAX: usize = 8 << 20;

/// Change of a deployment, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Revision: one more than that of the change before.
    pub revision: u64,
    /// Name of the event.
    pub name: &'static str,
    /// Data of the event, JSON.
    pub data: Arc<str>,
}

#[derive(Debug, Default)]
struct Kept {
    changes: VecDeque<Change>,
    bytes: usize,
}

/// Changes of a deployment since somebody watches it.
#[derive(Debug)]
pub struct ChangeLog {
    /// Distinguishes this log from those of earlier watchers and runs of the server.
    epoch: Uuid,
    kept: Mutex<Kept>,
    /// Revision of the last change.
    last: watch::Sender<u64>,
}

impl ChangeLog {
    /// A log without changes.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: id::mint(), kept: Mutex::default(), last: watch::Sender::new(0) }
    }

    /// Adds a change with its event.
    pub fn add(&self, name: &'static str, data: &impl Serialize) {
        let data = serde_json::to_string(data).expect("events are plain data");
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Several threads add: a revision is chosen and published under one lock.
        let revision = *self.last.borrow() + 1;
        kept.bytes += data.len();
        let data = data.into();
        kept.changes.push_back(Change { revision, name, data });
        while kept.changes.len() > KEPT_MAX || kept.bytes > BYTES_MAX {
            match kept.changes.pop_front() {
                Some(gone) => kept.bytes -= gone.data.len(),
                None => break,
            }
        }
        self.last.send_replace(revision);
    }

    /// Changes after `revision`; `None` where some of them are no longer kept.
    #[must_use]
    pub fn since(&self, revision: u64) -> Option<Vec<Change>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = *self.last.borrow();
        let first = kept.changes.front().map_or(last + 1, |first| first.revision);
        let known = (first..=last + 1).contains(&(revision + 1));
        let later = kept.changes.iter().filter(|change| change.revision > revision);
        known.then(|| later.cloned().collect())
    }

    /// Revision of the last change, from now on.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Number of watchers.
    #[must_use]
    pub fn watchers(&self) -> usize {
        self.last.receiver_count()
    }

    /// Id of the event of a revision.
    #[must_use]
    pub fn event_id(&self, revision: u64) -> String {
        format!("{}-{revision}", self.epoch.simple())
    }

    /// Revision of an event id; `None` for one of another log.
    #[must_use]
    pub fn revision(&self, event_id: &str) -> Option<u64> {
        let (epoch, revision) = event_id.split_once('-')?;
        (epoch == self.epoch.simple().to_string()).then(|| revision.parse().ok()).flatten()
    }
}

/// Logs of the deployments that somebody watches, or did until a short time ago.
#[derive(Debug, Default)]
pub struct ChangeLogs(Mutex<BTreeMap<DeploymentId, Arc<ChangeLog>>>);

impl ChangeLogs {
    /// The log of a deployment; `follow` is called with a new one if nobody watches it.
    #[must_use]
    pub fn of(
        &self,
        deployment: DeploymentId,
        follow: impl FnOnce(Arc<ChangeLog>),
    ) -> Arc<ChangeLog> {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || {
            let log = Arc::new(ChangeLog::new());
            follow(Arc::clone(&log));
            log
        };
        Arc::clone(logs.entry(deployment).or_insert_with(begin))
    }

    /// Adds a change to every log.
    pub fn add_to_all(&self, name: &'static str, data: &impl Serialize) {
        let logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.values().for_each(|log| log.add(name, data));
    }

    /// Forgets a log nobody watches, or one that has ended.
    pub fn forget(&self, deployment: DeploymentId, log: &Arc<ChangeLog>, ended: bool) -> bool {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Watchers come through the table: none can appear while it is held.
        let is_idle = ended || log.watchers() == 0 && Arc::strong_count(log) <= 2;
        if is_idle && logs.get(&deployment).is_some_and(|own| Arc::ptr_eq(own, log)) {
            logs.remove(&deployment);
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_numbered_and_the_last_ones_are_kept() {
        let log = ChangeLog::new();
        assert_eq!(log.since(0), Some(Vec::new()));
        for number in 0..KEPT_MAX + 10 {
            log.add("node", &number);
        }
        let last = (KEPT_MAX + 10) as u64;
        assert_eq!(log.since(9), None);
        assert_eq!(log.since(10).unwrap().len(), KEPT_MAX);
        assert_eq!(log.since(last - 1).unwrap()[0].revision, last);
        assert_eq!(log.since(last), Some(Vec::new()));
        assert_eq!(log.since(last + 1), None);
    }

    #[test]
    fn large_changes_leave_earlier() {
        let log = ChangeLog::new();
        for _ in 0..3 {
            log.add("links", &"x".repeat(BYTES_MAX / 2));
        }
        assert_eq!(log.since(1), None);
        assert_eq!(log.since(2).unwrap().len(), 1);
    }

    #[test]
    fn event_ids_of_other_logs_are_unknown() {
        let (log, other) = (ChangeLog::new(), ChangeLog::new());
        assert_eq!(log.revision(&log.event_id(7)), Some(7));
        assert_eq!(log.revision(&other.event_id(7)), None);
        assert_eq!(log.revision("7"), None);
        assert_eq!(log.revision(""), None);
    }
}
