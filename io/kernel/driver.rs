//! Connects a world with a shaper: desired impairments out, observations in.

use std::sync::Arc;
use std::time::Duration;

use groundwave_engine::{Effects, Handle, Snapshot};
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_impair::{
    Applied, Capabilities, Direction, Failure, FailureKind, Impairment, LinkStats,
    ObserveImpairment, ShapePort,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::{Kernel, KernelError, Reading, Shaper};

/// Shortest interval between two readings of the kernel's notifications: a program that changes without
/// pause must not hold requests.
const NOTIFICATION_INTERVAL: Duration = Duration::from_millis(250);
/// Interval at which all ports are read while the kernel's notifications cannot be received.
const READ_INTERVAL: Duration = Duration::from_secs(1);
/// Most pending calls; a kernel answers one in well under 1 ms.
const CALLS_MAX: usize = 64;

enum DriverCall {
    Refresh(Direction, oneshot::Sender<Result<(), Failure>>),
    Stats(Direction, oneshot::Sender<Result<LinkStats, Failure>>),
}

/// Applies impairments in order and reports the outcome.
pub struct Driver<K: Kernel, S: Snapshot> {
    shaper: Shaper<K>,
    interfaces: Vec<String>,
    world: Handle<S>,
    effects: Effects<ShapePort>,
    calls: mpsc::Receiver<DriverCall>,
    generations: Vec<u64>,
    /// The last request of each port that was put in force; `None` before the first, and where none is known.
    granted: Vec<Option<Option<Impairment>>>,
    /// The last reading of each port.
    seen: Vec<Option<Applied>>,
    /// Time from which notifications are read.
    notified_from: Instant,
    /// Notifications cannot be received.
    unnotified: bool,
}

/// A cheap, cloneable handle to the driver.
#[derive(Debug, Clone)]
pub struct DriverHandle {
    calls: mpsc::Sender<DriverCall>,
    capabilities: Arc<Capabilities>,
}

impl DriverHandle {
    /// Capabilities of the kernel.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Reads a port again; on return the world's view shows the result.
    ///
    /// # Errors
    /// When the port cannot be read.
    pub async fn refresh(&self, direction: Direction) -> Result<(), Failure> {
        self.ask(|reply| DriverCall::Refresh(direction, reply)).await
    }

    /// Current counters of a port.
    ///
    /// # Errors
    /// When the port cannot be read.
    pub async fn stats(&self, direction: Direction) -> Result<LinkStats, Failure> {
        self.ask(|reply| DriverCall::Stats(direction, reply)).await
    }

    async fn ask<T>(
        &self,
        call: impl FnOnce(oneshot::Sender<Result<T, Failure>>) -> DriverCall,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let stopped = || Failure {
            kind: FailureKind::Io,
            message: "the kernel's driver has stopped".to_owned(),
        };
        self.calls.send(call(reply)).await.map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl<K: Kernel, S: Snapshot> Driver<K, S> {
    /// A driver of `interfaces`, in the order of directions, and its handle.
    #[must_use]
    pub fn new(
        shaper: Shaper<K>,
        interfaces: Vec<String>,
        world: Handle<S>,
        effects: Effects<ShapePort>,
    ) -> (Self, DriverHandle) {
        let (sender, calls) = mpsc::channel(CALLS_MAX);
        let access =
            DriverHandle { calls: sender, capabilities: Arc::new(shaper.capabilities().clone()) };
        let driver = Self {
            shaper,
            generations: vec![0; interfaces.len()],
            granted: vec![None; interfaces.len()],
            seen: vec![None; interfaces.len()],
            interfaces,
            world,
            effects,
            calls,
            notified_from: Instant::now(),
            unnotified: false,
        };
        (driver, access)
    }

    /// Reads all ports once, then runs until the world and all handles are gone.
    pub async fn run(mut self) {
        for direction in Direction::first(self.interfaces.len()) {
            if let Err(failure) = self.read(direction).await {
                tracing::warn!(%direction, failure = failure.message, "a port cannot be read");
            }
            // A daemon that ran before has put it in force.
            let reading = self.seen[direction.index()].as_ref();
            let impairment = reading.map(|reading| &reading.impairment);
            let impairment = impairment.filter(|impairment| !impairment.is_empty()).cloned();
            self.granted[direction.index()] = impairment.map(Some);
        }
        let (mut ended, mut deaf) = (false, false);
        while !(ended && deaf) {
            tokio::select! {
                effect = self.effects.next(), if !ended => match effect {
                    Some(effect) => self.shape(effect).await,
                    None => ended = true,
                },
                call = self.calls.recv(), if !deaf => match call {
                    Some(call) => self.answer(call).await,
                    None => deaf = true,
                },
                notified = notified(&mut self.shaper, self.notified_from) => {
                    self.read_changed(notified).await;
                }
            }
            // Whoever read the port may have noticed it.
            self.shape_returned().await;
        }
    }

    /// Reads the ports that other programs changed, and reports them; all ports if notifications
    /// cannot be received.
    async fn read_changed(&mut self, notified: Result<(), KernelError>) {
        self.shape_returned().await;
        let changed = notified.and_then(|()| self.shaper.changed());
        let interval = match &changed {
            Ok(_) => NOTIFICATION_INTERVAL,
            Err(_) => READ_INTERVAL,
        };
        self.notified_from = Instant::now() + interval;
        if let Err(err) = &changed
            && !self.unnotified
        {
            let interval_s = interval.as_secs();
            tracing::error!(%err, interval_s, "no notifications of changes: all ports are read at intervals");
        }
        self.unnotified = changed.is_err();
        for direction in Direction::first(self.interfaces.len()) {
            let interface = &self.interfaces[direction.index()];
            if changed.as_ref().is_ok_and(|changed| !changed.contains(interface)) {
                continue;
            }
            let known = self.seen[direction.index()].is_some();
            if let Err(failure) = self.refresh(direction).await {
                if known {
                    let interface = &self.interfaces[direction.index()];
                    let why = failure.message;
                    tracing::warn!(target: "audit", %direction, interface, why, "changed by another program");
                }
                self.report(direction, None, None).await;
            }
        }
    }

    /// Applies the requests of ports again whose interface or namespace is another one.
    async fn shape_returned(&mut self) {
        let returned = self.shaper.returned();
        if returned.is_empty() {
            return;
        }
        for direction in Direction::first(self.interfaces.len()) {
            let interface = &self.interfaces[direction.index()];
            if !returned.contains(interface) {
                continue;
            }
            match self.granted[direction.index()].clone() {
                Some(impairment) => {
                    tracing::warn!(%direction, interface, "another interface than before: the last request is applied again");
                    self.shape_again(direction, impairment).await;
                }
                None => {
                    // A failure shows when somebody reads the port.
                    let _ = self.refresh(direction).await;
                }
            }
        }
    }

    /// Applies a request again that was in force. No caller waits for the outcome.
    async fn shape_again(&mut self, direction: Direction, impairment: Option<Impairment>) {
        let interface = &self.interfaces[direction.index()];
        let outcome = match &impairment {
            Some(impairment) => self.shaper.apply(interface, impairment).await,
            None => self.shaper.clear(interface).await,
        };
        let applied = match outcome {
            Ok(reading) => Some(reading),
            Err(err) => {
                tracing::error!(%direction, interface, %err, "the last request is not in force again");
                self.shaper.read(interface).await.ok()
            }
        };
        self.report(direction, applied.map(stamp), None).await;
    }

    async fn answer(&mut self, call: DriverCall) {
        // A dropped receiver needs no answer.
        match call {
            DriverCall::Refresh(direction, reply) => {
                let _ = reply.send(self.refresh(direction).await);
            }
            DriverCall::Stats(direction, reply) => {
                let _ = reply.send(self.stats(direction).await);
            }
        }
    }

    async fn stats(&mut self, direction: Direction) -> Result<LinkStats, Failure> {
        self.check(direction)?;
        let stats = self.shaper.stats(&self.interfaces[direction.index()]).await;
        let stats = stats.map_err(|err| err.failure())?;
        Ok(LinkStats { captured_at_ns: monotonic_ns(), captured_at_wall_ns: wall_ns(), ..stats })
    }

    fn check(&self, direction: Direction) -> Result<(), Failure> {
        match direction.index() < self.interfaces.len() {
            true => Ok(()),
            false => Err(Failure {
                kind: FailureKind::Unsupported,
                message: format!(
                    "invalid direction: found {direction}, allowed port1 to port{}",
                    self.interfaces.len()
                ),
            }),
        }
    }

    async fn shape(&mut self, effect: ShapePort) {
        if let Err(failure) = self.check(effect.direction) {
            tracing::warn!(direction = %effect.direction, failure = failure.message, "no such port");
            return;
        }
        let ShapePort { direction, generation, impairment } = effect;
        let interface = &self.interfaces[direction.index()];
        let outcome = match &impairment {
            Some(impairment) => self.shaper.apply(interface, impairment).await,
            None => self.shaper.clear(interface).await,
        };
        let (applied, failure) = match outcome {
            Ok(reading) => {
                self.granted[direction.index()] = Some(impairment);
                (Some(stamp(reading)), None)
            }
            Err(err) => {
                tracing::debug!(%direction, generation, %err, "a requested is not in force");
                let left = self.shaper.read(interface).await;
                (left.ok().map(stamp), Some(err.failure()))
            }
        };
        self.generations[direction.index()] = generation;
        self.report(direction, applied, failure).await;
    }

    /// Reads a port, and tells a difference from the reading before: a request may come before the
    /// notification of another program's change.
    async fn refresh(&mut self, direction: Direction) -> Result<(), Failure> {
        self.check(direction)?;
        let before = self.seen[direction.index()].clone();
        self.read(direction).await?;
        let now = self.seen[direction.index()].as_ref();
        let interface = &self.interfaces[direction.index()];
        tell(direction, interface, before.as_ref(), now);
        Ok(())
    }

    async fn read(&mut self, direction: Direction) -> Result<(), Failure> {
        let interface = &self.interfaces[direction.index()];
        let reading =
            self.shaper.read(interface).await.map_err(|err: KernelError| err.failure())?;
        self.report(direction, Some(stamp(reading)), None).await;
        Ok(())
    }

    async fn report(
        &mut self,
        direction: Direction,
        applied: Option<Applied>,
        failure: Option<Failure>,
    ) {
        self.seen[direction.index()].clone_from(&applied);
        let report = ObserveImpairment {
            direction,
            generation: self.generations[direction.index()],
            applied,
            failure,
        };
        let outcome = match self.world.submit(report) {
            Ok(awaited) => awaited.reply().await,
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = outcome {
            tracing::warn!(%direction, %refusal, "the world did not take a report");
        }
    }
}

/// Waits for a notification of the kernel, at `from` or later.
async fn notified<K: Kernel>(shaper: &mut Shaper<K>, from: Instant) -> Result<(), KernelError> {
    sleep_until(from).await;
    shaper.until_changed().await
}

/// Writes an event if a reading differs from the one before, which no request explains.
fn tell(direction: Direction, interface: &str, before: Option<&Applied>, now: Option<&Applied>) {
    let facts = |applied: &Applied| (applied.impairment.clone(), applied.divergence.clone());
    if before.map(facts) == now.map(facts) {
        return;
    }
    let text = |applied: Option<&Applied>| {
        applied.and_then(|applied| serde_json::to_string(&applied.impairment).ok())
    };
    let divergence: Vec<_> = now
        .map(|now| now.divergence.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|item| item.message.as_str())
        .collect();
    let divergence = divergence.join("; ");
    let (before, after) = (text(before), text(now));
    tracing::warn!(
        target: "audit", %direction, interface, before, after, divergence,
        outcome = "changed by another program"
    );
}

fn stamp(reading: Reading) -> Applied {
    Applied {
        impairment: reading.impairment,
        captured_at_ns: monotonic_ns(),
        captured_at_wall_ns: wall_ns(),
        divergence: reading.divergence,
        warnings: reading.warnings,
        mtu_bytes: Some(reading.mtu_bytes),
    }
}
