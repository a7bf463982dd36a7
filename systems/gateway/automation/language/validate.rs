//! Validation of flows: every mistake with the step that fails.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_values::bounds;

use super::condition::minute_of_day;
use super::cron::{check_cron, zone};
use super::definition::{AutomationFlow, StepRole, When};
use super::kinds::{StepKind, catalogue};
use super::mistake::{FlowMistake, MistakeCode};
use super::plan::{FlowPlan, PlannedStep};

/// JSON pointer of a dotted key, `edges[2].to` for example.
fn pointer_of(base: &str, key: &str) -> String {
    let path = key.replace('[', ".").replace(']', "");
    let parts = path.split('.').filter(|part| !part.is_empty());
    parts.fold(base.to_owned(), |pointer, part| format!("{pointer}/{part}"))
}

/// Checks a flow and plans its steps.
///
/// # Errors
/// All mistakes.
pub fn plan(flow: &AutomationFlow) -> Result<FlowPlan, Vec<FlowMistake>> {
    if let Err(bad) = bounds::check(flow, "") {
        let message = format!("found {}, allowed {}", bad.found, bad.allowed);
        let pointer = pointer_of("", &bad.key);
        return Err(vec![FlowMistake::new(pointer, MistakeCode::OutOfRange, message)]);
    }
    let mut mistakes = Vec::new();
    let mut plan = FlowPlan::default();
    let mut numbers = BTreeMap::new();
    for (number, step) in flow.steps.iter().enumerate() {
        let at = format!("/steps/{number}");
        let fits = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-'
        };
        if !step.step_id.bytes().all(fits) {
            let message = format!("step {:?}: allowed a-z 0-9 _ -", step.step_id);
            let pointer = format!("{at}/step_id");
            mistakes.push(FlowMistake::new(pointer, MistakeCode::InvalidStepId, message));
        }
        if numbers.insert(step.step_id.as_str(), number).is_some() {
            let message = format!("step {:?}: there is another one with this id", step.step_id);
            let pointer = format!("{at}/step_id");
            mistakes.push(FlowMistake::new(pointer, MistakeCode::InvalidStepId, message));
        }
        match StepKind::parse(&step.kind, &step.params) {
            Some(Ok(kind)) if kind.role() == step.role => {
                check_params(&kind, &at, &step.step_id, flow, &mut mistakes);
                plan.steps.push(PlannedStep {
                    id: step.step_id.clone(),
                    kind,
                    incoming: Vec::new(),
                    outgoing: Vec::new(),
                });
            }
            Some(Err(bad)) => {
                let message = format!(
                    "step {:?}: found {}, allowed {}",
                    step.step_id, bad.found, bad.allowed
                );
                let pointer = pointer_of(&format!("{at}/params"), &bad.key);
                mistakes.push(FlowMistake::new(pointer, MistakeCode::InvalidParams, message));
            }
            _ => {
                let known = catalogue();
                let known = known.iter().filter(|info| info.role == step.role);
                let known: Vec<&str> = known.map(|info| info.kind).collect();
                let message = format!(
                    "step {:?}: unknown {} {:?}, allowed {}",
                    step.step_id,
                    step.role.word(),
                    step.kind,
                    known.join(", ")
                );
                let pointer = format!("{at}/kind");
                mistakes.push(FlowMistake::new(pointer, MistakeCode::UnknownKind, message));
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    connect(flow, &numbers, &mut plan, &mut mistakes);
    if mistakes.is_empty() {
        check_shape(&mut plan, &mut mistakes);
    }
    match mistakes.is_empty() {
        true => Ok(plan),
        false => Err(mistakes),
    }
}

/// Checks of parameters that their schema cannot state.
fn check_params(
    kind: &StepKind,
    at: &str,
    step: &str,
    flow: &AutomationFlow,
    mistakes: &mut Vec<FlowMistake>,
) {
    let mut refuse = |field: &str, code, what: String| {
        let pointer = format!("{at}/params/{field}");
        mistakes.push(FlowMistake::new(pointer, code, format!("step {step:?}: {what}")));
    };
    match kind {
        StepKind::Schedule(schedule) => {
            if let Err(what) = zone(&schedule.tz) {
                refuse("tz", MistakeCode::InvalidSchedule, what);
            } else if let Err(what) = check_cron(&schedule.cron, &schedule.tz) {
                refuse("cron", MistakeCode::InvalidSchedule, what);
            }
        }
        StepKind::TimeWindow(window) => {
            for (field, text) in [("from", &window.from), ("to", &window.to)] {
                if minute_of_day(text).is_none() {
                    let what = format!("found {text:?}, allowed HH:MM");
                    refuse(field, MistakeCode::InvalidSchedule, what);
                }
            }
            if let Err(what) = zone(&window.tz) {
                refuse("tz", MistakeCode::InvalidSchedule, what);
            }
        }
        StepKind::ForEachNode(each) => match each.action.parse() {
            Ok(inner) => {
                let at = format!("{at}/params/action");
                check_params(&inner, &at, step, flow, mistakes);
            }
            Err(bad) => {
                let pointer = pointer_of(&format!("{at}/params/action/params"), &bad.key);
                let message =
                    format!("step {step:?}: found {}, allowed {}", bad.found, bad.allowed);
                let code = MistakeCode::InvalidParams;
                mistakes.push(FlowMistake::new(pointer, code, message));
            }
        },
        StepKind::SetVariable(set) if !flow.variables.contains_key(&set.name) => {
            let known: Vec<&str> = flow.variables.keys().map(String::as_str).collect();
            let what = format!(
                "found {:?}, allowed a variable of the flow: {}",
                set.name,
                known.join(", ")
            );
            refuse("name", MistakeCode::InvalidParams, what);
        }
        StepKind::MqttPublish(publish)
            if publish.topic.contains(['+', '#', '\0']) || publish.topic.starts_with('$') =>
        {
            let what = format!("found {:?}, allowed a topic without + # $", publish.topic);
            refuse("topic", MistakeCode::InvalidParams, what);
        }
        StepKind::WebhookOut(webhook) => {
            let is_http = ["http://", "https://"];
            if !is_http.iter().any(|scheme| webhook.url.starts_with(scheme)) {
                let what = "found another scheme, allowed http:// or https://".to_owned();
                refuse("url", MistakeCode::InvalidParams, what);
            }
            let managed = [
                "authorization",
                "connection",
                "content-length",
                "host",
                "idempotency-key",
                "transfer-encoding",
            ];
            let foreign = |name: &&String| {
                let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                name.is_empty()
                    || !name.bytes().all(token)
                    || managed.contains(&name.to_ascii_lowercase().as_str())
            };
            if let Some(name) = webhook.headers.keys().find(foreign) {
                let what =
                    format!("found {name:?}, allowed names of headers but {}", managed.join(", "));
                refuse("headers", MistakeCode::InvalidParams, what);
            }
            let has_controls = |(_, text): &(&String, &String)| text.contains(char::is_control);
            if let Some((name, _)) = webhook.headers.iter().find(has_controls) {
                let what = "found control characters, allowed text without them".to_owned();
                refuse(&format!("headers/{name}"), MistakeCode::InvalidParams, what);
            }
        }
        StepKind::Email(email) if email.subject.contains(char::is_control) => {
            let what = "found control characters, allowed text without them".to_owned();
            refuse("subject", MistakeCode::InvalidParams, what);
        }
        _ => {}
    }
}

/// Resolves the edges.
fn connect(
    flow: &AutomationFlow,
    numbers: &BTreeMap<&str, usize>,
    plan: &mut FlowPlan,
    mistakes: &mut Vec<FlowMistake>,
) {
    let mut seen = BTreeSet::new();
    for (number, edge) in flow.edges.iter().enumerate() {
        let mut refuse = |field: &str, message: String| {
            let pointer = format!("/edges/{number}/{field}");
            mistakes.push(FlowMistake::new(pointer, MistakeCode::InvalidEdge, message));
        };
        let from = numbers.get(edge.from.as_str()).copied();
        let to = numbers.get(edge.to.as_str()).copied();
        let (Some(from), Some(to)) = (from, to) else {
            let (field, id) = match from {
                None => ("from", &edge.from),
                Some(_) => ("to", &edge.to),
            };
            refuse(field, format!("no step has the id {id:?}"));
            continue;
        };
        let role = plan.steps[from].kind.role();
        if plan.steps[to].kind.role() == StepRole::Trigger {
            refuse("to", format!("step {:?}: a trigger follows no step", edge.to));
        } else if edge.when == When::False && role != StepRole::Condition {
            let what = format!("step {:?}: only a condition can be false", edge.from);
            refuse("when", what);
        } else if edge.when == When::Error && role == StepRole::Trigger {
            refuse("when", format!("step {:?}: a trigger does not fail", edge.from));
        } else if !seen.insert((from, to, edge.when)) {
            let what = format!("a second edge from {:?} to {:?}", edge.from, edge.to);
            refuse("to", what);
        } else {
            plan.steps[from].outgoing.push((to, edge.when));
            plan.steps[to].incoming.push((from, edge.when));
        }
    }
}

/// Orders the steps; checks that there is no cycle, that each step is reached, and that sensors are
/// followed by thresholds.
fn check_shape(plan: &mut FlowPlan, mistakes: &mut Vec<FlowMistake>) {
    let mut refuse = |number: Option<usize>, code, message: String| {
        let pointer = number.map_or("/steps".to_owned(), |number| format!("/steps/{number}"));
        mistakes.push(FlowMistake::new(pointer, code, message));
    };
    let mut waiting: Vec<usize> = plan.steps.iter().map(|step| step.incoming.len()).collect();
    let mut ready: BTreeSet<usize> = (0..waiting.len()).filter(|n| waiting[*n] == 0).collect();
    while let Some(number) = ready.pop_first() {
        plan.order.push(number);
        for (to, _) in &plan.steps[number].outgoing {
            waiting[*to] -= 1;
            if waiting[*to] == 0 {
                ready.insert(*to);
            }
        }
    }
    if let Some(number) = waiting.iter().position(|left| *left > 0) {
        let id = &plan.steps[number].id;
        let message = format!("step {id:?}: it leads back to itself");
        return refuse(Some(number), MistakeCode::Cycle, message);
    }
    for role in [StepRole::Trigger, StepRole::Action] {
        if !plan.steps.iter().any(|step| step.kind.role() == role) {
            let message = format!("a flow has at least one {}", role.word());
            refuse(None, MistakeCode::Incomplete, message);
        }
    }
    for (number, step) in plan.steps.iter().enumerate() {
        if step.incoming.is_empty() && step.kind.role() != StepRole::Trigger {
            let message = format!("step {:?}: no edge leads to it", step.id);
            refuse(Some(number), MistakeCode::Unreachable, message);
        }
        let is_threshold =
            |(to, _): &(usize, When)| matches!(plan.steps[*to].kind, StepKind::Threshold(_));
        let lacks_threshold = step.outgoing.is_empty() || !step.outgoing.iter().all(is_threshold);
        if matches!(step.kind, StepKind::SensorValue(_)) && lacks_threshold {
            let message =
                format!("step {:?}: a sensor trigger is followed by thresholds only", step.id);
            refuse(Some(number), MistakeCode::NoThreshold, message);
        }
    }
}
