//! A job as Server-Sent Events of squares of cells.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::wire::coverage::JobStatus;
use super::encode::TILE_SIDE;
use super::job::{Job, Progress};

struct Watcher {
    job: Arc<Job>,
    progress: watch::Receiver<Progress>,
    stop: CancellationToken,
    /// Events not sent yet: one row of squares at most.
    ready: VecDeque<Event>,
    /// Number of the next square, row by row.
    next: u32,
    ended: bool,
}

/// All squares of a job from `first` on, as they come to be; ends after `done` or `failed`.
pub fn tiles(
    job: Arc<Job>,
    first: u32,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let started = event("started", &job.started());
    let watcher = Watcher {
        progress: job.watch(),
        ready: VecDeque::from([started]),
        job,
        stop,
        next: first,
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
            let grid = &self.job.asked.grid;
            let across = grid.columns().div_ceil(TILE_SIDE);
            let band = self.next / across;
            let end = ((band + 1).saturating_mul(TILE_SIDE)).min(grid.rows());
            if band * TILE_SIDE < grid.rows() && progress.rows_done >= end {
                for number in self.next..(band + 1) * across {
                    let tile = self.job.tile(number);
                    self.ready.push_back(event("tile", &tile).id(number.to_string()));
                }
                self.next = (band + 1) * across;
                continue;
            }
            match progress.status {
                JobStatus::Queued | JobStatus::Running => {
                    tokio::select! {
                        // The sender lives in the job, which this watcher holds.
                        _ = self.progress.changed() => {}
                        () = self.stop.cancelled() => self.fail("the server is stopping"),
                    }
                }
                JobStatus::Done => {
                    let statistics = self.job.statistics();
                    let done = event("done", &json!({ "statistics": statistics }));
                    self.ready.push_back(done);
                    self.ended = true;
                }
                JobStatus::Failed => self.fail(&self.job.failure().unwrap_or_default()),
            }
        }
    }

    fn fail(&mut self, detail: &str) {
        let failed = event("failed", &json!({ "detail": detail }));
        self.ready.push_back(failed);
        self.ended = true;
    }
}
