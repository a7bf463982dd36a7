//! Alerts of flows: opened once for a subject, raised again while they are open, closed.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index};
use serde_json::json;

use super::acting::{Acted, Acting};
use super::basis::timed_id;
use super::components::{AlertId, AlertKind, AlertRecord, AlertState, AutomationId};
use crate::automation::language::{Alert, fill};
use crate::fleet::EventBuffer;

/// Subject of an alert: flow and key.
type Subject = (AutomationId, String);

/// An alert that is not closed.
#[derive(Clone, Copy)]
enum Place {
    /// Entity of the alert.
    Spawned(Entity),
    /// Index among those that opened in this system.
    Opened(usize),
}

/// Alerts, and those that open in this system.
#[derive(SystemParam)]
pub(super) struct Alerts<'w, 's> {
    clock: Res<'w, Clock>,
    index: Res<'w, Index<AlertKind>>,
    records: Query<'w, 's, (Entity, &'static AlertId, &'static mut AlertRecord)>,
    commands: Commands<'w, 's>,
    opened: Local<'s, Vec<(AlertId, AlertRecord)>>,
    /// Alerts that are not closed; collected where the first step of the system asks for them.
    open: Local<'s, Option<BTreeMap<Subject, Place>>>,
}

impl Alerts<'_, '_> {
    /// Spawns the alerts that opened.
    pub fn spawn(&mut self) {
        *self.open = None;
        for alert in self.opened.drain(..) {
            self.commands.spawn(alert);
        }
    }

    fn open(&mut self) -> &mut BTreeMap<Subject, Place> {
        let records = &self.records;
        self.open.get_or_insert_with(|| {
            let open = records.iter().filter(|(.., record)| record.state != AlertState::Closed);
            let mut open: Vec<_> = open.collect();
            // Of several with one subject the latest counts.
            open.sort_unstable_by_key(|(_, id, _)| **id);
            let subject = |record: &AlertRecord| (record.flow, record.key.clone());
            let places = open.into_iter();
            places.map(|(entity, _, record)| (subject(record), Place::Spawned(entity))).collect()
        })
    }

    /// Changes an alert that is not closed.
    fn change(&mut self, place: Place, change: impl FnOnce(&mut AlertRecord)) -> Option<AlertId> {
        match place {
            Place::Spawned(entity) => {
                let (_, id, mut record) = self.records.get_mut(entity).ok()?;
                change(&mut record);
                Some(*id)
            }
            Place::Opened(place) => {
                let (id, record) = self.opened.get_mut(place)?;
                change(record);
                Some(*id)
            }
        }
    }

    fn is_taken(&self, id: AlertId) -> bool {
        self.index.get(id).is_ok() || self.opened.iter().any(|(opened, _)| *opened == id)
    }
}

/// Opens or closes an alert.
pub(super) fn raise(
    alerts: &mut Alerts<'_, '_>,
    events: &mut EventBuffer,
    acting: &Acting<'_>,
    alert: &Alert,
) -> Acted {
    let message = fill(&alert.message, acting.context);
    let node = acting.subject();
    let key = match &alert.key {
        Some(key) => fill(key, acting.context),
        None => node.map(|node| node.to_string()).unwrap_or_default(),
    };
    let input = Some(json!({ "severity": alert.severity, "message": message, "key": key }));
    if acting.cause.dry_run {
        return Acted::done(input, json!({ "dry_run": true }));
    }
    let flow = acting.cause.flow;
    let subject = (flow, key.clone());
    let place = alerts.open().get(&subject).copied();
    let changed = place.and_then(|place| {
        alerts.change(place, |record| {
            if alert.resolve {
                record.state = AlertState::Closed;
                record.closed_ms = Some(acting.now_ms);
            } else {
                record.count = record.count.saturating_add(1);
                record.message.clone_from(&message);
            }
        })
    });
    if let Some(id) = changed {
        if alert.resolve {
            alerts.open().remove(&subject);
        }
        let output = json!({ "alert_id": id, "open": !alert.resolve, "opened": false });
        return Acted::done(input, output);
    }
    if alert.resolve {
        let output = json!({ "alert_id": null, "open": false, "opened": false });
        return Acted::done(input, output);
    }
    let name = [acting.step_id.as_bytes(), b" ", key.as_bytes()].concat();
    let id = AlertId::new(timed_id(acting.now_ms, acting.execution.uuid(), &name));
    if alerts.is_taken(id) {
        let why = "this step opened an alert with this key already".to_owned();
        return Acted::failed(input, why);
    }
    let record = AlertRecord {
        flow,
        execution: acting.execution,
        node,
        severity: alert.severity,
        message: message.clone(),
        key,
        state: AlertState::Open,
        count: 1,
        opened_ms: acting.now_ms,
        acked_by: None,
        note: None,
        acked_ms: None,
        closed_ms: None,
    };
    let place = Place::Opened(alerts.opened.len());
    alerts.open().insert(subject, place);
    alerts.opened.push((id, record));
    let mut data = vec![
        ("alert_id", id.to_string()),
        ("flow_id", flow.to_string()),
        ("execution_id", acting.execution.to_string()),
        ("severity", alert.severity.word().to_owned()),
    ];
    data.extend(node.map(|node| ("node_id", node.to_string())));
    events.alert(alerts.clock.wall_ns, &message, &data);
    let output = json!({ "alert_id": id, "open": true, "opened": true });
    Acted::done(input, output)
}
