//! Operation as both versions of OpenAPI describe it, and the schema of its parameters.

use std::collections::BTreeMap;

use groundwave_gateway::external::ParameterPlace;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Name of the property that holds the JSON body.
pub const BODY: &str = "body";

/// Header fields that the client sets.
const OWN_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// Place of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    Path,
    Query,
    Header,
    Cookie,
}

impl Location {
    /// Style of a parameter that names none.
    pub const fn usual_style(self) -> &'static str {
        match self {
            Self::Path | Self::Header => "simple",
            Self::Query | Self::Cookie => "form",
        }
    }
}

/// Parameter of an operation.
#[derive(Debug, Clone)]
pub struct DraftParameter {
    pub name: String,
    pub location: Location,
    pub required: bool,
    /// `form` or `simple`, else unsupported.
    pub style: String,
    pub explode: Option<bool>,
    /// Schema, with references inlined; `None` for parameters with a media type.
    pub schema: Option<Value>,
    pub description: Option<String>,
}

/// Operation of either version.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub operation_id: Option<String>,
    pub summary: String,
    pub parameters: Vec<DraftParameter>,
    /// Schema of a JSON body, and `true` if it is required.
    pub body: Option<(Value, bool)>,
}

/// The media type of a JSON body; `None` where no JSON is taken.
pub fn json_media<'a>(mut media: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    media.find(|media| {
        let essence = media.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        essence == "application/json" || essence.ends_with("+json") || essence == "*/*"
    })
}

impl Draft {
    /// JSON schema of all parameters, and their places.
    pub fn params(self, path: &str) -> Result<(Value, BTreeMap<String, ParameterPlace>), String> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut places = BTreeMap::new();
        for parameter in self.parameters {
            let name = parameter.name;
            let place = match parameter.location {
                Location::Path => ParameterPlace::Path,
                Location::Query if parameter.explode == Some(false) => ParameterPlace::QueryList,
                Location::Query => ParameterPlace::Query,
                Location::Header if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) => {
                    continue;
                }
                Location::Header => ParameterPlace::Header,
                Location::Cookie if parameter.required => {
                    return Err(format!("required cookie {name}"));
                }
                Location::Cookie => continue,
            };
            let style = match place {
                ParameterPlace::Query | ParameterPlace::QueryList => "form",
                _ => "simple",
            };
            if parameter.style != style {
                let (style, name) = (parameter.style, &name);
                return Err(format!("style {style} of the parameter {name} is not supported"));
            }
            let Some(mut schema) = parameter.schema else {
                return Err(format!("the parameter {name} has a media type"));
            };
            if let (Value::Object(schema), Some(text)) = (&mut schema, parameter.description) {
                let text: String = text.chars().take(256).collect();
                schema.entry("description").or_insert(Value::String(text));
            }
            if parameter.required || place == ParameterPlace::Path {
                required.push(name.clone());
            }
            if places.insert(name.clone(), place).is_some() {
                return Err(format!("several parameters are called {name}"));
            }
            properties.insert(name, schema);
        }
        if let Some((schema, is_required)) = self.body {
            if places.insert(BODY.to_owned(), ParameterPlace::Body).is_some() {
                return Err(format!("a parameter is called {BODY}, beside a body"));
            }
            properties.insert(BODY.to_owned(), schema);
            if is_required {
                required.push(BODY.to_owned());
            }
        }
        for named in path.split('{').skip(1) {
            let name = named.split('}').next().unwrap_or_default();
            if places.get(name) != Some(&ParameterPlace::Path) {
                return Err(format!(
                    "invalid path: found {name}, allowed names of path parameters"
                ));
            }
        }
        let params = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Ok((params, places))
    }
}
