//! Secrets in commands of logs, left out of what is shown.

use serde_json::Value;

/// Stands for a secret.
const REDACTED: &str = "(redacted)";

/// The body of a command without password hashes and, of the trust secret, without the secret; logs of
/// earlier versions hold both in clear.
pub fn redact(command: &str, body: Value) -> Value {
    let trust = command.starts_with("trust.");
    walk(body, &|key| {
        matches!(key, "argon2id" | "sealed") || trust && matches!(key, "secret" | "previous")
    })
}

fn walk(value: Value, hides: &impl Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(entries) => {
            let fields = entries.into_iter().map(|(key, value)| {
                let value = match hides(&key) && !value.is_null() {
                    true => Value::from(REDACTED),
                    false => walk(value, hides),
                };
                (key, value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(|item| walk(item, hides)).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hashes_and_trust_secrets_are_left_out() {
        let account = json!({ "username": "ada", "secret": { "argon2id": "$argon2id$v=19$x" } });
        let public = redact("account.create", account);
        assert_eq!(public["secret"], json!({ "argon2id": REDACTED }));
        assert_eq!(public["username"], "ada");
        let rotate = json!({ "key_id": "k1", "secret": vec![3; 32], "grace_s": 0 });
        let public = redact("trust.secret", rotate);
        assert_eq!(public, json!({ "key_id": "k1", "secret": REDACTED, "grace_s": 0 }));
    }
}
