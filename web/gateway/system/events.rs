//! Event stream endpoint.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use groundwave_gateway::account::AccountId;
use groundwave_gateway::fleet::FleetEvent;
use groundwave_http::problem::FieldCode;
use groundwave_http::streams::OpenStreams;
use groundwave_http::time::rfc3339;
use groundwave_http::{Problem, Query};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::access::Viewer;
use crate::services::world::World;

/// Interval of keep-alive comments.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Filter of events.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// Event types, comma-separated: `node.state`, `registration`, `alert`,
    /// `clock_step`, `flow.execution`
    pub types: Option<String>,
}

fn event(happening: &FleetEvent) -> Event {
    let mut data: serde_json::Map<String, serde_json::Value> =
        happening.data.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    data.insert("ts".to_owned(), rfc3339(happening.at_ns).into());
    Event::default()
        .id(happening.seq.to_string())
        .event(happening.kind.word())
        .data(serde_json::Value::Object(data).to_string())
}

/// Stream events
///
/// With `Last-Event-ID` the stream begins after that event, as far as it is kept (the last
/// 1024); without it, with the next event. It ends when the token expires or is revoked.
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
    headers: HeaderMap,
    Query(query): Query<EventQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let types: Vec<String> =
        query.types.iter().flat_map(|types| types.split(',')).map(str::to_owned).collect();
    let allowed = ["node.state", "registration", "alert", "clock_step", "flow.execution"];
    if let Some(unknown) = types.iter().find(|word| !allowed.contains(&word.as_str())) {
        let message =
            format!("invalid event type: found {unknown:?}, allowed {}", allowed.join(", "));
        return Err(Problem::field("/types", FieldCode::NotAllowed, message));
    }
    let permit = streams.open(caller.account)?;
    let views = world.watch();
    let latest = views.borrow().events.back().map_or(0, |last| last.seq);
    let since = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // An id from before a restart is later than all of now: then everything remembered is news.
    let since = match since.and_then(|since| since.parse::<u64>().ok()) {
        Some(since) if since <= latest => since,
        Some(_) => 0,
        None => latest,
    };
    let stop = stop.clone();
    let stream = unfold(
        (views, since, stop, types, caller, world),
        |(mut views, since, stop, types, caller, world)| async move {
            loop {
                let (next, remaining_s) = {
                    let view = views.borrow_and_update();
                    let remaining_s = caller.remaining_s(&view, world.now_s())?;
                    let news = view.events.iter().filter(|event| event.seq > since);
                    let is_selected = |event: &&Arc<FleetEvent>| {
                        types.is_empty() || types.iter().any(|word| word == event.kind.word())
                    };
                    (news.clone().find(is_selected).cloned(), remaining_s)
                };
                if let Some(next) = next {
                    let message = event(&next);
                    return Some((Ok(message), (views, next.seq, stop, types, caller, world)));
                }
                tokio::select! {
                    () = stop.cancelled() => return None,
                    () = tokio::time::sleep(Duration::from_secs(remaining_s)) => {}
                    changed = views.changed() => changed.ok()?,
                }
            }
        },
    );
    Ok(Sse::new(permit.hold(stream)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}
