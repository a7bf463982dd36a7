//! Evaluation of automation in a tick: flows that changed, the pass over the tick, executions that
//! begin and go on, deliveries.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use groundwave_engine::{Clock, Index, Outbox};

use super::advance::{advance_executions, plan_executions};
use super::alert_record::AlertKind;
use super::attempts::WAIT_REQUESTED_MAX_S;
use super::components::{Automation, AutomationId, ExecutionKind, FlowMemory, PlannedFlow};
use super::delivery::{
    Deliver, DeliveryAttempts, DeliveryId, DeliveryKind, DeliveryOrigin, InFlight, Waiting,
};
use super::departures::end_orphans;
use super::execution::{adopt_executions, expire_executions, start_executions};
use super::links::match_links;
use super::readings::match_readings;
use super::resolutions::match_resolutions;
use super::retention::{drop_old, trim_alerts, trim_dead, trim_executions};
use super::state::{Pass, Progress};
use super::times::match_times;
use super::triggers::{match_events, watch_triggers};
use crate::automation::language::{StepKind, next_run_ms, plan};
use crate::config::Stamp;
use crate::fleet::EventBuffer;
use crate::outage::OutageSystems;

/// Maximum attempts handed to the workers in one tick.
const ATTEMPTS_PER_TICK: usize = 256;

/// Maximum attempts of a flow at a time: a receiver that hangs delays deliveries of its flow only.
const ATTEMPTS_OF_FLOW: usize = 4;

/// Wall clocks before this time are those of a world that was not told the time yet, ns since the
/// Unix epoch: 2001.
const WALL_KNOWN_NS: u64 = 1_000_000_000_000_000_000;

/// Systems of automation, in their order. They change nothing when they run again at the same tick.
///
/// Triggers queue what is to begin; executions begin, end and advance by queries over the parts that
/// they write, each spawned at the end of the system in which it began.
pub(super) fn systems() -> ScheduleConfigs<ScheduleSystem> {
    let evaluates = |pass: Res<Pass>| pass.evaluates;
    let work = (
        start_executions,
        expire_executions,
        advance_executions,
        (match_resolutions, start_executions).chain(),
        hand_over,
        drop_old,
    );
    (
        end_orphans,
        adopt_executions,
        plan_flows,
        plan_executions,
        watch_triggers,
        begin_pass,
        match_events,
        match_readings,
        match_links,
        match_times,
        work.chain().run_if(evaluates),
        (trim_executions, trim_dead, trim_alerts).chain(),
    )
        .chain()
        .after(OutageSystems)
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

type ChangedFlow<'a> = (&'a Automation, &'a Stamp, &'a mut FlowMemory, &'a mut PlannedFlow);

/// Plans flows that are new or changed.
fn plan_flows(clock: Res<Clock>, mut flows: Query<ChangedFlow, Changed<Automation>>) {
    let now_ms = clock.wall_ns / 1_000_000;
    for (flow, stamp, mut memory, mut derived) in &mut flows {
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
        derived.0 = Some(Arc::new(plan));
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

/// Hands deliveries that are due to the workers, by time and id; of each flow a few at a time.
fn hand_over(
    pass: Res<Pass>,
    in_flight: Query<&DeliveryOrigin, With<InFlight>>,
    mut waiting: Query<(Entity, &DeliveryId, &DeliveryOrigin, &mut DeliveryAttempts), Waiting>,
    mut outbox: ResMut<Outbox<Deliver>>,
    mut commands: Commands,
) {
    let is_due = |origin: &DeliveryOrigin, next_ms: u64| {
        // No wait is longer: the clock was set back since.
        let wait_max_ms = u64::from(origin.retry.cap_s.max(WAIT_REQUESTED_MAX_S)) * 1000;
        next_ms <= pass.now_ms || next_ms > pass.now_ms.saturating_add(wait_max_ms)
    };
    let due = waiting.iter().filter(|(.., origin, attempts)| is_due(origin, attempts.next_ms));
    let mut due: Vec<_> =
        due.map(|(entity, id, _, attempts)| (attempts.next_ms, *id, entity)).collect();
    if due.is_empty() {
        return;
    }
    due.sort_unstable();
    let mut attempts_of: BTreeMap<AutomationId, usize> = BTreeMap::new();
    for origin in &in_flight {
        *attempts_of.entry(origin.flow).or_default() += 1;
    }
    let mut budget = ATTEMPTS_PER_TICK;
    for (_, id, entity) in due {
        let Ok((_, _, origin, mut attempts)) = waiting.get_mut(entity) else { continue };
        let of_flow = attempts_of.entry(origin.flow).or_default();
        if *of_flow >= ATTEMPTS_OF_FLOW {
            continue;
        }
        if budget == 0 {
            return;
        }
        budget -= 1;
        *of_flow += 1;
        attempts.count += 1;
        commands.entity(entity).insert(InFlight);
        outbox.emit(Deliver {
            delivery: id,
            attempt: attempts.count,
            request: origin.request.clone(),
        });
    }
}
