//! A log of changes as Server-Sent Events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::change_log::{Change, ChangeLog};

struct Watcher {
    log: Arc<ChangeLog>,
    /// Revision of the last change; its receivers are the watchers that the log counts.
    last: watch::Receiver<u64>,
    stop: CancellationToken,
    /// Events not sent yet.
    ready: VecDeque<Event>,
    /// Revision of the last event that was made.
    revision: u64,
    ended: bool,
}

/// Events of a log after the event `last_id`, or from now on; ends when the deployment is gone or the
/// server stops.
pub fn events(
    log: Arc<ChangeLog>,
    last_id: Option<&str>,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> + use<> {
    let mut last = log.watch();
    let now = *last.borrow_and_update();
    let resumed = last_id.and_then(|id| log.revision(id));
    let mut watcher = Watcher {
        last,
        stop,
        ready: VecDeque::new(),
        revision: resumed.unwrap_or(now),
        ended: false,
        log,
    };
    match (last_id, resumed) {
        (None, _) => {
            let started = json!({ "revision": now });
            let started = Event::default().event("started").data(started.to_string());
            let id = watcher.log.event_id(now);
            watcher.ready.push_back(started.id(id));
        }
        (Some(_), None) => watcher.reset(),
        (Some(_), Some(_)) => {}
    }
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
            let now = *self.last.borrow_and_update();
            if self.revision != now {
                match self.log.since(self.revision) {
                    Some(changes) => changes.iter().for_each(|change| self.show(change)),
                    None => self.reset(),
                }
                continue;
            }
            tokio::select! {
                // The sender lives in the log, which this watcher holds.
                _ = self.last.changed() => {}
                () = self.stop.cancelled() => return None,
            }
        }
    }

    fn show(&mut self, change: &Change) {
        let event = Event::default().event(change.name).data(&*change.data);
        let id = self.log.event_id(change.revision);
        self.ready.push_back(event.id(id));
        self.revision = change.revision;
        self.ended = change.name == "removed";
    }

    /// Tells the client to load everything again.
    fn reset(&mut self) {
        self.revision = *self.last.borrow_and_update();
        let reason = json!({ "reason": "earlier changes are no longer kept" });
        let event = Event::default().event("reset").data(reason.to_string());
        self.ready.push_back(event.id(self.log.event_id(self.revision)));
    }
}
