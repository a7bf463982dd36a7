//! Writer of the telemetry history: minutes of readings that are over.
//!
//! While a write fails, what was not written waits, minutes do not end by the clock, so that those that
//! wait stay in the store too, and heartbeats with readings are refused.

use std::time::Duration;

use groundwave_engine::Effects;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::fleet::{HoldMinutes, StoreMinute};
use groundwave_telemetry::HistoryError;

use crate::state::Gateway;

/// Period of looks for minutes.
const LOOK: Duration = Duration::from_millis(500);
/// Time that completed minutes wait for those of other nodes; they are in the store meanwhile.
const GATHER_NS: u64 = 10_000_000_000;
/// A minute, ns.
const MINUTE_NS: u64 = 60_000_000_000;
/// Maximum number of minutes written in one transaction.
const KEPT_AT_ONCE: usize = 2_000;
/// Time between two attempts on a disk that seems to have space, ns.
const RETRY_NS: u64 = 1_000_000_000;
/// Time between two attempts on a disk without space and on one that fails otherwise, ns: to open a
/// large file again takes seconds.
const RETRY_FULL_NS: u64 = 10_000_000_000;

/// Tasks that fail while the history does.
const TASKS: [&str; 6] = ["external", "history", "nut", "roll-up", "sensors", "topology"];

/// Minutes on their way to the history.
struct HistoryWriter {
    gateway: Gateway,
    effects: Effects<StoreMinute>,
    batch: Vec<StoreMinute>,
    /// Monotonic time since which the batch waits for other nodes, ns.
    since_ns: Option<u64>,
    /// Monotonic time of the last attempt, ns.
    tried_ns: u64,
    /// State of the world, if it is known; it holds minutes at the start.
    holds_minutes: Option<bool>,
}

/// Keeps minutes of readings that are over, until the gateway stops. What finds no space waits until
/// there is space.
pub async fn store_minutes(gateway: Gateway, effects: Effects<StoreMinute>) {
    let mut writer = HistoryWriter {
        gateway,
        effects,
        batch: Vec::new(),
        since_ns: None,
        tried_ns: 0,
        holds_minutes: None,
    };
    loop {
        let stop = writer.gateway.stop.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
        let is_stopping = stop.is_cancelled();
        match writer.gateway.history.failure() {
            Some(failure) if !is_stopping && !writer.is_due(&failure) => {}
            Some(_) => writer.retry(is_stopping).await,
            None => writer.write(is_stopping).await,
        }
        if is_stopping {
            return;
        }
        writer.hold().await;
    }
}

impl HistoryWriter {
    /// True when a disk that failed is tried again.
    fn is_due(&self, failure: &HistoryError) -> bool {
        let has_space = failure.kind.may_pass() && self.gateway.history.has_space();
        let pause_ns = if has_space { RETRY_NS } else { RETRY_FULL_NS };
        monotonic_ns() >= self.tried_ns.saturating_add(pause_ns)
    }

    /// Tries a disk that failed again, with what waits or, if nothing does, with little.
    async fn retry(&mut self, is_stopping: bool) {
        self.tried_ns = monotonic_ns();
        self.take();
        if !self.batch.is_empty() {
            return self.write(true).await;
        }
        let history = self.gateway.history.clone();
        let probed = tokio::task::spawn_blocking(move || history.probe()).await;
        if let Ok(Err(err)) = probed
            && is_stopping
        {
            tracing::warn!(%err, "the history of readings ends with a failure");
        }
        self.show();
    }

    /// Takes minutes that are over, as many as are written at once.
    fn take(&mut self) {
        let space = KEPT_AT_ONCE - self.batch.len();
        let effects = &mut self.effects;
        self.batch.extend(std::iter::from_fn(|| effects.try_next()).take(space));
    }

    /// Writes minutes that are over; unless `at_once`, those of nodes that end theirs within one
    /// heartbeat period together.
    async fn write(&mut self, at_once: bool) {
        loop {
            self.take();
            if self.batch.is_empty() {
                return;
            }
            let began_ns = monotonic_ns();
            let waited_ns = began_ns - *self.since_ns.get_or_insert(began_ns);
            // The store has the last minute of each node; an earlier one is nowhere else.
            let now_minute = wall_ns() / MINUTE_NS;
            let in_store = |effect: &StoreMinute| effect.minute.minute + 2 > now_minute;
            let gathers = self.batch.len() < KEPT_AT_ONCE
                && waited_ns < GATHER_NS
                && self.batch.iter().all(in_store);
            if gathers && !at_once {
                return;
            }
            self.since_ns = None;
            self.tried_ns = began_ns;
            let (history, batch) = (self.gateway.history.clone(), std::mem::take(&mut self.batch));
            let work = move || (history.keep(&batch), batch);
            let Ok((stored, batch)) = tokio::task::spawn_blocking(work).await else {
                tracing::error!("readings could not be kept: the write panicked");
                return;
            };
            if let Err(err) = &stored {
                if self.gateway.metrics.history_full.get() == 0 {
                    tracing::error!(%err, waiting = batch.len(), "readings wait for the history");
                }
                self.batch = batch;
            }
            let metrics = &self.gateway.metrics;
            metrics.history_faults.inc_by(match &stored {
                Ok(damaged) => *damaged as u64,
                Err(_) => 1,
            });
            let took_ns = monotonic_ns() - began_ns;
            let tasks = &self.gateway.background_tasks;
            tasks.record("history", took_ns, 0, stored.is_err());
            self.show();
            if stored.is_err() {
                return;
            }
        }
    }

    /// Shows the state of the history in the metrics.
    fn show(&self) {
        let is_failing = self.gateway.history.failure().is_some();
        let metrics = &self.gateway.metrics;
        let was_failing = metrics.history_full.set(i64::from(is_failing)) != 0;
        if was_failing && !is_failing {
            self.gateway.background_tasks.recovered(&TASKS);
        }
    }

    /// Lets minutes end by the clock while the history takes writes, and only then.
    async fn hold(&mut self) {
        self.show();
        let holds = self.gateway.history.failure().is_some();
        if self.holds_minutes == Some(holds) {
            return;
        }
        let outcome = self.gateway.world.submit(HoldMinutes { holds }).await;
        if outcome.is_ok() {
            self.holds_minutes = Some(holds);
        }
    }
}
