//! Connects a world with a testbed network: desired state out, observations in.

use std::collections::BTreeMap;
use std::time::Duration;

use groundwave_engine::{Effects, Handle};
use groundwave_files::causes::with_causes;
use groundwave_files::wall::wall_ns;
use groundwave_simulation::MeshSnapshot;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    CountWires, Counted, LinkDirection, Means, MeetKernel, Observation, Port, Reading,
    ReportRoutes, Settings, Side, SideReading, SideView, Work,
};
use tokio::time::{Instant, sleep_until};

use super::bound_ports::BoundPorts;
use super::error::TestbedError;
use super::network::{DesiredDirection, TestbedNetwork};
use super::observe::NodeRoutes;
use super::watched::{REPAIR_INTERVAL, WatchedNetwork};
use crate::veth_check::RATE_ONLY;

/// Shortest interval between two observations of counters and routes.
const OBSERVE_INTERVAL: Duration = Duration::from_secs(5);
/// Interval of clock reports: a log is resumed at the last one.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Links per second of the observation interval: one observation logs about 200 bytes for each
/// direction.
const WIRES_PER_S: usize = 50;

/// Keeps a network equal to a world.
pub struct Driver<S: MeshSnapshot> {
    watched: WatchedNetwork<S>,
    bound_ports: BoundPorts,
    /// Time from which notifications about bound interfaces are read.
    bound_from: Instant,
    effects: Effects<Work>,
    settings: Option<Settings>,
    /// A node that cannot be created ends the start, and is reported and tried again later.
    is_running: bool,
    /// Desired state of each bound direction, and its last failure.
    bound: BTreeMap<LinkDirection, (Port, Side, Option<String>)>,
    count: BTreeMap<LinkDirection, Counted>,
    observed: BTreeMap<NodeId, NodeRoutes>,
}

impl<S: MeshSnapshot> Driver<S> {
    /// A driver of an empty `network`.
    #[must_use]
    pub fn new(
        network: TestbedNetwork,
        bound_ports: BoundPorts,
        world: Handle<S>,
        effects: Effects<Work>,
    ) -> Self {
        Self {
            watched: WatchedNetwork::new(network, world),
            bound_ports,
            bound_from: Instant::now(),
            effects,
            settings: None,
            is_running: false,
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
        let snapshot = self.watched.world.view();
        let view = (*snapshot).as_ref();
        self.settings.clone_from(&view.testbed.settings);
        if let Some(settings) = &self.settings {
            self.watched.network.set_up(settings);
        }
        let mut whole = (*view.testbed).clone();
        let settings = view.testbed.settings.as_ref();
        let mut sightings = Vec::new();
        for (_, side) in view.testbed.sides() {
            let key = LinkDirection { from: side.from, to: side.to };
            let state = Side { generation: side.generation, shape: side.shape };
            match way(settings, key) {
                Way::Port(port) => sightings.push(self.follow(key, &port, state).await),
                Way::None => sightings.push(not_emulated(key, state)),
                Way::VethPair => {}
            }
        }
        whole.wires.retain(|wire| {
            let SideView { from, to, .. } = wire.sides[0];
            way(settings, LinkDirection { from, to }) == Way::VethPair
        });
        sightings.extend(self.watched.network.adopt(&whole)?);
        self.watched.report(sightings);
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
        self.watched.network.means()
    }

    /// Reports the capability of the kernel to the world, if it is new.
    fn report_means(&self) {
        let known = (*self.watched.world.view()).as_ref().testbed.means;
        if let Some(means) = self.watched.network.means().filter(|means| known != Some(*means)) {
            self.watched.submit(MeetKernel { means });
        }
    }

    /// Applies effects until the world ends.
    ///
    /// # Errors
    /// When the kernel's state cannot be changed any more.
    pub async fn run(mut self) -> Result<(), TestbedError> {
        self.is_running = true;
        let mut clock = tokio::time::interval(CLOCK_INTERVAL);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut waited = Duration::ZERO;
        loop {
            tokio::select! {
                effect = self.effects.next() => {
                    let Some(first) = effect else { return Ok(()) };
                    let rest = std::iter::from_fn(|| self.effects.try_next());
                    let works: Vec<Work> = std::iter::once(first).chain(rest).collect();
                    self.execute(works).await?;
                }
                () = self.watched.repair_when_changed() => {}
                notified = bound_changed(&mut self.bound_ports, self.bound_from) => {
                    self.repair_bound(notified).await;
                }
                _ = clock.tick() => {
                    waited += CLOCK_INTERVAL;
                    self.check_bound().await;
                    self.on_clock(&mut waited).await;
                }
            }
        }
    }

    /// Sends due reports; none to a paused world, where they would queue up.
    async fn on_clock(&mut self, waited: &mut Duration) {
        let snapshot = self.watched.world.view();
        let view = (*snapshot).as_ref();
        if view.testbed.speed == 0.0 {
            return;
        }
        let patience = OBSERVE_INTERVAL
            .max(Duration::from_secs((view.testbed.wires.len() / WIRES_PER_S) as u64));
        if *waited >= patience {
            *waited = Duration::ZERO;
            self.observe().await;
        } else {
            let (counted, readings) = (Vec::new(), Vec::new());
            self.watched.submit(CountWires { counted, readings, read_ns: None });
        }
    }

    async fn execute(&mut self, works: Vec<Work>) -> Result<(), TestbedError> {
        let mut desired: Vec<DesiredDirection> = Vec::new();
        let mut routes = Vec::new();
        let mut sightings = Vec::new();
        let has_other_nodes = works
            .iter()
            .any(|work| matches!(work, Work::NamespaceAssignment { .. } | Work::Release { .. }));
        for work in works {
            match work {
                Work::NamespaceAssignment { node, assignment, settings } => {
                    self.watched.network.set_up(&settings);
                    let (protocol, network) = (settings.protocol(node), &mut self.watched.network);
                    match self.is_running {
                        true => network.assign_or_note(node, &assignment, protocol),
                        false => network.assignment(node, &assignment, protocol)?,
                    }
                    self.settings = Some(settings);
                }
                Work::Release { node, assignment } => {
                    self.release_ports(node).await;
                    self.watched.network.release(node, &assignment)?;
                }
                Work::Shape { from, to, number, side } => {
                    let key = LinkDirection { from, to };
                    match way(self.settings.as_ref(), key) {
                        Way::Port(port) => sightings.push(self.follow(key, &port, side).await),
                        Way::VethPair => desired.push((key, number, side)),
                        Way::None => sightings.push(not_emulated(key, side)),
                    }
                }
                Work::Routes { node, next_hops } => routes.push((node, next_hops)),
            }
        }
        if has_other_nodes {
            self.watched.network.write_hosts()?;
        }
        sightings.extend(self.watched.network.shape(&desired)?);
        for (node, next_hops) in routes {
            if let Err(err) = self.watched.network.route(node, &next_hops) {
                tracing::warn!(%node, err = with_causes(&err), "routes are not in force");
            }
        }
        self.watched.report(sightings);
        Ok(())
    }

    /// Gives the bound ports of a removed node back, and forgets what was reported about it.
    async fn release_ports(&mut self, node: NodeId) {
        let is_own = |side: &LinkDirection| side.from == node || side.to == node;
        let own: Vec<_> = self.bound.keys().copied().filter(is_own).collect();
        for side in own {
            let Some((port, ..)) = self.bound.remove(&side) else {
                continue;
            };
            let restoring = self.bound_ports.give_back(&port);
            if let Err(failure) = self.watched.meanwhile(restoring).await {
                tracing::warn!(from = %side.from, to = %side.to, failure, "a bound port is not restored");
            }
        }
        self.count.retain(|side, _| !is_own(side));
        self.watched.readings.retain(|side, _| !is_own(side));
        self.observed.remove(&node);
    }

    async fn follow(&mut self, side: LinkDirection, port: &Port, state: Side) -> Observation {
        let apply = self.bound_ports.apply(port, &state.shape);
        let outcome = self.watched.meanwhile(apply).await;
        self.follow_outcome(side, port, state, outcome, None).await
    }

    /// Values of a bound port; `None` where it cannot be read.
    async fn read_bound(&mut self, port: &Port) -> Option<Reading> {
        let reading = self.bound_ports.reading(port);
        self.watched.meanwhile(reading).await
    }

    /// Notes the outcome for a bound direction, and reads its port.
    async fn follow_outcome(
        &mut self,
        side: LinkDirection,
        port: &Port,
        state: Side,
        outcome: Result<(), String>,
        change: Option<String>,
    ) -> Observation {
        let failure = outcome.err();
        self.bound.insert(side, (port.clone(), state, failure.clone()));
        Observation {
            side,
            generation: state.generation,
            repaired: change.filter(|_| failure.is_none()),
            failure,
            reading: self.read_bound(port).await,
        }
    }

    /// Undoes changes of other programs to bound interfaces, and reports them.
    async fn repair_bound(&mut self, notified: Result<(), String>) {
        self.bound_from = Instant::now() + REPAIR_INTERVAL;
        let changed = match notified.and_then(|()| self.bound_ports.changed()) {
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
                let seen = self.follow_outcome(side, &port, state, outcome, Some(change)).await;
                observations.push(seen);
            }
        }
        self.watched.report(observations);
    }

    /// Reads the ports of daemons back, shapes those again that differ, and interfaces that could not be shaped; reports
    /// those whose outcome changed.
    async fn check_bound(&mut self) {
        let mut observations = Vec::new();
        for (side, (port, state, known)) in self.bound.clone() {
            let change = match &port {
                Port::Daemon { address, port: name } => {
                    let check = self.bound_ports.check(address, *name);
                    self.watched.meanwhile(check).await.err()
                }
                // Changes of interfaces are notified.
                Port::Interface(_) => None,
            };
            // Nothing else than before: another attempt ends alike.
            if change.is_some() && change == known {
                continue;
            }
            let has_failed = known.as_deref().is_some_and(|failure| failure != RATE_ONLY);
            if change.is_none() && !has_failed {
                continue;
            }
            let apply = self.bound_ports.apply(&port, &state.shape);
            let outcome = self.watched.meanwhile(apply).await;
            let is_repaired = outcome.is_ok() && change.is_some() && !has_failed;
            if is_repaired || outcome.as_ref().err() != known.as_ref() {
                let change = change.filter(|_| is_repaired);
                observations.push(self.follow_outcome(side, &port, state, outcome, change).await);
            }
        }
        self.watched.report(observations);
    }

    /// Reads counters, values of links and routes, and reports changes.
    pub async fn observe(&mut self) {
        match self.watched.network.count() {
            Ok(mut all) => {
                let bound: Vec<_> =
                    self.bound.iter().map(|(side, (port, ..))| (*side, port.clone())).collect();
                for (side, port) in bound {
                    let reading = self.read_bound(&port).await;
                    all.readings.insert(side, reading);
                }
                let known = &self.count;
                let fresh = |count: &Counted| known.get(&count.side) != Some(count);
                let counted: Vec<Counted> = all.counted.into_iter().filter(fresh).collect();
                self.count.extend(counted.iter().map(|one| (one.side, *one)));
                let known = &mut self.watched.readings;
                all.readings.retain(|side, reading| known.get(side) != Some(reading));
                known.extend(all.readings.clone());
                let readings = all.readings.into_iter();
                let readings =
                    readings.map(|(side, reading)| SideReading { side, reading }).collect();
                let read_ns = Some(wall_ns());
                self.watched.submit(CountWires { counted, readings, read_ns });
            }
            Err(err) => tracing::warn!(err = with_causes(&err), "counters cannot be read"),
        }
        match self.watched.network.retry_nodes() {
            Ok(outcome) => self.watched.report(outcome),
            Err(err) => tracing::warn!(err = with_causes(&err), "missing nodes are not retried"),
        }
        match self.watched.network.retry_links() {
            Ok(outcome) => self.watched.report(outcome),
            Err(err) => tracing::warn!(err = with_causes(&err), "missing links are not retried"),
        }
        self.watched.network.restore_names();
        let routes = self.watched.network.observe_routes();
        // After the look, so that a daemon that has ended shows as one without routes.
        self.watched.network.restart_routing();
        match routes {
            Ok(all) => {
                for (node, of_node) in all {
                    if self.observed.get(&node) != Some(&of_node) {
                        self.observed.insert(node, of_node.clone());
                        let (NodeRoutes { routes, program }, read_ns) = (of_node, Some(wall_ns()));
                        self.watched.submit(ReportRoutes { node, routes, program, read_ns });
                    }
                }
            }
            Err(err) => tracing::warn!(err = with_causes(&err), "routes cannot be read"),
        }
    }
}

/// Realisation of a direction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// The port that it is bound to.
    Port(Port),
    /// A veth pair, or a share of the segment.
    VethPair,
    /// None: the opposite direction is bound to a port, which a veth pair would bypass.
    None,
}

fn way(settings: Option<&Settings>, LinkDirection { from, to }: LinkDirection) -> Way {
    let bound = |from, to| settings.and_then(|settings| settings.bound(from, to));
    match (bound(from, to), bound(to, from)) {
        (Some(port), _) => Way::Port(port.clone()),
        (None, None) => Way::VethPair,
        (None, Some(_)) => Way::None,
    }
}

/// Observation of a direction that nothing carries out.
fn not_emulated(side: LinkDirection, state: Side) -> Observation {
    let failure = "not emulated: its opposite direction is bound to a port, and this one is not";
    Observation {
        side,
        generation: state.generation,
        failure: Some(failure.to_owned()),
        repaired: None,
        reading: None,
    }
}

/// Waits for a notification of the kernel about a bound interface, at `from` or later.
async fn bound_changed(ports: &mut BoundPorts, from: Instant) -> Result<(), String> {
    sleep_until(from).await;
    ports.until_changed().await
}

#[cfg(test)]
mod tests {
    use groundwave_simulation::testbed::{Binding, MediumAccess, Protocol, Shape, Wiring};

    use super::*;

    #[test]
    fn direction_beside_a_bound_one_is_not_emulated() {
        let [a, b, c] = ["a", "b", "c"].map(NodeId::named);
        let port = Port::Interface("eth1".to_owned());
        let settings = Settings {
            name: "way".to_owned(),
            network: [10, 77],
            routing: Protocol::None,
            wiring: Wiring::Link,
            names: BTreeMap::new(),
            routing_of: BTreeMap::new(),
            mac: MediumAccess::default(),
            bindings: vec![Binding { from: a, to: b, port: port.clone() }],
            scenario: None,
        };
        let of = |from, to| way(Some(&settings), LinkDirection { from, to });
        assert_eq!((of(a, b), of(b, a)), (Way::Port(port), Way::None));
        assert_eq!(
            (of(a, c), way(None, LinkDirection { from: b, to: a })),
            (Way::VethPair, Way::VethPair)
        );
        let side = LinkDirection { from: b, to: a };
        let observation = not_emulated(side, Side { generation: 3, shape: Shape::DOWN });
        assert_eq!(
            (observation.side, observation.generation, observation.reading),
            (side, 3, None)
        );
        assert!(observation.failure.unwrap().starts_with("not emulated: its opposite direction"));
    }
}
