//! Context of an execution, and texts that name its values.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Longest text after its values are filled in, bytes.
const FILLED_BYTES_MAX: usize = 64 << 10;
/// Longest value in a topic, characters.
const TOPIC_VALUE_CHARS_MAX: usize = 256;

/// Parts of a context.
#[derive(Debug, Clone, Copy)]
pub struct ContextParts<'c> {
    /// Id of the flow.
    pub flow_id: &'c str,
    /// Name of the flow.
    pub name: &'c str,
    /// Version of the flow.
    pub version: u64,
    /// Id of the execution.
    pub execution_id: &'c str,
    /// Begin of the execution, RFC 3339.
    pub started_at: &'c str,
    /// Trigger, with its inputs.
    pub trigger: &'c Map<String, Value>,
    /// Variables by name.
    pub variables: &'c BTreeMap<String, Value>,
}

/// The context: flow, execution, trigger, variables, and outputs of steps by id.
#[must_use]
pub fn context<'o>(
    parts: ContextParts<'_>,
    outputs: impl Iterator<Item = (&'o str, &'o Value)>,
) -> Value {
    let steps: Map<String, Value> =
        outputs.map(|(step, output)| (step.to_owned(), output.clone())).collect();
    json!({
        "flow": { "flow_id": parts.flow_id, "name": parts.name, "version": parts.version },
        "execution": { "execution_id": parts.execution_id, "started_at": parts.started_at },
        "trigger": parts.trigger,
        "variables": parts.variables,
        "steps": steps,
    })
}

/// Fills `{{POINTER}}` in a text with values of the context: texts as they are, absent values and
/// null as nothing, others as JSON. The result is cut at 64 KiB.
#[must_use]
pub fn fill(text: &str, context: &Value) -> String {
    fill_by(text, context, |value| value)
}

/// [`fill`] for a topic of MQTT: values are one level each, without wildcards, of up to 256 characters.
#[must_use]
pub fn fill_topic(text: &str, context: &Value) -> String {
    let plain = |c: char| match c {
        '+' | '#' | '/' | '$' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    fill_by(text, context, |value| value.chars().take(TOPIC_VALUE_CHARS_MAX).map(plain).collect())
}

fn fill_by(text: &str, context: &Value, shape: impl Fn(String) -> String) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((pointer, after)) = after.split_once("}}") else {
            break;
        };
        filled.push_str(before);
        match context.pointer(pointer.trim()) {
            None | Some(Value::Null) => {}
            Some(Value::String(value)) => filled.push_str(&shape(value.clone())),
            Some(value) => filled.push_str(&shape(value.to_string())),
        }
        rest = after;
    }
    filled.push_str(rest);
    if filled.len() > FILLED_BYTES_MAX {
        let end = filled.floor_char_boundary(FILLED_BYTES_MAX);
        filled.truncate(end);
    }
    filled
}

/// Fills the texts in a value. A text that is one pointer alone becomes the value itself.
#[must_use]
pub fn fill_value(value: &Value, context: &Value) -> Value {
    match value {
        Value::String(text) => {
            let alone = text
                .strip_prefix("{{")
                .and_then(|rest| rest.strip_suffix("}}"))
                .filter(|pointer| !pointer.contains("{{"));
            match alone {
                Some(pointer) => context.pointer(pointer.trim()).cloned().unwrap_or(Value::Null),
                None => Value::String(fill(text, context)),
            }
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill_value(item, context)).collect())
        }
        Value::Object(fields) => {
            let fill = |(key, value): (&String, &Value)| (key.clone(), fill_value(value, context));
            Value::Object(fields.iter().map(fill).collect())
        }
        other => other.clone(),
    }
}
