//! A job as Server-Sent Events.

use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use groundwave_http::event_stream::{self, EventSource, Outbox, event};
use serde_json::json;
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
        match progress.status {
            JobStatus::Queued | JobStatus::Running => {
                tokio::select! {
                    // The sender lives in the job, which this watcher holds.
                    _ = self.progress.changed() => {}
                    () = self.stop.cancelled() => fail(outbox, "the server is stopping"),
                }
            }
            JobStatus::Done => {
                outbox.push(event("done", &json!({})));
                outbox.close();
            }
            JobStatus::Failed => fail(outbox, &self.job.failure().unwrap_or_default()),
        }
    }
}

/// Ends a stream with an event `failed`.
pub(super) fn fail(outbox: &mut Outbox, detail: &str) {
    outbox.push(event("failed", &json!({ "detail": detail })));
    outbox.close();
}
