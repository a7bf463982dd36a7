//! Secrets in flows: sealed before they enter the world, and not shown again.
//!
//! Those of a webhook are its header `Authorization`, the key of its signature, the path of its URL, its other
//! headers, and texts in fields of its body whose names are those of secrets (`token`, `api_key`); of a flow,
//! its variables with such names.

use axum::http::Method;
use groundwave_gateway::automation::{
    AutomationFlow, FlowStep, SEALED_PATH, SEALED_PREFIX, SECRET_SHOWN, is_secret_header,
    shown_url, url_parts, visit_secret_texts,
};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_outbound::Request;
use serde_json::{Map, Value};

use super::vault::Vault;
use super::webhook_signature;
use super::{flow_variables, sealed_text};

/// Parameters of `webhook_out` that are secrets.
const AUTHORIZATION: &str = "authorization";
const SIGNING_KEY: &str = "signing_key";
const URL: &str = "url";
const HEADERS: &str = "headers";
const BODY: &str = "body";
/// Kind of a step with secrets.
const WEBHOOK: &str = "webhook_out";
/// Maximum length of a secret, bytes.
const SECRET_BYTES_MAX: usize = 2_048;

pub(super) type Params = Map<String, Value>;

/// Pointer to the parameters of a webhook in those of a step: its own, or those of the action that it
/// performs for each node.
pub(super) fn place(step: &FlowStep) -> Option<&'static str> {
    let inner = step.params.get("action").and_then(|action| action.get("kind"));
    match step.kind.as_str() {
        WEBHOOK => Some(""),
        "for_each_node" if inner.is_some_and(|kind| kind == WEBHOOK) => Some("/action/params"),
        _ => None,
    }
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

/// Receiver of a request: encryption, host and port.
fn receiver(params: &Params) -> Option<(bool, String, u16)> {
    let (origin, _) = url_parts(params.get(URL)?.as_str()?);
    let request = Request::new(Method::POST, origin).ok()?;
    let is_secure = origin.get(..6)?.eq_ignore_ascii_case("https:");
    Some((is_secure, request.host().to_owned(), request.port()))
}

/// A secret in the parameters of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Secret {
    Url,
    Header(String),
    Authorization,
    SigningKey,
    /// Pointer to a text in the body.
    Body(String),
}

impl Secret {
    fn all(params: &Params) -> Vec<Self> {
        let headers = params.get(HEADERS).and_then(Value::as_object);
        let names = headers.into_iter().flat_map(Map::keys).filter(|name| is_secret_header(name));
        [Self::Url, Self::Authorization, Self::SigningKey]
            .into_iter()
            .chain(names.map(|name| Self::Header(name.clone())))
            .chain(body_secrets(params))
            .filter(|secret| secret.text(params).is_some())
            .collect()
    }

    fn value<'p>(&self, params: &'p Params) -> Option<&'p Value> {
        match self {
            Self::Url => params.get(URL),
            Self::Authorization => params.get(AUTHORIZATION),
            Self::SigningKey => params.get(SIGNING_KEY),
            Self::Header(name) => params.get(HEADERS)?.get(name),
            Self::Body(pointer) => params.get(BODY)?.pointer(pointer),
        }
    }

    /// Text of the secret; `None` where there is none. Templates alone are none: they are filled in the
    /// world.
    fn text<'p>(&self, params: &'p Params) -> Option<&'p str> {
        let text = self.value(params)?.as_str()?;
        match self {
            Self::Url => Some(url_parts(text).1).filter(|path| !["", "/"].contains(path)),
            Self::Header(_) | Self::Body(_) | Self::Authorization => {
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
            Self::Body(pointer) => params.get_mut(BODY).and_then(|body| body.pointer_mut(pointer)),
        };
        let Some(Value::String(value)) = slot else { return };
        *value = match self {
            Self::Url => format!("{}{text}", url_parts(value).0),
            _ => text.to_owned(),
        };
    }

    /// Refuses a text that no request could carry, or no receiver verify.
    fn check(&self, text: &str) -> Result<(), String> {
        if !matches!(self, Self::Body(_)) && text.chars().any(char::is_control) {
            return Err("found control characters, allowed text without them".to_owned());
        }
        if !matches!(self, Self::Url) && text.contains(SEALED_PREFIX) {
            return Err(format!("found {SEALED_PREFIX:?}, allowed text without it"));
        }
        match self {
            Self::SigningKey => webhook_signature::check(text),
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
            Self::Body(pointer) => format!("/{BODY}{pointer}"),
        }
    }

    fn sealed(&self, text: &str, vault: &Vault) -> Result<String, String> {
        match self {
            Self::Url => Ok(format!("{SEALED_PATH}{}", vault.seal(text.as_bytes())?)),
            _ => sealed_text::sealed(text, vault),
        }
    }
}

/// Secrets in the body of a webhook.
fn body_secrets(params: &Params) -> Vec<Secret> {
    let mut secrets = Vec::new();
    if let Some(mut body) = params.get(BODY).cloned() {
        visit_secret_texts(&mut body, &mut |pointer, _| {
            secrets.push(Secret::Body(pointer.to_owned()));
        });
    }
    secrets
}

/// Secret of a step before a change. It goes to the receiver it was given for only.
fn secret_before(
    before: Option<&AutomationFlow>,
    step_id: &str,
    secret: &Secret,
    params: &Params,
) -> Result<String, &'static str> {
    let params_before = before
        .into_iter()
        .flat_map(|before| &before.steps)
        .find(|step| step.step_id == step_id)
        .and_then(|step| params_at(&step.params, place(step)?));
    let stored = params_before.and_then(|stored| Some((stored, secret.text(stored)?)));
    let Some((stored_params, text)) = stored else {
        return Err("had no secret to keep");
    };
    if receiver(stored_params) != receiver(params) {
        return Err("has another receiver: give the secret again");
    }
    let merged = secret.text(params).and_then(|new| secret.merged(new, text));
    merged.ok_or("had no secret to keep")
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
        let Some(place) = place(step) else {
            continue;
        };
        let Some(params) = params_at_mut(&mut step.params, place) else {
            continue;
        };
        for secret in Secret::all(params) {
            let refuse = |code, what: String| {
                let pointer = format!("/steps/{number}/params{place}{}", secret.pointer());
                Problem::field(&pointer, code, what)
            };
            let text = secret.text(params).unwrap_or_default().to_owned();
            let earlier = match secret.is_shown(&text) {
                true => {
                    Some(secret_before(before, &step.step_id, &secret, params).map_err(|what| {
                        refuse(FieldCode::Missing, format!("step {:?} {what}", step.step_id))
                    })?)
                }
                false => None,
            };
            let sealed = match earlier {
                Some(earlier) if secret.is_sealed(&earlier) => earlier,
                // Of an earlier version.
                Some(earlier) => secret.sealed(&earlier, vault).map_err(Problem::internal)?,
                None if text.len() > SECRET_BYTES_MAX => {
                    let what = format!("found {} bytes, allowed {SECRET_BYTES_MAX}", text.len());
                    return Err(refuse(FieldCode::Length, what));
                }
                None => {
                    secret.check(&text).map_err(|what| refuse(FieldCode::NotAllowed, what))?;
                    secret.sealed(&text, vault).map_err(Problem::internal)?
                }
            };
            secret.set(params, &sealed);
        }
    }
    let receivers_before = before.map(receivers).unwrap_or_default();
    let has_new = receivers(flow).iter().any(|receiver| !receivers_before.contains(receiver));
    flow_variables::seal(flow, before, vault, has_new)
}

/// Receivers of the webhooks of a flow.
fn receivers(flow: &AutomationFlow) -> Vec<(bool, String, u16)> {
    let params = flow.steps.iter().filter_map(|step| params_at(&step.params, place(step)?));
    params.filter_map(receiver).collect()
}

/// Seals the secrets that a flow of an earlier version has in clear; `None` without any.
///
/// # Errors
/// When sealing fails.
pub fn seal_stored(flow: &AutomationFlow, vault: &Vault) -> Result<Option<AutomationFlow>, String> {
    let mut sealed_flow = flow.clone();
    for step in &mut sealed_flow.steps {
        if let Some(place) = place(step)
            && let Some(params) = params_at_mut(&mut step.params, place)
        {
            for secret in Secret::all(params) {
                let text = secret.text(params).unwrap_or_default().to_owned();
                if !secret.is_sealed(&text) {
                    secret.set(params, &secret.sealed(&text, vault)?);
                }
            }
        }
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

/// The value of a header with its sealed pieces opened.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened_header(value: &str, vault: &Vault) -> Result<String, String> {
    sealed_text::opened(value, vault)
}

/// The body of a webhook with its sealed pieces opened, and the texts that have them.
///
/// # Errors
/// When one was sealed under another key.
pub fn opened_body(body: &Value, vault: &Vault) -> Result<(Value, Vec<String>), String> {
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

fn opened(sealed: &str, vault: &Vault) -> Result<String, String> {
    String::from_utf8(vault.unseal(sealed)?).map_err(|err| err.to_string())
}

/// The flow without its secrets.
pub fn without_secrets(flow: &AutomationFlow) -> AutomationFlow {
    let mut hidden = flow.clone();
    for step in &mut hidden.steps {
        if let Some(place) = place(step)
            && let Some(params) = params_at_mut(&mut step.params, place)
        {
            for secret in Secret::all(params) {
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
    }
    flow_variables::hide(&mut hidden);
    hidden
}
