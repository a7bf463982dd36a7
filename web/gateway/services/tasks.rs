//! Background tasks: last runs and errors.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use groundwave_files::wall::wall_ns;
use groundwave_http::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Background task of the gateway.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// Name.
    pub name: String,
    /// Start of the last run, RFC 3339.
    pub last_run: Option<String>,
    /// Duration of the last run, ms.
    pub duration_ms: f64,
    /// Delay of the last run, ms.
    pub lag_ms: f64,
    /// Number of failed runs.
    pub errors: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Run {
    last_ns: Option<u64>,
    duration_ns: u64,
    lag_ns: u64,
    errors: u64,
    last_failed: bool,
}

/// Runs of background tasks by name.
#[derive(Debug, Default)]
pub struct BackgroundTasks(Mutex<BTreeMap<&'static str, Run>>);

impl BackgroundTasks {
    /// Records a run: duration, delay of its start, failure.
    pub fn record(&self, name: &'static str, duration_ns: u64, lag_ns: u64, failed: bool) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let run = tasks.entry(name).or_default();
        run.last_ns = Some(wall_ns());
        run.duration_ns = duration_ns;
        run.lag_ns = lag_ns;
        run.errors += u64::from(failed);
        run.last_failed = failed;
    }

    /// Notes that what failed the last runs of some tasks is over.
    pub fn recovered(&self, names: &[&str]) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = tasks.iter_mut().filter(|(name, _)| names.contains(name));
        runs.for_each(|(_, run)| run.last_failed = false);
    }

    /// True when the last run of any task failed.
    #[must_use]
    pub fn failing(&self) -> bool {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.values().any(|run| run.last_failed)
    }

    /// Last runs, by name.
    #[must_use]
    pub fn view(&self) -> Vec<TaskView> {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let show = |(name, run): (&&str, &Run)| TaskView {
            name: (*name).to_owned(),
            last_run: run.last_ns.map(rfc3339),
            duration_ms: run.duration_ns as f64 / 1e6,
            lag_ms: run.lag_ns as f64 / 1e6,
            errors: run.errors,
        };
        tasks.iter().map(show).collect()
    }
}
