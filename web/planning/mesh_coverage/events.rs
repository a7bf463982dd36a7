//! A live coverage as Server-Sent Events.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use groundwave_http::event_stream::{self, EventSource, Outbox, event};
use groundwave_simulation::coverage::live::{LiveCoverage, SQUARE};
use serde_json::json;
use tokio::sync::watch;

use super::super::coverage::{EncodedCell, Layers, encode};
use super::super::live_coverages::Live;
use super::super::wire::coverage::CellTile;
use super::super::wire::mesh_coverage::MeshCoverageState;
use super::state;

/// Squares made at once: a slow reader holds as many.
const SQUARES_MAX: usize = 32;

struct Watcher {
    live: Arc<Live>,
    changes: watch::Receiver<u64>,
    /// State sent last.
    state: Option<MeshCoverageState>,
    /// Revision up to which all squares were made.
    revision: u64,
    /// Squares of the next revisions that are still to be made.
    due: VecDeque<(u64, u32)>,
}

/// State and squares that changed after the event `last_id`, all without one; ends with the coverage.
pub fn events(live: Arc<Live>, last_id: Option<&str>) -> impl Stream<Item = Event> + use<> {
    let known = last_id.and_then(|id| id.split_once('-'));
    let own = known.filter(|(epoch, _)| *epoch == live.epoch.simple().to_string());
    let revision = own.and_then(|(_, revision)| revision.parse().ok()).unwrap_or(0);
    let mut changes = live.watch();
    changes.mark_changed();
    event_stream::events(Watcher { live, changes, state: None, revision, due: VecDeque::new() })
}

impl EventSource for Watcher {
    async fn advance(&mut self, outbox: &mut Outbox) {
        if !self.due.is_empty() {
            return self.show_squares(outbox).await;
        }
        tokio::select! {
            // The sender lives in the coverage, which this watcher holds.
            _ = self.changes.changed() => self.look(outbox).await,
            () = self.live.stop.cancelled() => {
                outbox.push(event("failed", &json!({ "detail": "the live coverage has ended" })));
                outbox.close();
            }
        }
    }
}

impl Watcher {
    async fn look(&mut self, outbox: &mut Outbox) {
        self.changes.borrow_and_update();
        let now = state(&self.live).await;
        let coverage = self.live.coverage().await;
        self.due = coverage.changed_since(self.revision).into();
        drop(coverage);
        if self.state.as_ref() != Some(&now) {
            outbox.push(event("state", &now));
            self.state = Some(now);
        }
    }

    /// Makes events of the next squares. The last one of a revision has its id, so that a resumed stream
    /// misses none.
    async fn show_squares(&mut self, outbox: &mut Outbox) {
        let coverage = self.live.coverage().await;
        let has_interference = self.live.setup.interference.is_some();
        for _ in 0..SQUARES_MAX {
            let Some((revision, square)) = self.due.pop_front() else {
                return;
            };
            let mut tile = event("tile", &tile(&coverage, square, has_interference));
            if self.due.front().is_none_or(|(next, _)| *next != revision) {
                tile = tile.id(format!("{}-{revision}", self.live.epoch.simple()));
                self.revision = revision;
            }
            outbox.push(tile);
        }
    }
}

fn tile(coverage: &LiveCoverage, square: u32, has_interference: bool) -> CellTile {
    let grid = coverage.grid();
    let across = grid.columns().div_ceil(SQUARE);
    let [row, column] = [square / across, square % across].map(|place| place * SQUARE);
    let rows = SQUARE.min(grid.rows() - row);
    let columns = SQUARE.min(grid.columns() - column);
    let places = column as usize..(column + columns) as usize;
    let cells = (row..row + rows).flat_map(|row| &coverage.row(row)[places.clone()]).map(|cell| {
        EncodedCell {
            power_cdbm: cell.power_cdbm,
            link_percent: cell.link_percent,
            server: cell.slot,
            sinr_cdb: cell.sinr_cdb,
        }
    });
    let layers = Layers { servers: true, sinr: has_interference };
    encode([row, column], [rows, columns], cells, layers)
}
