//! The JSON Schema of scenario files, for editors.

use groundwave_systems::radio::presets;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::file::ScenarioFile;

/// The JSON Schema (draft 2020-12) of a scenario file, as committed in
/// `scenarios/schema.json`. Descriptions carry units and ranges.
#[must_use]
pub fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<ScenarioFile>()
        .to_value();
    forget_null(&mut schema);
    add_ranges(&mut schema);
    let ids = |all: Vec<&str>| all.into_iter().map(Value::from).collect::<Vec<Value>>();
    let radios = ids(presets::RADIOS.iter().map(|preset| preset.id).collect());
    let antennas = ids(presets::ANTENNAS.iter().map(|preset| preset.id).collect());
    for (kind, ids) in [("Radio", radios), ("Antenna", antennas)] {
        let definitions = &mut schema["$defs"];
        add_ids(&mut definitions[format!("{kind}Choice")]["anyOf"][0], &ids);
        add_ids(
            &mut definitions[format!("{kind}Settings")]["properties"]["preset"],
            &ids,
        );
    }
    schema
}

/// Names the built-in presets in the schema of an id, which may also be one of the scenario.
fn add_ids(schema: &mut Value, ids: &[Value]) {
    if let Some(keys) = schema
        .as_object_mut()
        .filter(|keys| keys.contains_key("type"))
    {
        keys.remove("type");
        let choices = json!([{ "enum": ids }, { "type": "string" }]);
        keys.insert("anyOf".to_owned(), choices);
    }
}

/// Adds the bounds that the descriptions of numbers end with, such as `[0, 20000]`.
fn add_ranges(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(add_ranges),
        Value::Object(keys) => {
            let kind = keys.get("type").and_then(Value::as_str);
            let number = matches!(kind, Some("number" | "integer"));
            let range = keys.get("description").and_then(Value::as_str);
            if let Some([low, high]) = range.filter(|_| number).and_then(range_in) {
                for (bound, inclusive, exclusive) in [
                    (low, "minimum", "exclusiveMinimum"),
                    (high, "maximum", "exclusiveMaximum"),
                ] {
                    let Some(Bound { value, open }) = bound else {
                        continue;
                    };
                    let key = if open { exclusive } else { inclusive };
                    keys.entry(key).or_insert_with(|| value.into());
                }
            }
            keys.values_mut().for_each(add_ranges);
        }
        _ => {}
    }
}

/// An end of a range.
#[derive(Debug, PartialEq)]
struct Bound {
    value: f64,
    /// True if the value itself is outside.
    open: bool,
}

/// The first range of two numbers in a text; an end that is the name of a key has no bound.
fn range_in(text: &str) -> Option<[Option<Bound>; 2]> {
    text.match_indices(['[', '(']).find_map(|(at, bracket)| {
        let rest = &text[at + 1..];
        let end = rest.find([']', ')'])?;
        let (low, high) = rest[..end].split_once(", ")?;
        let bound = |text: &str, open| {
            let value: Option<f64> = text.parse().ok();
            value
                .filter(|value| value.is_finite())
                .map(|value| Bound { value, open })
        };
        let range = [
            bound(low, bracket == "("),
            bound(high, rest[end..].starts_with(')')),
        ];
        range.iter().any(Option::is_some).then_some(range)
    })
}

/// Takes `null` out of a schema: TOML leaves a key out instead.
fn forget_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(forget_null),
        Value::Object(keys) => {
            if keys.get("default") == Some(&Value::Null) {
                keys.remove("default");
            }
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keys.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(names)) = keys.get_mut("enum") {
                names.retain(|name| !name.is_null());
            }
            if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
            }
            keys.values_mut().for_each(forget_null);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_descriptions() {
        let bound = |value, open| Some(Bound { value, open });
        for (text, range) in [
            (
                "Height, m, [0, 20000].",
                Some([bound(0.0, false), bound(20_000.0, false)]),
            ),
            (
                "Bandwidth, Hz, [100, 2e9].",
                Some([bound(100.0, false), bound(2e9, false)]),
            ),
            (
                "Spacing, m, (0, 100000]; or",
                Some([bound(0.0, true), bound(100_000.0, false)]),
            ),
            (
                "Speed, m/s, [speed_min_m_s, 8000].",
                Some([None, bound(8_000.0, false)]),
            ),
            ("Positions as `[longitude, latitude]`.", None),
            ("A page, or empty (none).", None),
        ] {
            assert_eq!(range_in(text), range, "{text}");
        }
    }

    #[test]
    fn editors_are_told_ranges_and_presets() {
        let schema = json_schema();
        let settings = &schema["$defs"]["RadioSettings"]["properties"];
        let frequency = &settings["frequency_mhz"];
        assert_eq!(
            (&frequency["minimum"], &frequency["maximum"]),
            (&json!(10.0), &json!(100_000.0))
        );
        let choice = &schema["$defs"]["RadioChoice"]["anyOf"][0];
        for ids in [
            &choice["anyOf"][0]["enum"],
            &settings["preset"]["anyOf"][0]["enum"],
        ] {
            assert!(ids.as_array().unwrap().contains(&json!("ptp_5g8")), "{ids}");
        }
        let antenna = &schema["$defs"]["AntennaChoice"]["anyOf"][0]["anyOf"][0]["enum"];
        assert!(antenna.as_array().unwrap().contains(&json!("dish_30")));
    }
}
