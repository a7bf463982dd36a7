//! An OpenAPI document as text to review: one line per operation, one line per schema.
//!
//! ```text
//! PUT /v1/nodes/{id} put_node tags=nodes (path id: uuid, query dry_run?: boolean = false)
//!     body NodePatch -> 200 Node; application/problem+json Problem: 400 404
//! NodePatch {name?: string[1..64], height_agl_m?: double 0..1000 | null, ..}
//! ```
//!
//! (The first two lines are one.) `?` marks what may be left out, `[a..b]` a length, `a..b` a range,
//! `..` at the end of an object that further fields are accepted. Descriptions, titles and examples
//! are left out; every other keyword is in the line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Map, Value};

/// Compares the outline of a document with `snapshots/NAME_api.snap`.
pub fn assert_unchanged(name: &str, document: &Value) {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
        insta::assert_snapshot!(format!("{name}_api"), outline(document));
    });
}

/// All operations by path and method, then all schemas by name.
fn outline(document: &Value) -> String {
    let mut lines = Vec::new();
    let mut ids = BTreeSet::new();
    for (path, item) in entries(&document["paths"]) {
        for (method, operation) in entries(item) {
            // OpenAPI 3.1, "Operation Object": generated clients name functions by it.
            let id = &operation["operationId"];
            assert!(ids.insert(plain(id)), "two operations have the id {id}");
            lines.push(self::operation(path, method, operation));
        }
    }
    lines.push(String::new());
    for (name, scheme) in entries(&document["components"]["securitySchemes"]) {
        lines.push(format!("security {name} {scheme}"));
    }
    for (name, schema) in entries(&document["components"]["schemas"]) {
        lines.push(format!("{name} {}", schema_text(schema)));
    }
    lines.join("\n")
}

/// Members of an object in the order of their names; none where there is no object.
fn entries(value: &Value) -> BTreeMap<&str, &Value> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.as_str(), value)).collect()
}

fn operation(path: &str, method: &str, operation: &Value) -> String {
    let mut line = format!("{} {path} {}", method.to_uppercase(), plain(&operation["operationId"]));
    for (key, value) in entries(operation) {
        match key {
            "operationId" | "summary" | "description" | "parameters" | "requestBody"
            | "responses" => {}
            _ => write!(line, " {key}={}", plain(value)).unwrap(),
        }
    }
    let mut parameters: Vec<_> = list(&operation["parameters"]).map(parameter).collect();
    if !parameters.is_empty() {
        parameters.sort();
        write!(line, " ({})", parameters.join(", ")).unwrap();
    }
    let body = &operation["requestBody"];
    if body.is_object() {
        let optional = if body["required"] == true { "" } else { "?" };
        write!(line, " body{optional} {}", content(&body["content"])).unwrap();
    }
    // Statuses that answer with the same schema stand together.
    let mut answers: Vec<(String, Vec<&str>)> = Vec::new();
    for (status, response) in entries(&operation["responses"]) {
        let mut text = content(&response["content"]);
        for (name, header) in entries(&response["headers"]) {
            write!(text, " +{name}: {}", schema_text(&header["schema"])).unwrap();
        }
        match answers.iter_mut().find(|(same, _)| *same == text) {
            Some((_, statuses)) => statuses.push(status),
            None => answers.push((text, vec![status])),
        }
    }
    let answers: Vec<_> =
        answers.iter().map(|(text, statuses)| format!("{} {text}", statuses.join(" "))).collect();
    write!(line, " -> {}", answers.join("; ")).unwrap();
    line
}

fn parameter(parameter: &Value) -> String {
    let optional = if parameter["required"] == true { "" } else { "?" };
    let mut text = format!(
        "{} {}{optional}: {}",
        plain(&parameter["in"]),
        plain(&parameter["name"]),
        schema_text(&parameter["schema"])
    );
    for (key, value) in entries(parameter) {
        if !matches!(
            key,
            "in" | "name" | "required" | "schema" | "description" | "example" | "examples"
        ) {
            write!(text, " {key}={}", plain(value)).unwrap();
        }
    }
    text
}

/// Media types with their schemas; `application/json` goes without saying.
fn content(content: &Value) -> String {
    let media: Vec<_> = entries(content)
        .into_iter()
        .map(|(media, body)| match media {
            "application/json" => schema_text(&body["schema"]),
            _ => format!("{media} {}", schema_text(&body["schema"])),
        })
        .collect();
    if media.is_empty() { "empty".to_owned() } else { media.join(" or ") }
}

/// A schema in one line.
fn schema_text(schema: &Value) -> String {
    let Value::Object(schema) = schema else {
        return if schema == false { "never" } else { "any" }.to_owned();
    };
    let mut parts = Vec::new();
    if let Some(reference) = schema.get("$ref") {
        let reference = plain(reference);
        parts.push(reference.rsplit('/').next().unwrap().to_owned());
    }
    if let Some(value) = schema.get("const") {
        parts.push(value.to_string());
    }
    if schema.contains_key("enum") {
        let values: Vec<_> = list(&schema["enum"]).map(Value::to_string).collect();
        parts.push(choice(&values));
    }
    for key in ["oneOf", "anyOf"] {
        if schema.contains_key(key) {
            let options: Vec<_> = list(&schema[key]).map(schema_text).collect();
            parts.push(choice(&options));
        }
    }
    parts.extend(schema.get("allOf").into_iter().flat_map(list).map(schema_text));
    parts.extend(typed(schema));
    if let Some(not) = schema.get("not") {
        parts.push(format!("not ({})", schema_text(not)));
    }
    let mut text = if parts.is_empty() { "any".to_owned() } else { parts.join(" & ") };
    for (key, value) in schema {
        if !DRAWN.contains(&key.as_str()) {
            write!(text, " {key}={value}").unwrap();
        }
    }
    if let Some(value) = schema.get("default") {
        write!(text, " = {value}").unwrap();
    }
    text
}

/// Keywords that [`schema_text`] draws in a form of their own, or leaves out.
const DRAWN: [&str; 32] = [
    "$ref",
    "const",
    "enum",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "default",
    "type",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "description",
    "title",
    "example",
    "examples",
];

/// The part given by `type`, with its bounds; `None` where the schema has none of it, or where its
/// `const` or `enum` has more.
fn typed(schema: &Map<String, Value>) -> Option<String> {
    if schema.contains_key("const") || schema.contains_key("enum") {
        return None;
    }
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(names) => list(names).filter_map(Value::as_str).collect(),
        None if has(&["properties", "required", "additionalProperties"]) => vec!["object"],
        None if has(&["items", "prefixItems", "minItems", "maxItems"]) => vec!["array"],
        None if has(&["pattern", "minLength", "maxLength"]) => vec!["string"],
        None if has(&["minimum", "maximum"]) => vec!["number"],
        None => return None,
    };
    let drawn: Vec<_> = types.iter().map(|name| one_type(schema, name)).collect();
    Some(choice(&drawn))
}

fn one_type(schema: &Map<String, Value>, name: &str) -> String {
    let mut text = match name {
        "array" => {
            let tuple: Vec<_> =
                schema.get("prefixItems").into_iter().flat_map(list).map(schema_text).collect();
            let items = schema.get("items").map(schema_text);
            let unique =
                if schema.get("uniqueItems") == Some(&Value::Bool(true)) { "unique " } else { "" };
            let inner: Vec<_> = tuple.into_iter().chain(items).collect();
            format!("{unique}[{}]", inner.join(", "))
        }
        "object" => object(schema),
        "null" | "boolean" => return name.to_owned(),
        _ => match schema.get("format") {
            Some(format) => plain(format),
            None => name.to_owned(),
        },
    };
    let (low, high) = match name {
        "string" => ("minLength", "maxLength"),
        "array" => ("minItems", "maxItems"),
        "object" => ("minProperties", "maxProperties"),
        _ => ("minimum", "maximum"),
    };
    let bound = |key: &str| schema.get(key).map(Value::to_string);
    let (low, high) = (bound(low), bound(high));
    if low.is_some() || high.is_some() {
        let range = format!("{}..{}", low.unwrap_or_default(), high.unwrap_or_default());
        match name {
            "integer" | "number" => write!(text, " {range}").unwrap(),
            _ => write!(text, "[{range}]").unwrap(),
        }
    }
    for (key, sign) in [
        ("exclusiveMinimum", ">"),
        ("exclusiveMaximum", "<"),
        ("multipleOf", "multiple of "),
        ("pattern", "~ "),
    ] {
        if let Some(value) = schema.get(key) {
            write!(text, " {sign}{}", plain(value)).unwrap();
        }
    }
    text
}

fn object(schema: &Map<String, Value>) -> String {
    let required: Vec<&str> =
        schema.get("required").into_iter().flat_map(list).filter_map(Value::as_str).collect();
    let mut properties = schema.get("properties").map(entries).unwrap_or_default();
    for name in &required {
        properties.entry(name).or_insert(&Value::Bool(true));
    }
    let mut fields: Vec<String> = properties
        .into_iter()
        .map(|(name, field)| {
            let optional = if required.contains(&name) { "" } else { "?" };
            format!("{name}{optional}: {}", schema_text(field))
        })
        .collect();
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {}
        None | Some(Value::Bool(true)) => fields.push("..".to_owned()),
        Some(schema) => fields.push(format!("*: {}", schema_text(schema))),
    }
    format!("{{{}}}", fields.join(", "))
}

/// Alternatives; those that are sums themselves in parentheses.
fn choice(options: &[String]) -> String {
    match options {
        [one] => one.clone(),
        _ => {
            let options: Vec<_> = options
                .iter()
                .map(|option| {
                    if option.contains(" & ") && !option.starts_with('{') {
                        format!("({option})")
                    } else {
                        option.clone()
                    }
                })
                .collect();
            options.join(" | ")
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A string without its quotes, a list of strings joined by commas, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        _ => value.to_string(),
    }
}
