//! Parameters of actions outside the world, which end in deliveries.

use std::collections::BTreeMap;
use std::convert::Infallible;

use garde::Validate;
use groundwave_impair::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::secret_names::is_secret_field;
use super::templates::escaped;

/// Beginning of a secret that is sealed.
pub const SEALED_PREFIX: &str = "sealed:";

/// End of a sealed piece of a text with templates.
pub const SEALED_END: &str = ";";

/// Shortest sealed piece, characters of base64: nonce and authentication tag.
const SEALED_CHARS_MIN: usize = 36;

/// The text with its sealed pieces, without their marks, replaced.
///
/// # Errors
/// Those of `replace`.
pub fn replace_sealed<E>(
    text: &str,
    mut replace: impl FnMut(&str) -> Result<String, E>,
) -> Result<String, E> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(SEALED_PREFIX) {
        let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
        let end = after.find(|letter| !is_base64(letter)).unwrap_or(after.len());
        let (piece, after) = after.split_at(end);
        replaced += before;
        if piece.len() < SEALED_CHARS_MIN {
            replaced = replaced + SEALED_PREFIX + piece;
            rest = after;
        } else {
            replaced += &replace(piece)?;
            rest = after.strip_prefix(SEALED_END).unwrap_or(after);
        }
    }
    Ok(replaced + rest)
}

/// Hides the sealed pieces of all texts of a value.
pub fn hide_sealed(value: &mut Value) {
    match value {
        Value::String(text) => {
            let hidden = replace_sealed(text, |_| Ok::<_, Infallible>(SECRET_SHOWN.to_owned()));
            let Ok(hidden) = hidden;
            *text = hidden;
        }
        Value::Array(items) => items.iter_mut().for_each(hide_sealed),
        Value::Object(fields) => fields.values_mut().for_each(hide_sealed),
        _ => {}
    }
}

/// Hides the texts of a value that may be secrets: sealed ones and those of fields by their names.
pub fn hide_secrets(value: &mut Value) {
    hide_sealed(value);
    visit_secret_texts(value, &mut |_, text| SECRET_SHOWN.clone_into(text));
}

/// Between the origin and the sealed path of the URL of a webhook.
pub const SEALED_PATH: &str = "/sealed:";

/// Form of a secret in views; in a change it keeps the one before.
pub const SECRET_SHOWN: &str = "(set)";

/// Calls `visit` with the pointer and the text of each text in the body of a webhook that stands in a field
/// whose value may be a secret, or below one.
pub fn visit_secret_texts(value: &mut Value, visit: &mut impl FnMut(&str, &mut String)) {
    fn walk(
        value: &mut Value,
        (pointer, fits): (&str, bool),
        visit: &mut impl FnMut(&str, &mut String),
    ) {
        match value {
            Value::String(text) if fits => visit(pointer, text),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(item, (&format!("{pointer}/{index}"), fits), visit);
                }
            }
            Value::Object(fields) => {
                // A list of fields has names as values: {"name": "token", "value": "..."}.
                let is_named_so = ["name", "key", "title"].iter().any(|name| {
                    fields.get(*name).and_then(Value::as_str).is_some_and(is_secret_field)
                });
                for (name, field) in fields {
                    let fits = fits || is_secret_field(name) || is_named_so && name == "value";
                    walk(field, (&format!("{pointer}/{}", escaped(name)), fits), visit);
                }
            }
            _ => {}
        }
    }
    walk(value, ("", false), visit);
}

/// The origin of a URL, and its path with query and fragment.
///
/// ```
/// use groundwave_gateway::automation::url_parts;
/// assert_eq!(url_parts("https://h.test:1/a?b#c"), ("https://h.test:1", "/a?b#c"));
/// ```
#[must_use]
pub fn url_parts(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..].find(['/', '?', '#', '\\']).map_or(url.len(), |at| authority + at);
    url.split_at(end)
}

/// URL of a webhook for display: receivers put secrets into paths.
///
/// ```
/// use groundwave_gateway::automation::shown_url;
/// assert_eq!(shown_url("https://hooks.test/T0/B0/secret"), "https://hooks.test/(set)");
/// assert_eq!(shown_url("https://hooks.test/"), "https://hooks.test/");
/// ```
#[must_use]
pub fn shown_url(url: &str) -> String {
    let (origin, path) = url_parts(url);
    match path {
        "" | "/" => url.to_owned(),
        _ => format!("{origin}/{SECRET_SHOWN}"),
    }
}

/// Repetition of a failed delivery, with exponential backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Attempts, 1 to 20; default 12.
    #[serde(default = "usual_attempts")]
    #[garde(range(min = 1, max = 20))]
    pub attempts: u32,
    /// Wait after the first attempt, s, doubled after each further one; default 1.
    #[serde(default = "usual_base_s")]
    #[garde(range(min = 1, max = 3600))]
    pub base_s: u32,
    /// Longest wait, s; default 60.
    #[serde(default = "usual_cap_s")]
    #[garde(range(min = 1, max = 86_400))]
    pub cap_s: u32,
}

const fn usual_attempts() -> u32 {
    12
}

const fn usual_base_s() -> u32 {
    1
}

const fn usual_cap_s() -> u32 {
    60
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: usual_attempts(), base_s: usual_base_s(), cap_s: usual_cap_s() }
    }
}

impl Retry {
    /// Wait after a failed attempt, ms; `None` after the last one. Attempts count from 1.
    #[must_use]
    pub fn wait_ms(&self, attempt: u32) -> Option<u64> {
        if attempt >= self.attempts {
            return None;
        }
        let doubled = u64::from(self.base_s) << attempt.saturating_sub(1).min(32);
        Some(doubled.min(u64::from(self.cap_s)) * 1000)
    }
}

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// GET, without a body.
    Get,
    /// POST.
    #[default]
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE, without a body.
    Delete,
}

impl HttpMethod {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

const fn usual_timeout_s() -> u32 {
    10
}

/// Sends an HTTP request. All attempts carry the same `Idempotency-Key`; it succeeds with 2xx.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct WebhookOut {
    /// URL, http or https, up to 2048 bytes; names no values of the context. Its path and query are
    /// sealed, and shown as `(set)`.
    #[garde(length(chars, min = 1, max = 4096))]
    pub url: String,
    /// Method; default POST.
    #[serde(default)]
    #[garde(skip)]
    pub method: HttpMethod,
    /// Further headers, up to 16. Values are sealed and shown as `(set)`, except those that name values
    /// of the context, and of `Accept`, `Accept-Language`, `Cache-Control`, `Content-Type`, `User-Agent`.
    #[serde(default)]
    #[garde(length(max = 16))]
    pub headers: BTreeMap<String, String>,
    /// Value of the header `Authorization`: sealed, and not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 4096))]
    pub authorization: Option<String>,
    /// Key of the signature in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard
    /// Webhooks 1.0.0, HMAC-SHA-256): `whsec_` and base64, or any text. Sealed, and not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 4096))]
    pub signing_key: Option<String>,
    /// JSON body; default the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub body: Option<Value>,
    /// Time for one attempt, s, 1 to 10; default 10.
    #[serde(default = "usual_timeout_s")]
    #[garde(range(min = 1, max = 10))]
    pub timeout_s: u32,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Sends an e-mail by the SMTP server of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Email {
    /// Recipients, 1 to 20.
    #[garde(length(min = 1, max = 20), inner(length(chars, min = 3, max = 254)))]
    pub to: Vec<String>,
    /// Subject, 1 to 200 characters.
    #[garde(length(chars, min = 1, max = 200))]
    pub subject: String,
    /// Text, up to 10000 characters.
    #[garde(length(chars, max = 10_000))]
    pub body: String,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Publishes a message by the MQTT broker of the gateway, with QoS 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct MqttPublish {
    /// Topic, without wildcards; may name values of the context, each of which is one level.
    #[garde(length(chars, min = 1, max = 256))]
    pub topic: String,
    /// Text, or a JSON value; default the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub payload: Option<Value>,
    /// The broker keeps it for later subscribers.
    #[serde(default)]
    #[garde(skip)]
    pub retain: bool,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Calls an imported endpoint of an external system; it succeeds with 2xx. Admins make flows that call
/// others than GET and HEAD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct ExternalCall {
    /// External system.
    #[garde(skip)]
    pub system_id: Uuid,
    /// Imported endpoint.
    #[garde(skip)]
    pub endpoint_id: Uuid,
    /// Parameters by name, as the schema of the endpoint has them; texts may name values of the context.
    #[serde(default)]
    #[garde(skip)]
    pub params: Map<String, Value>,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Sets an impairment at the impairment daemon of the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct ApplyImpairment {
    /// Direction: port of the daemon.
    #[garde(skip)]
    pub direction: Direction,
    /// Impairment as the daemon's API has it, whose texts may name values of the context; without one it
    /// is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub impairment: Option<Map<String, Value>>,
    /// Time after which what was there before returns, s, 1 to 366 days, as a lease of the daemon; absent, it
    /// stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 1, max = 31_622_400))]
    pub for_s: Option<u32>,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Runs an analysis at the planning server of the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// Analysis.
    #[garde(skip)]
    pub analysis: Analysis,
    /// Body of the request; texts may name values of the context.
    #[garde(skip)]
    pub request: Map<String, Value>,
    /// Repetition.
    #[serde(default)]
    #[garde(dive)]
    pub retry: Retry,
}

/// Analysis of the planning server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Analysis {
    /// Coverage of a site, as a job.
    Coverage,
    /// Relays between two sites.
    RelayPlan,
    /// Budget of a link.
    LinkAnalysis,
    /// Route through a mesh.
    MeshRoute,
}

impl Analysis {
    /// Path at the planning server.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Coverage => "/api/v1/coverage",
            Self::RelayPlan => "/api/v1/relay/plan",
            Self::LinkAnalysis => "/api/v1/links/analyze",
            Self::MeshRoute => "/api/v1/mesh/route",
        }
    }
}
