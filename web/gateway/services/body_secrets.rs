//! Secrets in the body of a webhook by the form of a text, whatever its field is called: pairs of a form, and URLs.

use groundwave_gateway::automation::{is_secret_field, url_parts};
use groundwave_http::lenient::pointer_at;
use serde_json::Value;

use super::sealed_text;

/// Pointers, below `pointer`, of the texts of a value that may be secrets.
pub fn pointers(value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::String(text) if is_secret(text) => vec![pointer.to_owned()],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(at, item)| pointers(item, &format!("{pointer}/{at}"))).collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.flat_map(|(name, field)| pointers(field, &pointer_at(pointer, name))).collect()
        }
        _ => Vec::new(),
    }
}

/// `true` for a text that may be a secret, sealed or in the form of views as well.
fn is_secret(text: &str) -> bool {
    let is_sealed = sealed_text::has_secret(text) && sealed_text::is_sealed(text);
    is_sealed || sealed_text::is_hidden(text) || has_secret_pair(text) || is_url_with_path(text)
}

/// `true` for pairs as of a form, one of them with the name of a secret.
fn has_secret_pair(text: &str) -> bool {
    text.split('&').filter_map(|pair| pair.split_once('=')).any(|(name, value)| {
        !value.is_empty() && !name.contains(char::is_whitespace) && is_secret_field(name)
    })
}

/// `true` for a URL with a path: receivers put secrets into paths.
fn is_url_with_path(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https")) && !["", "/"].contains(&url_parts(text).1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_recognised_by_their_form() {
        let body = json!({
            "text": "a=1&b=2", "form": "x=1&token=hush", "note": "the token = hush", "empty": "token=",
            "a/b": ["https://hook.test", "https://hook.test/", "HTTPS://hook.test/hush", "see https://x.test/a"],
            "stored": "sealed:abc", "view": "(set){{/trigger/x}}", "template": "{{/trigger/x}}", "number": 1,
        });
        let mut texts = pointers(&body, "/body");
        texts.sort();
        assert_eq!(texts, ["/body/a~1b/2", "/body/form", "/body/stored", "/body/view"]);
        assert_eq!(pointers(&json!("secret=hush"), "/body"), ["/body"]);
    }
}
