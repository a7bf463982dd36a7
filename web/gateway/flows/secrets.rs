//! Secrets in flows: sealed before they enter the world, and not shown again.

use axum::http::Method;
use groundwave_gateway::automation::{AutomationFlow, SEALED_PREFIX};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_outbound::Request;
use serde_json::{Map, Value};

use crate::services::vault::Vault;

/// Parameter of `webhook_out` that is a secret.
const SECRET: &str = "authorization";
/// Form of a secret in views; in a change it keeps the one before.
const SHOWN: &str = "(set)";
/// Maximum length of a secret, bytes.
const SECRET_BYTES_MAX: usize = 2_000;

type Params = Map<String, Value>;

/// Pointer to the parameters of a step that have a secret: its own, or those of the action that it
/// performs for each node.
fn place(params: &Params) -> Option<&'static str> {
    let inner = params.get("action").and_then(|action| action.get("params"));
    if params.get(SECRET).is_some_and(Value::is_string) {
        return Some("");
    }
    let has = inner.is_some_and(|inner| inner.get(SECRET).is_some_and(Value::is_string));
    has.then_some("/action/params")
}

fn params_at<'p>(params: &'p Params, place: &str) -> Option<&'p Params> {
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
    let url = params.get("url")?.as_str()?;
    let request = Request::new(Method::POST, url).ok()?;
    let is_secure = url.get(..6)?.eq_ignore_ascii_case("https:");
    Some((is_secure, request.host().to_owned(), request.port()))
}

/// Secret of a step before a change. It goes to the receiver it was given for only.
fn secret_before(
    before: Option<&AutomationFlow>,
    step_id: &str,
    params: &Params,
) -> Result<String, &'static str> {
    let params_before = before
        .into_iter()
        .flat_map(|before| &before.steps)
        .find(|step| step.step_id == step_id)
        .and_then(|step| params_at(&step.params, place(&step.params)?));
    let secret = params_before
        .and_then(|stored_params| Some((stored_params, stored_params.get(SECRET)?.as_str()?)));
    let Some((stored_params, secret)) = secret else {
        return Err("had no secret to keep");
    };
    match receiver(stored_params) == receiver(params) {
        true => Ok(secret.to_owned()),
        false => Err("has another receiver: give the secret again"),
    }
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
        let Some(place) = place(&step.params) else {
            continue;
        };
        let refuse = |code, what: String| {
            let pointer = format!("/steps/{number}/params{place}/{SECRET}");
            Problem::field(&pointer, code, what)
        };
        let Some(params) = params_at_mut(&mut step.params, place) else {
            continue;
        };
        let text = params.get(SECRET).and_then(Value::as_str).unwrap_or_default().to_owned();
        let sealed = if text == SHOWN {
            secret_before(before, &step.step_id, params).map_err(|what| {
                refuse(FieldCode::Missing, format!("step {:?} {what}", step.step_id))
            })?
        } else if text.len() > SECRET_BYTES_MAX {
            let what = format!("found {} bytes, allowed {SECRET_BYTES_MAX}", text.len());
            return Err(refuse(FieldCode::Length, what));
        } else {
            let sealed = vault.seal(text.as_bytes()).map_err(Problem::internal)?;
            format!("{SEALED_PREFIX}{sealed}")
        };
        params.insert(SECRET.to_owned(), Value::String(sealed));
    }
    Ok(())
}

/// The flow without its secrets.
pub fn without_secrets(flow: &AutomationFlow) -> AutomationFlow {
    let mut hidden = flow.clone();
    for step in &mut hidden.steps {
        if let Some(place) = place(&step.params)
            && let Some(params) = params_at_mut(&mut step.params, place)
        {
            params.insert(SECRET.to_owned(), SHOWN.into());
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow(params: &Value) -> AutomationFlow {
        let steps = json!([
            { "step_id": "a", "type": "action", "kind": "webhook_out", "params": params },
            { "step_id": "b", "type": "action", "kind": "for_each_node",
                "params": { "action": { "kind": "webhook_out", "params": params } } },
        ]);
        serde_json::from_value(json!({ "name": "f", "steps": steps })).unwrap()
    }

    fn secrets(flow: &AutomationFlow) -> Vec<String> {
        let text = |step: &groundwave_gateway::automation::FlowStep| {
            let params = params_at(&step.params, place(&step.params).unwrap()).unwrap();
            params[SECRET].as_str().unwrap().to_owned()
        };
        flow.steps.iter().map(text).collect()
    }

    #[test]
    fn a_secret_is_sealed_hidden_and_kept_for_its_receiver() {
        let vault = Vault::new(&[7; 32]);
        let url = "https://hook.test/a";
        let mut sealed = flow(&json!({ "url": url, "authorization": "hush" }));
        seal(&mut sealed, None, &vault).unwrap();
        for secret in secrets(&sealed) {
            let opened = vault.unseal(secret.strip_prefix(SEALED_PREFIX).unwrap());
            assert_eq!(opened.unwrap(), b"hush");
        }
        assert_eq!(secrets(&without_secrets(&sealed)), [SHOWN; 2]);
        let same = json!({ "url": "https://HOOK.test:443/b", "authorization": SHOWN });
        let mut same = flow(&same);
        seal(&mut same, Some(&sealed), &vault).unwrap();
        assert_eq!(secrets(&same), secrets(&sealed));
        for url in ["https://other.test/", "http://hook.test:443/", "https://hook.test:444/"] {
            let mut moved = flow(&json!({ "url": url, "authorization": SHOWN }));
            assert!(seal(&mut moved, Some(&sealed), &vault).is_err(), "{url}");
        }
        let mut new = flow(&json!({ "url": url, "authorization": SHOWN }));
        assert!(seal(&mut new, None, &vault).is_err());
    }
}
