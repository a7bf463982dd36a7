//! What handlers share.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_engine::{Handle, Recorded, Refusal};
use groundwave_io::gateway::Audit;
use groundwave_io::telemetry::TelemetryStore;
use groundwave_io::wall::{monotonic_ns, wall_ns};
use groundwave_systems::Snapshot;
use groundwave_systems::fleet::FleetNode;
use groundwave_systems::onboarding::{EXHAUSTED, STALE};
use groundwave_systems::site::NodeId;
use groundwave_systems::terrain::Terrain;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::gateway::background_tasks::BackgroundTasks;
use crate::gateway::mesh::predict::Predictions;
use crate::gateway::services::metrics::Meter;
use crate::gateway::services::passwords::Passwords;
use crate::gateway::services::rate_limits::{Logins, Pace};
use crate::gateway::services::tokens::TokenKeys;
use crate::gateway::settings::Settings;
use crate::http::Problem;
use crate::http::problem::{FieldCode, ProblemKind};

/// The gateway. Cheap to clone: every request has one.
#[derive(Clone)]
pub struct Gateway(Arc<Parts>);

impl Deref for Gateway {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What a gateway is made of.
pub struct Parts {
    /// The world.
    pub world: Handle<Snapshot>,
    /// The ground under it.
    pub terrain: Arc<dyn Terrain>,
    /// What it was told at its start.
    pub settings: Settings,
    /// The key of all tokens.
    pub keys: TokenKeys,
    /// Passwords of people.
    pub passwords: Passwords,
    /// Who did what.
    pub audit: Audit,
    /// Readings of the past.
    pub history: TelemetryStore,
    /// Failed logins.
    pub logins: Logins,
    /// Requests to be let in, by source.
    pub strangers: Pace<IpAddr>,
    /// Requests to be let in by keys nobody knows, in all.
    pub strangers_all: Pace<()>,
    /// Heartbeats, by node.
    pub beats: Pace<NodeId>,
    /// What is counted.
    pub meter: Meter,
    /// What planned links should be.
    pub predictions: Predictions,
    /// Answers to requests that may come twice.
    pub onces: crate::gateway::access::idempotency::Onces,
    /// What was last kept of the topology.
    pub last_topology_snapshot: crate::gateway::mesh::topology_history::LastTopologySnapshot,
    /// What the machine has.
    pub probed: crate::gateway::system::status::Probed,
    /// How busy the processor was before.
    pub last_look: crate::gateway::system::host::LastLook,
    /// How copies of everything are made.
    pub backups: crate::gateway::admin::backup::Backups,
    /// Probes of late.
    pub probes: crate::gateway::mesh::probes::Probes,
    /// A change of the mesh's settings that nobody confirmed yet.
    pub mesh_change: crate::gateway::mesh::config::Change,
    /// Held while reservations change.
    pub reserving: Mutex<()>,
    /// How what it does again and again goes.
    pub background_tasks: BackgroundTasks,
    /// Cancelled when the gateway stops, so that streams end.
    pub stop: CancellationToken,
    /// When it began, ns of the monotonic clock.
    pub begun_ns: u64,
}

impl Gateway {
    /// A gateway over `world`.
    #[must_use]
    pub fn new(
        world: Handle<Snapshot>,
        terrain: Arc<dyn Terrain>,
        settings: Settings,
        key: &[u8; 32],
        audit: Audit,
        history: TelemetryStore,
        stop: CancellationToken,
    ) -> Self {
        let tenth = settings.heartbeat / 10;
        Self(Arc::new(Parts {
            world,
            terrain,
            keys: TokenKeys::new(key),
            passwords: Passwords::new(settings.effort),
            audit,
            history,
            logins: Logins::default(),
            strangers: Pace::new(6, Duration::from_secs(10)),
            strangers_all: Pace::new(60, Duration::from_secs(1)),
            beats: Pace::new(4, tenth),
            meter: Meter::default(),
            predictions: Predictions::default(),
            onces: crate::gateway::access::idempotency::Onces::default(),
            last_topology_snapshot:
                crate::gateway::mesh::topology_history::LastTopologySnapshot::default(),
            probed: crate::gateway::system::status::Probed::default(),
            last_look: crate::gateway::system::host::LastLook::default(),
            backups: crate::gateway::admin::backup::Backups::new(key),
            probes: crate::gateway::mesh::probes::Probes::default(),
            mesh_change: crate::gateway::mesh::config::Change::default(),
            reserving: Mutex::default(),
            background_tasks: BackgroundTasks::default(),
            settings,
            stop,
            begun_ns: monotonic_ns(),
        }))
    }

    /// The gateway's own clock: ns since it began.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.begun_ns)
    }

    /// The wall clock, s since the Unix epoch.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        wall_ns() / 1_000_000_000
    }

    /// Hands a command to the world and waits until it is on disk.
    ///
    /// # Errors
    /// What the world refused.
    pub async fn submit<C: Recorded>(&self, command: C) -> Result<C::Reply, Problem> {
        let reply = self.world.submit(command).map_err(refused)?;
        reply.reply().await.map_err(refused)
    }

    /// The node of the fleet with this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn node(&self, id: Uuid) -> Result<Arc<FleetNode>, Problem> {
        let view = self.world.view();
        let found = view.fleet.nodes.get(&NodeId::new(id));
        found.cloned().ok_or_else(|| missing("node", id))
    }

    /// Runs what may block, off the threads that serve connections.
    ///
    /// # Errors
    /// What the work came to, or that it panicked.
    pub async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|err| Err(Problem::internal(format!("a reading failed: {err}"))))
    }
}

/// There is no such thing.
#[must_use]
pub fn missing(kind: &str, id: impl std::fmt::Display) -> Problem {
    Problem::not_found(kind, id).of_kind(ProblemKind::NotFound)
}

/// What the world refused, as this interface says it.
#[must_use]
pub fn refused(refusal: Refusal) -> Problem {
    match &refusal {
        Refusal::Conflict { what } if what == EXHAUSTED => Problem::unavailable(what.clone())
            .of_kind(ProblemKind::IpamExhausted)
            .retry_after(300),
        Refusal::Conflict { what } if what == STALE => {
            Problem::new(StatusCode::PRECONDITION_FAILED, what.clone())
                .of_kind(ProblemKind::PreconditionFailed)
        }
        Refusal::Invalid {
            key,
            found,
            allowed,
        } => {
            let pointer = format!("/{}", key.replace('.', "/"));
            let message = format!("{found} is not allowed; allowed: {allowed}");
            Problem::field(&pointer, FieldCode::NotAllowed, message)
                .of_kind(ProblemKind::InvalidBody)
        }
        Refusal::Busy => Problem::unavailable(refusal.to_string()).retry_after(1),
        _ => Problem::from(refusal),
    }
}
