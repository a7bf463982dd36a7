//! Evaluation of automation in a tick: flows that changed, the pass over the tick, executions that
//! begin and go on, deliveries.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use groundwave_engine::{Clock, Index, Outbox};

use super::advance;
use super::components::{
    AlertKind, Automation, Delivery, DeliveryKind, ExecutionKind, FlowMemory, PlannedFlow,
};
use super::delivery::Deliver;
use super::execution::{self, Starts};
use super::links::match_links;
use super::readings::match_readings;
use super::retention::drop_old;
use super::state::{Pass, Progress, Work};
use super::times::match_times;
use super::triggers::{match_events, watch_triggers};
use crate::automation::language::{StepKind, next_run_ms, plan};
use crate::config::Stamp;
use crate::fleet::EventBuffer;

/// Attempts handed to the workers in one tick at most.
const ATTEMPTS_PER_TICK: usize = 256;

/// Wall clocks before this time are those of a world that was not told the time yet, ns since the
/// Unix epoch: 2001.
const WALL_KNOWN_NS: u64 = 1_000_000_000_000_000_000;

/// Systems of automation, in their order. They change nothing when they run again at the same tick.
///
/// Those that match triggers queue what is to begin; `run_executions` alone has the whole world,
/// because steps act on any part of it.
pub(super) fn systems() -> ScheduleConfigs<ScheduleSystem> {
    let evaluates = |pass: Res<Pass>| pass.evaluates;
    (
        end_removed_flows.run_if(|flows: Res<Index<Automation>>| !flows.departed().is_empty()),
        plan_flows,
        watch_triggers,
        begin_pass,
        match_events,
        match_readings,
        match_links,
        match_times,
        (run_executions, hand_over, drop_old).chain().run_if(evaluates),
    )
        .chain()
        .run_if(has_automation)
}

/// `true` if there is anything to evaluate.
fn has_automation(
    flows: Res<Index<Automation>>,
    executions: Res<Index<ExecutionKind>>,
    deliveries: Res<Index<DeliveryKind>>,
    alerts: Res<Index<AlertKind>>,
) -> bool {
    !(flows.is_empty() && executions.is_empty() && deliveries.is_empty() && alerts.is_empty())
}

/// Cancels executions of flows that are gone.
fn end_removed_flows(world: &mut World) {
    Work::ensure(world);
    for id in world.resource::<Index<Automation>>().departed().to_vec() {
        execution::end_all(world, id, "the flow was removed");
    }
}

type ChangedFlow<'a> = (&'a Automation, &'a Stamp, &'a mut FlowMemory, &'a mut PlannedFlow);

/// Plans flows that are new or changed.
fn plan_flows(clock: Res<Clock>, mut flows: Query<ChangedFlow, Changed<Automation>>) {
    let now_ms = clock.wall_ns / 1_000_000;
    for (flow, stamp, mut memory, mut planned) in &mut flows {
        // It was checked when it was put.
        let Ok(plan) = plan(&flow.0) else { continue };
        if memory.version != stamp.revision {
            memory.version = stamp.revision;
            let has = |step: &str| plan.find(step).is_some();
            memory.thresholds.retain(|(step, _), _| has(step));
            memory.passes.retain(|(step, _), _| has(step));
            let variables = &flow.0.variables;
            memory.variables.retain(|name, _| variables.contains_key(name));
            memory.next_ms = plan
                .triggers()
                .filter_map(|(_, step)| match &step.kind {
                    StepKind::Schedule(schedule) => {
                        let next_ms = next_run_ms(&schedule.cron, &schedule.tz, now_ms)?;
                        Some((step.id.clone(), next_ms))
                    }
                    _ => None,
                })
                .collect();
        }
        planned.0 = Some(Arc::new(plan));
    }
}

/// Begins the pass over this tick.
fn begin_pass(
    clock: Res<Clock>,
    events: Res<EventBuffer>,
    mut progress: ResMut<Progress>,
    mut pass: ResMut<Pass>,
) {
    let before = progress.tick;
    *pass = Pass {
        now_ms: clock.wall_ns / 1_000_000,
        evaluates: before < clock.tick && clock.wall_ns >= WALL_KNOWN_NS,
        watches: before + 1 == clock.tick,
    };
    if before >= clock.tick {
        // A checkpoint of this tick was taken up: its work is done.
        return;
    }
    if !pass.watches {
        // Nothing was watched since: earlier events are no news.
        progress.event = events.last_seq();
        progress.links.clear();
    }
    progress.tick = clock.tick;
}

/// Begins executions, ends those whose time ran out, runs steps.
fn run_executions(world: &mut World) {
    Work::ensure(world);
    let now_ms = world.resource::<Pass>().now_ms;
    for start in std::mem::take(&mut world.resource_mut::<Starts>().0) {
        execution::start(world, start);
    }
    execution::expire(world, now_ms);
    advance::advance(world, now_ms);
}

/// Hands deliveries that are due to the workers.
fn hand_over(
    pass: Res<Pass>,
    index: Res<Index<DeliveryKind>>,
    mut deliveries: Query<&mut Delivery>,
    mut work: ResMut<Work>,
    mut outbox: ResMut<Outbox<Deliver>>,
) {
    for _ in 0..ATTEMPTS_PER_TICK {
        let Some(id) = work.take_due(pass.now_ms) else {
            return;
        };
        let Ok(entity) = index.get(id) else {
            continue;
        };
        let mut held = deliveries.get_mut(entity).expect("a delivery");
        held.in_flight = true;
        held.attempts += 1;
        outbox.emit(Deliver {
            delivery: id,
            attempt: held.attempts,
            request: held.request.clone(),
        });
    }
}
