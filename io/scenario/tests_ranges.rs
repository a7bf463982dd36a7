//! The bounds of numbers that the schema states are those that the reader holds to.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::tests_hostile::EVERYTHING;
use super::{json_schema, parse};

/// The ends of a schema's range: the value, and the side where it is refused; 0 refuses it itself.
fn ends(schema: &Value) -> Vec<(f64, f64)> {
    let sides =
        [("minimum", -1.0), ("maximum", 1.0), ("exclusiveMinimum", 0.0), ("exclusiveMaximum", 0.0)];
    let ends = sides.map(|(name, side)| Some((schema[name].as_f64()?, side)));
    ends.into_iter().flatten().collect()
}

/// All schemas with bounds, and where they are; a position of a polygon is refused with all of it.
fn bounded(schema: &Value, at: &str, all: &mut BTreeMap<*const Value, String>) {
    if !ends(schema).is_empty() {
        all.insert(schema, at.to_owned());
    }
    let keys = schema.as_object().into_iter().flatten();
    for (key, inner) in keys.filter(|(key, _)| *key != "prefixItems") {
        bounded(inner, &format!("{at}/{key}"), all);
    }
    for inner in schema.as_array().into_iter().flatten() {
        bounded(inner, at, all);
    }
}

/// The first range of two numbers in a description.
pub(super) fn stated(schema: &Value) -> Option<[f64; 2]> {
    let mut parts = schema["description"].as_str()?.split(['[', '(']);
    parts.find_map(|part| {
        let (low, high) = part.split([']', ')']).next()?.split_once(", ")?;
        Some([low.parse().ok()?, high.parse().ok()?])
    })
}

/// A walk along a document beside its schema, for the numbers with bounds that it may hold.
struct Walk<'s> {
    root: &'s Value,
    /// Key, place in the document, and schema.
    ranges: Vec<(String, String, &'s Value)>,
}

impl<'s> Walk<'s> {
    fn value(&mut self, schema: &'s Value, value: &Value, key: &str, at: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.root.pointer(&reference[1..]).unwrap();
            return self.value(target, value, key, at);
        }
        for of in ["anyOf", "oneOf"] {
            for one in schema[of].as_array().into_iter().flatten() {
                let kind = &one["properties"]["kind"]["const"];
                if kind.is_null() || *kind == value["kind"] {
                    self.value(one, value, key, at);
                }
            }
        }
        if !ends(schema).is_empty() {
            self.ranges.push((key.to_owned(), at.to_owned(), schema));
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            let (key, at) = (format!("{key}[{index}]"), format!("{at}/{index}"));
            self.value(&schema["items"], item, &key, &at);
        }
        let fields = schema["properties"].as_object();
        for (field, of) in fields.into_iter().flatten().filter(|_| value.is_object()) {
            let key = format!("{key}.{field}").trim_start_matches('.').to_owned();
            self.value(of, &value[field], &key, &format!("{at}/{field}"));
        }
    }
}

/// A document that has a table of each schema with bounds.
fn document() -> Value {
    let mut document: Value = toml::from_str(EVERYTHING).unwrap();
    // Flat ground excludes tiles.
    document["terrain"] = json!({});
    document["testbed"] = json!({ "mac": {} });
    document["mesh"]["probe"] = json!({ "frame_bytes": 134 });
    document["generate"][0]["wander"]["area"] = document["generate"][0]["area"].clone();
    let environment = &mut document["environment"];
    environment["multipath"] =
        json!({ "terrain_roughness_m": 10, "gradient_1_percent_n_units_km": -300 });
    environment["vegetation"] =
        json!({ "depth_m": 10, "specific_attenuation_db_m": 1, "maximum_attenuation_db": 20 });
    let class = json!({
        "frequency_mhz": [0, 1000], "distance_km": [0, 10], "loss_db": 1, "interval_db": [0, 2],
    });
    let fitted = json!({
        "model": "itm", "time_percent": 50, "location_percent": 50, "situation_percent": 50,
        "antenna_agl_m": [1.5, 30],
    });
    let area = json!({ "south_deg": 57.6, "west_deg": 11.7, "north_deg": 57.8, "east_deg": 12.1 });
    environment["calibration"] =
        json!({ "name": "c", "classes": [class], "fitted": fitted, "area": area });
    document["antenna"][0]["pattern"] =
        json!({ "horizontal_loss_db": [0, 3, 9, 3], "vertical_loss_db": [0, 3, 9, 3] });
    document["weather"][0]["clutter"] = json!({ "kind": "height_gain", "category": "urban" });
    document["node"][1]["radio"] = json!({ "preset": "whole", "waveform": { "kind": "ofdm" } });
    document
}

#[test]
fn the_bounds_of_the_schema_are_those_of_the_reader() {
    let (schema, document) = (json_schema(), document());
    let errors_at = |key: &str, at: &str, number: &Value| {
        let mut document = document.clone();
        let (table, field) = at.rsplit_once('/').unwrap();
        match document.pointer_mut(table).unwrap() {
            Value::Array(items) => items[field.parse::<usize>().unwrap()] = number.clone(),
            table => table[field] = number.clone(),
        }
        let text = toml::to_string(&document).unwrap();
        let errors = parse(&text, "x.toml", Path::new("")).map_or_else(|e| e.errors, |_| vec![]);
        errors.into_iter().filter(|error| error.key == key).collect::<Vec<_>>()
    };
    let mut walk = Walk { root: &schema, ranges: Vec::new() };
    walk.value(&schema, &document, "", "");
    let mut missed = BTreeMap::new();
    bounded(&schema, "", &mut missed);
    missed.retain(|missed, _| !walk.ranges.iter().any(|(_, _, met)| std::ptr::eq(*missed, *met)));
    assert!(missed.is_empty(), "not in the document: {missed:?}");
    for (key, at, schema) in walk.ranges {
        let ends = ends(schema);
        for bound in stated(schema).into_iter().flatten() {
            assert!(ends.iter().any(|(end, _)| *end == bound), "{key}: {schema}");
        }
        for (end, side) in ends {
            let whole = schema["type"] == "integer";
            let number = |number: f64| {
                if whole { json!(number as i64) } else { json!(number) }
            };
            let step = if whole { 1.0 } else { (end.abs() * 1e-6).max(1e-6) };
            let beyond = number(end + side * step);
            let errors = errors_at(&key, &at, &beyond);
            assert_eq!(errors.len(), 1, "{key} = {beyond}: {errors:?}");
            // A refusal of the end itself has another reason, stated in the message.
            let mut at_end = errors_at(&key, &at, &number(end)).into_iter();
            let refused =
                at_end.any(|e| e.what.ends_with("is out of range") && !e.allowed.contains(" ("));
            assert!(!refused || side == 0.0, "{key} = {end}");
        }
    }
}
