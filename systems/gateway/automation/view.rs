//! View of automation.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_values::persistent::PersistentMap;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::alert_record::{AlertChanged, AlertId, AlertKind, AlertParts, AlertRecord};
use super::components::{
    AutomationId, ExecutionCause, ExecutionDefinition, ExecutionId, ExecutionKind, ExecutionStatus,
    ExecutionSteps,
};
use super::delivery::{
    DeadLetter, Delivery, DeliveryAttempts, DeliveryId, DeliveryKind, DeliveryOrigin, InFlight,
};
use super::execution_record::ExecutionRecord;

/// Executions, deliveries and alerts.
#[derive(Debug, Clone, Default)]
pub struct AutomationView {
    /// Executions.
    executions: PersistentMap<ExecutionId, Arc<ExecutionRecord>>,
    /// Executions by flow, oldest first.
    by_flow: PersistentMap<(AutomationId, ExecutionId), Arc<ExecutionRecord>>,
    /// Deliveries that are not made yet.
    pub deliveries: PersistentMap<DeliveryId, Arc<Delivery>>,
    /// Alerts, oldest first.
    pub alerts: PersistentMap<AlertId, Arc<AlertRecord>>,
}

impl AutomationView {
    /// `true` if there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.executions.is_empty() && self.deliveries.is_empty() && self.alerts.is_empty()
    }

    /// Execution with this id.
    #[must_use]
    pub fn execution(&self, id: ExecutionId) -> Option<&Arc<ExecutionRecord>> {
        self.executions.get(&id)
    }

    /// Executions, in id order.
    pub fn executions(&self) -> impl Iterator<Item = (ExecutionId, &Arc<ExecutionRecord>)> {
        self.executions.iter().map(|(id, record)| (*id, record))
    }

    /// Executions of a flow, oldest first.
    pub fn of_flow(
        &self,
        flow: AutomationId,
    ) -> impl DoubleEndedIterator<Item = (ExecutionId, &Arc<ExecutionRecord>)> {
        let first = (flow, ExecutionId::from_u128(0));
        let last = (flow, ExecutionId::from_u128(u128::MAX));
        let records = self.by_flow.range(first..=last);
        records.map(|((_, id), record)| (*id, record))
    }

    fn leave(&mut self, id: ExecutionId) {
        if let Some(record) = self.executions.remove(&id) {
            self.by_flow.remove(&(record.flow, id));
        }
    }
}

/// Lists: the form of digests.
impl Serialize for AutomationView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let executions: Vec<_> = self.executions().map(|(id, record)| (id, &**record)).collect();
        let deliveries: Vec<_> =
            self.deliveries.iter().map(|(id, record)| (id, &**record)).collect();
        let alerts: Vec<_> = self.alerts.iter().map(|(id, record)| (id, &**record)).collect();
        let mut out = serializer.serialize_struct("AutomationView", 3)?;
        out.serialize_field("executions", &executions)?;
        out.serialize_field("deliveries", &deliveries)?;
        out.serialize_field("alerts", &alerts)?;
        out.end()
    }
}

type ExecutionParts = (
    &'static ExecutionId,
    &'static ExecutionCause,
    &'static ExecutionStatus,
    &'static ExecutionSteps,
    Option<&'static ExecutionDefinition>,
);

type DeliveryParts = (
    &'static DeliveryId,
    &'static DeliveryOrigin,
    &'static DeliveryAttempts,
    Has<InFlight>,
    Has<DeadLetter>,
);

/// Publishes what changed, appeared or disappeared.
pub(super) fn publish_automation(
    executions: Query<ExecutionParts, Or<(Changed<ExecutionStatus>, Changed<ExecutionSteps>)>>,
    deliveries: Query<DeliveryParts, Changed<DeliveryAttempts>>,
    alerts: Query<(&AlertId, AlertParts), AlertChanged>,
    indexes: (Res<Index<ExecutionKind>>, Res<Index<DeliveryKind>>, Res<Index<AlertKind>>),
    mut section: ResMut<Section<AutomationView>>,
) {
    let (former_executions, former_deliveries, former_alerts) =
        (indexes.0.departed(), indexes.1.departed(), indexes.2.departed());
    let is_same = executions.is_empty() && deliveries.is_empty() && alerts.is_empty();
    if is_same
        && former_executions.is_empty()
        && former_deliveries.is_empty()
        && former_alerts.is_empty()
    {
        return;
    }
    let mut view = AutomationView::clone(&section.share());
    former_executions.iter().for_each(|id| view.leave(*id));
    for id in former_deliveries {
        view.deliveries.remove(id);
    }
    for id in former_alerts {
        view.alerts.remove(id);
    }
    for (id, cause, status, steps, definition) in &executions {
        let record = Arc::new(ExecutionRecord::of(cause, status, steps, definition));
        view.by_flow.insert((cause.flow, *id), Arc::clone(&record));
        view.executions.insert(*id, record);
    }
    for (id, origin, attempts, in_flight, dead) in &deliveries {
        let record = Delivery::of(origin, attempts, in_flight, dead);
        view.deliveries.insert(*id, Arc::new(record));
    }
    for (id, parts) in &alerts {
        view.alerts.insert(*id, Arc::new(AlertRecord::of(parts)));
    }
    section.redraw(view);
}
