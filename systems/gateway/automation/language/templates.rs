//! Templates in parameters of actions, `{{POINTER}}`: mistakes that would fill in nothing.

use std::collections::BTreeSet;

use groundwave_protocol::check_metric;
use serde_json::Value;

use super::definition::{AutomationFlow, FlowStep, StepRole};
use super::mistake::{FlowMistake, MistakeCode};
use super::secret_names::is_secret_field;
use super::triggers::{GATEWAY_PREFIX, NodeEventKind};

/// Values of the context by its parts.
const FLOW: [&str; 3] = ["flow_id", "name", "version"];
const EXECUTION: [&str; 2] = ["execution_id", "started_at"];
const NODE: [&str; 6] = ["node_id", "name", "hostname", "state", "tags", "overlay_ip"];

/// Values of events of nodes, whatever the event.
const NODE_EVENT: [&str; 4] = ["event", "at", "node_id", "node_name"];

/// Values of an outage.
const OUTAGE: [&str; 6] =
    ["outage_id", "state", "summary", "behind", "behind_count", "silent_since"];

/// Values of an outage that is over, beside those of [`OUTAGE`].
const OUTAGE_END: [&str; 3] = ["duration_s", "duration", "still_silent"];

/// Values of an event of a node beside [`NODE_EVENT`]; `None` where they differ from time to time.
fn values_of_event(event: NodeEventKind) -> Option<Vec<&'static str>> {
    Some(match event {
        NodeEventKind::Online | NodeEventKind::Stale | NodeEventKind::Offline => {
            vec!["from", "to", "reason"]
        }
        NodeEventKind::Approved | NodeEventKind::Revoked | NodeEventKind::Gone => vec!["state"],
        NodeEventKind::Pending | NodeEventKind::Expired => {
            vec!["state", "registration_id", "hostname", "mac"]
        }
        NodeEventKind::Rejected => vec!["state", "registration_id", "hostname", "mac", "reason"],
        NodeEventKind::Alert => return None,
        NodeEventKind::Outage => OUTAGE.to_vec(),
        NodeEventKind::Recovered => [&OUTAGE[..], &OUTAGE_END].concat(),
        NodeEventKind::Resolved => vec![
            "alert_id",
            "flow_id",
            "key",
            "severity",
            "message",
            "opened_at",
            "duration_s",
            "duration",
        ],
    })
}

/// Values of the triggers of a step; `None` where they are not the same each time.
fn values_of(step: &FlowStep) -> Option<Vec<&'static str>> {
    Some(match step.kind.as_str() {
        "sensor_value" => vec!["node_id", "node_name", "metric", "value", "unit"],
        "link_event" => vec!["event", "before", "node_id", "node_name", "peer_id", "peer_name"],
        "schedule" => vec!["scheduled_at"],
        "node_event" => {
            let events = step.params.get("events").cloned().unwrap_or_default();
            let events: Vec<NodeEventKind> = serde_json::from_value(events).ok()?;
            let values = events.into_iter().map(values_of_event).collect::<Option<Vec<_>>>()?;
            NODE_EVENT.into_iter().chain(values.into_iter().flatten()).collect()
        }
        _ => return None,
    })
}

/// Values of the context that templates of a flow may name.
struct Names<'f> {
    flow: &'f AutomationFlow,
    /// Values of the triggers; `None` where they are not known.
    trigger: Option<BTreeSet<&'static str>>,
}

impl<'f> Names<'f> {
    fn of(flow: &'f AutomationFlow) -> Self {
        let mut trigger = Some(BTreeSet::from(["step_id", "kind"]));
        for step in flow.steps.iter().filter(|step| step.role == StepRole::Trigger) {
            trigger = trigger.zip(values_of(step)).map(|(mut all, own)| {
                all.extend(own);
                all
            });
        }
        Self { flow, trigger }
    }

    /// Checks what a template names.
    fn check(&self, pointer: &str, is_each: bool) -> Result<(), String> {
        let pointer = pointer.trim();
        let parts = pointer.strip_prefix('/').map(|path| path.splitn(3, '/').collect::<Vec<_>>());
        let refuse = |allowed: String| Err(format!("found {{{{{pointer}}}}}, allowed {allowed}"));
        let one_of = |part: Option<&&str>, under: &str, allowed: Vec<&str>| match part {
            Some(name) if !allowed.contains(&unescaped(name).as_str()) => {
                let paths: Vec<_> = allowed.iter().map(|name| format!("{under}/{name}")).collect();
                refuse(paths.join(", "))
            }
            _ => Ok(()),
        };
        let parts = parts.unwrap_or_default();
        let next = parts.get(1);
        match parts.first().copied() {
            Some("flow") => one_of(next, "/flow", FLOW.to_vec()),
            Some("execution") => one_of(next, "/execution", EXECUTION.to_vec()),
            Some("node") if is_each => one_of(next, "/node", NODE.to_vec()),
            Some("trigger") => match &self.trigger {
                Some(values) => one_of(next, "/trigger", values.iter().copied().collect()),
                None => Ok(()),
            },
            Some("variables") => {
                let names = self.flow.variables.keys().map(String::as_str);
                one_of(next, "/variables", names.collect())
            }
            Some("steps") => {
                let ids = self.flow.steps.iter().map(|step| step.step_id.as_str());
                one_of(next, "/steps", ids.collect())
            }
            _ => {
                let node = if is_each { "/node, " } else { "" };
                refuse(format!("{node}/trigger, /flow, /execution, /variables or /steps"))
            }
        }
    }
}

impl Names<'_> {
    /// Checks the place of a condition.
    fn check_place(&self, pointer: &str) -> Result<(), String> {
        if pointer.is_empty() {
            return Ok(());
        }
        if !pointer.starts_with('/') {
            let allowed = "a JSON pointer such as /trigger/value";
            return Err(format!("found {pointer:?}, allowed {allowed}"));
        }
        self.check(pointer, false).map_err(|what| what.replace("{{", "").replace("}}", ""))
    }
}

/// Checks the metric of a trigger: one that nothing can report never fires.
fn check_trigger_metric(metric: &str) -> Result<(), String> {
    let is_known = match metric.strip_prefix(GATEWAY_PREFIX) {
        Some("disk_used_pct") => true,
        Some(own) => own.starts_with("i2c.") && check_metric(own, 0.0).is_ok(),
        None => check_metric(metric, 0.0).is_ok(),
    };
    match is_known {
        true => Ok(()),
        false => Err(format!(
            "found {metric:?}, allowed mesh.*, gps.*, sys.*, ups.*, i2c.TEMPLATE.*, \
             gateway.disk_used_pct or gateway.i2c.TEMPLATE.*, of a-z 0-9 _"
        )),
    }
}

/// The mistake in what a trigger or a condition names.
fn name_mistake(names: &Names<'_>, number: usize, step: &FlowStep) -> Option<FlowMistake> {
    let text = |field: &str| step.params.get(field).and_then(Value::as_str);
    let (field, checked) = match step.kind.as_str() {
        "sensor_value" => ("metric", check_trigger_metric(text("metric")?)),
        "threshold" | "response" => ("pointer", names.check_place(text("pointer")?)),
        _ => return None,
    };
    let message = format!("step {:?}: {}", step.step_id, checked.err()?);
    let pointer = format!("/steps/{number}/params/{field}");
    Some(FlowMistake::new(pointer, MistakeCode::InvalidParams, message))
}

/// A key as a part of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// Templates of a text; `Err` for one without its end.
fn templates(text: &str) -> impl Iterator<Item = Result<&str, ()>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once("{{")?;
        let Some((pointer, after)) = after.split_once("}}") else {
            rest = "";
            return Some(Err(()));
        };
        rest = after;
        Some(Ok(pointer))
    })
}

/// `true` for a step whose texts go to a webhook.
fn is_webhook(step: &FlowStep) -> bool {
    let action = step.params.get("action").and_then(|action| action.get("kind"));
    step.kind == "webhook_out" || action.is_some_and(|kind| kind == "webhook_out")
}

/// Mistakes in the use of secret variables: their values are sealed and opened for webhooks only.
fn secret_variable_mistakes(flow: &AutomationFlow, mistakes: &mut Vec<FlowMistake>) {
    let secret =
        flow.variables.iter().filter(|(name, value)| value.is_string() && is_secret_field(name));
    let paths: Vec<_> = secret.map(|(name, _)| format!("/variables/{}", escaped(name))).collect();
    let steps = flow.steps.iter().enumerate().filter(|(_, step)| !is_webhook(step));
    for (number, step) in steps.filter(|_| !paths.is_empty()) {
        let mut texts = Vec::new();
        collect_texts(&Value::Object(step.params.clone()), &mut texts);
        let names = |path: &&String| {
            texts.iter().any(|text| {
                text.match_indices(path.as_str()).any(|(at, _)| {
                    let next = text[at + path.len()..].chars().next();
                    next.is_none_or(|next| !next.is_alphanumeric() && !"_-~".contains(next))
                })
            })
        };
        if let Some(path) = paths.iter().find(names) {
            let message = format!(
                "step {:?}: found {path}, a secret by its name, allowed in webhook_out only",
                step.step_id
            );
            let at = format!("/steps/{number}/params");
            mistakes.push(FlowMistake::new(&at, MistakeCode::InvalidParams, message));
        }
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        _ => {}
    }
}

/// Mistakes in the names and templates of a flow: names that its context never has, templates without an end, and
/// templates in a URL, where none are filled in.
#[must_use]
pub fn template_mistakes(flow: &AutomationFlow) -> Vec<FlowMistake> {
    let names = Names::of(flow);
    let mut mistakes = Vec::new();
    for (number, step) in flow.steps.iter().enumerate() {
        if step.role == StepRole::Action {
            let params = Value::Object(step.params.clone());
            let at = format!("/steps/{number}/params");
            check_texts(&names, step, &params, &at, &mut mistakes);
        }
        mistakes.extend(name_mistake(&names, number, step));
    }
    secret_variable_mistakes(flow, &mut mistakes);
    mistakes
}

fn check_texts(
    names: &Names<'_>,
    step: &FlowStep,
    value: &Value,
    at: &str,
    mistakes: &mut Vec<FlowMistake>,
) {
    match value {
        Value::String(text) => {
            let is_url = at.ends_with("/params/url");
            let is_key = at.ends_with("/params/signing_key");
            for template in templates(text) {
                let checked = match template {
                    Ok(_) if is_url => Err("found {{ in a URL, allowed none there".to_owned()),
                    Ok(_) if is_key => Err("found {{ in a key, allowed none there".to_owned()),
                    Ok(pointer) => names.check(pointer, step.kind == "for_each_node"),
                    Err(()) => Err("found {{ without its }}".to_owned()),
                };
                if let Err(what) = checked {
                    let message = format!("step {:?}: {what}", step.step_id);
                    mistakes.push(FlowMistake::new(at, MistakeCode::InvalidParams, message));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_texts(names, step, item, &format!("{at}/{index}"), mistakes);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                let at = format!("{at}/{}", escaped(key));
                check_texts(names, step, field, &at, mistakes);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mistakes(trigger: &str, kind: &str, params: &Value) -> Vec<String> {
        let flow = serde_json::from_value(json!({
            "name": "f", "variables": {"count": 0},
            "steps": [
                {"step_id": "t", "type": "trigger", "kind": trigger, "params": {}},
                {"step_id": "a", "type": "action", "kind": kind, "params": params},
            ],
        }));
        let mistakes = template_mistakes(&flow.unwrap());
        mistakes.into_iter().map(|mistake| mistake.pointer).collect()
    }

    #[test]
    fn templates_that_fill_in_nothing_are_mistakes() {
        let message = |text: &str| json!({ "message": text });
        for good in [
            "{{/trigger/value}} {{ /trigger/node_name }} {{/flow/name}} {{/trigger}}",
            "{{/variables/count}} {{/steps/t}} {{/steps/a/status}} {{/execution/started_at}} }}",
        ] {
            assert_eq!(mistakes("sensor_value", "alert", &message(good)), [""; 0], "{good}");
        }
        for bad in [
            "{{/trigger/valeu}}",
            "{{trigger/value}}",
            "{{/triger/value}}",
            "{{/variables/cuont}}",
            "{{/steps/b/status}}",
            "{{/flow/id}}",
            "{{/node/name}}",
            "{{}}",
            "{{/trigger/value",
        ] {
            let pointers = mistakes("sensor_value", "alert", &message(bad));
            assert_eq!(pointers, ["/steps/1/params/message"], "{bad}");
        }
        // Inputs of requests have any name.
        assert_eq!(mistakes("webhook_in", "alert", &message("{{/trigger/any}}")), [""; 0]);
        let each = |text: &str| json!({ "action": { "kind": "alert", "params": message(text) } });
        assert_eq!(mistakes("manual", "for_each_node", &each("{{/node/name}}")), [""; 0]);
        let pointers = mistakes("manual", "for_each_node", &each("{{/node/nmae}}"));
        assert_eq!(pointers, ["/steps/1/params/action/params/message"]);
        let url = json!({ "url": "http://h.test/{{/trigger/value}}", "body": {"a": ["{{/no}}"]} });
        let mut pointers = mistakes("manual", "webhook_out", &url);
        pointers.sort();
        assert_eq!(pointers, ["/steps/1/params/body/a/0", "/steps/1/params/url"]);
    }

    #[test]
    fn readings_and_places_that_are_never_there_are_mistakes() {
        let mistakes = |metric: &str, pointer: &str| -> Vec<String> {
            let flow = serde_json::from_value(json!({
                "name": "f",
                "steps": [
                    {"step_id": "t", "type": "trigger", "kind": "sensor_value", "params": {"metric": metric}},
                    {"step_id": "c", "type": "condition", "kind": "threshold",
                     "params": {"op": "gt", "value": 1, "pointer": pointer}},
                ],
            }));
            template_mistakes(&flow.unwrap()).into_iter().map(|mistake| mistake.pointer).collect()
        };
        for metric in
            ["sys.load1", "i2c.lm75.temperature_c", "gateway.disk_used_pct", "gateway.i2c.a.b"]
        {
            for pointer in ["", "/trigger/value", "/steps/t/x", "/trigger"] {
                assert_eq!(mistakes(metric, pointer), [""; 0], "{metric} {pointer}");
            }
        }
        for metric in ["load1", "sys.Load1", "gateway.sys.load1", "gateway.i2c.a", "gateway."] {
            assert_eq!(mistakes(metric, ""), ["/steps/0/params/metric"], "{metric}");
        }
        for pointer in ["trigger/value", "/trigger/valeu", "/steps/x", "/node/name", "/"] {
            assert_eq!(mistakes("sys.load1", pointer), ["/steps/1/params/pointer"], "{pointer}");
        }
    }

    #[test]
    fn secret_variable_is_used_by_webhooks_only() {
        let mistakes_of = |kind: &str, params: &Value| {
            let flow = serde_json::from_value(json!({
                "name": "f", "variables": {"api_key": "hush", "api_keys": 1},
                "steps": [
                    {"step_id": "t", "type": "trigger", "kind": "manual", "params": {}},
                    {"step_id": "a", "type": "action", "kind": kind, "params": params},
                ],
            }));
            template_mistakes(&flow.unwrap()).len()
        };
        let message = |text: &str| json!({ "message": text });
        assert_eq!(mistakes_of("alert", &message("{{/variables/api_key}}")), 1);
        assert_eq!(mistakes_of("alert", &message("{{/variables/api_keyx}}")), 1);
        assert_eq!(mistakes_of("alert", &message("{{/flow/name}}")), 0);
        let webhook =
            json!({ "url": "http://h.test/", "authorization": "Bearer {{/variables/api_key}}" });
        assert_eq!(mistakes_of("webhook_out", &webhook), 0);
        let wrong = json!({ "url": "http://h.test/", "authorization": "Bearer {{/variables/k}}" });
        assert_eq!(mistakes_of("webhook_out", &wrong), 1);
        let key = json!({ "url": "http://h.test/", "signing_key": "{{/variables/api_key}}" });
        assert_eq!(mistakes_of("webhook_out", &key), 1);
    }

    #[test]
    fn values_of_events_are_those_of_the_selected_ones() {
        let mistakes_of = |events: &Value, text: &str| {
            let flow = serde_json::from_value(json!({
                "name": "f",
                "steps": [
                    {"step_id": "t", "type": "trigger", "kind": "node_event", "params": {"events": events}},
                    {"step_id": "a", "type": "action", "kind": "alert", "params": {"message": text}},
                ],
            }));
            template_mistakes(&flow.unwrap()).len()
        };
        let outages = json!(["outage", "recovered"]);
        let text =
            "{{/trigger/node_name}} {{/trigger/behind}} {{/trigger/duration}} {{/trigger/at}}";
        assert_eq!(mistakes_of(&outages, text), 0);
        assert_eq!(mistakes_of(&outages, "{{/trigger/behinds}} {{/trigger/from}}"), 2);
        assert_eq!(mistakes_of(&json!(["offline"]), "{{/trigger/from}} {{/trigger/behind}}"), 1);
        // Alerts have values of their own each.
        assert_eq!(mistakes_of(&json!(["offline", "alert"]), "{{/trigger/any}}"), 0);
    }
}
