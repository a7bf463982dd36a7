//! State of the daemon.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_engine::Handle;
use groundwave_http::Problem;
use groundwave_impair::{
    Applied, Capabilities, Direction, DivergenceItem, DivergenceKind, Failure, FailureKind,
    Impairment, LinkStats, SetImpairment, Snapshot,
};
use groundwave_io_impair::port_name::PortName;
use groundwave_kernel::DriverHandle;
use tokio::sync::{Mutex, MutexGuard};

use super::earlier_requests::EarlierRequests;
use super::lease_store::LeaseStore;

/// Timeout of a change. A change takes well under a millisecond; what is
/// slower hangs.
pub const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Pending reply of the kernel driver.
pub type DriverCall<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

/// Queries of the kernel driver.
#[derive(Clone)]
pub struct DriverQueries {
    /// Reads a direction anew; when it ends, the world's view shows what was read.
    pub refresh: Arc<dyn Fn(Direction) -> DriverCall<()> + Send + Sync>,
    /// Present counters of a direction.
    pub stats: Arc<dyn Fn(Direction) -> DriverCall<LinkStats> + Send + Sync>,
}

impl From<DriverHandle> for DriverQueries {
    fn from(driver: DriverHandle) -> Self {
        let counters = driver.clone();
        Self {
            refresh: Arc::new(move |direction| {
                let driver = driver.clone();
                Box::pin(async move { driver.refresh(direction).await })
            }),
            stats: Arc::new(move |direction| {
                let driver = counters.clone();
                Box::pin(async move { driver.stats(direction).await })
            }),
        }
    }
}

/// Interfaces behind the directions.
#[derive(Debug, Clone)]
pub struct Ports {
    /// Name of the port of each, in the order of directions.
    pub names: Vec<PortName>,
    /// Bus address of each.
    pub addresses: Vec<String>,
    /// Capabilities of the backend.
    pub capabilities: Capabilities,
}

impl Ports {
    /// Directions of the daemon, in order.
    pub fn directions(&self) -> impl DoubleEndedIterator<Item = Direction> + Clone {
        Direction::first(self.names.len())
    }

    /// Problem of a direction that the daemon has no port for.
    #[must_use]
    pub fn unknown(&self, direction: &str) -> Problem {
        let names: Vec<_> = self.directions().map(Direction::name).collect();
        let allowed = names.join(", ");
        Problem::bad_request(format!("invalid direction: found {direction:?}, allowed {allowed}"))
    }
}

/// Reader of the stored text; `None` when nothing is stored.
#[derive(Clone)]
pub struct Baseline {
    /// Path, for messages.
    pub path: PathBuf,
    /// Reads it.
    pub read: Arc<dyn Fn() -> std::io::Result<Option<String>> + Send + Sync>,
}

/// Impairment daemon. Cheap to clone.
#[derive(Clone)]
pub struct Daemon {
    world: Handle<Snapshot>,
    driver: DriverQueries,
    /// Interfaces.
    pub ports: Arc<Ports>,
    /// Stored baseline.
    pub baseline: Baseline,
    /// One command at a time for each direction, so that each caller is answered with the state
    /// read back after its own command.
    turns: Arc<[Mutex<()>]>,
    /// Last requests.
    earlier_requests: Arc<Mutex<EarlierRequests>>,
    /// Leases, and their file.
    pub(super) leases: Arc<Mutex<LeaseStore>>,
}

/// Outcome of a change.
#[derive(Debug)]
pub struct Outcome {
    /// Previous impairment.
    pub before: Option<Applied>,
    /// Impairment in force, or the failure.
    pub after: Result<Applied, Problem>,
}

impl Daemon {
    /// Daemon over a world whose effects reach the kernel behind `driver`.
    #[must_use]
    pub fn new(
        world: Handle<Snapshot>,
        driver: DriverQueries,
        ports: Ports,
        baseline: Baseline,
    ) -> Self {
        Self {
            world,
            driver,
            turns: ports.directions().map(|_| Mutex::default()).collect(),
            ports: Arc::new(ports),
            baseline,
            earlier_requests: Arc::default(),
            leases: Arc::default(),
        }
    }

    /// This daemon with the last requests of one that ran before.
    #[must_use]
    pub fn with_earlier_requests(mut self, names: EarlierRequests) -> Self {
        self.earlier_requests = Arc::new(Mutex::new(names));
        self
    }

    /// Impairment of a direction, read back.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn read(&self, direction: Direction) -> Result<Applied, Problem> {
        (self.driver.refresh)(direction).await.map_err(failed)?;
        let view = self.world.view();
        let applied = view.impairments.port(direction).applied.clone();
        applied.ok_or_else(|| Problem::internal(format!("{direction} was not read yet")))
    }

    /// Impairment of a direction that was requested last, also if it was refused; `None` without one.
    #[must_use]
    pub fn requested(&self, direction: Direction) -> Option<Impairment> {
        let view = self.world.view();
        view.impairments.port(direction).desired.clone()
    }

    /// Requests an impairment of a direction, or none, and waits until it was applied and read
    /// back.
    pub async fn shape(&self, direction: Direction, impairment: Option<Impairment>) -> Outcome {
        let turn = self.turn(direction).await;
        let before = self.world.view().impairments.port(direction).applied.clone();
        // On disk first: rules in force without a name would be numbered after a restart, and distributions lost.
        self.earlier_requests.lock().await.begin(direction, impairment.as_ref());
        let after = self.tried(direction, impairment.clone()).await;
        self.earlier_requests.lock().await.end(direction, impairment.as_ref(), after.is_ok());
        drop(turn);
        Outcome { before, after }
    }

    async fn tried(
        &self,
        direction: Direction,
        impairment: Option<Impairment>,
    ) -> Result<Applied, Problem> {
        let command = SetImpairment { direction, impairment };
        let generation = self.world.submit(command)?.reply().await?;
        let mut views = self.world.watch();
        let seen = views
            .wait_for(|view| view.impairments.port(direction).observed_generation >= generation);
        let view = match tokio::time::timeout(ANSWER_WAIT, seen).await {
            Ok(Ok(view)) => view.clone(),
            Ok(Err(_)) => return Err(Problem::unavailable("the world has stopped")),
            Err(_) => {
                let waited = ANSWER_WAIT.as_secs();
                let what = format!("{direction}: the kernel did not answer in {waited} s");
                return Err(Problem::internal(what));
            }
        };
        let port = view.impairments.port(direction);
        match (&port.failure, &port.applied) {
            (Some(failure), _) => Err(failed(failure.clone())),
            (None, Some(applied)) => Ok(applied.clone()),
            (None, None) => Err(Problem::internal(format!("{direction} cannot be read back"))),
        }
    }

    /// Present counters of a direction.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn stats(&self, direction: Direction) -> Result<LinkStats, Problem> {
        (self.driver.stats)(direction).await.map_err(failed)
    }

    /// Impairment of a direction that was requested last and not refused; `None` without one.
    pub(super) fn granted(&self, direction: Direction) -> Option<Impairment> {
        let view = self.world.view();
        let port = view.impairments.port(direction);
        port.desired.clone().filter(|_| port.failure.is_none())
    }

    /// The refusal of the last request as a difference from the state in force; `None` where the request is in
    /// force, or the reading names the refusal.
    pub(super) fn refusal(
        &self,
        direction: Direction,
        applied: &Applied,
    ) -> Option<DivergenceItem> {
        let view = self.world.view();
        let port = view.impairments.port(direction);
        let failure = port.failure.as_ref()?;
        let is_in_force = port.desired.clone().unwrap_or_default() == applied.impairment;
        let is_unsupported = |item: &DivergenceItem| item.kind == DivergenceKind::Unsupported;
        let is_named = failure.kind == FailureKind::Unsupported
            && applied.divergence.iter().any(is_unsupported);
        (!is_in_force && !is_named).then(|| DivergenceItem {
            layer: "root".to_owned(),
            field: "impairment".to_owned(),
            requested: None,
            observed: None,
            kind: DivergenceKind::Differs,
            message: format!("requested and not in force: {}", failure.message),
        })
    }

    async fn turn(&self, direction: Direction) -> MutexGuard<'_, ()> {
        self.turns[direction.index()].lock().await
    }
}

/// Problem of a failure.
fn failed(failure: Failure) -> Problem {
    let status = match failure.kind {
        FailureKind::Denied => StatusCode::FORBIDDEN,
        FailureKind::Unsupported | FailureKind::Rejected => StatusCode::UNPROCESSABLE_ENTITY,
        FailureKind::Io => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Problem::new(status, failure.message)
}
