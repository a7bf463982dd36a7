//! The JSON Schema of scenario files, for editors.

use groundwave_model::radio::presets;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::file::ScenarioFile;
use super::formats::csv::levels::{Mapping, VALUES};

/// The JSON Schema (draft 2020-12) of a scenario file, as committed in
/// `scenarios/schema.json`. Descriptions carry units and ranges.
#[must_use]
pub fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<ScenarioFile>().to_value();
    forget_null(&mut schema);
    name_presets(&mut schema);
    schema
}

/// The JSON Schema (draft 2020-12) of a mapping file of a table of measurements.
#[must_use]
pub fn mapping_schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Mapping>().to_value();
    forget_null(&mut schema);
    schema["properties"]["values"]["propertyNames"] = json!({ "enum": VALUES });
    schema["properties"]["values"]["minProperties"] = json!(1);
    name_presets(&mut schema);
    schema
}

/// Names the built-in presets in the schemas of radios and antennas.
fn name_presets(schema: &mut Value) {
    let ids = |all: Vec<&str>| all.into_iter().map(Value::from).collect::<Vec<Value>>();
    let radios = ids(presets::RADIOS.iter().map(|preset| preset.id).collect());
    let antennas = ids(presets::ANTENNAS.iter().map(|preset| preset.id).collect());
    for (kind, ids) in [("Radio", radios), ("Antenna", antennas)] {
        let definitions = &mut schema["$defs"];
        add_ids(&mut definitions[format!("{kind}Choice")]["anyOf"][0], &ids);
        add_ids(&mut definitions[format!("{kind}Settings")]["properties"]["preset"], &ids);
    }
}

/// Names the built-in presets in the schema of an id, which may also be one of the scenario.
fn add_ids(schema: &mut Value, ids: &[Value]) {
    if let Some(keys) = schema.as_object_mut().filter(|keys| keys.contains_key("type")) {
        keys.remove("type");
        let choices = json!([{ "enum": ids }, { "type": "string" }]);
        keys.insert("anyOf".to_owned(), choices);
    }
}

/// Takes `null` out of a schema: TOML leaves a key out instead.
fn forget_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(forget_null),
        Value::Object(keys) => {
            keys.retain(|_, value| !value.is_null());
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
    fn schema_of_mappings_has_columns_values_and_presets() {
        let schema = mapping_schema();
        assert_eq!(schema["required"], json!(["step_s", "time", "link", "values"]));
        let values = &schema["properties"]["values"]["propertyNames"]["enum"];
        assert!(values.as_array().unwrap().contains(&json!("path_loss_db")), "{values}");
        let units = &schema["$defs"]["TimeUnit"];
        assert!(units.to_string().contains("iso8601"), "{units}");
        assert!(schema["$defs"]["RadioChoice"].to_string().contains("ptp_11g"));
        assert_eq!(schema["additionalProperties"], json!(false));
    }

    #[test]
    fn schema_has_ranges_and_presets() {
        let schema = json_schema();
        let settings = &schema["$defs"]["RadioSettings"]["properties"];
        let frequency = &settings["frequency_mhz"];
        assert_eq!(
            (&frequency["minimum"], &frequency["maximum"]),
            (&json!(10.0), &json!(100_000.0))
        );
        let choice = &schema["$defs"]["RadioChoice"]["anyOf"][0];
        for ids in [&choice["anyOf"][0]["enum"], &settings["preset"]["anyOf"][0]["enum"]] {
            assert!(ids.as_array().unwrap().contains(&json!("ptp_5g8")), "{ids}");
        }
        let antenna = &schema["$defs"]["AntennaChoice"]["anyOf"][0]["anyOf"][0]["enum"];
        assert!(antenna.as_array().unwrap().contains(&json!("dish_30")));
    }
}
