//! Event stream endpoint.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::Event;
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::AccountId;
use groundwave_gateway::fleet::FleetEvent;
use groundwave_http::event_stream::{self, EventSource, EventStream, LastEventId, Outbox};
use groundwave_http::problem::FieldCode;
use groundwave_http::streams::OpenStreams;
use groundwave_http::time::rfc3339;
use groundwave_http::{Problem, Query};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::access::{Caller, Viewer};
use crate::services::world::World;
use crate::system::link_changes::{LOOK, LinkChanges, TOPOLOGY};

/// Filter of events.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// Event types, comma-separated: `node.state`, `registration`, `alert`,
    /// `clock_step`, `flow.execution`, `outage`; and `topology`, changes of links, which come only where named
    pub types: Option<String>,
}

fn event(world: &World, happening: &FleetEvent) -> Event {
    let mut data: serde_json::Map<String, serde_json::Value> =
        happening.data.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    data.insert("ts".to_owned(), rfc3339(happening.at_ns).into());
    Event::default()
        .id(world.event_id(happening.seq))
        .event(happening.kind.word())
        .data(serde_json::Value::Object(data).to_string())
}

/// Stream events
///
/// With `Last-Event-ID` the stream begins after that event, as far as it is kept (the last
/// 1024); after a restart of the gateway, or with another text such as `0`, with all that are kept; without
/// it, with the next event. It ends when the token expires or is revoked.
#[utoipa::path(get, path = "/v1/events", tag = "system", params(EventQuery,
        ("last-event-id" = Option<String>, Header, description = "Id of the last received event")),
    responses((status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        (status = 429, description = "Too many streams of this account are open"),
        (status = 503, description = "Too many streams are open")))]
pub async fn events(
    Viewer(caller): Viewer,
    State(world): State<World>,
    State(stop): State<CancellationToken>,
    State(streams): State<Arc<OpenStreams<AccountId>>>,
    last: LastEventId,
    Query(query): Query<EventQuery>,
) -> Result<EventStream, Problem> {
    let types: Vec<String> =
        query.types.iter().flat_map(|types| types.split(',')).map(str::to_owned).collect();
    let allowed =
        ["node.state", "registration", "alert", "clock_step", "flow.execution", "outage", TOPOLOGY];
    if let Some(unknown) = types.iter().find(|word| !allowed.contains(&word.as_str())) {
        let message =
            format!("invalid event type: found {unknown:?}, allowed {}", allowed.join(", "));
        return Err(Problem::field("/types", FieldCode::NotAllowed, message));
    }
    let permit = streams.open(caller.account)?;
    let views = world.watch();
    let latest = views.borrow().events.back().map_or(0, |last| last.seq);
    // An id from before a restart names none of now: then everything remembered is news.
    let since = match last.text() {
        Some(id) => world.event_number(id).filter(|since| *since <= latest).unwrap_or(0),
        None => latest,
    };
    let names_links = types.iter().any(|word| word == TOPOLOGY);
    let links = names_links.then(|| LinkChanges::since(&views.borrow()));
    let watcher = Watcher { views, since, stop, types, links, caller, world };
    Ok(permit.events(event_stream::events(watcher)))
}

struct Watcher {
    views: watch::Receiver<Arc<Snapshot>>,
    /// Sequence number of the last event that was looked at.
    since: u64,
    stop: CancellationToken,
    /// Types of events that are sent; all where there are none.
    types: Vec<String>,
    /// Changes of links, where they are sent.
    links: Option<LinkChanges>,
    caller: Arc<Caller>,
    world: World,
}

impl EventSource for Watcher {
    async fn advance(&mut self, outbox: &mut Outbox) {
        let remaining_s = {
            let view = self.views.borrow_and_update();
            let Some(remaining_s) = self.caller.remaining_s(&view, self.world.now_s()) else {
                return outbox.close();
            };
            // One at a time: the token is checked before each.
            let is_selected = |event: &&Arc<FleetEvent>| {
                event.seq > self.since
                    && (self.types.is_empty()
                        || self.types.iter().any(|word| word == event.kind.word()))
            };
            if let Some(next) = view.events.iter().find(is_selected) {
                self.since = next.seq;
                return outbox.push(event(&self.world, next));
            }
            if let Some(change) = self.links.as_mut().and_then(|links| links.next(&view)) {
                return outbox.push(change);
            }
            remaining_s
        };
        let remaining = Duration::from_secs(remaining_s);
        let wait = self.links.as_ref().map_or(remaining, |_| remaining.min(LOOK));
        let is_open = tokio::select! {
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(wait) => true,
            changed = self.views.changed() => changed.is_ok(),
        };
        if !is_open {
            outbox.close();
        }
    }
}
