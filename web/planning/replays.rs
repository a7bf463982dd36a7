//! Recorded logs over HTTP: upload, content, frames over time.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use groundwave_engine::Registry;
use groundwave_engine::log;
use groundwave_engine::log::{Entry, Header, LogError, Reader, Record};
use groundwave_http::document::Bytes;
use groundwave_http::{Json, JsonBody, Origin, Path, Problem, Query, Raw, attachment, id};
use groundwave_model::terrain::Flat;
use groundwave_scenario::changes;
use groundwave_simulation::WorldView;
use uuid::Uuid;

use super::Planner;
use super::exchange::import_notes;
use super::recorder::RecordedDocument;
use super::replay_frames::{Times, at_s};
use super::replay_player;
use super::replay_store::{LogFile, StoredLog, store};
use super::replay_world::{BuildWorld, ReplayWorld, Replaying};
use super::wire::replay::{
    CHANGES_MAX, FrameQuery, NAME_CHARS_MAX, ReplayEvent, ReplayFrames, ReplayInfo, UploadQuery,
    VariantQuestion,
};
use crate::problems::log_problem;

/// Longest log taken, bytes.
pub const LOG_BYTES_MAX: usize = 128 << 20;

/// Most events listed.
const EVENTS_MAX: usize = 1_000;

/// Most moves listed; of more none is.
const MOVES_MAX: usize = 200;

/// Commands that move nodes.
const MOVES: [&str; 4] = ["node.move", "motion.goto", "motion.follow", "motion.stop"];

/// Commands that are events. Measurements are too many.
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

/// Upload a recorded log
///
/// A file that `record` or `run --record` made, or tracks or measurements in a format that `convert` reads, which
/// are recorded over the ground of the server; up to 128 MiB. It is kept until the server stops; of more than eight
/// the one uploaded first leaves.
#[utoipa::path(post, path = "/api/v1/replays", tag = "replay",
    params(UploadQuery),
    request_body(description = "The log", content_type = "application/octet-stream", content = inline(Bytes)),
    responses(
        (status = 201, description = "Content of the log",
            headers(("location" = String, description = "URL"))),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn upload(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Query(asked): Query<UploadQuery>,
    Raw(content): Raw,
) -> Result<(StatusCode, [(HeaderName, String); 1], Json<ReplayInfo>), Problem> {
    let length = asked.name.as_ref().map_or(1, |name| name.chars().count());
    if !(1..=NAME_CHARS_MAX).contains(&length) {
        let what = format!("`name` has {length} characters, allowed are 1 to {NAME_CHARS_MAX}");
        return Err(Problem::bad_request(what));
    }
    let build = planner.replay_world.build;
    let recorder = planner.recorder().filter(|_| !log::is_log(&content));
    let Some(record) = recorder else {
        let taken = planner.transfer(move || {
            let file = LogFile::Uploaded(store(&content)?);
            let log = file.open().map_err(log_problem)?;
            let info = inspect(build, asked.name, content.len() as u64, log)?;
            Ok(StoredLog::new(info, file))
        });
        return Ok(added(&planner, taken.await?));
    };
    let taken = planner.analyse_queued(client, move |_| {
        let name = asked.name.clone().unwrap_or_default();
        let RecordedDocument { log, report } = record(name, content.into())?;
        let bytes = log.as_file().metadata().map_or(0, |metadata| metadata.len());
        let file = LogFile::Uploaded(log);
        let log = file.open().map_err(log_problem)?;
        let info = inspect(build, asked.name, bytes, log)?;
        Ok(StoredLog::new(ReplayInfo { notes: import_notes(report), ..info }, file))
    });
    Ok(added(&planner, taken.await?))
}

/// A log file of a world, for a server that starts with it.
///
/// # Errors
/// When it cannot be read or is not a log.
pub fn open_log(world: ReplayWorld, path: &FilePath) -> Result<StoredLog, String> {
    let open = || {
        let file = LogFile::Named(path.to_owned());
        let log = file.open().map_err(log_problem)?;
        let bytes = std::fs::metadata(path).map_err(LogError::Read).map_err(log_problem)?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let info = inspect(world.build, Some(name.into_owned()), bytes, log)?;
        Ok(StoredLog::new(info, file))
    };
    open().map_err(|problem: Problem| problem.detail)
}

fn added(
    planner: &Planner,
    log: StoredLog,
) -> (StatusCode, [(HeaderName, String); 1], Json<ReplayInfo>) {
    let info = log.info.clone();
    planner.replays.add(log);
    let location = [(header::LOCATION, format!("/api/v1/replays/{}", info.id))];
    (StatusCode::CREATED, location, Json(info))
}

/// Change a recorded world
///
/// The log is replayed to its end to prove that the changes can be made. The variant has frames like any
/// replay; it counts as an upload.
#[utoipa::path(post, path = "/api/v1/replays/{id}/variants", tag = "replay",
    params(("id" = Uuid, Path, description = "Replay id")),
    responses(
        (status = 201, description = "The variant",
            headers(("location" = String, description = "URL"))),
        (status = 404, description = "No such replay"),
        (status = 409, description = "The replay came to another state than the log, or it is a variant itself"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn create_variant(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    JsonBody(asked): JsonBody<VariantQuestion>,
) -> Result<(StatusCode, [(HeaderName, String); 1], Json<ReplayInfo>), Problem> {
    let base = planner.replays.get(id)?;
    if base.info.base_id.is_some() {
        let what = "the replay is a variant: make the variant of its log";
        return Err(Problem::new(StatusCode::CONFLICT, what));
    }
    if !(1..=CHANGES_MAX).contains(&asked.changes.len()) {
        let count = asked.changes.len();
        let what = format!("`changes` has {count} changes, allowed are 1 to {CHANGES_MAX}");
        return Err(Problem::bad_request(what));
    }
    let made = changes::of_entries(asked.changes);
    let made = made.map_err(|(at, (key, found, allowed))| {
        Problem::bad_request(format!(
            "invalid changes[{at}]{key}: found {found}, allowed {allowed}"
        ))
    })?;
    let proven = planner.replay_queued(client, base, move |base| {
        let log = base.log.variant(id::mint(), made);
        Replaying { log: &log, ..base }.prove()?;
        Ok(log)
    });
    Ok(added(&planner, proven.await?))
}

/// Get a player of a replay as one HTML file
///
/// It needs no network and no server. It has up to 600 frames, fewer where they have many nodes and
/// links, and says how far apart they are.
#[utoipa::path(get, path = "/api/v1/replays/{id}/player", tag = "replay",
    params(("id" = Uuid, Path, description = "Replay id")),
    responses(
        (status = 200, description = "The player", content((String = "text/html; charset=utf-8"))),
        (status = 404, description = "No such replay"),
        (status = 409, description = "The replay came to another state than the log"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn player(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
) -> Result<([(HeaderName, String); 3], Vec<u8>), Problem> {
    let log = planner.replays.get(id)?;
    let subject = subject(&log.info);
    let made = planner.replay_queued(client, log, replay_player::html);
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, attachment(&subject, "html")),
        // Its script is within it: nothing of this origin may be reached if it is opened from here.
        (header::CONTENT_SECURITY_POLICY, "sandbox allow-scripts".to_owned()),
    ];
    Ok((headers, made.await?.into_bytes()))
}

/// List the logs and variants
#[utoipa::path(get, path = "/api/v1/replays", tag = "replay",
    responses((status = 200, description = "Logs in the order in which they came")))]
pub async fn list_replays(State(planner): State<Planner>) -> Json<Vec<ReplayInfo>> {
    let all = planner.replays.all();
    Json(all.iter().map(|log| log.info.clone()).collect())
}

/// Get the content of a log
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

/// Delete a log or variant
///
/// A file that the server was started with stays where it is.
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
    let found = planner.replay_queued(client, log, move |log| log.frames(&times));
    Ok(Json(found.await?))
}

/// Name of a recording for files made of it: its title, or that of its file.
fn subject(info: &ReplayInfo) -> String {
    let title = info.inputs.get("title").filter(|title| !title.is_empty()).cloned();
    let stem = || {
        let name = FilePath::new(info.name.as_deref()?);
        Some(name.file_stem()?.to_string_lossy().into_owned())
    };
    let name = title.or_else(stem).unwrap_or_else(|| "replay".to_owned());
    if info.base_id.is_some() { format!("{name} what if") } else { name }
}

/// Reads a whole log.
fn inspect<R: Read + Seek>(
    build: BuildWorld,
    name: Option<String>,
    bytes: u64,
    mut log: Reader<R>,
) -> Result<ReplayInfo, Problem> {
    let header = log.header().clone();
    // Only for its commands.
    let engine = build(Arc::new(Flat::default()))
        .build::<WorldView>(0, 1_000_000)
        .map_err(|err| Problem::internal(err.to_string()))?;
    let mut info = ReplayInfo {
        id: id::mint(),
        name,
        base_id: None,
        changes: Vec::new(),
        notes: Vec::new(),
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
    let mut moves = Vec::new();
    while let Some(entry) = log.next_entry().map_err(log_problem)? {
        info.duration_s = info.duration_s.max(at_s(&header, entry.tick()));
        let Entry::Command(record) = entry else {
            continue;
        };
        info.commands += 1;
        let is_move = MOVES.contains(&record.name.as_str());
        let is_event = record.tick > 1 && EVENTS.contains(&record.name.as_str());
        if record.tick > 1 && is_move {
            moves.extend(
                (moves.len() <= MOVES_MAX).then(|| event(engine.registry(), &header, &record)),
            );
        } else if is_event && info.events.len() < EVENTS_MAX {
            info.events.push(event(engine.registry(), &header, &record));
        } else if is_event {
            info.more_events += 1;
        }
        *info.commands_by_name.entry(record.name).or_default() += 1;
    }
    if moves.len() <= MOVES_MAX {
        info.events.append(&mut moves);
        info.events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    }
    info.torn_bytes = log.torn_bytes();
    Ok(info)
}

fn event(registry: &Registry, header: &Header, record: &Record) -> ReplayEvent {
    ReplayEvent {
        at_s: at_s(header, record.tick),
        command: record.name.clone(),
        body: registry.to_json(&record.name, &record.body).unwrap_or_default(),
    }
}
