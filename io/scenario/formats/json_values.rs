//! Values of JSON as documents of meshes write them.

use serde_json::Value;

use super::clock;

/// Elements of a JSON array; none of anything else.
pub(super) fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Elements of an array with their indices, or members of an object with their keys, each with
/// its path below `path`.
pub(super) fn entries<'v>(
    value: &'v Value,
    path: &str,
) -> impl Iterator<Item = (String, Option<&'v String>, &'v Value)> {
    let listed =
        rows(value).enumerate().map(move |(index, one)| (format!("{path}[{index}]"), None, one));
    let keyed = value
        .as_object()
        .into_iter()
        .flatten()
        .map(move |(key, one)| (format!("{path}.{key}"), Some(key), one));
    listed.chain(keyed).collect::<Vec<_>>().into_iter()
}

/// A text, or a number as text; `None` when blank or of another type.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, also in quotes.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Latitude and longitude under any of the keys in use, degrees.
pub(super) fn position(of: &Value) -> Option<[f64; 2]> {
    let at = |keys: [&str; 4]| keys.into_iter().find_map(|key| number(&of[key]));
    let lat = at(["lat", "latitude", "Latitude", "Lat"])?;
    Some([lat, at(["lng", "lon", "longitude", "Longitude"])?])
}

/// A time as seconds, ISO 8601 or ISO 8601 without a zone (UTC), s since the Unix epoch.
pub(super) fn time(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => Some(clock::iso8601(text)?.0),
        _ => None,
    }
}
