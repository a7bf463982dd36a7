//! Requests as JSON.

use groundwave_model::radio::BadValue;
use serde::de::DeserializeOwned;

use crate::Invalid;

/// Maximum size of a request, bytes.
pub const REQUEST_BYTES_MAX: usize = 1 << 20;

/// Reads a request.
///
/// # Errors
/// With the path of the key where its type or its name is wrong.
pub fn read<T: DeserializeOwned>(json: &str) -> Result<T, Invalid> {
    if json.len() > REQUEST_BYTES_MAX {
        let size = format!("{} bytes", json.len());
        return Err(Invalid::new("request", size, format!("up to {REQUEST_BYTES_MAX} bytes")));
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let document = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let key = if path == "." { "request" } else { &path };
        Invalid(format!("invalid {key}: {}", error.inner()))
    })?;
    reader.end().map_err(|error| Invalid(format!("invalid request: {error}")))?;
    Ok(document)
}

/// Writes a result as JSON.
///
/// # Errors
/// When a number is not finite; results have none.
pub fn write(document: &impl serde::Serialize) -> Result<String, Invalid> {
    serde_json::to_string(document).map_err(Invalid::of)
}

/// A value out of its range, with the part of the request before its key.
#[must_use]
pub fn below(part: &str, bad: &BadValue) -> Invalid {
    let key = match (part, bad.key.as_str()) {
        (part, "") => part.to_owned(),
        ("", key) => key.to_owned(),
        (part, key) => format!("{part}.{key}"),
    };
    Invalid::new(&key, &bad.found, &bad.allowed)
}
