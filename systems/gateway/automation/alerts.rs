//! Alerts of flows: opened once for a subject, raised again while they are open, closed.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index};
use serde_json::json;

use super::acting::{Acted, Acting};
use super::alert_record::{AlertEnd, AlertId, AlertKind, AlertMessage, AlertOrigin};
use super::components::AutomationId;
use super::state::Resolutions;
use crate::automation::language::{Alert, fill};
use crate::fleet::EventBuffer;
use crate::timed_id::timed_id;

/// Subject of an alert: flow and key.
type Subject = (AutomationId, String);

/// An alert that is not closed.
#[derive(Clone, Copy)]
enum Place {
    /// Entity of the alert.
    Spawned(Entity),
    /// Number of the alert among those that one run of the system opens, from 0.
    Opening(usize),
}

/// An alert that opened in this system: its entity is spawned after it.
struct Opening {
    id: AlertId,
    origin: AlertOrigin,
    message: AlertMessage,
    end: Option<AlertEnd>,
}

type OpenAlert = (Entity, &'static AlertId, &'static AlertOrigin, &'static mut AlertMessage);

/// Alerts, and those that open in this system.
#[derive(SystemParam)]
pub(super) struct Alerts<'w, 's> {
    clock: Res<'w, Clock>,
    index: Res<'w, Index<AlertKind>>,
    records: Query<'w, 's, OpenAlert, Without<AlertEnd>>,
    commands: Commands<'w, 's>,
    resolutions: ResMut<'w, Resolutions>,
    openings: Local<'s, Vec<Opening>>,
    /// Alerts that are not closed; collected where the first step of the system asks for them.
    open: Local<'s, Option<BTreeMap<Subject, Place>>>,
}

impl Alerts<'_, '_> {
    /// Spawns the alerts that opened.
    pub fn spawn(&mut self) {
        *self.open = None;
        for Opening { id, origin, message, end } in self.openings.drain(..) {
            let mut entity = self.commands.spawn((id, origin, message));
            if let Some(end) = end {
                entity.insert(end);
            }
        }
    }

    fn open(&mut self) -> &mut BTreeMap<Subject, Place> {
        let records = &self.records;
        self.open.get_or_insert_with(|| {
            let mut open: Vec<_> = records.iter().collect();
            // Of several with one subject the latest counts.
            open.sort_unstable_by_key(|(_, id, ..)| **id);
            let subject = |origin: &AlertOrigin| (origin.flow, origin.key.clone());
            let places = open.into_iter();
            places.map(|(entity, _, origin, _)| (subject(origin), Place::Spawned(entity))).collect()
        })
    }

    /// Raises an alert that is not closed once more.
    fn repeat(&mut self, place: Place, text: &str) -> Option<AlertId> {
        let repeat = |message: &mut AlertMessage| {
            message.count = message.count.saturating_add(1);
            text.clone_into(&mut message.text);
        };
        match place {
            Place::Spawned(entity) => {
                let (_, id, _, mut message) = self.records.get_mut(entity).ok()?;
                repeat(&mut message);
                Some(*id)
            }
            Place::Opening(index) => {
                let opening = self.openings.get_mut(index)?;
                repeat(&mut opening.message);
                Some(opening.id)
            }
        }
    }

    /// Closes an alert.
    fn close(&mut self, place: Place, end: AlertEnd) -> Option<AlertId> {
        match place {
            Place::Spawned(entity) => {
                let (_, id, ..) = self.records.get(entity).ok()?;
                self.commands.entity(entity).insert(end);
                Some(*id)
            }
            Place::Opening(index) => {
                let opening = self.openings.get_mut(index)?;
                opening.end = Some(end);
                Some(opening.id)
            }
        }
    }

    fn is_taken(&self, id: AlertId) -> bool {
        self.index.get(id).is_ok() || self.openings.iter().any(|opening| opening.id == id)
    }
}

/// Opens or closes an alert.
pub(super) fn raise(
    alerts: &mut Alerts<'_, '_>,
    events: &mut EventBuffer,
    acting: &Acting<'_>,
    alert: &Alert,
) -> Acted {
    let text = fill(&alert.message, acting.context);
    let node = acting.subject();
    let key = match &alert.key {
        Some(key) => fill(key, acting.context),
        None => node.map(|node| node.to_string()).unwrap_or_default(),
    };
    let input = Some(json!({ "severity": alert.severity, "message": text, "key": key }));
    if acting.cause.dry_run {
        return Acted::done(input, json!({ "dry_run": true }));
    }
    let flow = acting.cause.flow;
    let subject = (flow, key.clone());
    let place = alerts.open().get(&subject).copied();
    let present = place.and_then(|place| match alert.resolve {
        true => alerts.close(place, AlertEnd { at_ms: acting.now_ms }),
        false => alerts.repeat(place, &text),
    });
    if let Some(id) = present {
        if alert.resolve {
            alerts.open().remove(&subject);
            alerts.resolutions.0.push((id, acting.cause.trigger.depth + 1));
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
    let origin = AlertOrigin {
        flow,
        execution: acting.execution,
        node,
        severity: alert.severity,
        key,
        opened_ms: acting.now_ms,
    };
    let message = AlertMessage { text: text.clone(), count: 1 };
    let place = Place::Opening(alerts.openings.len());
    alerts.open().insert(subject, place);
    alerts.openings.push(Opening { id, origin, message, end: None });
    let mut data = vec![
        ("alert_id", id.to_string()),
        ("flow_id", flow.to_string()),
        ("execution_id", acting.execution.to_string()),
        ("severity", alert.severity.word().to_owned()),
    ];
    data.extend(node.map(|node| ("node_id", node.to_string())));
    events.alert(alerts.clock.wall_ns, &text, &data);
    let output = json!({ "alert_id": id, "open": true, "opened": true });
    Acted::done(input, output)
}
