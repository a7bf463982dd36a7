//! The JSON Schema of scenario files, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::file::ScenarioFile;

/// The JSON Schema (draft 2020-12) of a scenario file, as committed in
/// `scenarios/schema.json`. Descriptions carry units and ranges.
#[must_use]
pub fn json_schema() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ScenarioFile>().to_value()
}
