//! Recorded logs over HTTP: upload, content, frames over time.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use groundwave_engine::log::{Entry, Header, LogError, Reader, Record};
use groundwave_engine::{Engine, Next, Registry, ReplayError, replay, resume};
use groundwave_systems::link::LinkView;
use groundwave_systems::site::NodeView;
use groundwave_systems::terrain::{Flat, Terrain};
use groundwave_systems::{Snapshot, world};
use uuid::Uuid;

use super::Planner;
use super::replay_store::{StoredLog, open, store};
use super::wire::replay::{
    FRAMES_MAX, FrameQuery, ReplayEvent, ReplayFlow, ReplayFrame, ReplayFrames, ReplayInfo,
    ReplayLink, ReplayNode,
};
use crate::http::document::Bytes;
use crate::http::{Json, Origin, Path, Problem, Query, Raw, id};

/// Longest log taken, bytes.
pub const LOG_BYTES_MAX: usize = 128 << 20;

/// Most events listed.
const EVENTS_MAX: usize = 1_000;

/// Most nodes and links of all frames of an answer.
const ITEMS_MAX: usize = 500_000;

/// Commands that are events. Movements and measurements are too many.
const EVENTS: [&str; 11] = [
    "node.add",
    "node.fail",
    "node.restore",
    "node.remove",
    "node.update",
    "node.set_station",
    "link.fail",
    "link.restore",
    "flow.start",
    "flow.stop",
    "environment.set",
];

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        Self::bad_request(format!("the log: {error}"))
    }
}

/// Upload a recorded log
///
/// A file that `record` or `run --record` made, up to 128 MiB. It is kept until the server stops; of more
/// than eight the one uploaded first leaves.
#[utoipa::path(post, path = "/api/v1/replays", tag = "replay",
    request_body(description = "The log", content_type = "application/octet-stream", content = inline(Bytes)),
    responses(
        (status = 201, description = "Content of the log",
            headers(("location" = String, description = "URL")))))]
pub async fn upload(
    State(planner): State<Planner>,
    Raw(content): Raw,
) -> Result<
    (
        StatusCode,
        [(header::HeaderName, String); 1],
        Json<ReplayInfo>,
    ),
    Problem,
> {
    let id = id::mint();
    let taken = planner.transfer(move || {
        let file = store(&content)?;
        let info = inspect(id, content.len() as u64, open(&file)?)?;
        Ok(StoredLog::new(info, file))
    });
    let log = taken.await?;
    let info = log.info.clone();
    planner.replays.add(log);
    let location = [(header::LOCATION, format!("/api/v1/replays/{id}"))];
    Ok((StatusCode::CREATED, location, Json(info)))
}

/// List the uploaded logs
#[utoipa::path(get, path = "/api/v1/replays", tag = "replay",
    responses((status = 200, description = "Logs in the order of their upload")))]
pub async fn list_replays(State(planner): State<Planner>) -> Json<Vec<ReplayInfo>> {
    let all = planner.replays.all();
    Json(all.iter().map(|log| log.info.clone()).collect())
}

/// Get the content of an uploaded log
#[utoipa::path(get, path = "/api/v1/replays/{id}", tag = "replay",
    params(("id" = Uuid, Path, description = "Replay id")),
    responses(
        (status = 200, description = "Duration, commands, events"),
        (status = 404, description = "No such replay")))]
pub async fn fetch_replay(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<ReplayInfo>, Problem> {
    Ok(Json(planner.replays.get(id)?.info.clone()))
}

/// Delete an uploaded log
#[utoipa::path(delete, path = "/api/v1/replays/{id}", tag = "replay",
    params(("id" = Uuid, Path, description = "Replay id")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "No such replay")))]
pub async fn delete_replay(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    planner.replays.delete(id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replay a log and get the state of the mesh over time
///
/// The log is replayed from its last checkpoint before `from_s` and its digests are compared.
#[utoipa::path(get, path = "/api/v1/replays/{id}/frames", tag = "replay",
    params(("id" = Uuid, Path, description = "Replay id"), FrameQuery),
    responses(
        (status = 200, description = "Frames in the order of time"),
        (status = 404, description = "No such replay"),
        (status = 409, description = "The replay came to another state than the log: other terrain, or another version"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn frames(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    Query(asked): Query<FrameQuery>,
) -> Result<Json<ReplayFrames>, Problem> {
    let log = planner.replays.get(id)?;
    let times = Times::new(&asked, log.info.duration_s)?;
    let open = planner.log_terrain.clone();
    let found = planner.analyse_queued(client, move |_| {
        let terrain =
            open(&log.info.inputs).map_err(|why| Problem::new(StatusCode::CONFLICT, why))?;
        play(&log, &times, &terrain)
    });
    Ok(Json(found.await?))
}

/// Reads a whole log.
fn inspect<R: Read + Seek>(
    id: Uuid,
    bytes: u64,
    mut log: Reader<R>,
) -> Result<ReplayInfo, Problem> {
    let header = log.header().clone();
    // Only for its commands.
    let engine = world(Arc::new(Flat::default())).build::<Snapshot>(0, 1_000_000);
    let engine = engine.map_err(|err| Problem::internal(err.to_string()))?;
    let mut info = ReplayInfo {
        id,
        bytes,
        torn_bytes: 0,
        duration_s: 0.0,
        step_s: header.step_ns as f64 / 1e9,
        inputs: header.inputs.clone(),
        commands: 0,
        commands_by_name: BTreeMap::new(),
        events: Vec::new(),
        more_events: 0,
    };
    while let Some(entry) = log.next_entry()? {
        info.duration_s = info.duration_s.max(at_s(&header, entry.tick()));
        let Entry::Command(record) = entry else {
            continue;
        };
        info.commands += 1;
        let is_event = record.tick > 1 && EVENTS.contains(&record.name.as_str());
        if is_event && info.events.len() < EVENTS_MAX {
            info.events.push(event(engine.registry(), &header, &record));
        } else if is_event {
            info.more_events += 1;
        }
        *info.commands_by_name.entry(record.name).or_default() += 1;
    }
    info.torn_bytes = log.torn_bytes();
    Ok(info)
}

fn event(registry: &Registry, header: &Header, record: &Record) -> ReplayEvent {
    ReplayEvent {
        at_s: at_s(header, record.tick),
        command: record.name.clone(),
        body: registry
            .to_json(&record.name, &record.body)
            .unwrap_or_default(),
    }
}

/// Time at the end of a tick since the start; tick 1 ends at 0 s.
fn at_s(header: &Header, tick: u64) -> f64 {
    let at_ns = u128::from(tick.saturating_sub(1)) * u128::from(header.step_ns);
    // One division rounds once.
    at_ns as f64 / 1e9
}

/// Times of the frames of a request.
struct Times {
    from_s: f64,
    to_s: f64,
    step_s: f64,
}

impl Times {
    fn new(asked: &FrameQuery, duration_s: f64) -> Result<Self, Problem> {
        let times = Self {
            from_s: asked.from_s.unwrap_or(0.0),
            to_s: asked.to_s.unwrap_or(duration_s).min(duration_s),
            step_s: asked.step_s.unwrap_or(1.0),
        };
        let refuse = |key: &str, found: f64, allowed: String| {
            let what = format!("`{key}` is {found}, allowed is {allowed}");
            Err(Problem::bad_request(what))
        };
        if !(0.0..=duration_s).contains(&times.from_s) {
            return refuse("from_s", times.from_s, format!("[0, {duration_s}]"));
        }
        if times.to_s < times.from_s || times.to_s.is_nan() {
            let allowed = format!("[{}, {duration_s}]", times.from_s);
            return refuse("to_s", times.to_s, allowed);
        }
        if !(times.step_s > 0.0 && times.step_s.is_finite()) {
            return refuse("step_s", times.step_s, "above 0".to_owned());
        }
        if (times.to_s - times.from_s) / times.step_s >= FRAMES_MAX as f64 {
            let least = (times.to_s - times.from_s) / (FRAMES_MAX - 1) as f64;
            let allowed = format!("{least} or more for up to {FRAMES_MAX} frames");
            return refuse("step_s", times.step_s, allowed);
        }
        Ok(times)
    }
}

/// Replays a log and keeps the frames of a request.
fn play(
    log: &StoredLog,
    times: &Times,
    terrain: &Arc<dyn Terrain>,
) -> Result<ReplayFrames, Problem> {
    let mut reader = log.open()?;
    let header = reader.header().clone();
    let build = || world(Arc::clone(terrain)).build::<Snapshot>(header.seed, header.step_ns);
    let first = (times.from_s / (header.step_ns as f64 * 1e-9)).round() as u64 + 1;
    let mut engine = resume(build, &mut reader, first.saturating_sub(1)).map_err(differs)?;
    let (mut frames, mut items, mut next) = (Vec::new(), 0, 0_u32);
    let mut too_many = false;
    let observe = |engine: &mut Engine<Snapshot>| {
        let view = engine.view();
        let at_s = at_s(&header, view.tick);
        let due_s = times.from_s + f64::from(next) * times.step_s;
        // Half a step of rounding.
        let half_s = header.step_ns as f64 * 0.5e-9;
        if due_s > times.to_s + half_s {
            return Next::Stop;
        }
        if at_s + half_s >= due_s {
            items += view.nodes.len() + view.links.len();
            if items > ITEMS_MAX {
                too_many = true;
                return Next::Stop;
            }
            frames.push(frame(&view, at_s));
            // Frames between two ticks are one.
            next =
                (((at_s + half_s - times.from_s) / times.step_s).floor() as u32).saturating_add(1);
        }
        Next::Go
    };
    let replayed = replay(&mut engine, &mut reader, observe).map_err(differs)?;
    if too_many {
        let what = format!(
            "the frames have more than {ITEMS_MAX} nodes and links; ask for a shorter time or a longer \
             step"
        );
        return Err(Problem::bad_request(what));
    }
    Ok(ReplayFrames {
        id: log.info.id,
        frames,
        marks_compared: replayed.marks,
    })
}

fn differs(error: ReplayError) -> Problem {
    Problem::new(StatusCode::CONFLICT, format!("the replay: {error}"))
}

fn frame(view: &Snapshot, at_s: f64) -> ReplayFrame {
    let node = |node: &NodeView| ReplayNode {
        node_id: node.id.uuid(),
        name: node.name.clone(),
        lat: node.position.lat_deg(),
        lon: node.position.lon_deg(),
        operating: node.operating,
    };
    let operates = |id| {
        let found = view.nodes.binary_search_by_key(&id, |node| node.id);
        found.is_ok_and(|at| view.nodes[at].operating)
    };
    let link = |link: &LinkView| {
        let (there, back) = (&link.budget.forward, &link.budget.backward);
        let etx = link.budget.etx();
        let is_shown = link.severed || etx.is_some();
        is_shown.then(|| ReplayLink {
            a_node_id: link.a.uuid(),
            b_node_id: link.b.uuid(),
            up: etx.is_some() && !link.severed && operates(link.a) && operates(link.b),
            cut: link.severed,
            etx,
            per: [there.per, back.per],
            link_margin_db: [there.link_margin_db, back.link_margin_db],
            rx_power_dbm: [there.rx_power_dbm, back.rx_power_dbm],
        })
    };
    let flow = |flow: &groundwave_systems::flow::FlowView| {
        let hops = flow.route.iter().flat_map(|route| &route.hops);
        let mut path: Vec<_> = hops.map(|hop| hop.from.uuid()).collect();
        if flow.route.is_some() {
            path.push(flow.target.uuid());
        }
        ReplayFlow {
            flow_id: flow.id.uuid(),
            name: flow.name.clone(),
            path,
            rate_bps: flow.rate_bps,
            bottleneck_rate_bps: flow
                .route
                .as_ref()
                .and_then(|route| route.bottleneck_rate_bps),
        }
    };
    ReplayFrame {
        at_s,
        nodes: view.nodes.iter().map(node).collect(),
        links: view.links.iter().filter_map(link).collect(),
        flows: view.flows.iter().map(flow).collect(),
    }
}
