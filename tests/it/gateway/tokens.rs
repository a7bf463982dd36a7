//! Tokens that attackers would send: Wycheproof's JSON Web Signatures, every one of them a token to
//! us, none of them ours.

use groundwave_needs::needs;
use groundwave_test_data::shared;
use groundwave_web_gateway::services::tokens::{BadToken, TokenKeys};
use serde_json::Value;

use super::{Bench, KEY};

/// All texts with two dots in a document, wherever they stand.
fn tokens(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.matches('.').count() == 2 => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| tokens(item, texts)),
        Value::Object(entries) => entries.values().for_each(|value| tokens(value, texts)),
        _ => {}
    }
}

#[needs(shared("data/bad_inputs/wycheproof"))]
#[test]
fn wycheproof_signatures_are_nobodys_tokens() {
    let folder = shared("data/bad_inputs/wycheproof");
    let bench = Bench::new();
    let mut texts = Vec::new();
    for name in ["json_web_signature_test.json", "json_web_crypto_test.json"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        tokens(&serde_json::from_str(&text).unwrap(), &mut texts);
    }
    assert!(texts.len() >= 100, "{} tokens", texts.len());
    let keys = TokenKeys::new(&KEY);
    for token in &texts {
        assert_eq!(keys.verify(token, 1_800_000_000), Err(BadToken::Forged), "{token}");
        // Some of them cannot even be written into a header.
        if token.is_ascii() && !token.contains(char::is_control) {
            bench.get(token, "/v1/nodes").problem(401);
        }
    }
}

#[needs(shared("data/bad_inputs/wycheproof"))]
#[test]
fn wycheproof_keyed_hashes_are_judged_as_they_should_be() {
    let path = shared("data/bad_inputs/wycheproof/json_web_signature_test.json");
    use base64::Engine as _;
    use jsonwebtoken::{Algorithm, DecodingKey, crypto::verify};
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    // The provider is installed with the first key.
    drop(TokenKeys::new(&KEY));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut judged = [0, 0];
    for group in document["testGroups"].as_array().unwrap() {
        let key = &group["private"];
        let secret = key["k"].as_str().and_then(|k| base64.decode(k).ok());
        let (Some(secret), Some("HS256")) = (secret, key["alg"].as_str()) else {
            continue;
        };
        for test in group["tests"].as_array().unwrap() {
            let Some(token) = test["jws"].as_str() else {
                continue;
            };
            let parts: Vec<&str> = token.split('.').collect();
            let ours = |parts: &[&str]| {
                let head = base64.decode(parts[0]).ok()?;
                let head: Value = serde_json::from_slice(&head).ok()?;
                if head["alg"] != "HS256" || head.get("crit").is_some() {
                    return None;
                }
                base64.decode(parts[1]).ok()?;
                let message = format!("{}.{}", parts[0], parts[1]);
                let key = DecodingKey::from_secret(&secret);
                verify(parts[2], message.as_bytes(), &key, Algorithm::HS256).ok()
            };
            let accepted = parts.len() == 3 && ours(&parts) == Some(true);
            let valid = test["result"] == "valid";
            judged[usize::from(valid)] += 1;
            // RFC 7515 leaves padding out, and that vector's key made that signature; what is no
            // base64 at all is refused here, though some forgive it.
            let comment = test["comment"].as_str().unwrap();
            let unpadded = comment.starts_with("invalidBase64Padding");
            let forgiven = comment.starts_with("InvalidCharacterInserted");
            let fits = accepted == valid || unpadded || forgiven && !accepted;
            assert!(fits, "{}: {comment}", test["tcId"]);
        }
    }
    assert!(judged[0] >= 5 && judged[1] >= 1, "{judged:?}");
}
