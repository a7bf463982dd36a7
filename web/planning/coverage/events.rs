//! A job as Server-Sent Events.

use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use groundwave_http::event_stream::{self, EventSource, Outbox, event};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::wire::coverage::JobStatus;
use super::job::{Job, Progress};

struct Watcher {
    job: Arc<Job>,
    progress: watch::Receiver<Progress>,
    stop: CancellationToken,
    has_started: bool,
    /// The row whose events come next: one row at a time.
    row: u32,
}

/// All events of a job from its start, as they come to be; ends after `done` or `failed`, which also
/// comes when the server stops.
pub fn events(job: Arc<Job>, stop: CancellationToken) -> impl Stream<Item = Event> + use<> {
    event_stream::events(Watcher { progress: job.watch(), job, stop, has_started: false, row: 0 })
}

impl EventSource for Watcher {
    async fn advance(&mut self, outbox: &mut Outbox) {
        if !std::mem::replace(&mut self.has_started, true) {
            let grid = &self.job.asked.grid;
            let started = json!({ "rows": grid.rows(), "cols": grid.columns() });
            return outbox.push(event("started", &started));
        }
        let progress = *self.progress.borrow_and_update();
        if self.row < progress.rows_done {
            for tile in self.job.row(self.row) {
                outbox.push(event("tile", &tile));
            }
            outbox.push(event("row_done", &json!({ "row": self.row })));
            self.row += 1;
            return;
        }
        let Self { job, progress: changes, stop, .. } = self;
        await_end(job, (progress.status, changes), stop, outbox, || json!({})).await;
    }
}

/// Waits for progress of a job whose events so far are sent, or ends a stream: with an event `done` of the data
/// that `done` makes, or with `failed`. The status is that of the progress whose events these are: a later one
/// would end the stream before its rows.
pub(super) async fn await_end(
    job: &Job,
    (status, changes): (JobStatus, &mut watch::Receiver<Progress>),
    stop: &CancellationToken,
    outbox: &mut Outbox,
    done: impl FnOnce() -> Value + Send,
) {
    let last = match status {
        JobStatus::Queued | JobStatus::Running => tokio::select! {
            // The sender lives in the job, which the watcher holds.
            _ = changes.changed() => return,
            () = stop.cancelled() => failed("the server is stopping"),
        },
        JobStatus::Done => event("done", &done()),
        JobStatus::Failed => failed(&job.failure().unwrap_or_default()),
    };
    outbox.push(last);
    outbox.close();
}

fn failed(detail: &str) -> Event {
    event("failed", &json!({ "detail": detail }))
}
