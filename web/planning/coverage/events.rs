//! A job as Server-Sent Events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::wire::coverage::JobStatus;
use super::job::{Job, Progress};

struct Watcher {
    job: Arc<Job>,
    progress: watch::Receiver<Progress>,
    stop: CancellationToken,
    /// Events made and not sent yet: one row at most, so a slow reader holds one row.
    ready: VecDeque<Event>,
    /// The row whose events come next.
    row: u32,
    ended: bool,
}

/// All events of a job from its start, as they come to be; ends after `done` or `failed`, which also
/// says that the server stops.
pub fn events(
    job: Arc<Job>,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let grid = &job.asked.grid;
    let started = json!({ "rows": grid.rows(), "cols": grid.columns() });
    let watcher = Watcher {
        progress: job.watch(),
        ready: VecDeque::from([event("started", &started)]),
        job,
        stop,
        row: 0,
        ended: false,
    };
    stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((Ok(event), watcher))
    })
}

fn event(name: &str, data: &impl serde::Serialize) -> Event {
    let event = Event::default().event(name);
    event.json_data(data).expect("events are plain data")
}

impl Watcher {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            let progress = *self.progress.borrow_and_update();
            if self.row < progress.rows_done {
                self.show_row();
                continue;
            }
            match progress.status {
                JobStatus::Queued | JobStatus::Running => {
                    tokio::select! {
                        // The sender lives in the job, which this watcher holds.
                        _ = self.progress.changed() => {}
                        () = self.stop.cancelled() => {
                            let failed = json!({ "detail": "the server is stopping" });
                            self.ready.push_back(event("failed", &failed));
                            self.ended = true;
                        }
                    }
                }
                JobStatus::Done => {
                    self.ready.push_back(event("done", &json!({})));
                    self.ended = true;
                }
                JobStatus::Failed => {
                    let detail = self.job.failure().unwrap_or_default();
                    let failed = json!({ "detail": detail });
                    self.ready.push_back(event("failed", &failed));
                    self.ended = true;
                }
            }
        }
    }

    fn show_row(&mut self) {
        let tiles = self.job.row(self.row);
        self.ready.extend(tiles.iter().map(|tile| event("tile", tile)));
        let row = self.row;
        self.ready.push_back(event("row_done", &json!({ "row": row })));
        self.row += 1;
    }
}
