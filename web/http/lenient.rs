//! Bodies of machines, read entry by entry: what does not fit is left out and named, the rest counts.
//!
//! Words that JSON does not have (`NaN`, `1e999`, `None`, `012`) are read as texts, which then do not fit
//! where a number is required; octets that are not UTF-8 as U+FFFD.

use std::borrow::Cow;
use std::marker::PhantomData;

use axum::extract::{FromRequest, Request};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::endpoints::{Describe, add_body};
use super::extract::{plain_encoding, whole_body};
use super::json_body::{document, json_media};
use super::unique_keys::LastKeys;
use super::{Problem, Schemas, strict};

/// Longest message of a rejected entry, characters.
const MESSAGE_CHARS_MAX: usize = 160;

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

/// Entries left out: JSON pointer and reason of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejections(pub Vec<(String, String)>);

/// Adds a key to a JSON pointer.
#[must_use]
pub fn pointer_at(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Checks that a value is a `T` by the letter of its schema.
///
/// # Errors
/// The mistake with its path.
pub fn fits<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    strict::read::<T>(value.clone()).map(drop)
}

impl Rejections {
    /// Notes an entry that is left out, and why.
    pub fn add(&mut self, pointer: String, reason: &str) {
        self.0.push((pointer, reason.chars().take(MESSAGE_CHARS_MAX).collect()));
    }

    /// Leaves out the fields of an object for which it does not fit, except those required. Numbers
    /// with a fraction are rounded down where a whole number fits.
    ///
    /// # Errors
    /// The mistake, when the required fields alone do not fit; then nothing was left out.
    pub fn fields(
        &mut self,
        pointer: &str,
        object: &mut Map<String, Value>,
        required: &[&str],
        fits: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<(), String> {
        if fits(&Value::Object(object.clone())).is_ok() {
            return Ok(());
        }
        let (base, others): (Map<_, _>, Map<_, _>) =
            object.clone().into_iter().partition(|(key, _)| required.contains(&key.as_str()));
        let mut remainder = Value::Object(base);
        fits(&remainder)?;
        for (key, value) in others {
            let below = whole(&value);
            remainder[&key] = value;
            let Err(reason) = fits(&remainder) else { continue };
            if let Some(below) = below {
                remainder[&key] = below;
                if fits(&remainder).is_ok() {
                    continue;
                }
            }
            self.add(pointer_at(pointer, &key), &reason);
            if let Value::Object(remainder) = &mut remainder {
                remainder.remove(&key);
            }
        }
        if let Value::Object(remainder) = remainder {
            *object = remainder;
        }
        Ok(())
    }

    /// Leaves out what does not fit of an array, and what exceeds `count_max`.
    pub fn items(
        &mut self,
        pointer: &str,
        array: Option<&mut Value>,
        count_max: usize,
        mut fits: impl FnMut(&mut Self, &str, &mut Value) -> Result<(), String>,
    ) {
        let Some(Value::Array(items)) = array else { return };
        let count = items.len();
        let mut remaining = Vec::new();
        for (index, mut item) in std::mem::take(items).into_iter().enumerate() {
            let at = format!("{pointer}/{index}");
            let outcome = match remaining.len() < count_max {
                true => fits(self, &at, &mut item),
                false => Err(format!("too many entries: found {count}, allowed 0 to {count_max}")),
            };
            match outcome {
                Ok(()) => remaining.push(item),
                Err(reason) => self.add(at, &reason),
            }
        }
        *items = remaining;
    }

    /// Leaves out what does not fit of an object of entries, and what exceeds `count_max`; entries
    /// `is_first` count before others.
    pub fn entries(
        &mut self,
        pointer: &str,
        object: Option<&mut Value>,
        count_max: usize,
        is_first: impl Fn(&str) -> bool,
        fits: impl Fn(&str, &Value) -> Result<(), String>,
    ) {
        let Some(Value::Object(entries)) = object else { return };
        let count = entries.len();
        let (first, others): (Vec<_>, Vec<_>) =
            std::mem::take(entries).into_iter().partition(|(key, _)| is_first(key));
        for (key, value) in first.into_iter().chain(others) {
            let outcome = match entries.len() < count_max {
                true => fits(&key, &value),
                false => Err(format!("too many entries: found {count}, allowed 0 to {count_max}")),
            };
            match outcome {
                Ok(()) => drop(entries.insert(key, value)),
                Err(reason) => self.add(pointer_at(pointer, &key), &reason),
            }
        }
    }
}

/// Whole number at or below a positive number with a fraction.
fn whole(value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|number| (0.0..9e15).contains(number))?;
    value.is_f64().then(|| Value::from(number as u64))
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
