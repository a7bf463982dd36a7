//! Retention of finished executions, dead deliveries and closed alerts.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Id, Index, Kind};

use super::alert_record::{AlertEnd, AlertId, AlertKind};
use super::components::{
    Automation, AutomationId, ExecutionCause, ExecutionId, ExecutionKind, ExecutionState,
    ExecutionStatus, FinishedExecutions, FinishedOf, RetentionDue, UnfinishedOf,
};
use super::delivery::{DeadLetter, DeliveryId, DeliveryOrigin};
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

/// Executions that are in no relationship to a flow: their flow was removed.
type Unrelated = (Without<FinishedOf>, Without<UnfinishedOf>);

/// Finished executions with the retention of their flows.
#[derive(SystemParam)]
pub(super) struct Finished<'w, 's> {
    index: Res<'w, Index<Automation>>,
    flows: Query<'w, 's, (&'static Automation, Option<&'static FinishedExecutions>)>,
    executions: Query<'w, 's, Execution, Without<UnfinishedOf>>,
    unrelated: Query<'w, 's, Execution, Unrelated>,
}

impl Finished<'_, '_> {
    fn retention(&self, flow: AutomationId) -> Retention {
        let flow = self.index.get(flow).ok().and_then(|entity| self.flows.get(entity).ok());
        flow.map_or_else(Retention::default, |(flow, _)| flow.0.retention)
    }

    /// Ids and entities of the finished executions of a flow in a state, oldest first.
    fn of(&self, flow: AutomationId, state: ExecutionState) -> Vec<(ExecutionId, Entity)> {
        let parts = self.index.get(flow).ok().and_then(|entity| self.flows.get(entity).ok());
        let mut ids: Vec<_> = match parts {
            Some((_, executions)) => {
                let entities = executions.into_iter().flat_map(RelationshipTarget::iter);
                let parts = entities.filter_map(|entity| self.executions.get(entity).ok());
                let of_state = parts.filter(|(.., status)| status.state == state);
                of_state.map(|(entity, id, ..)| (*id, entity)).collect()
            }
            None => {
                let of_flow = self.unrelated.iter().filter(|(.., cause, _)| cause.flow == flow);
                let of_state = of_flow.filter(|(.., status)| status.state == state);
                of_state.map(|(entity, id, ..)| (*id, entity)).collect()
            }
        };
        ids.sort_unstable();
        ids
    }

    /// Ids and entities of all finished executions by flow and state, in no order.
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

/// Drops, of the flows and states in which an execution ended, the oldest executions beyond the number
/// kept, and the oldest of all flows beyond [`EXECUTIONS_MAX`].
pub(super) fn trim_executions(
    due: Query<(Entity, &ExecutionCause, &ExecutionStatus), With<RetentionDue>>,
    index: Res<Index<ExecutionKind>>,
    finished: Finished,
    mut commands: Commands,
) {
    if due.is_empty() {
        return;
    }
    let mut endings = BTreeSet::new();
    for (entity, cause, status) in &due {
        endings.insert((cause.flow, status.state));
        commands.entity(entity).remove::<RetentionDue>();
    }
    let mut dropped = BTreeSet::new();
    for (flow, state) in endings {
        let capacity = finished.retention(flow).per_state as usize;
        let ids = finished.of(flow, state);
        let surplus = ids.len().saturating_sub(capacity);
        dropped.extend(&ids[..surplus]);
    }
    let surplus = (index.len() - dropped.len()).saturating_sub(EXECUTIONS_MAX);
    if surplus > 0 {
        let is_finished = |entity: Entity| {
            let parts = finished.executions.get(entity);
            parts.is_ok_and(|(.., status)| status.state.is_final())
        };
        let rest = index
            .iter()
            .filter(|(id, entity)| !dropped.contains(&(*id, *entity)) && is_finished(*entity));
        let oldest: Vec<_> = rest.take(surplus).collect();
        dropped.extend(oldest);
    }
    for (_, entity) in dropped {
        commands.entity(entity).despawn();
    }
}

/// Drops the oldest dead deliveries beyond the number kept.
pub(super) fn trim_dead(
    added: Query<(), Added<DeadLetter>>,
    dead: Query<Dead, With<DeadLetter>>,
    mut commands: Commands,
) {
    if added.is_empty() {
        return;
    }
    let dead = dead.iter().map(|(entity, id, origin)| (origin.created_ms, *id, entity));
    let mut dead: Vec<_> = dead.collect();
    dead.sort_unstable();
    let surplus = dead.len().saturating_sub(DEAD_MAX);
    dead[..surplus].iter().for_each(|(.., entity)| commands.entity(*entity).despawn());
}

/// Drops the oldest closed alerts beyond the number kept, else the oldest ones.
pub(super) fn trim_alerts(
    index: Res<Index<AlertKind>>,
    alerts: Query<(Entity, &AlertId, Has<AlertEnd>)>,
    mut commands: Commands,
) {
    let surplus = index.len().saturating_sub(ALERTS_MAX);
    if surplus == 0 {
        return;
    }
    let mut all: Vec<_> =
        alerts.iter().map(|(entity, id, is_closed)| (!is_closed, *id, entity)).collect();
    all.sort_unstable();
    all[..surplus].iter().for_each(|(.., entity)| commands.entity(*entity).despawn());
}

type Dead = (Entity, &'static DeliveryId, &'static DeliveryOrigin);

/// Drops executions, dead deliveries and closed alerts that are older than their retention.
pub(super) fn drop_old(
    pass: Res<Pass>,
    finished: Finished,
    dead: Query<Dead, With<DeadLetter>>,
    closed: Query<(Entity, &AlertId), With<AlertEnd>>,
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
    let dead = dead.iter().map(|(entity, id, origin)| (origin.created_ms, *id, entity));
    old.extend(oldest(dead.filter(|(at_ms, ..)| is_old(*at_ms, usual))));
    let closed = closed.iter().map(|(entity, id)| (time_of(*id), *id, entity));
    old.extend(oldest(closed.filter(|(at_ms, ..)| is_old(*at_ms, usual))));
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
