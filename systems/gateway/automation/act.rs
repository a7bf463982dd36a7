//! Actions: what a step changes in the world, and the work outside that it asks for.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_simulation::site::NodeId;
use serde_json::{Value, json};

use super::acting::{Acted, Acting};
use super::alerts::{Alerts, raise};
use super::basis::bounded;
use super::delivery::{DeliveryAttempts, DeliveryId, DeliveryKind, DeliveryOrigin};
use super::execution::Flows;
use super::fleet_states::FleetStates;
use super::request::DeliveryRequest;
use crate::automation::language::{
    Command, Retry, SetVariable, StepKind, fill, fill_topic, fill_value,
};
use crate::fleet::{CommandQueues, EnqueueCommand, EventBuffer};
use crate::timed_id::timed_id;

/// Maximum deliveries, those of the dead-letter list included.
const DELIVERIES_MAX: usize = 10_000;

/// Parts of the world that actions write: alerts, command queues of nodes, deliveries. Variables are
/// those of [`Flows`].
#[derive(SystemParam)]
pub(super) struct Actions<'w, 's> {
    pub alerts: Alerts<'w, 's>,
    pub fleet: FleetStates<'w, 's>,
    queues: CommandQueues<'w, 's>,
    deliveries: Res<'w, Index<DeliveryKind>>,
    commands: Commands<'w, 's>,
    /// Deliveries that steps of this system requested.
    requested: Local<'s, usize>,
}

impl Actions<'_, '_> {
    /// Ends the system: alerts that opened are spawned.
    pub fn spawn(&mut self) {
        *self.requested = 0;
        self.alerts.spawn();
    }

    /// Asks for work outside.
    fn deliver(&mut self, acting: &Acting<'_>, request: DeliveryRequest, retry: Retry) -> Acted {
        let input = Some(bounded(request.shown()));
        if acting.cause.dry_run {
            return Acted::done(input, json!({ "dry_run": true }));
        }
        if self.deliveries.len() + *self.requested >= DELIVERIES_MAX {
            let why = format!("{DELIVERIES_MAX} deliveries wait already");
            return Acted::failed(input, why);
        }
        let name = acting.name();
        let id = DeliveryId::new(timed_id(acting.now_ms, acting.execution.uuid(), &name));
        let origin = DeliveryOrigin {
            execution: acting.execution,
            flow: acting.cause.flow,
            step_id: acting.step_id.to_owned(),
            node: acting.node,
            request,
            retry,
            created_ms: acting.now_ms,
        };
        let attempts = DeliveryAttempts { count: 0, next_ms: acting.now_ms, error: None };
        *self.requested += 1;
        self.commands.spawn((id, origin, attempts));
        Acted { input, result: None, delivery: Some(id), each: None }
    }

    /// Enqueues a command for a node.
    fn enqueue(&mut self, acting: &Acting<'_>, command: &Command) -> Acted {
        let args = command.args.iter();
        let args: BTreeMap<String, String> =
            args.map(|(name, value)| (name.clone(), fill(value, acting.context))).collect();
        let node = acting.node.or(command.node_id).or_else(|| acting.subject());
        let input = Some(json!({ "node_id": node, "kind": command.kind, "args": args }));
        let Some(node) = node else {
            let why = "neither the step nor the trigger names a node".to_owned();
            return Acted::failed(input, why);
        };
        if acting.cause.dry_run {
            return Acted::done(input, json!({ "dry_run": true }));
        }
        let id = timed_id(acting.now_ms, acting.execution.uuid(), &acting.name());
        let outcome = self.queues.enqueue(EnqueueCommand {
            node: NodeId::new(node),
            id,
            kind: command.kind.clone(),
            args,
            expires_s: command.expires_s,
            by: format!("flow {}", acting.definition.name),
        });
        match outcome {
            Ok(()) => Acted::done(input, json!({ "command_id": id, "node_id": node })),
            Err(refusal) => Acted::failed(input, refusal.to_string()),
        }
    }
}

/// Performs an action once.
pub(super) fn act(
    actions: &mut Actions<'_, '_>,
    flows: &mut Flows<'_, '_>,
    events: &mut EventBuffer,
    acting: &Acting<'_>,
    kind: &StepKind,
) -> Acted {
    let (request, retry) = match kind {
        StepKind::Alert(alert) => return raise(&mut actions.alerts, events, acting, alert),
        StepKind::Command(command) => return actions.enqueue(acting, command),
        StepKind::SetVariable(set) => return set_variable(flows, acting, set),
        _ => match outside(kind, acting.context) {
            Some(work) => work,
            None => return Acted::failed(None, format!("invalid action: found {:?}", kind.word())),
        },
    };
    actions.deliver(acting, request, retry)
}

/// Request and repetition of an action outside the world.
fn outside(kind: &StepKind, context: &Value) -> Option<(DeliveryRequest, Retry)> {
    Some(match kind {
        StepKind::WebhookOut(webhook) => {
            let headers =
                webhook.headers.iter().map(|(name, value)| (name.clone(), fill(value, context)));
            let body = webhook.body.as_ref();
            let request = DeliveryRequest::Webhook {
                url: webhook.url.clone(),
                method: webhook.method,
                headers: headers.collect(),
                authorization: webhook.authorization.as_ref().map(|text| fill(text, context)),
                signing_key: webhook.signing_key.clone(),
                body: body.map_or_else(|| context.clone(), |body| fill_value(body, context)),
                timeout_s: webhook.timeout_s,
            };
            (request, webhook.retry)
        }
        StepKind::Email(email) => {
            // A line break in a subject would begin another header.
            let subject = fill(&email.subject, context).replace(['\r', '\n'], " ");
            let request = DeliveryRequest::Email {
                to: email.to.clone(),
                subject,
                body: fill(&email.body, context),
            };
            (request, email.retry)
        }
        StepKind::MqttPublish(publish) => {
            let payload = match &publish.payload {
                None => context.to_string(),
                Some(Value::String(text)) => fill(text, context),
                Some(value) => fill_value(value, context).to_string(),
            };
            let request = DeliveryRequest::Mqtt {
                topic: fill_topic(&publish.topic, context),
                payload,
                retain: publish.retain,
            };
            (request, publish.retry)
        }
        StepKind::ExternalCall(call) => {
            let params =
                call.params.iter().map(|(key, value)| (key.clone(), fill_value(value, context)));
            let request = DeliveryRequest::External {
                system_id: call.system_id,
                endpoint_id: call.endpoint_id,
                params: params.collect(),
            };
            (request, call.retry)
        }
        StepKind::ApplyImpairment(apply) => {
            let fill = |(key, value): (&String, &Value)| (key.clone(), fill_value(value, context));
            let impairment = apply.impairment.as_ref();
            let request = DeliveryRequest::Impairment {
                direction: apply.direction,
                impairment: impairment.map(|impairment| impairment.iter().map(fill).collect()),
                for_s: apply.for_s,
            };
            (request, apply.retry)
        }
        StepKind::RunPlan(run) => {
            let params =
                run.request.iter().map(|(key, value)| (key.clone(), fill_value(value, context)));
            let request =
                DeliveryRequest::Plan { analysis: run.analysis, request: params.collect() };
            (request, run.retry)
        }
        _ => return None,
    })
}

/// Sets a variable of the flow.
fn set_variable(flows: &mut Flows<'_, '_>, acting: &Acting<'_>, set: &SetVariable) -> Acted {
    let value = bounded(fill_value(&set.value, acting.context));
    let input = Some(json!({ "name": set.name, "value": value }));
    if !acting.cause.dry_run
        && let Some(mut memory) = flows.memory(acting.cause.flow)
    {
        memory.variables.insert(set.name.clone(), value.clone());
    }
    Acted::done(input, json!({ "value": value }))
}
