//! Alerts of flows: opened once for a subject, raised again while they are open, closed.

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use serde_json::json;

use super::acting::{Acted, Acting};
use super::basis::timed_id;
use super::components::{AlertId, AlertKind, AlertRecord, AlertState};
use super::retention;
use super::state::Work;
use crate::automation::language::{Alert, fill};
use crate::fleet;

/// Opens or closes an alert.
pub(super) fn raise(world: &mut World, acting: &Acting<'_>, alert: &Alert) -> Acted {
    let message = fill(&alert.message, acting.context);
    let node = acting.subject();
    let key = match &alert.key {
        Some(key) => fill(key, acting.context),
        None => node.map(|node| node.to_string()).unwrap_or_default(),
    };
    let input = Some(json!({ "severity": alert.severity, "message": message, "key": key }));
    if acting.record.dry_run {
        return Acted::done(input, json!({ "dry_run": true }));
    }
    let flow = acting.record.flow;
    let subject = (flow, key.clone());
    let open = world.resource::<Work>().open_alerts.get(&subject).copied();
    let index = world.resource::<Index<AlertKind>>();
    let open = open.and_then(|id| Some((id, index.get(id).ok()?)));
    if let Some((id, entity)) = open {
        let mut held = world.get_mut::<AlertRecord>(entity).expect("an alert");
        if alert.resolve {
            held.state = AlertState::Closed;
            held.closed_ms = Some(acting.now_ms);
            world.resource_mut::<Work>().open_alerts.remove(&subject);
        } else {
            held.count = held.count.saturating_add(1);
            held.message = message;
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
    if index.get(id).is_ok() {
        let why = "this step opened an alert with this key already".to_owned();
        return Acted::failed(input, why);
    }
    let opened = AlertRecord {
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
    world.resource_mut::<Work>().enter_alert(id, &opened);
    world.spawn((id, opened));
    retention::trim_alerts(world);
    let mut data = vec![
        ("alert_id", id.to_string()),
        ("flow_id", flow.to_string()),
        ("execution_id", acting.execution.to_string()),
        ("severity", alert.severity.word().to_owned()),
    ];
    data.extend(node.map(|node| ("node_id", node.to_string())));
    fleet::alert(world, &message, &data);
    let output = json!({ "alert_id": id, "open": true, "opened": true });
    Acted::done(input, output)
}
