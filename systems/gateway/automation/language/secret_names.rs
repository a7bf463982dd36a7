//! Names of headers, fields and variables whose values may be secrets.

/// Headers of webhooks that are shown and stored in clear.
const PLAIN_HEADERS: [&str; 5] =
    ["accept", "accept-language", "cache-control", "content-type", "user-agent"];

/// True for a header of a webhook whose value may be a secret.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    !PLAIN_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Words in names of fields whose values are secrets.
const SECRET_WORDS: [&str; 19] = [
    "accesskey",
    "apikey",
    "appkey",
    "authkey",
    "authorization",
    "bearer",
    "chatid",
    "credential",
    "integrationkey",
    "jwt",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "routingkey",
    "secret",
    "sessionid",
    "token",
];

/// Whole names of such fields that are parts of other words.
const SECRET_NAMES: [&str; 6] = ["auth", "pass", "pin", "psk", "pwd", "signature"];

/// True for a field in the body of a webhook, or a variable of a flow, whose value may be a secret, by its
/// name.
///
/// ```
/// use groundwave_gateway::automation::is_secret_field;
/// assert!(is_secret_field("api_key") && is_secret_field("accessToken"));
/// assert!(is_secret_field("routing_key"));
/// assert!(is_secret_field("PIN") && is_secret_field("session-id"));
/// assert!(!is_secret_field("key") && !is_secret_field("text") && !is_secret_field("mapping"));
/// ```
#[must_use]
pub fn is_secret_field(name: &str) -> bool {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    SECRET_NAMES.contains(&&*name) || SECRET_WORDS.iter().any(|word| name.contains(word))
}
