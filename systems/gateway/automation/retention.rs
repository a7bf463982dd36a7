//! Retention of finished executions, dead deliveries and closed alerts.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Id, Index, Kind};

use super::components::{
    AlertId, AlertKind, AlertRecord, AlertState, Automation, AutomationId, Delivery, DeliveryId,
    ExecutionCause, ExecutionId, ExecutionKind, ExecutionState, ExecutionStatus,
};
use super::state::{Pass, Progress};
use crate::automation::language::Retention;

/// Maximum executions of all flows: bounds memory and store.
const EXECUTIONS_MAX: usize = 20_000;
/// Maximum deliveries of the dead-letter list; the oldest is dropped.
pub(super) const DEAD_MAX: usize = 1_000;
/// Maximum alerts; closed ones are dropped first, the oldest first.
const ALERTS_MAX: usize = 2_000;
/// Time between two looks at what is too old, ms.
const SWEEP_MS: u64 = 60_000;
/// Maximum executions, deliveries and alerts dropped for their age at once.
const DROPPED_MAX: usize = 1_000;
/// A day, ms.
const DAY_MS: u64 = 86_400_000;

/// Time in an id of an execution or alert, ms since the Unix epoch.
fn time_of<K: Kind>(id: Id<K>) -> u64 {
    (id.as_u128() >> 80) as u64
}

type Execution = (Entity, &'static ExecutionId, &'static ExecutionCause, &'static ExecutionStatus);

/// Finished executions with the retention of their flows.
#[derive(SystemParam)]
pub(super) struct Finished<'w, 's> {
    index: Res<'w, Index<Automation>>,
    flows: Query<'w, 's, &'static Automation>,
    executions: Query<'w, 's, Execution>,
}

impl Finished<'_, '_> {
    fn retention(&self, flow: AutomationId) -> Retention {
        let flow = self.index.get(flow).ok().and_then(|entity| self.flows.get(entity).ok());
        flow.map_or_else(Retention::default, |flow| flow.0.retention)
    }

    /// Ids and entities of finished executions by flow and state, in no order.
    fn by_flow_and_state(
        &self,
    ) -> BTreeMap<(AutomationId, ExecutionState), Vec<(ExecutionId, Entity)>> {
        let mut finished: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let all = self.executions.iter().filter(|(.., status)| status.state.is_final());
        for (entity, id, cause, status) in all {
            finished.entry((cause.flow, status.state)).or_default().push((*id, entity));
        }
        finished
    }
}

/// Drops the oldest executions of a flow in a state beyond the number kept, and the oldest of all flows
/// beyond [`EXECUTIONS_MAX`].
pub(super) fn trim_executions(
    changed: Query<&ExecutionStatus, Changed<ExecutionStatus>>,
    index: Res<Index<ExecutionKind>>,
    finished: Finished,
    mut commands: Commands,
) {
    if !changed.iter().any(|status| status.state.is_final()) {
        return;
    }
    let mut rest = Vec::new();
    let mut count = index.len();
    for ((flow, _), mut ids) in finished.by_flow_and_state() {
        let kept = finished.retention(flow).per_state as usize;
        ids.sort_unstable();
        let surplus = ids.len().saturating_sub(kept);
        ids.drain(..surplus).for_each(|(_, entity)| commands.entity(entity).despawn());
        count -= surplus;
        rest.append(&mut ids);
    }
    let surplus = count.saturating_sub(EXECUTIONS_MAX).min(rest.len());
    if surplus > 0 {
        rest.sort_unstable();
        rest[..surplus].iter().for_each(|(_, entity)| commands.entity(*entity).despawn());
    }
}

/// Drops the oldest dead deliveries beyond the number kept.
pub(super) fn trim_dead(
    changed: Query<&Delivery, Changed<Delivery>>,
    deliveries: Query<(Entity, &DeliveryId, &Delivery)>,
    mut commands: Commands,
) {
    if !changed.iter().any(|delivery| delivery.dead) {
        return;
    }
    let dead = deliveries.iter().filter(|(.., delivery)| delivery.dead);
    let mut dead: Vec<_> =
        dead.map(|(entity, id, delivery)| (delivery.created_ms, *id, entity)).collect();
    dead.sort_unstable();
    let surplus = dead.len().saturating_sub(DEAD_MAX);
    dead[..surplus].iter().for_each(|(.., entity)| commands.entity(*entity).despawn());
}

/// Drops the oldest closed alerts beyond the number kept, else the oldest ones.
pub(super) fn trim_alerts(
    index: Res<Index<AlertKind>>,
    alerts: Query<(Entity, &AlertId, &AlertRecord)>,
    mut commands: Commands,
) {
    let surplus = index.len().saturating_sub(ALERTS_MAX);
    if surplus == 0 {
        return;
    }
    let is_open = |record: &AlertRecord| record.state != AlertState::Closed;
    let mut all: Vec<_> =
        alerts.iter().map(|(entity, id, record)| (is_open(record), *id, entity)).collect();
    all.sort_unstable();
    all[..surplus].iter().for_each(|(.., entity)| commands.entity(*entity).despawn());
}

/// Drops executions, dead deliveries and closed alerts that are older than their retention.
pub(super) fn drop_old(
    pass: Res<Pass>,
    finished: Finished,
    deliveries: Query<(Entity, &DeliveryId, &Delivery)>,
    alerts: Query<(Entity, &AlertId, &AlertRecord)>,
    mut progress: ResMut<Progress>,
    mut commands: Commands,
) {
    let now_ms = pass.now_ms;
    if now_ms.abs_diff(progress.swept_ms) < SWEEP_MS {
        return;
    }
    progress.swept_ms = now_ms;
    let is_old = |at_ms: u64, days: u32| at_ms + u64::from(days) * DAY_MS <= now_ms;
    let mut old = Vec::new();
    for ((flow, _), mut ids) in finished.by_flow_and_state() {
        let days = finished.retention(flow).days;
        ids.retain(|(id, _)| is_old(time_of(*id), days));
        ids.sort_unstable();
        old.extend(ids.into_iter().map(|(_, entity)| entity));
    }
    old.truncate(DROPPED_MAX);
    let usual = Retention::default().days;
    let is_dead = |delivery: &Delivery| delivery.dead && is_old(delivery.created_ms, usual);
    let dead = deliveries.iter().filter(|(.., delivery)| is_dead(delivery));
    let dead = dead.map(|(entity, id, delivery)| (delivery.created_ms, *id, entity));
    old.extend(oldest(dead));
    let is_closed = |record: &AlertRecord| record.state == AlertState::Closed;
    let closed =
        alerts.iter().filter(|(_, id, record)| is_closed(record) && is_old(time_of(**id), usual));
    old.extend(oldest(closed.map(|(entity, id, _)| (time_of(*id), *id, entity))));
    for entity in old {
        commands.entity(entity).despawn();
    }
}

/// Entities of the oldest, [`DROPPED_MAX`] of them: time, id and entity of each are given.
fn oldest<I: Ord>(all: impl Iterator<Item = (u64, I, Entity)>) -> impl Iterator<Item = Entity> {
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    all.into_iter().take(DROPPED_MAX).map(|(.., entity)| entity)
}
