//! Variables of flows that are secrets by their names: sealed before they enter the world.

use groundwave_gateway::automation::{
    AutomationFlow, SEALED_PREFIX, SECRET_SHOWN, is_secret_field,
};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use serde_json::Value;

use super::sealed_text::sealed_whole;
use super::vault::Vault;

/// Variables of a flow that are secrets by their names, with their texts.
fn secret_variables(flow: &mut AutomationFlow) -> impl Iterator<Item = (&str, &mut String)> {
    flow.variables.iter_mut().filter_map(|(name, value)| match value {
        Value::String(text) if is_secret_field(name) && !text.is_empty() => {
            Some((name.as_str(), text))
        }
        _ => None,
    })
}

/// Seals the secret variables of a new or changed flow. One that is kept goes to the receivers that the flow
/// had before only: not with a new one among them (`has_new`).
///
/// # Errors
/// 422 for a secret to keep where there was none or with a new receiver.
pub(super) fn seal(
    flow: &mut AutomationFlow,
    before: Option<&AutomationFlow>,
    vault: &Vault,
    has_new: bool,
) -> Result<(), Problem> {
    for (name, text) in secret_variables(flow) {
        let refuse = |what: &str| {
            let pointer = format!("/variables/{name}");
            Problem::field(&pointer, FieldCode::Missing, format!("variable {name:?} {what}"))
        };
        if text != SECRET_SHOWN {
            *text = sealed_whole(text, vault).map_err(Problem::internal)?;
            continue;
        }
        let stored = before.and_then(|before| before.variables.get(name)).and_then(Value::as_str);
        let stored = stored.ok_or_else(|| refuse("had no secret to keep"))?;
        if has_new {
            return Err(refuse("has another receiver: give the secret again"));
        }
        stored.clone_into(text);
    }
    Ok(())
}

/// Seals the secret variables that a flow of an earlier version has in clear.
///
/// # Errors
/// When sealing fails.
pub(super) fn seal_stored(flow: &mut AutomationFlow, vault: &Vault) -> Result<(), String> {
    for (_, text) in secret_variables(flow) {
        if !text.starts_with(SEALED_PREFIX) {
            *text = sealed_whole(text, vault)?;
        }
    }
    Ok(())
}

/// Hides the secret variables.
pub(super) fn hide(flow: &mut AutomationFlow) {
    secret_variables(flow).for_each(|(_, text)| SECRET_SHOWN.clone_into(text));
}
