//! TOML tables as typed values: unknown keys, wrong types, missing keys.
//!
//! A decoder stops at its first error. Here the value at fault is taken out and the table read
//! again, so that one reading of the file reports every error.

use serde::de::DeserializeOwned;
use toml::de::ValueDeserializer;

use super::error::{Finding, Report};
use super::key::KeyPath;
use super::limits::ERRORS_MAX;
use super::suggest;
use super::tree::{self, Value};

/// One table as a `T`.
pub fn item<T: DeserializeOwned>(
    value: &Value<'_>,
    path: &KeyPath,
    report: &mut Report,
) -> Option<T> {
    let mut error = match T::deserialize(ValueDeserializer::from(value.clone())) {
        Ok(read) => return Some(read),
        Err(error) => error,
    };
    if report.is_full() {
        // Nothing more is reported: count it and go on.
        report.at(path, "", "");
        return None;
    }
    let mut value = value.clone();
    let mut removed: Vec<KeyPath> = Vec::new();
    for _ in 0..ERRORS_MAX {
        let span = error.span().unwrap_or_else(|| value.span());
        let below = tree::path_at(&value, &span);
        let mut full = path.clone();
        full.segments.extend(below.segments.iter().cloned());
        if let Some(key) = missing_key(error.message()) {
            full = full.owned_key(key);
            // A value that was taken out for an error of its own is not missing. It hides what
            // else may be: the next reading will say.
            if removed.contains(&full) {
                return None;
            }
        }
        let (what, allowed) = reworded(error.message());
        report.push(|| Finding {
            path: full.clone(),
            span: Some(span),
            what,
            allowed,
            elsewhere: None,
        });
        if !tree::remove(&mut value, &below.segments) {
            return None;
        }
        removed.push(full);
        match T::deserialize(ValueDeserializer::from(value.clone())) {
            Ok(_) => return None,
            Err(next) => error = next,
        }
    }
    None
}

/// A single value as a `T`, reported at its own place.
pub fn single<T: DeserializeOwned>(
    value: &Value<'_>,
    path: &KeyPath,
    report: &mut Report,
) -> Option<T> {
    match T::deserialize(ValueDeserializer::from(value.clone())) {
        Ok(read) => Some(read),
        Err(error) => {
            let (what, allowed) = reworded(error.message());
            report.at(path, what, allowed);
            None
        }
    }
}

/// The key a decoder misses, if that is what its message says.
fn missing_key(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// A decoder's message in the words of the file, and what it says is allowed.
fn reworded(message: &str) -> (String, String) {
    if missing_key(message).is_some() {
        return ("missing key".to_owned(), String::new());
    }
    let Some((what, allowed)) = message.split_once(", expected ") else {
        return (message.to_owned(), String::new());
    };
    let what =
        what.replace("unknown field", "unknown key").replace("unknown variant", "unknown value");
    let names: Vec<&str> = allowed.split('`').skip(1).step_by(2).collect();
    if !names.is_empty() {
        let found = what.split('`').nth(1).unwrap_or_default();
        return (what.replace('`', "\""), suggest::one_of(found, names));
    }
    (what.replace('`', "\""), plain_type(allowed).to_owned())
}

/// A Rust type as its reader would call it.
fn plain_type(name: &str) -> &str {
    match name {
        "f64" => "a number",
        "u8" => "a whole number, 0 to 255",
        "u16" => "a whole number, 0 to 65535",
        "u32" => "a whole number, 0 to 4294967295",
        "u64" => "a whole number, 0 or more",
        "a sequence" => "an array",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other if other.contains("enum ") => "a table with a key \"kind\"",
        other => other,
    }
}
