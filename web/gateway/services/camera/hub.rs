//! Started cameras: the upstream of each is open while there are viewers, and a little longer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_engine::Id;
use groundwave_files::wall::monotonic_ns;
use groundwave_gateway::camera::Camera;
use groundwave_http::Problem;
use groundwave_http::problem::ProblemKind;
use groundwave_http::streams::{OpenStreams, StreamPermit};
use groundwave_io_gateway::camera::CameraError;
use groundwave_outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::feed::{Feed, Frame};
use super::source;
use crate::services::config_objects::objects;
use crate::services::vault::Vault;
use crate::services::world::World;

pub const VIEWERS_PER_CAMERA_MAX: usize = 16;
/// Viewers of all cameras.
pub const VIEWERS_MAX: usize = 64;
/// Viewers from one address.
pub const VIEWERS_PER_SOURCE_MAX: usize = 8;
/// Time for which an upstream stays open after its last viewer, and a viewer keeps the last frame.
pub const HOLD: Duration = Duration::from_secs(10);
/// Maximum interval between two attempts to reach a camera.
const RETRY_MAX: Duration = Duration::from_secs(10);

/// State of a camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CameraState {
    /// Not started.
    #[default]
    Stopped,
    /// Started, without a frame yet.
    Starting,
    /// Frames arrive, or there are no viewers.
    Running,
    /// The upstream failed; it is tried again.
    Failed,
}

/// Status of a camera.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CameraStatus {
    /// State.
    pub state: CameraState,
    /// Frames a second of the upstream.
    pub fps: f64,
    /// Number of viewers.
    pub viewers: usize,
    /// Rate of the upstream, bit/s.
    pub upstream_bps: f64,
    /// Age of the last frame, ms.
    pub last_frame_age_ms: Option<f64>,
    /// Reason of the last failure.
    pub error: Option<String>,
}

/// Started camera.
#[derive(Default)]
struct Started {
    feed: Feed,
    state: Mutex<(CameraState, Option<String>)>,
    /// Time of the start or of the end of the last viewer, ns.
    wanted_ns: Mutex<u64>,
    arrived: Notify,
    stop: CancellationToken,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Started {
    fn set(&self, state: CameraState, error: Option<String>) {
        *locked(&self.state) = (state, error);
    }

    fn viewers(&self) -> usize {
        self.feed.viewers.load(Ordering::Acquire)
    }

    /// `true` while there are viewers or were shortly before.
    fn is_wanted(&self) -> bool {
        let waited_ns = monotonic_ns().saturating_sub(*locked(&self.wanted_ns));
        self.viewers() > 0 || u128::from(waited_ns) < HOLD.as_nanos()
    }

    fn deliver(&self, jpeg: hyper::body::Bytes) {
        {
            let mut state = locked(&self.state);
            if state.0 != CameraState::Running {
                *state = (CameraState::Running, None);
            }
        }
        self.feed.publish(jpeg);
    }

    /// Ends without viewers.
    async fn unwanted(&self) {
        while self.is_wanted() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
}

/// Services that an upstream needs.
#[derive(Clone)]
pub struct Upstreams {
    pub world: World,
    /// Client of requests to other systems.
    pub outbound: Outbound,
    /// Sealed credentials.
    pub vault: Vault,
}

/// Started cameras.
pub struct Cameras {
    started: Mutex<BTreeMap<Uuid, Arc<Started>>>,
    streams: Arc<OpenStreams<IpAddr>>,
}

impl Default for Cameras {
    fn default() -> Self {
        Self {
            started: Mutex::default(),
            streams: OpenStreams::new(VIEWERS_PER_SOURCE_MAX, VIEWERS_MAX),
        }
    }
}

/// Viewer of a camera.
pub struct Viewer {
    started: Arc<Started>,
    _permit: StreamPermit<IpAddr>,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        *locked(&self.started.wanted_ns) = monotonic_ns();
        self.started.feed.viewers.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Viewer {
    /// Frames as they arrive.
    #[must_use]
    pub fn frames(&self) -> tokio::sync::watch::Receiver<Option<Arc<Frame>>> {
        self.started.feed.frames.subscribe()
    }

    /// Cancelled when the camera is stopped.
    #[must_use]
    pub fn stopped(&self) -> CancellationToken {
        self.started.stop.clone()
    }
}

impl Cameras {
    /// Starts a camera, until `stop` is cancelled.
    pub fn start(
        &self,
        id: Id<Camera>,
        upstreams: Upstreams,
        stop: &CancellationToken,
    ) -> CameraStatus {
        let mut cameras = locked(&self.started);
        if let Entry::Vacant(place) = cameras.entry(id.uuid()) {
            let started = Arc::new(Started {
                stop: stop.child_token(),
                wanted_ns: Mutex::new(monotonic_ns()),
                ..Started::default()
            });
            started.set(CameraState::Starting, None);
            started.feed.clear();
            place.insert(Arc::clone(&started));
            tokio::spawn(run(started, id, upstreams));
        }
        drop(cameras);
        self.status(id.uuid())
    }

    /// Stops a camera; its viewers' streams end.
    pub fn stop(&self, id: Uuid) {
        if let Some(started) = locked(&self.started).remove(&id) {
            started.stop.cancel();
        }
    }

    /// Status of a camera.
    #[must_use]
    pub fn status(&self, id: Uuid) -> CameraStatus {
        let camera = locked(&self.started).get(&id).cloned();
        let Some(camera) = camera else {
            return CameraStatus::default();
        };
        let (state, error) = locked(&camera.state).clone();
        let rates = camera.feed.rates();
        let last = camera.feed.frames.borrow().clone();
        let age_ms = last.map(|frame| monotonic_ns().saturating_sub(frame.at_ns) as f64 / 1e6);
        CameraStatus {
            state,
            fps: rates.fps,
            viewers: camera.viewers(),
            upstream_bps: rates.bps,
            last_frame_age_ms: age_ms,
            error,
        }
    }

    /// A viewer of a started camera.
    ///
    /// # Errors
    /// 409 for a camera that is stopped; 503 for too many viewers of it or in all; 429 for too many
    /// from one address.
    pub fn view(&self, id: Uuid, source: IpAddr) -> Result<Viewer, Problem> {
        let started = locked(&self.started).get(&id).cloned().ok_or_else(|| {
            let problem = Problem::new(StatusCode::CONFLICT, "the camera is stopped");
            problem.of_kind(ProblemKind::Conflict)
        })?;
        let permit = self.streams.open(source)?;
        let admission =
            started.feed.viewers.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| {
                (count < VIEWERS_PER_CAMERA_MAX).then_some(count + 1)
            });
        if admission.is_err() {
            let what = format!("too many viewers of this camera: allowed {VIEWERS_PER_CAMERA_MAX}");
            return Err(Problem::unavailable(what).retry_after(5));
        }
        started.arrived.notify_one();
        Ok(Viewer { started, _permit: permit })
    }
}

#[cfg(test)]
impl Cameras {
    /// A started camera without an upstream.
    pub(super) fn started_for_test(&self, id: Uuid) -> PublishForTest {
        let started = Arc::new(Started::default());
        locked(&self.started).insert(id, Arc::clone(&started));
        PublishForTest(started)
    }
}

/// Upstream of a camera in tests.
#[cfg(test)]
pub(super) struct PublishForTest(Arc<Started>);

#[cfg(test)]
impl PublishForTest {
    pub(super) fn publish(&self, jpeg: hyper::body::Bytes) {
        self.0.deliver(jpeg);
    }
}

/// Keeps the upstream of a camera open while it is wanted.
async fn run(started: Arc<Started>, id: Id<Camera>, upstreams: Upstreams) {
    let stop = started.stop.clone();
    let mut wait = Duration::from_secs(1);
    while !stop.is_cancelled() {
        if !started.is_wanted() {
            started.feed.clear();
            tokio::select! {
                () = stop.cancelled() => break,
                () = started.arrived.notified() => {}
            }
            continue;
        }
        let versioned = objects::<Camera>(&upstreams.world).get(id).cloned();
        let Some(versioned) = versioned else {
            break;
        };
        let deliver = |jpeg| started.deliver(jpeg);
        let Upstreams { world, outbound, vault } = &upstreams;
        let began_ns = monotonic_ns();
        started.feed.open();
        let reading = source::read(world, outbound, vault, id, &versioned.object, &deliver);
        let ended: Result<(), CameraError> = tokio::select! {
            () = stop.cancelled() => break,
            () = started.unwanted() => continue,
            ended = reading => ended,
        };
        let why = ended.err().map_or_else(|| "the stream ended".to_owned(), |err| err.to_string());
        tracing::debug!(camera = %id, why, "the upstream of a camera ended");
        started.set(CameraState::Failed, Some(why));
        // A camera that sent frames for a while is tried again at once.
        let ran = Duration::from_nanos(monotonic_ns().saturating_sub(began_ns));
        wait = if ran > HOLD { Duration::from_secs(1) } else { (wait * 2).min(RETRY_MAX) };
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(wait / 2) => {}
        }
    }
    started.feed.clear();
}
