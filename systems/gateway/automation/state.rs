//! State of automation that is of no flow: the pass over a tick, and what a checkpoint holds.

use std::collections::{BTreeMap, VecDeque};

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::alert_record::AlertId;
use super::components::ExecutionId;
use crate::fleet::EdgeStatus;

/// Readings of the gateway that are to be evaluated, oldest first.
#[derive(Resource, Default)]
pub(super) struct GatewayReadings(pub VecDeque<(String, f64)>);

/// Alerts that were closed in this tick, each with the executions that led to it. Written by
/// `advance_executions`, and where a node or flow is removed.
#[derive(Resource, Default)]
pub(super) struct Resolutions(pub Vec<(AlertId, u32)>);

/// The pass of automation over a tick. Written by `begin_pass`.
#[derive(Resource, Default)]
pub(super) struct Pass {
    /// Wall clock, ms since the Unix epoch.
    pub now_ms: u64,
    /// `false` where the tick was evaluated before a checkpoint was taken up, or where the wall clock
    /// is not known.
    pub evaluates: bool,
    /// `true` if the tick before was evaluated, so that changes since then are news.
    pub watches: bool,
}

/// State of automation that no document holds. Written by the systems of automation.
#[derive(Resource, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Tick that was evaluated last.
    pub tick: u64,
    /// Sequence number of the last event that was matched.
    pub event: u64,
    /// Execution that was served last.
    pub served: Option<ExecutionId>,
    /// Wall clock at the last look at times, ms since the Unix epoch.
    pub timed_ms: u64,
    /// Wall clock at the last look at what is too old, ms since the Unix epoch.
    #[serde(default)]
    pub swept_ms: u64,
    /// Last statuses of links.
    pub links: BTreeMap<(NodeId, NodeId), EdgeStatus>,
}

/// Checkpoint of [`Progress`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AutomationState(Progress);

impl State for AutomationState {
    const TABLE: &'static str = "automation progress";

    fn save(world: &World) -> Self {
        Self(world.resource::<Progress>().clone())
    }

    fn is_fresh(&self) -> bool {
        self.0 == Progress::default()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.0);
        Ok(())
    }
}
