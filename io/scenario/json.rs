//! TOML values as JSON, for bodies of commands written out.

use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::tree::Value;
use serde_json::{Map, Number, Value as Json};
use toml::de::DeValue;

/// The same value in JSON: integers stay integers. Dates and infinities were refused before.
pub(super) fn from_toml(value: &Value<'_>, path: &KeyPath, report: &mut Report) -> Option<Json> {
    match value.get_ref() {
        DeValue::String(text) => Some(Json::String(text.to_string())),
        DeValue::Boolean(truth) => Some(Json::Bool(*truth)),
        DeValue::Integer(integer) => {
            let (text, radix) = (integer.as_str(), integer.radix());
            let number = i64::from_str_radix(text, radix)
                .map(Number::from)
                .or_else(|_| u64::from_str_radix(text, radix).map(Number::from));
            if number.is_err() {
                report.at(path, format!("{text} does not fit in 64 bits"), "a 64-bit integer");
            }
            number.ok().map(Json::Number)
        }
        DeValue::Float(float) => {
            float.as_str().parse().ok().and_then(Number::from_f64).map(Json::Number)
        }
        DeValue::Datetime(_) => None,
        DeValue::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| from_toml(item, &path.index(index), report)).collect()
        }
        DeValue::Table(table) => {
            let mut map = Map::new();
            for (key, item) in table {
                let path = path.owned_key(key.get_ref());
                map.insert(key.get_ref().to_string(), from_toml(item, &path, report)?);
            }
            Some(Json::Object(map))
        }
    }
}
