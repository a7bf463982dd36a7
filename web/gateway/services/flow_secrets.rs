//! Secrets in flows: sealed before they enter the world, and not shown again.
//!
//! Those of a webhook are its header `Authorization`, the key of its signature, the path of its URL, its other
//! headers, texts in fields of its body whose names are those of secrets (`token`, `api_key`), texts there with
//! pairs of such names, and URLs with a path there; of a call of an external system, an MQTT message, a node
//! command and a variable that is set, texts in fields with such names; of a flow, its variables with such names.

use axum::http::Method;
use groundwave_gateway::automation::{
    AutomationFlow, FlowMistake, FlowStep, MistakeCode, SEALED_PATH, SEALED_PREFIX, SECRET_SHOWN,
    is_secret_header, shown_url, url_parts, visit_secret_texts,
};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_outbound::Request;
use serde_json::{Map, Value, json};

use super::vault::Vault;
use super::webhook_signature;
use super::{body_secrets, flow_variables, sealed_text};

/// Parameters of `webhook_out` that are secrets.
const AUTHORIZATION: &str = "authorization";
const SIGNING_KEY: &str = "signing_key";
const URL: &str = "url";
const HEADERS: &str = "headers";
const BODY: &str = "body";
/// Kind of a step with secrets of many forms.
const WEBHOOK: &str = "webhook_out";
/// Other kinds of steps with secrets, and the parameters that decide where those go.
const KINDS: [(&str, &[&str]); 4] = [
    ("external_call", &["system_id", "endpoint_id"]),
    ("mqtt_publish", &["topic"]),
    ("command", &["node_id", "kind"]),
    ("set_variable", &["name"]),
];
/// Maximum length of a secret, bytes.
const SECRET_BYTES_MAX: usize = 2_048;

pub(super) type Params = Map<String, Value>;

/// Kind of the action with secrets of a step, and pointer to its parameters in those of the step: its own, or
/// those of the action that it performs for each node.
pub(super) fn place(step: &FlowStep) -> Option<(&str, &'static str)> {
    let inner = step.params.get("action").and_then(|action| action.get("kind"));
    let (kind, place) = match step.kind.as_str() {
        "for_each_node" => (inner?.as_str()?, "/action/params"),
        kind => (kind, ""),
    };
    let has_secrets = kind == WEBHOOK || KINDS.iter().any(|(name, _)| *name == kind);
    has_secrets.then_some((kind, place))
}

pub(super) fn params_at<'p>(params: &'p Params, place: &str) -> Option<&'p Params> {
    match place {
        "" => Some(params),
        _ => params.get("action")?.get("params")?.as_object(),
    }
}

fn params_at_mut<'p>(params: &'p mut Params, place: &str) -> Option<&'p mut Params> {
    match place {
        "" => Some(params),
        _ => params.get_mut("action")?.get_mut("params")?.as_object_mut(),
    }
}

/// Receiver of secrets: for a webhook encryption, host and port.
fn receiver(kind: &str, params: &Params) -> Option<String> {
    if kind == WEBHOOK {
        let (origin, _) = url_parts(params.get(URL)?.as_str()?);
        let request = Request::new(Method::POST, origin).ok()?;
        let is_secure = origin.get(..6)?.eq_ignore_ascii_case("https:");
        return Some(format!("{kind} {is_secure} {} {}", request.host(), request.port()));
    }
    let (_, fields) = KINDS.iter().find(|(name, _)| *name == kind)?;
    let values: Vec<_> = fields.iter().map(|field| params.get(*field)).collect();
    Some(format!("{kind} {}", serde_json::to_string(&values).ok()?))
}

/// Pointer with its first part, the name of a parameter, apart.
fn first_part(pointer: &str) -> (&str, &str) {
    let path = pointer.trim_start_matches('/');
    path.split_at(path.find('/').unwrap_or(path.len()))
}

/// A secret in the parameters of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Secret {
    Url,
    Header(String),
    Authorization,
    SigningKey,
    /// Pointer to a text in a field with the name of a secret, or with the form of one.
    Field(String),
}

impl Secret {
    fn all(kind: &str, params: &Params) -> Vec<Self> {
        let mut secrets = Vec::new();
        let mut fields = Value::Object(params.clone());
        if kind == WEBHOOK {
            let headers = params.get(HEADERS).and_then(Value::as_object);
            let names = headers.into_iter().flat_map(Map::keys);
            let names = names.filter(|name| is_secret_header(name));
            secrets.extend([Self::Url, Self::Authorization, Self::SigningKey]);
            secrets.extend(names.map(|name| Self::Header(name.clone())));
            fields = json!({ BODY: params.get(BODY) });
        }
        visit_secret_texts(&mut fields, &mut |pointer, _| {
            secrets.push(Self::Field(pointer.to_owned()));
        });
        if let (WEBHOOK, Some(body)) = (kind, params.get(BODY)) {
            let by_form = body_secrets::pointers(body, &format!("/{BODY}")).into_iter();
            let others = by_form.map(Self::Field).filter(|field| !secrets.contains(field));
            let others: Vec<Self> = others.collect();
            secrets.extend(others);
        }
        secrets.retain(|secret| secret.text(params).is_some());
        secrets
    }

    fn value<'p>(&self, params: &'p Params) -> Option<&'p Value> {
        match self {
            Self::Url => params.get(URL),
            Self::Authorization => params.get(AUTHORIZATION),
            Self::SigningKey => params.get(SIGNING_KEY),
            Self::Header(name) => params.get(HEADERS)?.get(name),
            Self::Field(pointer) => {
                let (name, rest) = first_part(pointer);
                params.get(name)?.pointer(rest)
            }
        }
    }

    /// Text of the secret; `None` where there is none. Templates alone are none: they are filled in the
    /// world.
    fn text<'p>(&self, params: &'p Params) -> Option<&'p str> {
        let text = self.value(params)?.as_str()?;
        match self {
            Self::Url => Some(url_parts(text).1).filter(|path| !["", "/"].contains(path)),
            Self::Header(_) | Self::Field(_) | Self::Authorization => {
                Some(text).filter(|text| sealed_text::has_secret(text))
            }
            Self::SigningKey => Some(text),
        }
    }

    fn set(&self, params: &mut Params, text: &str) {
        let slot = match self {
            Self::Url => params.get_mut(URL),
            Self::Authorization => params.get_mut(AUTHORIZATION),
            Self::SigningKey => params.get_mut(SIGNING_KEY),
            Self::Header(name) => params.get_mut(HEADERS).and_then(|all| all.get_mut(name)),
            Self::Field(pointer) => {
                let (name, rest) = first_part(pointer);
                params.get_mut(name).and_then(|value| value.pointer_mut(rest))
            }
        };
        let Some(Value::String(value)) = slot else { return };
        *value = match self {
            Self::Url => format!("{}{text}", url_parts(value).0),
            _ => text.to_owned(),
        };
    }

    /// Refuses a text that no request could carry, or no receiver verify; not the form of views.
    fn check(&self, text: &str) -> Result<(), (FieldCode, String)> {
        if self.is_shown(text) {
            return Ok(());
        }
        if text.len() > SECRET_BYTES_MAX {
            let what = format!("found {} bytes, allowed {SECRET_BYTES_MAX}", text.len());
            return Err((FieldCode::Length, what));
        }
        let refuse = |what: String| Err((FieldCode::NotAllowed, what));
        if !matches!(self, Self::Field(_)) && text.chars().any(char::is_control) {
            return refuse("found control characters, allowed text without them".to_owned());
        }
        if !matches!(self, Self::Url) && text.contains(SEALED_PREFIX) {
            return refuse(format!("found {SEALED_PREFIX:?}, allowed text without it"));
        }
        match self {
            Self::SigningKey => webhook_signature::check(text).or_else(refuse),
            _ => Ok(()),
        }
    }

    /// `true` for a sealed text.
    fn is_sealed(&self, text: &str) -> bool {
        match self {
            Self::Url => text.starts_with(SEALED_PATH),
            _ => sealed_text::is_sealed(text),
        }
    }

    /// True for the form in views.
    fn is_shown(&self, text: &str) -> bool {
        match self {
            Self::Url => text.strip_prefix('/') == Some(SECRET_SHOWN),
            _ => sealed_text::is_hidden(text),
        }
    }

    /// The text with what has the form of views replaced by what was there before.
    fn merged(&self, text: &str, before: &str) -> Option<String> {
        match self {
            Self::Url => Some(before.to_owned()),
            _ => sealed_text::merged(text, before),
        }
    }

    fn pointer(&self) -> String {
        match self {
            Self::Url => format!("/{URL}"),
            Self::Authorization => format!("/{AUTHORIZATION}"),
            Self::SigningKey => format!("/{SIGNING_KEY}"),
            Self::Header(name) => format!("/{HEADERS}/{name}"),
            Self::Field(pointer) => pointer.clone(),
        }
    }

    fn sealed(&self, text: &str, vault: &Vault) -> Result<String, String> {
        match self {
            Self::Url => Ok(format!("{SEALED_PATH}{}", vault.seal(text.as_bytes())?)),
            _ => sealed_text::sealed(text, vault),
        }
    }
}

/// Kind, place and parameters of the action with secrets of a step.
fn action(step: &FlowStep) -> Option<(&str, &'static str, &Params)> {
    let (kind, place) = place(step)?;
    Some((kind, place, params_at(&step.params, place)?))
}

/// Calls `change` with kind, place and parameters of the action with secrets of a step.
fn change_action<T>(
    step: &mut FlowStep,
    change: impl FnOnce(&str, &str, &mut Params) -> T,
) -> Option<T> {
    let (kind, place) = place(step)?;
    let kind = kind.to_owned();
    let params = params_at_mut(&mut step.params, place)?;
    Some(change(&kind, place, params))
}

/// Secret of a step before a change. It goes to the receiver it was given for only.
fn secret_before(
    before: Option<&AutomationFlow>,
    step_id: &str,
    secret: &Secret,
    (kind, params): (&str, &Params),
) -> Result<String, &'static str> {
    let action_before = before
        .into_iter()
        .flat_map(|before| &before.steps)
        .find(|step| step.step_id == step_id)
        .and_then(action);
    let stored = action_before.and_then(|stored| Some((stored, secret.text(stored.2)?)));
    let Some(((stored_kind, _, stored_params), text)) = stored else {
        return Err("had no secret to keep");
    };
    if receiver(stored_kind, stored_params) != receiver(kind, params) {
        return Err("has another receiver: give the secret again");
    }
    let merged = secret.text(params).and_then(|new| secret.merged(new, text));
    merged.ok_or("had no secret to keep")
}

/// Secrets of a flow that no request could carry or no receiver verify.
pub fn secret_mistakes(flow: &AutomationFlow) -> Vec<FlowMistake> {
    let mut mistakes = Vec::new();
    for (number, step) in flow.steps.iter().enumerate() {
        let Some((kind, place, params)) = action(step) else { continue };
        for secret in Secret::all(kind, params) {
            let text = secret.text(params).unwrap_or_default();
            if let Err((_, what)) = secret.check(text) {
                let pointer = format!("/steps/{number}/params{place}{}", secret.pointer());
                let message = format!("step {:?}: {what}", step.step_id);
                mistakes.push(FlowMistake::new(pointer, MistakeCode::InvalidParams, message));
            }
        }
    }
    mistakes
}

/// Seals the secrets of an action of a step, whose parameters have the pointer `at`.
fn seal_action(
    (step_id, at): (&str, &str),
    (kind, params): (&str, &mut Params),
    before: Option<&AutomationFlow>,
    vault: &Vault,
) -> Result<(), Problem> {
    for secret in Secret::all(kind, params) {
        let refuse =
            |code, what: String| Problem::field(&format!("{at}{}", secret.pointer()), code, what);
        let text = secret.text(params).unwrap_or_default().to_owned();
        let earlier = match secret.is_shown(&text) {
            true => {
                let earlier = secret_before(before, step_id, &secret, (kind, params));
                Some(earlier.map_err(|what| {
                    refuse(FieldCode::Missing, format!("step {step_id:?} {what}"))
                })?)
            }
            false => None,
        };
        let sealed = match earlier {
            Some(earlier) if secret.is_sealed(&earlier) => earlier,
            // Of an earlier version.
            Some(earlier) => secret.sealed(&earlier, vault).map_err(Problem::internal)?,
            None => {
                secret.check(&text).map_err(|(code, what)| refuse(code, what))?;
                secret.sealed(&text, vault).map_err(Problem::internal)?
            }
        };
        secret.set(params, &sealed);
    }
    Ok(())
}

/// Seals the secrets of a new or changed flow.
///
/// # Errors
/// 422 for a secret to keep where there was none or it was for another receiver, or one that is too
/// long.
pub fn seal(
    flow: &mut AutomationFlow,
    before: Option<&AutomationFlow>,
    vault: &Vault,
) -> Result<(), Problem> {
    for (number, step) in flow.steps.iter_mut().enumerate() {
        let step_id = step.step_id.clone();
        change_action(step, |kind, place, params| {
            let at = format!("/steps/{number}/params{place}");
            seal_action((&step_id, &at), (kind, params), before, vault)
        })
        .unwrap_or(Ok(()))?;
    }
    let receivers_before = before.map(receivers).unwrap_or_default();
    let has_new = receivers(flow).iter().any(|receiver| !receivers_before.contains(receiver));
    flow_variables::seal(flow, before, vault, has_new)
}

/// Receivers of the webhooks of a flow: secret variables go to those only.
fn receivers(flow: &AutomationFlow) -> Vec<String> {
    let webhooks = flow.steps.iter().filter_map(action).filter(|(kind, ..)| *kind == WEBHOOK);
    webhooks.filter_map(|(kind, _, params)| receiver(kind, params)).collect()
}

/// Seals the secrets that a flow of an earlier version has in clear; `None` without any.
///
/// # Errors
/// When sealing fails.
pub fn seal_stored(flow: &AutomationFlow, vault: &Vault) -> Result<Option<AutomationFlow>, String> {
    let mut sealed_flow = flow.clone();
    for step in &mut sealed_flow.steps {
        change_action(step, |kind, _, params| {
            for secret in Secret::all(kind, params) {
                let text = secret.text(params).unwrap_or_default().to_owned();
                if !secret.is_sealed(&text) {
                    secret.set(params, &secret.sealed(&text, vault)?);
                }
            }
            Ok::<_, String>(())
        })
        .unwrap_or(Ok(()))?;
    }
    flow_variables::seal_stored(&mut sealed_flow, vault)?;
    Ok((sealed_flow != *flow).then_some(sealed_flow))
}

/// The URL of a webhook with its path opened.
///
/// # Errors
/// When it was sealed under another key.
pub fn opened_url(url: &str, vault: &Vault) -> Result<String, String> {
    match url.split_once(SEALED_PATH) {
        Some((origin, sealed)) => Ok(format!("{origin}{}", opened(sealed, vault)?)),
        None => Ok(url.to_owned()),
    }
}

/// A text with its sealed pieces opened, such as the value of a header.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened_text(value: &str, vault: &Vault) -> Result<String, String> {
    sealed_text::opened(value, vault)
}

/// A value with the sealed pieces of its texts opened, and the texts that have them.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened_value(body: &Value, vault: &Vault) -> Result<(Value, Vec<String>), String> {
    fn open(value: &mut Value, vault: &Vault, secrets: &mut Vec<String>) -> Result<(), String> {
        match value {
            Value::String(text) => {
                let opened = sealed_text::opened(text, vault)?;
                if opened != *text {
                    text.clone_from(&opened);
                    secrets.push(opened);
                }
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| open(item, vault, secrets)),
            Value::Object(fields) => {
                fields.values_mut().try_for_each(|field| open(field, vault, secrets))
            }
            _ => Ok(()),
        }
    }
    let (mut opened, mut secrets) = (body.clone(), Vec::new());
    open(&mut opened, vault, &mut secrets)?;
    Ok((opened, secrets))
}

/// A message, JSON or other text, with its sealed pieces opened.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened_message(message: &str, vault: &Vault) -> Result<String, String> {
    match serde_json::from_str::<Value>(message) {
        // A secret is escaped as a text of JSON.
        Ok(value) if message.contains(SEALED_PREFIX) => {
            Ok(opened_value(&value, vault)?.0.to_string())
        }
        _ => opened_text(message, vault),
    }
}

fn opened(sealed: &str, vault: &Vault) -> Result<String, String> {
    String::from_utf8(vault.unseal(sealed)?).map_err(|err| err.to_string())
}

/// The flow without its secrets.
pub fn without_secrets(flow: &AutomationFlow) -> AutomationFlow {
    let mut hidden = flow.clone();
    for step in &mut hidden.steps {
        change_action(step, |kind, _, params| hide(kind, params));
    }
    flow_variables::hide(&mut hidden);
    hidden
}

/// Hides the secrets of an action.
fn hide(kind: &str, params: &mut Params) {
    for secret in Secret::all(kind, params) {
        match secret {
            Secret::Url => {
                let url = params.get(URL).and_then(Value::as_str).map(shown_url);
                params.insert(URL.to_owned(), url.into());
            }
            Secret::SigningKey => secret.set(params, SECRET_SHOWN),
            _ => {
                let text = secret.text(params).map(sealed_text::hidden).unwrap_or_default();
                secret.set(params, &text);
            }
        }
    }
}
