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

/// A finite number, also in quotes.
pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// Latitude and longitude under any of the keys in use, degrees.
pub(super) fn position(of: &Value) -> Option<[f64; 2]> {
    let at = |keys: [&str; 4]| keys.into_iter().find_map(|key| number(&of[key]));
    let lat = at(["lat", "latitude", "Latitude", "Lat"])?;
    Some([lat, at(["lng", "lon", "longitude", "Longitude"])?])
}

/// A time as a number in a unit in which it is a date, or ISO 8601, s since the Unix epoch, and true unless it lacks a
/// zone, which then is UTC.
pub(super) fn time(value: &Value) -> Option<(f64, bool)> {
    match value {
        Value::Number(number) => Some((clock::unix_s(number.as_f64()?), true)),
        Value::String(text) => clock::iso8601(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_finite_and_times_have_the_unit_of_dates() {
        for text in ["NaN", "inf", "-inf", "1e400", "", "x"] {
            assert_eq!(number(&json!(text)), None, "{text}");
        }
        assert_eq!(number(&json!(" 4.5 ")), Some(4.5));
        for (value, expected) in [
            (json!(1_714_557_600), Some((1_714_557_600.0, true))),
            (json!(1_714_557_600_500_u64), Some((1_714_557_600.5, true))),
            (json!("2024-05-01T10:00:00Z"), Some((1_714_557_600.0, true))),
            (json!("2024-05-01T12:00:00+0200"), Some((1_714_557_600.0, true))),
            (json!("2024-05-01T10:00:00"), Some((1_714_557_600.0, false))),
            // A clock that was not set.
            (json!(12), Some((12.0, true))),
            (json!("soon"), None),
        ] {
            assert_eq!(time(&value), expected, "{value}");
        }
    }
}
