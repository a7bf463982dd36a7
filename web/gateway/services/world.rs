//! World of the gateway: views, commands, clocks.

use std::sync::Arc;

use axum::http::StatusCode;
use groundwave_engine::{Handle, Health, Recorded, Refusal};
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::FleetNode;
use groundwave_http::Problem;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::spans::in_span;
use groundwave_simulation::site::NodeId;
use tokio::sync::watch;
use uuid::Uuid;

/// World and clocks of the gateway.
#[derive(Clone)]
pub struct World {
    handle: Handle<Snapshot>,
    started_ns: u64,
    /// Wall clock at the start, ms since the Unix epoch.
    started_wall_ms: u64,
}

impl World {
    /// The world behind `handle`, as of a gateway that starts now.
    #[must_use]
    pub fn new(handle: Handle<Snapshot>) -> Self {
        let started_wall_ms = wall_ns() / 1_000_000;
        Self { handle, started_ns: monotonic_ns(), started_wall_ms }
    }

    /// Latest view.
    #[must_use]
    pub fn view(&self) -> Arc<Snapshot> {
        self.handle.view()
    }

    /// Views as they are published.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.handle.watch()
    }

    /// Health of the world.
    #[must_use]
    pub fn health(&self) -> Health {
        self.handle.health()
    }

    /// Submits a command and waits until it is on disk.
    ///
    /// # Errors
    /// The refusal.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        let reply = self.handle.submit(command).map_err(refused)?;
        in_span(C::NAME, reply.reply()).await.map_err(refused)
    }

    /// Submits a command without waiting for its outcome.
    ///
    /// # Errors
    /// When the world takes no commands.
    pub fn send<C: Recorded>(&self, command: C) -> Result<(), Problem> {
        self.handle.submit(command).map(drop).map_err(refused)
    }

    /// Node of the fleet with this id.
    ///
    /// # Errors
    /// 404.
    pub fn node(&self, id: Uuid) -> Result<Arc<FleetNode>, Problem> {
        let view = self.view();
        view.fleet.nodes.get(&NodeId::new(id)).cloned().ok_or_else(|| missing("node", id))
    }

    /// Gateway clock: time since the start, ns.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.started_ns)
    }

    /// Id of an event by its number, which counts from this start of the gateway: of another start, the same
    /// number is another event.
    #[must_use]
    pub fn event_id(&self, number: u64) -> String {
        format!("{:x}-{number}", self.started_wall_ms)
    }

    /// Number of the event with this id; `None` for one of another start or another text.
    #[must_use]
    pub fn event_number(&self, id: &str) -> Option<u64> {
        let number = id.split_once('-')?.1.parse().ok()?;
        (self.event_id(number) == id).then_some(number)
    }

    /// Wall clock, s since the Unix epoch.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        self.wall_ns() / 1_000_000_000
    }

    /// Wall clock, ns since the Unix epoch.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        wall_ns()
    }
}

/// Problem with status 404.
#[must_use]
pub fn missing(kind: &str, id: impl std::fmt::Display) -> Problem {
    Problem::not_found(kind, id).of_kind(ProblemKind::NotFound)
}

/// Refusal of a command as a problem of this interface.
pub fn refused(refusal: Refusal) -> Problem {
    let detail = refusal.to_string();
    match refusal {
        Refusal::Exhausted { .. } => {
            Problem::unavailable(detail).of_kind(ProblemKind::IpamExhausted).retry_after(300)
        }
        Refusal::Stale { .. } => Problem::new(StatusCode::PRECONDITION_FAILED, detail)
            .of_kind(ProblemKind::PreconditionFailed),
        Refusal::Outdated { .. } => {
            Problem::new(StatusCode::CONFLICT, detail).of_kind(ProblemKind::StaleRevision)
        }
        Refusal::Invalid { key, found, allowed } => {
            // `a.b[0]` as RFC 6901 writes it.
            let steps = key.replace('[', ".").replace(']', "");
            let pointer = format!("/{}", steps.replace('.', "/"));
            let message = format!("invalid value: found {found}, allowed {allowed}");
            Problem::field(&pointer, FieldCode::NotAllowed, message)
                .of_kind(ProblemKind::InvalidBody)
        }
        Refusal::Busy => Problem::unavailable(detail).retry_after(1),
        other => Problem::from(other),
    }
}

/// Runs work that blocks, off the threads that serve connections.
///
/// # Errors
/// The work's own, or 500 when it panicked.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.unwrap_or_else(|err| Err(Problem::internal(format!("blocking work failed: {err}"))))
}
