//! Retention of finished executions, dead deliveries and closed alerts.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Id, Index, Kind};

use super::components::{
    AlertKind, AlertRecord, AlertState, Automation, AutomationId, DeliveryKind, ExecutionId,
    ExecutionKind, ExecutionState,
};
use super::state::{Pass, Progress, Work};
use crate::automation::language::Retention;

/// Executions at most, of all flows: bounds memory and store.
const EXECUTIONS_MAX: usize = 20_000;
/// Deliveries of the dead-letter list at most; the oldest is dropped.
pub(super) const DEAD_MAX: usize = 1_000;
/// Alerts at most; closed ones are dropped first, the oldest first.
const ALERTS_MAX: usize = 2_000;
/// Time between two looks at what is too old, ms.
const SWEEP_MS: u64 = 60_000;
/// Executions, deliveries and alerts dropped for their age at once at most.
const DROPPED_MAX: usize = 1_000;
/// A day, ms.
const DAY_MS: u64 = 86_400_000;

/// Time in an id of an execution or alert, ms since the Unix epoch.
fn time_of<K: Kind>(id: Id<K>) -> u64 {
    (id.as_u128() >> 80) as u64
}

fn despawn<K: Kind>(world: &mut World, id: Id<K>) {
    if let Ok(entity) = world.resource::<Index<K>>().get(id) {
        world.despawn(entity);
    }
}

fn retention_of(world: &World, flow: AutomationId) -> Retention {
    let entity = world.resource::<Index<Automation>>().get(flow);
    let flow = entity.ok().and_then(|entity| world.get::<Automation>(entity));
    flow.map_or_else(Retention::default, |flow| flow.0.retention)
}

fn drop_first(world: &mut World, key: (AutomationId, ExecutionState)) -> Option<ExecutionId> {
    let finished = &mut world.resource_mut::<Work>().finished;
    let of_state = finished.get_mut(&key)?;
    let id = of_state.pop_first()?;
    if of_state.is_empty() {
        finished.remove(&key);
    }
    despawn::<ExecutionKind>(world, id);
    Some(id)
}

/// Drops the oldest executions of a flow in a state beyond the number kept.
pub(super) fn trim(world: &mut World, flow: AutomationId, state: ExecutionState) {
    let key = (flow, state);
    let kept = retention_of(world, flow).per_state as usize;
    let count = |world: &World| world.resource::<Work>().finished.get(&key).map_or(0, |s| s.len());
    while count(world) > kept {
        drop_first(world, key);
    }
    while world.resource::<Index<ExecutionKind>>().len() > EXECUTIONS_MAX {
        let finished = world.resource::<Work>().finished.iter();
        let oldest = finished.filter_map(|(key, ids)| Some((*ids.first()?, *key))).min();
        let Some((_, key)) = oldest else { return };
        drop_first(world, key);
    }
}

/// Drops the oldest dead delivery beyond the number kept.
pub(super) fn trim_dead(world: &mut World) {
    while world.resource::<Work>().dead.len() > DEAD_MAX {
        let Some((_, id)) = world.resource_mut::<Work>().dead.pop_first() else {
            return;
        };
        despawn::<DeliveryKind>(world, id);
    }
}

/// Drops the oldest closed alert beyond the number kept, else the oldest one.
pub(super) fn trim_alerts(world: &mut World) {
    while world.resource::<Index<AlertKind>>().len() > ALERTS_MAX {
        let index = world.resource::<Index<AlertKind>>();
        let is_closed = |entity: Entity| {
            let held = world.get::<AlertRecord>(entity);
            held.is_some_and(|held| held.state == AlertState::Closed)
        };
        let closed = index.iter().find(|(_, entity)| is_closed(*entity));
        let Some((id, entity)) = closed.or_else(|| index.iter().next()) else {
            return;
        };
        let held = world.get::<AlertRecord>(entity).expect("an alert is one");
        let subject = (held.flow, held.key.clone());
        let open = &mut world.resource_mut::<Work>().open_alerts;
        if open.get(&subject) == Some(&id) {
            open.remove(&subject);
        }
        despawn::<AlertKind>(world, id);
    }
}

/// Entities of automation by their ids, to be despawned.
#[derive(SystemParam)]
pub(super) struct Entities<'w, 's> {
    flows: Res<'w, Index<Automation>>,
    executions: Res<'w, Index<ExecutionKind>>,
    deliveries: Res<'w, Index<DeliveryKind>>,
    alerts: Res<'w, Index<AlertKind>>,
    commands: Commands<'w, 's>,
}

/// Drops executions, dead deliveries and closed alerts that are older than their retention.
pub(super) fn drop_old(
    pass: Res<Pass>,
    flows: Query<&Automation>,
    alerts: Query<&AlertRecord>,
    mut entities: Entities,
    mut work: ResMut<Work>,
    mut progress: ResMut<Progress>,
) {
    let now_ms = pass.now_ms;
    if now_ms.abs_diff(progress.swept_ms) < SWEEP_MS {
        return;
    }
    progress.swept_ms = now_ms;
    let mut old: Vec<Entity> = Vec::new();
    let is_old = |at_ms: u64, days: u32| at_ms + u64::from(days) * DAY_MS <= now_ms;
    let mut left = DROPPED_MAX;
    for ((flow, _), ids) in &mut work.finished {
        let entity = entities.flows.get(*flow).ok();
        let flow = entity.and_then(|entity| flows.get(entity).ok());
        let kept = flow.map_or_else(Retention::default, |flow| flow.0.retention);
        while left > 0
            && let Some(first) = ids.first()
            && is_old(time_of(*first), kept.days)
        {
            let id = ids.pop_first().expect("there is a first one");
            old.extend(entities.executions.get(id));
            left -= 1;
        }
    }
    work.finished.retain(|_, ids| !ids.is_empty());
    let usual = Retention::default().days;
    for _ in 0..DROPPED_MAX {
        let first = work.dead.first();
        if !first.is_some_and(|(created_ms, _)| is_old(*created_ms, usual)) {
            break;
        }
        let (_, id) = work.dead.pop_first().expect("there is a first one");
        old.extend(entities.deliveries.get(id));
    }
    let of_age = entities.alerts.iter().take_while(|(id, _)| is_old(time_of(*id), usual));
    let is_closed = |entity: &Entity| {
        let held = alerts.get(*entity);
        held.is_ok_and(|held| held.state == AlertState::Closed)
    };
    let closed = of_age.map(|(_, entity)| entity).filter(is_closed);
    old.extend(closed.take(DROPPED_MAX));
    for entity in old {
        entities.commands.entity(entity).despawn();
    }
}
