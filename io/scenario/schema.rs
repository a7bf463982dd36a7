//! The JSON Schema of scenario files, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

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
    schema
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
