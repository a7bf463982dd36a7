//! Connects a world with a testbed network: desired state out, observations in.

use std::collections::BTreeMap;
use std::time::Duration;

use groundwave_engine::{Effects, Handle};
use groundwave_systems::Snapshot;
use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{
    CountWires, Counted, LinkDirection, Means, MeetKernel, Observation, ObservedRoute, Port,
    ReportLinkState, ReportRoutes, Settings, Side, Work,
};

use super::bound_ports::BoundPorts;
use super::error::TestbedError;
use super::network::{DesiredDirection, TestbedNetwork};
use crate::kernel::veth_check::RATE_ONLY;

/// Shortest interval between two observations of counters and routes.
const OBSERVE_INTERVAL: Duration = Duration::from_secs(5);
/// Interval at which changes of other programs are noticed and undone: within a second, and not so
/// often that a program in a dispute over a discipline fills the log.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of clock reports: a log is resumed at the last one.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Links per second of the observation interval: one observation logs about 200 bytes for each
/// direction.
const WIRES_PER_S: usize = 50;

/// Keeps a network equal to a world.
pub struct Driver {
    network: TestbedNetwork,
    bound_ports: BoundPorts,
    world: Handle<Snapshot>,
    effects: Effects<Work>,
    settings: Option<Settings>,
    /// Desired state of each bound direction, and its last failure.
    bound: BTreeMap<LinkDirection, (Port, Side, Option<String>)>,
    count: BTreeMap<LinkDirection, Counted>,
    observed: BTreeMap<NodeId, Vec<ObservedRoute>>,
}

impl Driver {
    /// A driver of an empty `network`.
    #[must_use]
    pub fn new(
        network: TestbedNetwork,
        bound_ports: BoundPorts,
        world: Handle<Snapshot>,
        effects: Effects<Work>,
    ) -> Self {
        Self {
            network,
            bound_ports,
            world,
            effects,
            settings: None,
            bound: BTreeMap::new(),
            count: BTreeMap::new(),
            observed: BTreeMap::new(),
        }
    }

    /// Adopts the existing part of the desired state and creates the rest.
    ///
    /// # Errors
    /// When the kernel's state cannot be read or changed.
    pub async fn adopt(&mut self) -> Result<(), TestbedError> {
        let view = self.world.view();
        self.settings.clone_from(&view.testbed.settings);
        if let Some(settings) = &self.settings {
            self.network.set_up(settings);
        }
        let mut whole = (*view.testbed).clone();
        let bound = |from, to| view.testbed.settings.as_ref()?.bound(from, to).cloned();
        let mut sightings = Vec::new();
        for (_, side) in view.testbed.sides() {
            if let Some(port) = bound(side.from, side.to) {
                let key = LinkDirection {
                    from: side.from,
                    to: side.to,
                };
                let state = Side {
                    generation: side.generation,
                    shape: side.shape,
                };
                sightings.push(self.follow(key, &port, state).await);
            }
        }
        let free = |from, to| bound(from, to).is_none() && bound(to, from).is_none();
        whole
            .wires
            .retain(|wire| free(wire.sides[0].from, wire.sides[0].to));
        sightings.extend(self.network.adopt(&whole)?);
        self.report(sightings);
        self.report_means();
        Ok(())
    }

    /// Applies the pending effects of the world and reports the outcome.
    ///
    /// # Errors
    /// When the kernel's state cannot be changed, or a node cannot be created.
    pub async fn catch_up(&mut self) -> Result<usize, TestbedError> {
        let works: Vec<Work> = std::iter::from_fn(|| self.effects.try_next()).collect();
        let count = works.len();
        self.execute(works).await?;
        self.report_means();
        Ok(count)
    }

    /// Capability of the kernel, known after the first node.
    #[must_use]
    pub fn means(&self) -> Option<Means> {
        self.network.means()
    }

    /// Reports the capability of the kernel to the world, if it is new.
    fn report_means(&self) {
        let known = self.world.view().testbed.means;
        if let Some(means) = self.network.means().filter(|means| known != Some(*means)) {
            self.submit(MeetKernel { means });
        }
    }

    /// Applies effects until the world ends.
    ///
    /// # Errors
    /// When the kernel's state cannot be changed any more.
    pub async fn run(mut self) -> Result<(), TestbedError> {
        let mut clock = tokio::time::interval(CLOCK_INTERVAL);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut watch = tokio::time::interval(WATCH_INTERVAL);
        watch.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut waited = Duration::ZERO;
        loop {
            tokio::select! {
                effect = self.effects.next() => {
                    let Some(first) = effect else { return Ok(()) };
                    let rest = std::iter::from_fn(|| self.effects.try_next());
                    let works: Vec<Work> = std::iter::once(first).chain(rest).collect();
                    self.execute(works).await?;
                }
                _ = watch.tick() => self.watch().await,
                _ = clock.tick() => {
                    waited += CLOCK_INTERVAL;
                    self.check_daemons().await;
                    self.on_clock(&mut waited);
                }
            }
        }
    }

    /// Sends due reports; none to a paused world, where they would queue up.
    fn on_clock(&mut self, waited: &mut Duration) {
        let view = self.world.view();
        if view.testbed.speed == 0.0 {
            return;
        }
        let patience = OBSERVE_INTERVAL.max(Duration::from_secs(
            (view.testbed.wires.len() / WIRES_PER_S) as u64,
        ));
        if *waited >= patience {
            *waited = Duration::ZERO;
            self.observe();
        } else {
            self.submit(CountWires {
                counted: Vec::new(),
            });
        }
    }

    async fn execute(&mut self, works: Vec<Work>) -> Result<(), TestbedError> {
        let mut desired: Vec<DesiredDirection> = Vec::new();
        let mut routes = Vec::new();
        let mut sightings = Vec::new();
        for work in works {
            match work {
                Work::NamespaceAssignment {
                    node,
                    assignment,
                    settings,
                } => {
                    self.network.set_up(&settings);
                    self.network
                        .assignment(node, &assignment, settings.protocol(node))?;
                    self.settings = Some(settings);
                }
                Work::Shape {
                    from,
                    to,
                    number,
                    side,
                } => {
                    let key = LinkDirection { from, to };
                    let settings = self.settings.as_ref();
                    let port = settings
                        .and_then(|settings| settings.bound(from, to))
                        .cloned();
                    let back = settings.is_some_and(|settings| settings.bound(to, from).is_some());
                    match port {
                        Some(port) => sightings.push(self.follow(key, &port, side).await),
                        // The opposite direction is bound to a port: a veth pair would bypass it.
                        None if back => {}
                        None => desired.push((key, number, side)),
                    }
                }
                Work::Routes { node, next_hops } => routes.push((node, next_hops)),
            }
        }
        sightings.extend(self.network.shape(&desired)?);
        for (node, next_hops) in routes {
            if let Err(err) = self.network.route(node, &next_hops) {
                tracing::warn!(%node, err = error_chain(&err), "routes are not in force");
            }
        }
        self.report(sightings);
        Ok(())
    }

    async fn follow(&mut self, side: LinkDirection, port: &Port, state: Side) -> Observation {
        let outcome = self.bound_ports.apply(port, &state.shape).await;
        self.follow_outcome(side, port, state, outcome, None)
    }

    /// Notes the outcome for a bound direction.
    fn follow_outcome(
        &mut self,
        side: LinkDirection,
        port: &Port,
        state: Side,
        outcome: Result<(), String>,
        change: Option<String>,
    ) -> Observation {
        let failure = outcome.err();
        self.bound
            .insert(side, (port.clone(), state, failure.clone()));
        Observation {
            side,
            generation: state.generation,
            repaired: change.filter(|_| failure.is_none()),
            failure,
        }
    }

    /// Undoes changes of other programs, and reports them.
    async fn watch(&mut self) {
        match self.network.repair() {
            Ok(observations) => self.report(observations),
            Err(err) => {
                tracing::warn!(
                    err = error_chain(&err),
                    "changes of others cannot be undone"
                );
            }
        }
        let changed = match self.bound_ports.changed() {
            Ok(changed) if changed.is_empty() => return,
            Ok(changed) => changed,
            Err(err) => {
                tracing::warn!(err, "changes of bound interfaces go unnoticed");
                return;
            }
        };
        let mut observations = Vec::new();
        for (side, (port, state, _)) in self.bound.clone() {
            let Port::Interface(name) = &port else {
                continue;
            };
            if !changed.contains(name) {
                continue;
            }
            let repair = self.bound_ports.repair(name, &state.shape).await;
            if let Some((change, outcome)) = repair {
                let seen = self.follow_outcome(side, &port, state, outcome, Some(change));
                observations.push(seen);
            }
        }
        self.report(observations);
    }

    /// Reads the ports of daemons back, and reports those whose outcome changed.
    async fn check_daemons(&mut self) {
        let mut observations = Vec::new();
        for (side, (port, state, known)) in self.bound.clone() {
            let Port::Daemon {
                address,
                port: name,
            } = &port
            else {
                continue;
            };
            let outcome = self.bound_ports.check(address, *name).await;
            if outcome.as_ref().err() != known.as_ref() {
                observations.push(self.follow_outcome(side, &port, state, outcome, None));
            }
        }
        self.report(observations);
    }

    fn report(&self, sightings: Vec<Observation>) {
        if sightings.is_empty() {
            return;
        }
        for sighting in sightings
            .iter()
            .filter(|sighting| told(sighting.failure.as_deref()))
        {
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
        self.submit(ReportLinkState { sightings });
    }

    /// Reads counters and routes, and reports changes.
    pub fn observe(&mut self) {
        match self.network.count() {
            Ok(all) => {
                let known = &self.count;
                let fresh = |count: &Counted| known.get(&count.side) != Some(count);
                let count: Vec<Counted> = all.into_iter().filter(fresh).collect();
                self.count.extend(count.iter().map(|one| (one.side, *one)));
                if !count.is_empty() {
                    self.submit(CountWires { counted: count });
                }
            }
            Err(err) => tracing::warn!(err = error_chain(&err), "counters cannot be read"),
        }
        match self.network.observe_routes() {
            Ok(all) => {
                for (node, routes) in all {
                    if self.observed.get(&node) != Some(&routes) {
                        self.observed.insert(node, routes.clone());
                        self.submit(ReportRoutes { node, routes });
                    }
                }
            }
            Err(err) => tracing::warn!(err = error_chain(&err), "routes cannot be read"),
        }
    }

    /// Submits a report without waiting for the reply.
    fn submit<C: groundwave_engine::Recorded + Send + 'static>(&self, report: C) {
        if let Err(refusal) = self.world.submit(report) {
            tracing::warn!(%refusal, report = C::NAME, "the world did not take a report");
        }
    }
}

/// Failures that are worth a message each: the lack of netem is told once.
fn told(failure: Option<&str>) -> bool {
    failure.is_some_and(|failure| failure != RATE_ONLY)
}

/// The text of an error with its causes.
fn error_chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
