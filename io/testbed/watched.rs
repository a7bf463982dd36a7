//! A network whose changes by other programs are noticed and undone, also while the driver waits for a
//! daemon.

use std::collections::BTreeMap;
use std::time::Duration;

use groundwave_engine::Handle;
use groundwave_files::causes::with_causes;
use groundwave_files::wall::wall_ns;
use groundwave_simulation::MeshSnapshot;
use groundwave_simulation::testbed::{LinkDirection, Observation, Reading, ReportLinkState};
use tokio::time::{Instant, sleep_until};

use super::network::TestbedNetwork;
use crate::veth_check::RATE_ONLY;

/// Shortest interval between two repairs: changes are noticed within a second, and a program in a
/// dispute over a discipline does not fill the log.
pub(super) const REPAIR_INTERVAL: Duration = Duration::from_millis(500);

/// A network and the world that it follows.
pub(super) struct WatchedNetwork<S: MeshSnapshot> {
    pub(super) network: TestbedNetwork,
    pub(super) world: Handle<S>,
    /// Values of each direction as reported.
    pub(super) readings: BTreeMap<LinkDirection, Option<Reading>>,
    /// Time from which notifications are read.
    repair_from: Instant,
}

impl<S: MeshSnapshot> WatchedNetwork<S> {
    /// A network that is repaired from now on.
    pub fn new(network: TestbedNetwork, world: Handle<S>) -> Self {
        Self { network, world, readings: BTreeMap::new(), repair_from: Instant::now() }
    }

    /// Waits for a notification of the kernel, then undoes the changes of other programs and reports
    /// them. Nothing is lost when the future is dropped.
    pub async fn repair_when_changed(&mut self) {
        sleep_until(self.repair_from).await;
        let notified = self.network.until_changed().await;
        self.repair_from = Instant::now() + REPAIR_INTERVAL;
        match notified.and_then(|()| self.network.repair()) {
            Ok(observations) => self.report(observations),
            Err(err) => {
                tracing::warn!(err = with_causes(&err), "changes of others cannot be undone");
            }
        }
    }

    /// The result of `work`; repairs go on meanwhile.
    pub async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.repair_when_changed() => {}
            }
        }
    }

    /// Reports observations to the world, failures and repairs to the operator too.
    pub fn report(&mut self, sightings: Vec<Observation>) {
        if sightings.is_empty() {
            return;
        }
        for sighting in sightings.iter().filter(|sighting| told(sighting.failure.as_deref())) {
            tracing::warn!(
                from = %sighting.side.from,
                to = %sighting.side.to,
                failure = sighting.failure,
                "a wire is not as it should be"
            );
        }
        for sighting in &sightings {
            if let Some(change) = &sighting.repaired {
                let LinkDirection { from, to } = sighting.side;
                tracing::warn!(%from, %to, change, "changed by another program, repaired");
            }
        }
        for sighting in &sightings {
            if let Some(reading) = &sighting.reading {
                self.readings.insert(sighting.side, Some(reading.clone()));
            }
        }
        self.submit(ReportLinkState { sightings, read_ns: Some(wall_ns()) });
    }

    /// Submits a report without waiting for the reply.
    pub fn submit<C: groundwave_engine::Recorded + Send + 'static>(&self, report: C) {
        if let Err(refusal) = self.world.submit(report) {
            tracing::warn!(%refusal, report = C::NAME, "the world did not take a report");
        }
    }
}

/// Failures that are worth a message each: the lack of netem is told once.
fn told(failure: Option<&str>) -> bool {
    failure.is_some_and(|failure| failure != RATE_ONLY)
}
