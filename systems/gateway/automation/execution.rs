//! Begin and end of executions, by the mode of their flow.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index, Kind, Refusal};

use super::components::{
    Automation, AutomationId, ExecutionCause, ExecutionDefinition, ExecutionId, ExecutionKind,
    ExecutionPlan, ExecutionState, ExecutionStatus, ExecutionSteps, FinishedOf, FlowMemory,
    MayAdvance, PlannedFlow, RetentionDue, RunningExecution, StepRecord, TriggerRecord,
    UnfinishedExecutions, UnfinishedOf,
};
use super::delivery::{DeadLetter, DeliveryId, DeliveryKind, DeliveryOrigin};
use crate::automation::language::{FlowMode, FlowPlan, StepRole, StepState};
use crate::config::Stamp;
use crate::fleet::EventBuffer;
use crate::timed_id::timed_id;

/// Maximum executions of a flow in a minute; the first one beyond it is recorded as skipped, further
/// ones are not recorded.
pub(super) const STARTS_PER_MINUTE: u32 = 600;

/// Time after which a running execution fails, ms.
const WALL_LIMIT_MS: u64 = 60_000;

impl RunningExecution {
    /// The component of an execution that runs; `None` for one that does not.
    pub(super) fn of(cause: &ExecutionCause, status: &ExecutionStatus) -> Option<Self> {
        let started_ms = status.started_ms.unwrap_or(cause.queued_ms);
        let is_running = status.state == ExecutionState::Running;
        is_running.then_some(Self { deadline_ms: started_ms + WALL_LIMIT_MS })
    }
}

/// Executions that are to begin in this tick, in their order. Written by the systems that match
/// triggers.
#[derive(Resource, Default)]
pub(super) struct Starts(pub Vec<Start>);

/// An execution that is to begin.
pub(super) struct Start {
    pub flow: AutomationId,
    pub trigger: TriggerRecord,
    pub id: Option<ExecutionId>,
    pub dry_run: bool,
    /// Reason for which it is skipped.
    pub refused: Option<String>,
    /// Plan of the flow, where it is not that of `plan_flows`.
    pub plan: Option<Arc<FlowPlan>>,
}

impl Start {
    pub fn of(flow: AutomationId, trigger: TriggerRecord) -> Self {
        Self { flow, trigger, id: None, dry_run: false, refused: None, plan: None }
    }
}

/// Parts of a flow.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct FlowParts {
    pub flow: &'static Automation,
    stamp: &'static Stamp,
    pub planned: &'static PlannedFlow,
    pub memory: &'static mut FlowMemory,
    unfinished: Option<&'static UnfinishedExecutions>,
}

/// Flows by their ids.
#[derive(SystemParam)]
pub(super) struct Flows<'w, 's> {
    index: Res<'w, Index<Automation>>,
    parts: Query<'w, 's, FlowParts>,
}

impl<'s> Flows<'_, 's> {
    /// Parts of a flow.
    ///
    /// # Errors
    /// When there is no such flow.
    pub fn get(&self, flow: AutomationId) -> Result<FlowPartsReadOnlyItem<'_, 's>, Refusal> {
        let missing = |_| Refusal::NotFound { kind: Automation::NAME, id: flow.to_string() };
        self.parts.get(self.index.get(flow)?).map_err(missing)
    }

    /// Parts of a flow.
    pub fn get_mut(&mut self, flow: AutomationId) -> Option<FlowPartsItem<'_, 's>> {
        self.parts.get_mut(self.index.get(flow).ok()?).ok()
    }

    /// Memory of a flow.
    pub fn memory(&mut self, flow: AutomationId) -> Option<Mut<'_, FlowMemory>> {
        self.get_mut(flow).map(|parts| parts.memory)
    }

    /// Unfinished executions of a flow, in no order; those that ended in this system are among them.
    fn unfinished(&self, flow: AutomationId) -> Vec<Entity> {
        let parts = self.index.get(flow).ok().and_then(|entity| self.parts.get(entity).ok());
        let entities = parts.and_then(|parts| parts.unfinished);
        entities.map(|unfinished| unfinished.iter().collect()).unwrap_or_default()
    }
}

/// Parts of an execution.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct ExecutionParts {
    pub entity: Entity,
    pub id: &'static ExecutionId,
    pub cause: &'static ExecutionCause,
    pub status: &'static mut ExecutionStatus,
    pub steps: &'static mut ExecutionSteps,
    pub definition: Option<&'static ExecutionDefinition>,
    pub plan: Option<&'static ExecutionPlan>,
}

/// An execution that begins in this system: its entity is spawned after it.
struct Beginning {
    flow: Entity,
    id: ExecutionId,
    cause: ExecutionCause,
    status: ExecutionStatus,
    steps: ExecutionSteps,
    definition: ExecutionDefinition,
    plan: ExecutionPlan,
}

/// Executions of flows, which begin and end here.
#[derive(SystemParam)]
pub(super) struct Executions<'w, 's> {
    clock: Res<'w, Clock>,
    index: Res<'w, Index<ExecutionKind>>,
    deliveries: Res<'w, Index<DeliveryKind>>,
    pub parts: Query<'w, 's, ExecutionParts>,
    pending: Query<'w, 's, (), (With<DeliveryOrigin>, Without<DeadLetter>)>,
    pub events: ResMut<'w, EventBuffer>,
    commands: Commands<'w, 's>,
    beginnings: Local<'s, Vec<Beginning>>,
}

impl Executions<'_, '_> {
    /// Wall clock of this tick, ms since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.clock.wall_ns / 1_000_000
    }

    /// Entity of an execution.
    pub fn entity(&self, id: ExecutionId) -> Option<Entity> {
        self.index.get(id).ok()
    }

    /// State of an execution.
    ///
    /// # Errors
    /// When there is no such execution.
    pub fn state(&self, id: ExecutionId) -> Result<Option<ExecutionState>, Refusal> {
        let parts = self.parts.get(self.index.get(id)?);
        Ok(parts.ok().map(|parts| parts.status.state))
    }

    /// Refuses an id that is taken.
    ///
    /// # Errors
    /// When an execution has it.
    pub fn vacant(&self, id: ExecutionId) -> Result<(), Refusal> {
        self.index.vacant(id)
    }

    /// Begins an execution, or records that it was skipped; `None` beyond the rate of the flow.
    /// [`Self::spawn`] spawns its entity.
    pub fn start(&mut self, flows: &mut Flows<'_, '_>, start: Start) -> Option<ExecutionId> {
        let now_ms = self.now_ms();
        let mut unfinished = self.unfinished(flows, start.flow);
        let entity = flows.index.get(start.flow).ok()?;
        let mut parts = flows.get_mut(start.flow)?;
        let plan = start.plan.or_else(|| parts.planned.0.clone())?;
        let count = count_start(&mut parts.memory, now_ms);
        if count > STARTS_PER_MINUTE + 1 {
            return None;
        }
        let too_many = (count > STARTS_PER_MINUTE)
            .then(|| format!("more than {STARTS_PER_MINUTE} executions in a minute"));
        unfinished.extend(self.beginnings_of(start.flow));
        unfinished.sort_unstable();
        let (mode, most) = (parts.flow.0.mode, parts.flow.0.max_concurrency as usize);
        let skip_reason = start.refused.or(too_many);
        let (state, error) = admit(mode, skip_reason, unfinished.len(), most);
        let sequence = parts.memory.sequence.to_be_bytes();
        let id = start
            .id
            .unwrap_or_else(|| ExecutionId::new(timed_id(now_ms, start.flow.uuid(), &sequence)));
        let cause = ExecutionCause {
            flow: start.flow,
            flow_version: parts.stamp.revision,
            trigger: start.trigger,
            queued_ms: now_ms,
            dry_run: start.dry_run,
        };
        let definition = ExecutionDefinition(Arc::new(parts.flow.0.clone()));
        if mode == FlowMode::Restart && state == ExecutionState::Running {
            for id in unfinished {
                self.cancel(flows, id, "a later execution began");
            }
        }
        if self.index.get(id).is_ok() || self.beginnings.iter().any(|beginning| beginning.id == id)
        {
            return None;
        }
        let is_skipped = state == ExecutionState::Skipped;
        let steps = steps_of(&plan, &cause.trigger.step_id, is_skipped, now_ms);
        let status = ExecutionStatus {
            state,
            started_ms: (state == ExecutionState::Running).then_some(now_ms),
            ended_ms: is_skipped.then_some(now_ms),
            error,
        };
        let plan = ExecutionPlan(plan);
        self.beginnings.push(Beginning {
            flow: entity,
            id,
            cause,
            status,
            steps,
            definition,
            plan,
        });
        Some(id)
    }

    /// Spawns the executions that began.
    pub fn spawn(&mut self) {
        for beginning in self.beginnings.drain(..) {
            let Beginning { flow, id, cause, status, steps, definition, plan } = beginning;
            let state = status.state;
            let running = RunningExecution::of(&cause, &status);
            let mut entity = self.commands.spawn((id, cause, status, steps));
            if state.is_final() {
                entity.insert((FinishedOf(flow), RetentionDue));
            } else {
                entity.insert((definition, plan, UnfinishedOf(flow)));
            }
            if let Some(running) = running {
                entity.insert((running, MayAdvance));
            }
        }
    }

    /// Unfinished executions of a flow that are spawned.
    fn unfinished(&self, flows: &Flows<'_, '_>, flow: AutomationId) -> Vec<ExecutionId> {
        let parts =
            flows.unfinished(flow).into_iter().filter_map(|entity| self.parts.get(entity).ok());
        let open = parts.filter(|parts| !parts.status.state.is_final());
        let mut ids: Vec<_> = open.map(|parts| *parts.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Unfinished executions of a flow that began in this system.
    fn beginnings_of(&self, flow: AutomationId) -> impl Iterator<Item = ExecutionId> {
        let of_flow = self.beginnings.iter().filter(move |beginning| beginning.cause.flow == flow);
        of_flow.filter(|beginning| !beginning.status.state.is_final()).map(|beginning| beginning.id)
    }

    /// Cancels an unfinished execution, spawned or not.
    fn cancel(&mut self, flows: &Flows<'_, '_>, id: ExecutionId, why: &str) {
        let (state, why) = (ExecutionState::Cancelled, Some(why.to_owned()));
        let now_ms = self.now_ms();
        let place = self.beginnings.iter().position(|beginning| beginning.id == id);
        let Some(beginning) = place.map(|place| &mut self.beginnings[place]) else {
            self.finish(flows, id, state, why);
            return;
        };
        end(&mut beginning.status, &mut beginning.steps, state, why, now_ms);
        let flow = beginning.cause.flow.uuid();
        self.events.executed(self.clock.wall_ns, flow, id.uuid(), state.word());
    }

    /// Ends an unfinished execution. The next one in the queue of its flow begins and is returned.
    pub fn finish(
        &mut self,
        flows: &Flows<'_, '_>,
        id: ExecutionId,
        state: ExecutionState,
        error: Option<String>,
    ) -> Option<ExecutionId> {
        let now_ms = self.now_ms();
        let mut parts = self.parts.get_mut(self.index.get(id).ok()?).ok()?;
        if parts.status.state.is_final() {
            return None;
        }
        let (entity, flow) = (parts.entity, parts.cause.flow);
        let steps = parts.steps.0.iter();
        let deliveries: Vec<_> = steps
            .flat_map(|step| {
                let each = step.each.iter().flat_map(|each| each.waiting.iter().copied());
                step.delivery.into_iter().chain(each)
            })
            .collect();
        end(&mut parts.status, &mut parts.steps, state, error, now_ms);
        let mut execution = self.commands.entity(entity);
        execution.remove::<(ExecutionDefinition, ExecutionPlan, UnfinishedOf)>();
        execution.remove::<(RunningExecution, MayAdvance)>();
        execution.insert(RetentionDue);
        if let Ok(flow) = flows.index.get(flow) {
            execution.insert(FinishedOf(flow));
        }
        if state == ExecutionState::Cancelled {
            for delivery in deliveries {
                self.withdraw(delivery);
            }
        }
        self.events.executed(self.clock.wall_ns, flow.uuid(), id.uuid(), state.word());
        self.begin_next(flows, flow)
    }

    /// Begins the first queued execution of a flow, if none is running.
    fn begin_next(&mut self, flows: &Flows<'_, '_>, flow: AutomationId) -> Option<ExecutionId> {
        let now_ms = self.now_ms();
        let unfinished = self.unfinished(flows, flow);
        let is_running = |id: &ExecutionId| {
            let parts = self.entity(*id).and_then(|entity| self.parts.get(entity).ok());
            parts.is_some_and(|parts| parts.status.state == ExecutionState::Running)
        };
        if unfinished.iter().any(is_running) {
            return None;
        }
        let first = *unfinished.first()?;
        let mut parts = self.parts.get_mut(self.index.get(first).ok()?).ok()?;
        parts.status.state = ExecutionState::Running;
        parts.status.started_ms = Some(now_ms);
        if let Some(running) = RunningExecution::of(parts.cause, &parts.status) {
            self.commands.entity(parts.entity).insert((running, MayAdvance));
        }
        Some(first)
    }

    /// Removes a delivery that was not made yet; an attempt in flight goes on without a consequence.
    fn withdraw(&mut self, id: DeliveryId) {
        let Ok(entity) = self.deliveries.get(id) else {
            return;
        };
        if self.pending.contains(entity) {
            self.commands.entity(entity).despawn();
        }
    }
}

/// Counts an execution of a flow: its number in this minute.
fn count_start(memory: &mut FlowMemory, now_ms: u64) -> u32 {
    memory.sequence += 1;
    let minute = now_ms / 60_000;
    if memory.minute.0 != minute {
        memory.minute = (minute, 0);
    }
    memory.minute.1 = memory.minute.1.saturating_add(1);
    memory.minute.1
}

/// State of an execution that is to begin beside `unfinished` others of its flow, of which `most` may be
/// unfinished; with the reason where it is skipped.
fn admit(
    mode: FlowMode,
    skip_reason: Option<String>,
    unfinished: usize,
    most: usize,
) -> (ExecutionState, Option<String>) {
    match (skip_reason, mode) {
        (Some(why), _) => (ExecutionState::Skipped, Some(why)),
        (None, FlowMode::Single) if unfinished > 0 => {
            let why = "an execution of this flow is unfinished".to_owned();
            (ExecutionState::Skipped, Some(why))
        }
        (None, FlowMode::Queued | FlowMode::Parallel) if unfinished >= most => {
            let why = format!("{most} executions of this flow are unfinished");
            (ExecutionState::Skipped, Some(why))
        }
        (None, FlowMode::Queued) if unfinished > 0 => (ExecutionState::Queued, None),
        (None, _) => (ExecutionState::Running, None),
    }
}

/// Steps of an execution that begins; of one that is skipped none is reached but the trigger.
fn steps_of(plan: &FlowPlan, trigger: &str, is_skipped: bool, now_ms: u64) -> ExecutionSteps {
    let steps = plan.steps.iter().map(|step| {
        let mut record = StepRecord { step_id: step.id.clone(), ..StepRecord::default() };
        if step.id == trigger {
            record.state = StepState::Succeeded;
            record.started_ms = Some(now_ms);
            record.ended_ms = Some(now_ms);
        } else if is_skipped || step.kind.role() == StepRole::Trigger {
            record.state = StepState::Skipped;
        }
        record
    });
    ExecutionSteps(steps.collect())
}

/// Ends an execution with the steps that are not over.
fn end(
    status: &mut ExecutionStatus,
    steps: &mut ExecutionSteps,
    state: ExecutionState,
    error: Option<String>,
    now_ms: u64,
) {
    status.state = state;
    status.ended_ms = Some(now_ms);
    status.error = error;
    for step in &mut steps.0 {
        step.each = None;
        match step.state {
            StepState::Pending => step.state = StepState::Skipped,
            StepState::Running => {
                step.state = StepState::Failed;
                step.ended_ms = Some(now_ms);
                if step.error.is_none() {
                    step.error.clone_from(&status.error);
                }
            }
            _ => {}
        }
    }
}

/// Begins the executions that triggers have queued.
pub(super) fn start_executions(
    mut starts: ResMut<Starts>,
    mut flows: Flows,
    mut executions: Executions,
) {
    for start in starts.0.drain(..) {
        executions.start(&mut flows, start);
    }
    executions.spawn();
}

/// Ends executions whose time ran out; their deliveries go on.
pub(super) fn expire_executions(
    running: Query<(&ExecutionId, &RunningExecution)>,
    flows: Flows,
    mut executions: Executions,
) {
    let now_ms = executions.now_ms();
    let late = running.iter().filter(|(_, running)| running.deadline_ms <= now_ms);
    let mut late: Vec<_> = late.map(|(id, running)| (running.deadline_ms, *id)).collect();
    late.sort_unstable();
    for (_, id) in late {
        let why = format!("unfinished after {} s", WALL_LIMIT_MS / 1000);
        executions.finish(&flows, id, ExecutionState::Failed, Some(why));
    }
}

/// Links finished executions to their flow where one with the id of a removed flow was put.
pub(super) fn adopt_executions(
    added: Query<(Entity, &AutomationId), Added<Automation>>,
    finished: Query<
        (Entity, &ExecutionCause, &ExecutionStatus),
        (Without<FinishedOf>, Without<UnfinishedOf>),
    >,
    mut commands: Commands,
) {
    if added.is_empty() {
        return;
    }
    let flows: BTreeMap<_, _> = added.iter().map(|(entity, id)| (*id, entity)).collect();
    for (entity, cause, _) in finished.iter().filter(|(.., status)| status.state.is_final()) {
        if let Some(flow) = flows.get(&cause.flow) {
            commands.entity(entity).insert(FinishedOf(*flow));
        }
    }
}
