//! A log of changes as Server-Sent Events.

use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use groundwave_http::event_stream::{self, EventSource, Outbox, event};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::change_log::{Change, ChangeLog};

struct Watcher {
    log: Arc<ChangeLog>,
    /// Revision of the last change; its receivers are the watchers that the log counts.
    last: watch::Receiver<u64>,
    stop: CancellationToken,
    /// Revision of the last event that was made.
    revision: u64,
    opening: Opening,
}

/// Event with which a stream begins.
enum Opening {
    Started,
    Reset,
    None,
}

/// Events of a log after the event `last_id`, or from now on; ends when the deployment is gone or the
/// server stops.
pub fn events(
    log: Arc<ChangeLog>,
    last_id: Option<&str>,
    stop: CancellationToken,
) -> impl Stream<Item = Event> + use<> {
    let mut last = log.watch();
    let now = *last.borrow_and_update();
    let resumed = last_id.and_then(|id| log.revision(id));
    let opening = match (last_id, resumed) {
        (None, _) => Opening::Started,
        (Some(_), None) => Opening::Reset,
        (Some(_), Some(_)) => Opening::None,
    };
    let revision = resumed.unwrap_or(now);
    event_stream::events(Watcher { log, last, stop, revision, opening })
}

impl EventSource for Watcher {
    async fn advance(&mut self, outbox: &mut Outbox) {
        match std::mem::replace(&mut self.opening, Opening::None) {
            Opening::Started => {
                let started = event("started", &json!({ "revision": self.revision }));
                return outbox.push(started.id(self.log.event_id(self.revision)));
            }
            Opening::Reset => return self.reset(outbox),
            Opening::None => {}
        }
        let now = *self.last.borrow_and_update();
        if self.revision == now {
            tokio::select! {
                // The sender lives in the log, which this watcher holds.
                _ = self.last.changed() => {}
                () = self.stop.cancelled() => outbox.close(),
            }
            return;
        }
        match self.log.since(self.revision) {
            Some(changes) => changes.iter().for_each(|change| self.show(change, outbox)),
            None => self.reset(outbox),
        }
    }
}

impl Watcher {
    fn show(&mut self, change: &Change, outbox: &mut Outbox) {
        let event = Event::default().event(change.name).data(&*change.data);
        outbox.push(event.id(self.log.event_id(change.revision)));
        self.revision = change.revision;
        if change.name == "removed" {
            outbox.close();
        }
    }

    /// Makes the client load everything again.
    fn reset(&mut self, outbox: &mut Outbox) {
        self.revision = *self.last.borrow_and_update();
        let reason = json!({ "reason": "earlier changes are no longer kept" });
        outbox.push(event("reset", &reason).id(self.log.event_id(self.revision)));
    }
}
