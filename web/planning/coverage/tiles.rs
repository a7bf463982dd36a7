//! A job as Server-Sent Events of squares of cells.

use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use groundwave_http::event_stream::{self, EventSource, Outbox, event};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::encode::TILE_SIDE;
use super::events::await_end;
use super::job::{Job, Progress};

struct Watcher {
    job: Arc<Job>,
    progress: watch::Receiver<Progress>,
    stop: CancellationToken,
    has_started: bool,
    /// Number of the next square, row by row: one row of squares at a time.
    next: u32,
}

/// All squares of a job from `first` on, as they come to be; ends after `done` or `failed`.
pub fn tiles(
    job: Arc<Job>,
    first: u32,
    stop: CancellationToken,
) -> impl Stream<Item = Event> + use<> {
    let progress = job.watch();
    event_stream::events(Watcher { job, progress, stop, has_started: false, next: first })
}

impl EventSource for Watcher {
    async fn advance(&mut self, outbox: &mut Outbox) {
        if !std::mem::replace(&mut self.has_started, true) {
            return outbox.push(event("started", &self.job.started()));
        }
        let progress = *self.progress.borrow_and_update();
        let grid = &self.job.asked.grid;
        let across = grid.columns().div_ceil(TILE_SIDE);
        let band = self.next / across;
        let end = ((band + 1).saturating_mul(TILE_SIDE)).min(grid.rows());
        if band.saturating_mul(TILE_SIDE) < grid.rows() && progress.rows_done >= end {
            for number in self.next..(band + 1) * across {
                outbox.push(event("tile", &self.job.tile(number)).id(number.to_string()));
            }
            self.next = (band + 1) * across;
            return;
        }
        let Self { job, progress: changes, stop, .. } = self;
        let done = || json!({ "statistics": job.statistics() });
        await_end(job, (progress.status, changes), stop, outbox, done).await;
    }
}
