//! Gateway clock: the monotonic clock of the gateway as an input of the world, and what depends on
//! it alone.
//!
//! Liveness transitions run over an index of deadlines, so that a tick in which no node is due costs
//! one comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use groundwave_simulation::site::{NodeId, NodeKind};
use serde::{Deserialize, Serialize};

use super::components::{LivenessState, NodeRecord};
use super::event::{self, EventBuffer, FleetEventKind};
use super::gateway_clock::GatewayClock;
use super::liveness::LivenessRules;
use super::sample_buffer::RecentSamples;

/// Allowed heartbeat periods, ns: 100 ms to an hour.
const PERIOD_NS: std::ops::RangeInclusive<u64> = 100_000_000..=3_600_000_000_000;

/// Starts the gateway clock anew. Liveness of every node restarts: silence before this moment is not
/// counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartGatewayClock {
    /// Gateway clock, ns.
    pub now_ns: u64,
    /// Heartbeat period, ns, 100 ms to an hour.
    pub period_ns: u64,
}
impl Command for StartGatewayClock {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !PERIOD_NS.contains(&self.period_ns) {
            return Err(Refusal::invalid("period_ns", self.period_ns, "100 ms to an hour"));
        }
        world.insert_resource(LivenessRules { period_ns: self.period_ns, begun_ns: self.now_ns });
        world.resource_mut::<GatewayClock>().now_ns = self.now_ns;
        let wall_ns = world.resource::<Clock>().wall_ns;
        let index = world.resource::<Index<NodeKind>>();
        let enrolled = |entity: &Entity| world.get::<NodeRecord>(*entity).is_some();
        let nodes: Vec<_> = index.iter().filter(|(_, entity)| enrolled(entity)).collect();
        for (node, entity) in nodes {
            let mut liveness = world.get_mut::<LivenessState>(entity).expect("required");
            let change = Arc::make_mut(&mut liveness.0).restart(self.now_ns, wall_ns);
            // The history may lack minutes that were complete before the restart: emit them again.
            let mut samples = world.get_mut::<RecentSamples>(entity).expect("required");
            samples.set_changed();
            world.resource_mut::<EventBuffer>().push_transition(node, change);
        }
        Ok(())
    }
}
impl Recorded for StartGatewayClock {
    const NAME: &'static str = "fleet.begin";
    type Reply = ();
}

/// Sets the gateway clock. Liveness transitions and minute roll-over follow in the same tick.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetGatewayClock {
    /// Gateway clock, ns.
    pub now_ns: u64,
}
impl Command for SetGatewayClock {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<GatewayClock>().now_ns = self.now_ns;
        Ok(())
    }
}
impl Recorded for SetGatewayClock {
    const NAME: &'static str = "fleet.tend";
    type Reply = ();
}

/// Keeps the clock from ending minutes of samples, or lets it end them again. While the history takes
/// no writes, a minute that ends would replace the one before it, which is nowhere else on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldMinutes {
    /// Minutes do not end by the clock.
    pub holds: bool,
}
impl Command for HoldMinutes {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.resource_mut::<GatewayClock>().holds_minutes = self.holds;
        Ok(())
    }
}
impl Recorded for HoldMinutes {
    const NAME: &'static str = "fleet.hold_minutes";
    type Reply = ();
}

/// Maximum number of attributes of an alert of the gateway, and maximum length of a text, characters.
const ALERT_ENTRIES_MAX: usize = 16;
const ALERT_CHARS_MAX: usize = 1_024;

/// Records an alert of the gateway itself, for example of its certificate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordAlert {
    /// Subject, up to 1024 characters.
    pub about: String,
    /// Attributes by name, up to 16 of up to 1024 characters.
    pub data: BTreeMap<String, String>,
}
impl Command for RecordAlert {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if self.data.len() > ALERT_ENTRIES_MAX {
            let allowed = format!("0 to {ALERT_ENTRIES_MAX} entries");
            return Err(Refusal::invalid("data", self.data.len(), allowed));
        }
        let mut texts = self.data.values().chain([&self.about]);
        if let Some(text) = texts.find(|text| text.chars().count() > ALERT_CHARS_MAX) {
            let allowed = format!("0 to {ALERT_CHARS_MAX} characters");
            return Err(Refusal::invalid("about", text.chars().count(), allowed));
        }
        let data: Vec<_> = self.data.iter().map(|(name, text)| (&**name, text.clone())).collect();
        let at_ns = world.resource::<Clock>().wall_ns;
        world.resource_mut::<EventBuffer>().alert(at_ns, &self.about, &data);
        Ok(())
    }
}
impl Recorded for RecordAlert {
    const NAME: &'static str = "fleet.alert";
    type Reply = ();
}

/// Records that the system clock of the gateway was set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordClockStep {
    /// Time expected by the time since boot, ns since the Unix epoch.
    pub expected_ns: u64,
    /// Time of the system clock, ns since the Unix epoch.
    pub system_ns: u64,
    /// True when the gateway goes by the system clock from now on.
    pub adopted: bool,
}
impl Command for RecordClockStep {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let data = [
            ("expected_ns", self.expected_ns.to_string()),
            ("system_ns", self.system_ns.to_string()),
            ("adopted", self.adopted.to_string()),
        ];
        let data = data.map(|(name, value)| (name.to_owned(), value));
        event::push(world, FleetEventKind::ClockStep, data.into());
        Ok(())
    }
}
impl Recorded for RecordClockStep {
    const NAME: &'static str = "fleet.clock_step";
    type Reply = ();
}

/// Nodes by the gateway time at which silence changes their liveness next.
#[derive(Resource, Debug, Default)]
pub(super) struct LivenessDeadlines {
    queue: BTreeSet<(u64, NodeId)>,
    of_node: BTreeMap<NodeId, u64>,
}

impl LivenessDeadlines {
    /// Replaces the deadline of a node.
    fn set(&mut self, node: NodeId, deadline_ns: Option<u64>) {
        let previous = match deadline_ns {
            Some(deadline_ns) => self.of_node.insert(node, deadline_ns),
            None => self.of_node.remove(&node),
        };
        if previous == deadline_ns {
            return;
        }
        if let Some(previous) = previous {
            self.queue.remove(&(previous, node));
        }
        if let Some(deadline_ns) = deadline_ns {
            self.queue.insert((deadline_ns, node));
        }
    }

    /// Takes the first node whose deadline is at or before `now_ns`.
    fn pop_due(&mut self, now_ns: u64) -> Option<NodeId> {
        let (deadline_ns, node) = *self.queue.first()?;
        if deadline_ns > now_ns {
            return None;
        }
        self.set(node, None);
        Some(node)
    }
}

/// Keeps the deadlines of nodes whose liveness changed since the clock was last set.
pub(super) fn index_deadlines(
    changed: Query<(&NodeId, &LivenessState), Changed<LivenessState>>,
    rules: Res<LivenessRules>,
    mut deadlines: ResMut<LivenessDeadlines>,
) {
    for (node, liveness) in &changed {
        deadlines.set(*node, liveness.0.next_deadline_ns(*rules));
    }
}

/// Applies liveness transitions that are due.
pub(super) fn expire_liveness(
    clock: (Res<GatewayClock>, Res<Clock>),
    rules: Res<LivenessRules>,
    index: Res<Index<NodeKind>>,
    mut deadlines: ResMut<LivenessDeadlines>,
    mut nodes: Query<&mut LivenessState>,
    mut events: ResMut<EventBuffer>,
) {
    let (now_ns, wall_ns) = (clock.0.now_ns, clock.1.wall_ns);
    while let Some(node) = deadlines.pop_due(now_ns) {
        // A node that left since has no deadline any more.
        let Ok(mut liveness) =
            index.get(node).map_or(Err(()), |entity| nodes.get_mut(entity).map_err(|_| ()))
        else {
            continue;
        };
        let change = Arc::make_mut(&mut liveness.0).expire(*rules, now_ns, wall_ns);
        deadlines.set(node, liveness.0.next_deadline_ns(*rules));
        events.push_transition(node, change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_deadline_is_not_due() {
        let mut deadlines = LivenessDeadlines::default();
        let [one, two] = [1, 2].map(NodeId::from_u128);
        deadlines.set(one, Some(5));
        deadlines.set(two, Some(6));
        deadlines.set(one, Some(9));
        assert_eq!(deadlines.pop_due(8), Some(two));
        assert_eq!(deadlines.pop_due(8), None);
        deadlines.set(one, None);
        assert_eq!(deadlines.pop_due(u64::MAX), None);
    }
}
