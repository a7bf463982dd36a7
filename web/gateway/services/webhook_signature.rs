//! Signatures of webhooks (Standard Webhooks 1.0.0): a receiver with the key verifies sender, body and time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac as _};
use hyper::header::HeaderName;
use sha2::Sha256;

/// Beginning of a key in base64.
const KEY_PREFIX: &str = "whsec_";

/// Sizes of a key in base64, bytes (Standard Webhooks 1.0.0, "Signature scheme").
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Refuses a key that begins like one in base64 and is none.
pub fn check(key: &str) -> Result<(), String> {
    let Some(text) = key.strip_prefix(KEY_PREFIX) else {
        return Ok(());
    };
    let (from, to) = (KEY_BYTES.start(), KEY_BYTES.end());
    let allowed = format!("allowed {KEY_PREFIX} and base64 of {from} to {to} bytes");
    match STANDARD.decode(text) {
        Ok(bytes) if KEY_BYTES.contains(&bytes.len()) => Ok(()),
        Ok(bytes) => Err(format!("found base64 of {} bytes, {allowed}", bytes.len())),
        Err(_) => Err(format!("found another text after {KEY_PREFIX}, {allowed}")),
    }
}

/// Headers of a request: its id, which all attempts share, the time of this one, s since 1970, and the signature
/// of both with the body.
pub fn headers(key: &str, id: &str, sent_s: u64, body: &[u8]) -> [(HeaderName, String); 3] {
    let decoded = key.strip_prefix(KEY_PREFIX).and_then(|text| STANDARD.decode(text).ok());
    let key = decoded.unwrap_or_else(|| key.as_bytes().to_vec());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{sent_s}.").as_bytes());
    mac.update(body);
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    [
        (HeaderName::from_static("webhook-id"), id.to_owned()),
        (HeaderName::from_static("webhook-timestamp"), sent_s.to_string()),
        (HeaderName::from_static("webhook-signature"), format!("v1,{signature}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(key: &str, body: &[u8]) -> String {
        let [id, time, signature] =
            headers(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!((id.0.as_str(), time.1.as_str()), ("webhook-id", "1614265330"));
        signature.1
    }

    #[test]
    fn signature_is_that_of_the_published_example() {
        // The example of the specification's reference libraries.
        let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        assert_eq!(signature(key, body), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_ne!(signature(key, b"{}"), signature(key, body));
        assert_ne!(signature("any text", body), signature(key, body));
    }

    #[test]
    fn keys_in_base64_are_whole_and_long_enough() {
        for key in ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "any text"] {
            assert_eq!(check(key), Ok(()), "{key}");
        }
        for (key, expected) in [
            ("whsec_!!!notbase64", "found another text after whsec_"),
            ("whsec_", "found base64 of 0 bytes"),
            ("whsec_MfKQ9r8G", "found base64 of 6 bytes"),
        ] {
            let refusal = check(key).unwrap_err();
            assert!(refusal.starts_with(expected), "{refusal}");
            assert!(refusal.ends_with("allowed whsec_ and base64 of 24 to 64 bytes"), "{refusal}");
        }
    }
}
