//! Connects a world with a shaper: desired impairments out, observations in.

use std::sync::Arc;
use std::time::Duration;

use groundwave_engine::{Effects, Handle, Snapshot};
use groundwave_systems::impair::{
    Applied, Capabilities, Direction, Failure, FailureKind, LinkStats, ObserveImpairment, ShapePort,
};
use tokio::sync::{mpsc, oneshot};

use super::{Kernel, KernelError, Reading, Shaper};
use crate::wall::{monotonic_ns, wall_ns};

/// Interval at which notifications of the kernel are read.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);
/// Most pending calls; a kernel answers one in well under 1 ms.
const CALLS_MAX: usize = 64;

enum DriverCall {
    Refresh(Direction, oneshot::Sender<Result<(), Failure>>),
    Stats(Direction, oneshot::Sender<Result<LinkStats, Failure>>),
}

/// Applies impairments in order and reports the outcome.
pub struct Driver<K: Kernel, S: Snapshot> {
    shaper: Shaper<K>,
    interfaces: [String; 2],
    world: Handle<S>,
    effects: Effects<ShapePort>,
    calls: mpsc::Receiver<DriverCall>,
    generations: [u64; 2],
    /// The last reading of each port.
    seen: [Option<Applied>; 2],
}

/// A cheap, cloneable handle to the driver.
#[derive(Debug, Clone)]
pub struct DriverHandle {
    calls: mpsc::Sender<DriverCall>,
    capabilities: Arc<Capabilities>,
    interfaces: Arc<[String; 2]>,
}

impl DriverHandle {
    /// Capabilities of the kernel.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Interface of a direction.
    #[must_use]
    pub fn interface(&self, direction: Direction) -> &str {
        &self.interfaces[direction as usize]
    }

    /// Reads a port again; on return the world's view shows the result.
    ///
    /// # Errors
    /// When the port cannot be read.
    pub async fn refresh(&self, direction: Direction) -> Result<(), Failure> {
        self.ask(|reply| DriverCall::Refresh(direction, reply))
            .await
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
    /// A driver of `interfaces`, in the order of [`Direction::ALL`], and its handle.
    #[must_use]
    pub fn new(
        shaper: Shaper<K>,
        interfaces: [String; 2],
        world: Handle<S>,
        effects: Effects<ShapePort>,
    ) -> (Self, DriverHandle) {
        let (sender, calls) = mpsc::channel(CALLS_MAX);
        let access = DriverHandle {
            calls: sender,
            capabilities: Arc::new(shaper.capabilities().clone()),
            interfaces: Arc::new(interfaces.clone()),
        };
        let driver = Self {
            shaper,
            interfaces,
            world,
            effects,
            calls,
            generations: [0; 2],
            seen: [None, None],
        };
        (driver, access)
    }

    /// Reads both ports once, then runs until the world and all handles are gone.
    pub async fn run(mut self) {
        for direction in Direction::ALL {
            if let Err(failure) = self.refresh(direction).await {
                tracing::warn!(%direction, failure = failure.message, "a port cannot be read");
            }
        }
        let (mut ended, mut deaf) = (false, false);
        let mut watch = tokio::time::interval(WATCH_INTERVAL);
        watch.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
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
                _ = watch.tick() => self.look().await,
            }
        }
    }

    /// Reads the ports that other programs changed, and reports them.
    async fn look(&mut self) {
        let changed = match self.shaper.changed() {
            Ok(changed) => changed,
            Err(err) => {
                tracing::error!(%err, "changes of other programs go unnoticed");
                return;
            }
        };
        for direction in Direction::ALL {
            let interface = self.interfaces[direction as usize].clone();
            if !changed.contains(&interface) {
                continue;
            }
            let before = self.seen[direction as usize].clone();
            match self.refresh(direction).await {
                Ok(()) => {
                    let now = self.seen[direction as usize].as_ref();
                    tell(direction, &interface, before.as_ref(), now);
                }
                Err(failure) => {
                    let why = failure.message;
                    tracing::warn!(target: "audit", %direction, interface, why, "changed by another program");
                    self.report(direction, None, None).await;
                }
            }
        }
    }

    async fn answer(&mut self, call: DriverCall) {
        // A dropped receiver needs no answer.
        match call {
            DriverCall::Refresh(direction, reply) => {
                let _ = reply.send(self.refresh(direction).await);
            }
            DriverCall::Stats(direction, reply) => {
                let interface = &self.interfaces[direction as usize];
                let stats = self.shaper.stats(interface).await;
                let stamped = stats.map(|stats| LinkStats {
                    captured_at_ns: monotonic_ns(),
                    captured_at_wall_ns: wall_ns(),
                    ..stats
                });
                let _ = reply.send(stamped.map_err(|err| err.failure()));
            }
        }
    }

    async fn shape(&mut self, effect: ShapePort) {
        let ShapePort {
            direction,
            generation,
            impairment,
        } = effect;
        let interface = &self.interfaces[direction as usize];
        let outcome = match &impairment {
            Some(impairment) => self.shaper.apply(interface, impairment).await,
            None => self.shaper.clear(interface).await,
        };
        let (applied, failure) = match outcome {
            Ok(reading) => (Some(stamp(reading)), None),
            Err(err) => {
                tracing::debug!(%direction, generation, %err, "a requested is not in force");
                let left = self.shaper.read(interface).await;
                (left.ok().map(stamp), Some(err.failure()))
            }
        };
        self.generations[direction as usize] = generation;
        self.report(direction, applied, failure).await;
    }

    async fn refresh(&mut self, direction: Direction) -> Result<(), Failure> {
        let interface = &self.interfaces[direction as usize];
        let reading = self.shaper.read(interface).await;
        let reading = reading.map_err(|err: KernelError| err.failure())?;
        self.report(direction, Some(stamp(reading)), None).await;
        Ok(())
    }

    async fn report(
        &mut self,
        direction: Direction,
        applied: Option<Applied>,
        failure: Option<Failure>,
    ) {
        self.seen[direction as usize].clone_from(&applied);
        let report = ObserveImpairment {
            direction,
            generation: self.generations[direction as usize],
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
    }
}
