//! A live coverage as Server-Sent Events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::{Stream, stream};
use groundwave_simulation::coverage::live::{LiveCoverage, SQUARE};
use serde_json::json;
use tokio::sync::watch;

use super::super::coverage::encode;
use super::super::live_coverages::Live;
use super::super::wire::coverage::CellTile;
use super::super::wire::mesh_coverage::MeshCoverageState;
use super::state;

/// Squares made at once: a slow reader holds as many.
const SQUARES_MAX: usize = 32;

struct Watcher {
    live: Arc<Live>,
    changes: watch::Receiver<u64>,
    ready: VecDeque<Event>,
    /// State sent last.
    state: Option<MeshCoverageState>,
    /// Revision up to which all squares were made.
    revision: u64,
    /// Squares of the next revisions that are still to be made.
    due: VecDeque<(u64, u32)>,
    ended: bool,
}

/// State and squares that changed after the event `last_id`, all without one; ends with the coverage.
pub fn events(
    live: Arc<Live>,
    last_id: Option<&str>,
) -> impl Stream<Item = Result<Event, Infallible>> + use<> {
    let known = last_id.and_then(|id| id.split_once('-'));
    let own = known.filter(|(epoch, _)| *epoch == live.epoch.simple().to_string());
    let revision = own.and_then(|(_, revision)| revision.parse().ok());
    let mut changes = live.watch();
    changes.mark_changed();
    let watcher = Watcher {
        live,
        changes,
        ready: VecDeque::new(),
        state: None,
        revision: revision.unwrap_or(0),
        due: VecDeque::new(),
        ended: false,
    };
    stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((Ok(event), watcher))
    })
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
            if !self.due.is_empty() {
                self.show_squares().await;
                continue;
            }
            tokio::select! {
                // The sender lives in the coverage, which this watcher holds.
                _ = self.changes.changed() => self.look().await,
                () = self.live.stop.cancelled() => {
                    let failed = json!({ "detail": "the live coverage has ended" });
                    let event = Event::default().event("failed").data(failed.to_string());
                    self.ready.push_back(event);
                    self.ended = true;
                }
            }
        }
    }

    async fn look(&mut self) {
        self.changes.borrow_and_update();
        let now = state(&self.live).await;
        let coverage = self.live.coverage().await;
        self.due = coverage.changed_since(self.revision).into();
        drop(coverage);
        if self.state.as_ref() != Some(&now) {
            let event = Event::default().event("state").json_data(&now);
            self.ready.push_back(event.expect("events are plain data"));
            self.state = Some(now);
        }
    }

    /// Makes events of the next squares. The last one of a revision has its id, so that a resumed stream
    /// misses none.
    async fn show_squares(&mut self) {
        let coverage = self.live.coverage().await;
        for _ in 0..SQUARES_MAX {
            let Some((revision, square)) = self.due.pop_front() else {
                return;
            };
            let mut event = Event::default()
                .event("tile")
                .json_data(tile(&coverage, square))
                .expect("events are plain data");
            if self.due.front().is_none_or(|(next, _)| *next != revision) {
                event = event.id(format!("{}-{revision}", self.live.epoch.simple()));
                self.revision = revision;
            }
            self.ready.push_back(event);
        }
    }
}

fn tile(coverage: &LiveCoverage, square: u32) -> CellTile {
    let grid = coverage.grid();
    let across = grid.columns().div_ceil(SQUARE);
    let [row, column] = [square / across, square % across].map(|place| place * SQUARE);
    let rows = SQUARE.min(grid.rows() - row);
    let columns = SQUARE.min(grid.columns() - column);
    let places = column as usize..(column + columns) as usize;
    let cells = (row..row + rows)
        .flat_map(|row| &coverage.row(row)[places.clone()])
        .map(|cell| (cell.power_cdbm, cell.slot));
    encode([row, column], [rows, columns], cells, true)
}
