//! Schemas of OpenAPI as JSON schemas: supported keywords only, local references inlined.

use serde_json::{Map, Value, json};

use super::call::check_schema;

/// Most parts of an inlined schema: references to references multiply.
const PARTS_MAX: usize = 5_000;

/// Deepest nesting of a schema.
const DEPTH_MAX: usize = 24;

/// Keywords whose values are copied.
const PLAIN: [&str; 20] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "format",
    "default",
    "title",
    "description",
];

/// Keywords whose value is a schema.
const ONE: [&str; 8] =
    ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];

/// Keywords whose value is a list of schemas.
const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is a map of schemas.
const NAMED: [&str; 2] = ["properties", "patternProperties"];

/// Reads a schema into JSON schema, draft 2020-12.
pub struct Inliner<'a> {
    document: &'a Value,
    /// `nullable` and boolean `exclusiveMinimum`, as in 3.0.
    is_30: bool,
    parts: usize,
    open: Vec<String>,
}

/// The target of a local reference.
fn local<'a>(reference: &str, document: &'a Value) -> Result<&'a Value, String> {
    let pointer = reference.strip_prefix('#').ok_or_else(|| {
        let start: String = reference.chars().take(100).collect();
        format!("remote $ref {start:?} is not fetched")
    })?;
    // A pointer in a URI is percent-encoded, RFC 6901, 6.
    let pointer = pointer.replace("%7B", "{").replace("%7D", "}").replace("%20", " ");
    let target = document.pointer(&pointer);
    target.ok_or_else(|| {
        format!("unknown $ref {:?}", reference.chars().take(100).collect::<String>())
    })
}

/// A value, or the target of its `$ref`; references to references are followed.
pub fn resolve<'a>(value: &'a Value, document: &'a Value) -> Result<&'a Value, String> {
    let mut target = value;
    for _ in 0..8 {
        match target.get("$ref").and_then(Value::as_str) {
            Some(reference) => target = local(reference, document)?,
            None => return Ok(target),
        }
    }
    Err("a $ref leads to itself".to_owned())
}

impl<'a> Inliner<'a> {
    pub fn new(document: &'a Value, is_30: bool) -> Self {
        Self { document, is_30, parts: 0, open: Vec::new() }
    }

    /// The schema, with local references replaced by their targets. A schema that contains itself
    /// accepts anything at the second level.
    pub fn inline(&mut self, schema: &Value, depth: usize) -> Result<Value, String> {
        self.parts += 1;
        if self.parts > PARTS_MAX || depth > DEPTH_MAX {
            return Err("the schema is too large".to_owned());
        }
        let Value::Object(schema) = schema else {
            return Ok(schema.clone());
        };
        let own = self.keywords(schema, depth)?;
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Ok(Value::Object(own));
        };
        let target = local(reference, self.document)?;
        if self.open.iter().any(|open| open == reference) {
            return Ok(json!({}));
        }
        self.open.push(reference.to_owned());
        let target = self.inline(target, depth + 1);
        self.open.pop();
        // In 3.0 what stands beside a reference is ignored.
        match self.is_30 || own.is_empty() {
            true => target,
            false => Ok(json!({ "allOf": [target?, own] })),
        }
    }

    fn keywords(
        &mut self,
        schema: &Map<String, Value>,
        depth: usize,
    ) -> Result<Map<String, Value>, String> {
        let mut out = Map::new();
        for (key, value) in schema {
            let word = key.as_str();
            // A pattern that looks around, for example, is left to the system that is called.
            if word == "pattern" && check_schema(&json!({ "pattern": value })).is_err() {
                continue;
            }
            let read = if PLAIN.contains(&word) {
                value.clone()
            } else if ONE.contains(&word) {
                self.inline(value, depth + 1)?
            } else if MANY.contains(&word) {
                let all =
                    value.as_array().into_iter().flatten().map(|one| self.inline(one, depth + 1));
                Value::Array(all.collect::<Result<_, _>>()?)
            } else if NAMED.contains(&word) {
                let all = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, one)| Ok((name.clone(), self.inline(one, depth + 1)?)));
                Value::Object(all.collect::<Result<_, String>>()?)
            } else {
                continue;
            };
            out.insert(key.clone(), read);
        }
        if let Some(required) = schema.get("required").and_then(Value::as_array) {
            let required: Vec<_> =
                required.iter().filter(|name| self.is_written(schema, name)).collect();
            out.insert("required".to_owned(), json!(required));
        }
        if self.is_30 {
            modernise(&mut out, schema.get("nullable") == Some(&Value::Bool(true)));
        }
        Ok(out)
    }

    /// True unless a property is read-only: such a one is required of responses alone.
    fn is_written(&self, schema: &Map<String, Value>, name: &Value) -> bool {
        let property = schema.get("properties").and_then(|all| all.get(name.as_str()?));
        let property = property.and_then(|property| resolve(property, self.document).ok());
        property.is_none_or(|property| property.get("readOnly") != Some(&Value::Bool(true)))
    }
}

/// Keywords of 3.0 as 2020-12 has them.
fn modernise(schema: &mut Map<String, Value>, is_nullable: bool) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match schema.get(exclusive) {
            Some(Value::Bool(true)) => {
                schema.remove(exclusive);
                if let Some(value) = schema.remove(bound) {
                    schema.insert(exclusive.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => {
                schema.remove(exclusive);
            }
            _ => {}
        }
    }
    if !is_nullable {
        return;
    }
    if let Some(Value::String(word)) = schema.get("type").cloned() {
        schema.insert("type".to_owned(), json!([word, "null"]));
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}
