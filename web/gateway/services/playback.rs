//! Playback of a timeline of impairments through the daemon: one at a time, going on without the
//! client that started it.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_http::Problem;
use groundwave_http::time::rfc3339;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::play_lease::{LeaseClient, PlayLease};
use groundwave_impaird::player;
use groundwave_impaird::player::{Due, play};
use groundwave_io_impair::timeline::Timeline;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::local_service::ImpairmentDaemon;
use super::player_connection::PlayerConnection;

/// Maximum length of the name of a lease's holder, characters.
const OWNER_CHARS_MAX: usize = 64;

/// Name of the holder of a lease that the gateway begins: the account, and the rest after it.
#[must_use]
pub fn lease_owner(account: &str, rest: Option<&str>) -> String {
    let rest = rest.map(|rest| format!(": {rest}")).unwrap_or_default();
    format!("gateway, {account}{rest}").chars().take(OWNER_CHARS_MAX).collect()
}

/// State of the playback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaybackState {
    /// Nothing was played since the start of the gateway.
    #[default]
    Idle,
    /// Playing.
    Playing,
    /// Played to the end.
    Ended,
    /// Stopped.
    Stopped,
    /// The daemon refused a state or did not answer.
    Failed,
}

/// State of a direction in the playback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayedState {
    /// Direction.
    pub direction: Direction,
    /// Position of the step, s.
    pub at_s: f64,
    /// Impairment of the step.
    pub impairment: Impairment,
}

/// Playback of a timeline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlaybackView {
    /// State.
    pub state: PlaybackState,
    /// File name.
    pub name: String,
    /// Title of the timeline; may be empty.
    pub title: String,
    /// Directions.
    pub directions: Vec<Direction>,
    /// Position, s.
    pub position_s: f64,
    /// Length, s.
    pub length_s: f64,
    /// Steps of the timeline.
    pub steps: usize,
    /// Steps applied, over all repetitions.
    pub applied_total: u64,
    /// Speed factor.
    pub speed: f64,
    /// Repeated until it is stopped.
    pub repeat: bool,
    /// The last state stays in force at the end; else the previous one is restored.
    pub leave: bool,
    /// Last state of each direction.
    pub last: Vec<PlayedState>,
    /// Account that started it.
    pub started_by: Option<String>,
    /// Start, RFC 3339.
    pub started_at: Option<String>,
    /// Cause of the failure, or of a previous state that is not restored.
    pub failure: Option<String>,
}

/// Timeline to be played.
#[derive(Debug)]
pub struct Request {
    /// Timeline.
    pub line: Timeline,
    /// Start position, speed, repetition.
    pub playback: player::Playback,
    /// The last state stays in force at the end.
    pub leave: bool,
    /// File name.
    pub name: String,
    /// Account that starts it.
    pub account: String,
}

/// Progress of a playback.
#[derive(Debug, Clone)]
struct Progress {
    state: PlaybackState,
    applied_total: u64,
    last: Vec<PlayedState>,
    /// Number of the lease under which it plays.
    lease_id: Option<u64>,
    /// Monotonic time of the end, ns.
    ended_ns: Option<u64>,
    failure: Option<Problem>,
}

#[derive(Debug)]
struct Session {
    request: Request,
    began_ns: u64,
    began_wall_ns: u64,
    progress: watch::Sender<Progress>,
    stop: CancellationToken,
}

/// Playback of the gateway.
#[derive(Debug)]
pub struct Playback {
    daemon: Arc<ImpairmentDaemon>,
    /// Cancelled when the gateway stops.
    stop: CancellationToken,
    /// Starts and stops, one after the other.
    turn: tokio::sync::Mutex<()>,
    current: Mutex<Option<Arc<Session>>>,
}

impl Playback {
    /// Playback through a daemon, until `stop` is cancelled.
    #[must_use]
    pub fn new(daemon: Arc<ImpairmentDaemon>, stop: CancellationToken) -> Self {
        Self { daemon, stop, turn: tokio::sync::Mutex::default(), current: Mutex::default() }
    }

    fn current(&self) -> Option<Arc<Session>> {
        let session = self.current.lock();
        session.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Playback now.
    #[must_use]
    pub fn view(&self) -> PlaybackView {
        let current = self.current();
        current.map_or_else(PlaybackView::default, |session| session.view())
    }

    /// Refuses changes of a direction that is being played.
    ///
    /// # Errors
    /// 409 while it is.
    pub fn leaves(&self, direction: Direction) -> Result<(), Problem> {
        let current = self.current();
        let playing = current.filter(|session| session.is_playing());
        match playing.is_some_and(|session| session.request.line.directions().contains(&direction))
        {
            false => Ok(()),
            true => {
                Err(conflict(format!("conflict: a playback changes {direction}; stop it first")))
            }
        }
    }

    /// Refuses the end of the lease under which a playback plays.
    ///
    /// # Errors
    /// 409 while it does.
    pub fn leaves_lease(&self, id: u64) -> Result<(), Problem> {
        let current = self.current();
        let playing = current.filter(|session| session.is_playing());
        match playing.is_some_and(|session| session.progress.borrow().lease_id == Some(id)) {
            false => Ok(()),
            true => Err(conflict("conflict: the lease is that of a playback; stop it first")),
        }
    }

    /// Starts a playback; answers when its first states are in force.
    ///
    /// # Errors
    /// 409 while another one plays, 503 without a daemon, and the refusal of the first states.
    pub async fn start(&self, request: Request) -> Result<PlaybackView, Problem> {
        let _turn = self.turn.lock().await;
        if self.current().is_some_and(|session| session.is_playing()) {
            return Err(conflict("conflict: a playback is running; stop it first"));
        }
        let connection = PlayerConnection::open(Arc::clone(&self.daemon)).await?;
        let renewing = connection.reconnect().await?;
        let (progress, mut receiver) = watch::channel(Progress {
            state: PlaybackState::Playing,
            applied_total: 0,
            last: Vec::new(),
            lease_id: None,
            ended_ns: None,
            failure: None,
        });
        let session = Arc::new(Session {
            request,
            began_ns: monotonic_ns(),
            began_wall_ns: wall_ns(),
            progress,
            stop: self.stop.child_token(),
        });
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&session));
        let first = session.first_states();
        // On a thread of its own: the compiler does not see that the future may change threads.
        let (played, runtime) = (Arc::clone(&session), tokio::runtime::Handle::current());
        tokio::task::spawn_blocking(move || runtime.block_on(played.run(connection, renewing)));
        // The sender lives as long as the session.
        let _ = receiver
            .wait_for(|progress| {
                progress.applied_total >= first || progress.state != PlaybackState::Playing
            })
            .await;
        let failure = receiver.borrow().failure.clone();
        failure.map_or_else(|| Ok(session.view()), Err)
    }

    /// Stops the playback and restores the previous states, unless it leaves the last ones; without a
    /// playback nothing changes.
    pub async fn stop(&self) -> PlaybackView {
        let _turn = self.turn.lock().await;
        if let Some(session) = self.current() {
            session.stop.cancel();
            let mut receiver = session.progress.subscribe();
            let _ = receiver.wait_for(|progress| progress.state != PlaybackState::Playing).await;
        }
        self.view()
    }

    /// Waits until the gateway stops, and ends the playback.
    pub async fn end_with_gateway(&self) {
        self.stop.cancelled().await;
        self.stop().await;
    }
}

impl Session {
    fn is_playing(&self) -> bool {
        self.progress.borrow().state == PlaybackState::Playing
    }

    /// Number of directions with a state at the start position.
    fn first_states(&self) -> u64 {
        let Request { line, playback, .. } = &self.request;
        line.directions()
            .into_iter()
            .filter_map(|direction| line.state(direction, playback.seek_ns))
            .count() as u64
    }

    /// Plays under a lease, so that nothing is left of it soon after the gateway is killed.
    async fn run(self: Arc<Self>, connection: PlayerConnection, mut renewing: PlayerConnection) {
        let Request { line, playback, leave, name, account } = &self.request;
        let lease = PlayLease::new(connection, Some(lease_owner(account, Some(name))));
        let playing = play(line, *playback, async |due: Due<'_>| {
            lease.set(due.direction, due.impairment).await.map_err(|problem| {
                let detail = format!("{}: {}", due.direction, problem.detail);
                Problem { detail, ..problem }
            })?;
            self.applied(due, lease.id());
            Ok::<_, Problem>(())
        });
        let outcome = tokio::select! {
            outcome = playing => Some(outcome.map(|_| ())),
            never = lease.keep(&mut renewing) => match never {},
            () = self.stop.cancelled() => None,
        };
        let ended_ns = monotonic_ns();
        // On another connection: a request may be in progress on the others.
        let restored = async { lease.end(&mut renewing.reconnect().await?, *leave).await }.await;
        let (state, failed) = match outcome {
            Some(Ok(())) => (PlaybackState::Ended, None),
            Some(Err(problem)) => (PlaybackState::Failed, Some(problem)),
            None => (PlaybackState::Stopped, None),
        };
        let failure = failed.or_else(|| restored.err().map(unrestored));
        if let Some(problem) = &failure {
            tracing::warn!("playback of {}: {}", self.request.name, problem.detail);
        }
        self.progress.send_modify(|progress| {
            progress.state = state;
            progress.ended_ns = Some(ended_ns);
            progress.failure = failure;
        });
    }

    fn applied(&self, due: Due<'_>, lease_id: Option<u64>) {
        self.progress.send_modify(|progress| {
            progress.lease_id = lease_id;
            progress.applied_total += 1;
            progress.last.retain(|played| played.direction != due.direction);
            progress.last.push(PlayedState {
                direction: due.direction,
                at_s: seconds(due.at_ns),
                impairment: due.impairment.clone(),
            });
            progress.last.sort_by_key(|played| played.direction);
        });
    }

    fn view(&self) -> PlaybackView {
        let progress = self.progress.borrow().clone();
        let Request { line, playback, leave, name, account } = &self.request;
        let until_ns = progress.ended_ns.unwrap_or_else(monotonic_ns);
        let passed_s = seconds(until_ns.saturating_sub(self.began_ns)) * playback.speed;
        let length_s = seconds(line.length_ns);
        let reached_s = seconds(playback.seek_ns) + passed_s;
        PlaybackView {
            state: progress.state,
            name: name.clone(),
            title: line.title.clone(),
            directions: line.directions(),
            position_s: match playback.repeat {
                true => reached_s % length_s,
                false => reached_s.min(length_s),
            },
            length_s,
            steps: line.steps.len(),
            applied_total: progress.applied_total,
            speed: playback.speed,
            repeat: playback.repeat,
            leave: *leave,
            last: progress.last,
            started_by: Some(account.clone()),
            started_at: Some(rfc3339(self.began_wall_ns)),
            failure: progress.failure.map(|problem| problem.detail),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn conflict(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::CONFLICT, detail)
}

/// The failure to end a lease: the daemon ends it by itself.
fn unrestored(problem: Problem) -> Problem {
    let detail = format!("the previous state returns in a few seconds: {}", problem.detail);
    Problem { detail, ..problem }
}
