//! Request of an imported operation: its parameters checked by their schema and put in their places.

use std::fmt::Write as _;

use boon::{Compiler, Draft, Schemas, UrlLoader};
use groundwave_gateway::external::{Endpoint, ParameterPlace};
use serde_json::{Map, Value};
use thiserror::Error;

/// Name under which a schema is compiled.
const NAME: &str = "http://params.invalid/schema";

/// Mistake in the parameters of a call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{pointer}: {message}")]
pub struct BadParameter {
    /// JSON pointer below the parameters.
    pub pointer: String,
    /// Explanation.
    pub message: String,
}

/// Request of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Path and query below the base URL.
    pub path: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// JSON body.
    pub body: Option<Value>,
}

/// Refuses to load schemas: references are inlined or left out.
struct NoLoader;

impl UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("{url} is not fetched").into())
    }
}

/// Checks that a schema compiles.
///
/// # Errors
/// The reason.
pub(super) fn check_schema(schema: &Value) -> Result<(), String> {
    compile(schema).map(|_| ())
}

fn compile(schema: &Value) -> Result<(Schemas, boon::SchemaIndex), String> {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(NoLoader));
    let added = compiler.add_resource(NAME, schema.clone());
    added.map_err(|err| err.to_string())?;
    let index = compiler.compile(NAME, &mut schemas).map_err(|err| {
        let text = format!("{err:#}");
        text.chars().take(200).collect::<String>()
    })?;
    Ok((schemas, index))
}

/// The first mistakes of an instance, innermost causes.
fn mistakes(error: &boon::ValidationError<'_, '_>, parameters: &mut Vec<BadParameter>) {
    if error.causes.is_empty() {
        parameters.push(BadParameter {
            pointer: error.instance_location.to_string(),
            message: error.kind.to_string(),
        });
    }
    for cause in error.causes.iter().take(8) {
        mistakes(cause, parameters);
    }
}

/// Puts checked parameters in their places.
///
/// # Errors
/// The mistakes.
pub fn call(endpoint: &Endpoint, params: &Map<String, Value>) -> Result<Call, Vec<BadParameter>> {
    let bad = |name: &str, message: String| {
        vec![BadParameter {
            pointer: format!("/{}", name.replace('~', "~0").replace('/', "~1")),
            message,
        }]
    };
    let instance = Value::Object(params.clone());
    let (schemas, index) = compile(&endpoint.params).map_err(|why| bad("", why))?;
    if let Err(error) = schemas.validate(&instance, index) {
        let mut parameters = Vec::new();
        mistakes(&error, &mut parameters);
        parameters.truncate(8);
        return Err(parameters);
    }
    let mut call = Call { path: endpoint.path.clone(), headers: Vec::new(), body: None };
    let mut query = String::new();
    for (name, value) in params {
        let Some(place) = endpoint.places.get(name) else {
            return Err(bad(name, "unknown parameter".to_owned()));
        };
        let unsupported = || bad(name, "an object is allowed in the body alone".to_owned());
        match place {
            ParameterPlace::Path => {
                let text = joined(value, encoded).ok_or_else(unsupported)?;
                if text.is_empty() || text.chars().all(|letter| letter == '.') {
                    return Err(bad(name, "allowed in a path: any text but dots alone".to_owned()));
                }
                call.path = call.path.replace(&format!("{{{name}}}"), &text);
            }
            ParameterPlace::Query => {
                let one = std::slice::from_ref(value);
                for item in value.as_array().map_or(one, Vec::as_slice) {
                    let text = scalar(item).ok_or_else(unsupported)?;
                    let _ = write!(query, "&{}={}", encoded(name), encoded(&text));
                }
            }
            ParameterPlace::QueryList => {
                let text = joined(value, encoded).ok_or_else(unsupported)?;
                let _ = write!(query, "&{}={text}", encoded(name));
            }
            ParameterPlace::Header => {
                let text = joined(value, str::to_owned).ok_or_else(unsupported)?;
                if text.chars().any(char::is_control) {
                    return Err(bad(name, "a control character".to_owned()));
                }
                call.headers.push((name.clone(), text));
            }
            ParameterPlace::Body => call.body = Some(value.clone()),
        }
    }
    if let Some(query) = query.strip_prefix('&') {
        call.path = format!("{}?{query}", call.path);
    }
    Ok(call)
}

/// Text of a scalar value.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Text of a scalar, or of the scalars of a list, with commas.
fn joined(value: &Value, write: fn(&str) -> String) -> Option<String> {
    let one = std::slice::from_ref(value);
    let items =
        value.as_array().map_or(one, Vec::as_slice).iter().map(|item| Some(write(&scalar(item)?)));
    Some(items.collect::<Option<Vec<_>>>()?.join(","))
}

/// Percent-encoded text, RFC 3986: all but unreserved characters.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(char::from(byte)),
            false => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
