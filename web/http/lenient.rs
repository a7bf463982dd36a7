//! Bodies of machines, read entry by entry: what does not fit is left out and named, the rest counts.
//!
//! Words that JSON does not have (`NaN`, `1e999`, `None`, `012`) are read as texts, which then do not fit
//! where a number is required; octets that are not UTF-8 as U+FFFD.

use std::borrow::Cow;
use std::marker::PhantomData;

use axum::extract::{FromRequest, Request};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::endpoints::{Describe, add_body};
use super::extract::{plain_encoding, whole_body};
use super::json_body::{document, json_media};
pub use super::rejections::{Rejections, pointer_at};
use super::unique_keys::LastKeys;
use super::{Problem, Schemas, strict};

/// Encloses words that JSON does not have in quotation marks: other spellings of numbers, of nothing, of truth.
#[must_use]
pub fn quoted_words(json: &[u8]) -> Cow<'_, [u8]> {
    let mut quoted = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while at < json.len() {
        match json[at] {
            b'"' => at = end_of_text(json, at),
            byte if is_word(byte) => {
                let length = json[at..].iter().take_while(|byte| is_word(**byte)).count();
                let word = &json[at..at + length];
                if is_foreign(word) {
                    quoted.extend_from_slice(&json[copied..at]);
                    quoted.push(b'"');
                    quoted.extend_from_slice(word);
                    quoted.push(b'"');
                    copied = at + length;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    quoted.extend_from_slice(&json[copied..]);
    Cow::Owned(quoted)
}

/// Index after a text that begins at `start`.
fn end_of_text(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() && json[at] != b'"' {
        at += if json[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._#()".contains(&byte)
}

/// True for a word that is neither a number of JSON within the range of 64-bit floats nor a literal.
fn is_foreign(word: &[u8]) -> bool {
    serde_json::from_slice::<Value>(word).is_err()
}

/// A body without byte order mark; octets that are not UTF-8 become U+FFFD.
#[must_use]
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes))
}

/// JSON request body to be read entry by entry; described as `T`.
#[derive(Debug)]
pub struct LenientJson<T> {
    /// Body; of duplicate keys the last one.
    pub body: Value,
    /// Entries with duplicate keys, which do not count.
    pub duplicates: Rejections,
    schema: PhantomData<T>,
}

impl<T, S: Send + Sync> FromRequest<S> for LenientJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        json_media(request.headers())?;
        plain_encoding(request.headers())?;
        let bytes = whole_body(request, state).await?;
        let LastKeys(body, duplicates) = document(&quoted_words(readable(&bytes).as_bytes()))?;
        Ok(Self { body, duplicates, schema: PhantomData })
    }
}

impl<T: JsonSchema> Describe for LenientJson<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_body(operation, &schemas.reference::<T>(), true);
    }
}

/// Checks that a value is a `T` by the letter of its schema.
///
/// # Errors
/// The mistake with its path.
pub fn fits<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    strict::read::<T>(value.clone()).map(drop)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn words_that_json_lacks_become_texts() {
        for (json, read) in [
            (
                r#"{"a": NaN, "b": [-Infinity, 1e999,inf]}"#,
                json!({"a": "NaN", "b": ["-Infinity", "1e999", "inf"]}),
            ),
            (r#"{"NaN": "a \" NaN \\", "b": 1e9}"#, json!({"NaN": "a \" NaN \\", "b": 1e9})),
            ("[true,null,-2]", json!([true, null, -2])),
            (
                "[-nan(ind),1.#INF,+5,.5,5.,012,None,undefined,True]",
                json!([
                    "-nan(ind)",
                    "1.#INF",
                    "+5",
                    ".5",
                    "5.",
                    "012",
                    "None",
                    "undefined",
                    "True"
                ]),
            ),
        ] {
            let quoted = quoted_words(json.as_bytes());
            assert_eq!(serde_json::from_slice::<Value>(&quoted).unwrap(), read, "{json}");
        }
        assert_eq!(quoted_words(br#"{"a": "NaN\"#), &br#"{"a": "NaN\"#[..]);
        assert_eq!(readable(b"\xef\xbb\xbf{\"a\":\"M\xfcnchen\"}"), "{\"a\":\"M\u{fffd}nchen\"}");
    }

    #[test]
    fn of_duplicate_keys_the_last_one_counts_and_the_others_are_noted() {
        let json = br#"{"a/b": [{"c": 1, "c": {"d": 2, "d": 3}}], "e": 4, "e": 5}"#;
        let LastKeys(body, duplicates) = document(json).unwrap();
        assert_eq!(body, json!({"a/b": [{"c": {"d": 3}}], "e": 5}));
        let pointers: Vec<_> = duplicates.0.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/a~1b/0/c/d", "/a~1b/0/c", "/e"]);
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Entry {
        name: String,
        count: Option<u8>,
        level: Option<f64>,
    }

    #[test]
    fn fields_that_do_not_fit_are_left_out_and_named() {
        let mut rejections = Rejections::default();
        let mut body = json!({"name": "a", "count": 7.9, "level": "NaN", "other": 1});
        let object = body.as_object_mut().unwrap();
        rejections.fields("/x", object, &["name"], fits::<Entry>).unwrap();
        assert_eq!(body, json!({"name": "a", "count": 7, "other": 1}));
        assert_eq!(rejections.0.len(), 1);
        assert_eq!(rejections.0[0].0, "/x/level");

        let mut nameless = json!({"count": 700}).as_object().unwrap().clone();
        let outcome = rejections.fields("", &mut nameless, &["name"], fits::<Entry>);
        assert!(outcome.unwrap_err().contains("missing field `name`"));
    }

    #[test]
    fn entries_beyond_the_bound_are_left_out_in_order() {
        let mut rejections = Rejections::default();
        let mut list = json!([1, "x", 2, 3]);
        rejections.items("/l", Some(&mut list), 2, |_, _, item| fits::<u8>(item));
        assert_eq!(list, json!([1, 2]));
        let mut object = json!({"a": 1, "b": 2, "z": 3});
        rejections.entries(
            "/m",
            Some(&mut object),
            2,
            |key| key == "z",
            |_, value| fits::<u8>(value),
        );
        assert_eq!(object, json!({"a": 1, "z": 3}));
        let pointers: Vec<_> = rejections.0.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/l/1", "/l/3", "/m/b"]);
    }
}
