//! Playback of timelines of impairments.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Problem};
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::player;
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::timeline::{Timeline, TimelineOptions, WINDOW_NS_MIN};
use groundwave_io_impair::timeline_file::parse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Admin, Viewer};
use crate::services::playback::{Playback, PlaybackView, Request};
use crate::services::world::blocking;

/// Maximum length of a request to play a timeline, bytes.
pub const TIMELINE_BYTES_MAX: usize = 8 << 20;

/// Maximum length of a file name, characters.
const NAME_CHARS_MAX: usize = 255;

/// Maximum averaging interval of a trace, ms.
const WINDOW_MS_MAX: u64 = 3_600_000;

/// Maximum start position, s: that of the longest timeline.
const SEEK_S_MAX: f64 = 8_640_000.0;

/// Timeline to be played.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlayback {
    /// Content of a timeline (TOML or CSV, as of `groundwave impair play`) or of a packet-delivery
    /// trace of Mahimahi.
    #[schemars(length(min = 1))]
    pub timeline: String,
    /// File name; the ending `.toml` or `.csv` selects the format, else the first line does.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub name: String,
    /// Directions of a trace and of steps without one; default port1 and port2.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub directions: Vec<Direction>,
    /// Repeat until it is stopped.
    #[serde(default)]
    pub repeat: bool,
    /// Start position, s, [0, length of the timeline].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub seek_s: f64,
    /// Speed factor.
    #[serde(default = "usual_speed")]
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub speed: f64,
    /// Averaging interval of the rates of a trace, ms.
    #[serde(default = "usual_window_ms")]
    #[schemars(range(min = 10, max = 3_600_000))]
    pub window_ms: u64,
    /// Keep the last state at the end instead of restoring the previous one.
    #[serde(default)]
    pub leave: bool,
    /// Impairment of a trace besides its rate.
    #[serde(default)]
    pub beside: Impairment,
}

const fn usual_speed() -> f64 {
    1.0
}

const fn usual_window_ms() -> u64 {
    200
}

fn outside(pointer: &str, value: impl std::fmt::Display, allowed: &str) -> Problem {
    let key = pointer.trim_start_matches('/');
    let message = format!("invalid {key}: found {value}, allowed {allowed}");
    Problem::field(pointer, FieldCode::NotAllowed, message)
}

impl NewPlayback {
    fn read(self) -> Result<(Timeline, player::Playback, bool, String), Problem> {
        let window_min_ms = WINDOW_NS_MIN / 1_000_000;
        if !(window_min_ms..=WINDOW_MS_MAX).contains(&self.window_ms) {
            let allowed = format!("{window_min_ms} to {WINDOW_MS_MAX}");
            return Err(outside("/window_ms", self.window_ms, &allowed));
        }
        if !(0.001..=1000.0).contains(&self.speed) {
            return Err(outside("/speed", self.speed, "0.001 to 1000"));
        }
        if self.name.chars().count() > NAME_CHARS_MAX {
            let allowed = format!("0 to {NAME_CHARS_MAX} characters");
            return Err(outside("/name", self.name, &allowed));
        }
        if self.directions.len() > Direction::COUNT_MAX {
            let allowed = format!("0 to {}", Direction::COUNT_MAX);
            return Err(outside("/directions", self.directions.len(), &allowed));
        }
        let name = match self.name.is_empty() {
            true => "timeline".to_owned(),
            false => self.name,
        };
        let directions = match self.directions.is_empty() {
            true => Direction::BOTH.to_vec(),
            false => self.directions.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
        };
        let options = TimelineOptions {
            directions,
            window_ns: self.window_ms * 1_000_000,
            speed: self.speed,
            base: ImpairmentSpec::of(&self.beside),
        };
        let line = parse(&self.timeline, &name, &options)
            .map_err(|err| Problem::field("/timeline", FieldCode::Invalid, err.to_string()))?;
        let length_s = line.length_ns as f64 / 1e9;
        if !(0.0..=length_s.min(SEEK_S_MAX)).contains(&self.seek_s) {
            let allowed = format!("0 to {length_s}");
            return Err(outside("/seek_s", self.seek_s, &allowed));
        }
        if self.repeat && line.length_ns == 0 {
            let length = "a timeline without length";
            return Err(outside("/repeat", length, "a length above 0"));
        }
        let playback = player::Playback {
            seek_ns: (self.seek_s * 1e9) as u64,
            speed: self.speed,
            repeat: self.repeat,
        };
        Ok((line, playback, self.leave, name))
    }
}

/// Get the playback of a timeline
#[utoipa::path(get, path = "/v1/impairment/playback", tag = "impairment",
    responses((status = 200, description = "State, position and last states")))]
pub async fn playback_show(_: Viewer, State(playback): State<Arc<Playback>>) -> Json<PlaybackView> {
    Json(playback.view())
}

/// Play a timeline of impairments
///
/// It goes on without the client. The previous state is restored at the end, when it is stopped, when the
/// gateway stops, and ten seconds after the gateway was killed: it plays under a lease of the daemon.
/// Directions that are played take no other changes.
#[utoipa::path(post, path = "/v1/impairment/playback", tag = "impairment",
    responses(
        (status = 201, description = "Playing; the first states are in force"),
        (status = 409, description = "Another playback is running"),
        (status = 422, description = "Invalid timeline, or refused by the daemon"),
        (status = 502, description = "The answer of the daemon broke off"),
        (status = 503, description = "No impairment daemon configured, or it does not answer"),
        (status = 504, description = "The daemon did not answer in time")))]
pub async fn playback_start(
    Admin(caller): Admin,
    State(playback): State<Arc<Playback>>,
    StrictJson(new): StrictJson<NewPlayback>,
) -> Result<(StatusCode, Json<PlaybackView>), Problem> {
    // Long traces take a while.
    let (line, pace, leave, name) = blocking(move || new.read()).await?;
    let request = Request { line, playback: pace, leave, name, account: caller.username.clone() };
    Ok((StatusCode::CREATED, Json(playback.start(request).await?)))
}

/// Stop the playback
///
/// The previous state is restored, unless the playback leaves the last one. Without a playback nothing
/// changes.
#[utoipa::path(delete, path = "/v1/impairment/playback", tag = "impairment",
    responses((status = 200, description = "The playback as it ended")))]
pub async fn playback_stop(_: Admin, State(playback): State<Arc<Playback>>) -> Json<PlaybackView> {
    Json(playback.stop().await)
}
