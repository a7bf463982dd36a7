//! Operations of OpenAPI 3.0 and 3.1: what both versions write alike. Schemas, which differ, are read
//! from the document as they stand.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::draft::{Draft, DraftParameter, Location, json_media};
use super::schema::{Inliner, resolve};

/// Operation Object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OperationObject {
    operation_id: Option<String>,
    summary: Option<String>,
    description: Option<String>,
    #[serde(default)]
    parameters: Vec<Value>,
    request_body: Option<Value>,
}

/// Parameter Object.
#[derive(Deserialize)]
struct ParameterObject {
    name: String,
    #[serde(rename = "in")]
    location: Location,
    #[serde(default)]
    required: bool,
    style: Option<String>,
    explode: Option<bool>,
    schema: Option<Value>,
    description: Option<String>,
}

/// Request Body Object.
#[derive(Deserialize)]
struct BodyObject {
    #[serde(default)]
    required: bool,
    content: Map<String, Value>,
}

fn typed<T: DeserializeOwned>(what: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|err| format!("{what}: {err}"))
}

/// Reader of the operations of a document.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// Document.
    pub document: &'a Value,
    /// Version 3.0.
    pub is_30: bool,
}

impl Reader<'_> {
    fn schema(self, schema: &Value) -> Result<Value, String> {
        Inliner::new(self.document, self.is_30).inline(schema, 0)
    }

    fn parameter(self, parameter: &Value) -> Result<DraftParameter, String> {
        let parameter: ParameterObject = typed("parameter", resolve(parameter, self.document)?)?;
        let usual = parameter.location.usual_style();
        Ok(DraftParameter {
            name: parameter.name,
            location: parameter.location,
            required: parameter.required,
            style: parameter.style.unwrap_or_else(|| usual.to_owned()),
            explode: parameter.explode,
            schema: parameter.schema.map(|schema| self.schema(&schema)).transpose()?,
            description: parameter.description,
        })
    }

    /// Schema of a JSON body, and `true` if it is required; `None` where JSON is not taken and need
    /// not be given.
    fn body(self, body: &Value) -> Result<Option<(Value, bool)>, String> {
        let body: BodyObject = typed("request body", resolve(body, self.document)?)?;
        let Some(media) = json_media(body.content.keys()) else {
            return match body.required {
                true => Err("the body is not JSON".to_owned()),
                false => Ok(None),
            };
        };
        let schema = body.content[media].get("schema");
        let schema = schema.map_or(Ok(Value::Bool(true)), |schema| self.schema(schema));
        Ok(Some((schema?, body.required)))
    }

    /// Reads an operation and the parameters of its path.
    pub fn operation(self, operation: &Value, shared: &Value) -> Result<Draft, String> {
        let read: OperationObject = typed("operation", operation)?;
        let shared = shared.as_array().into_iter().flatten();
        let mut parameters: Vec<DraftParameter> = Vec::new();
        for parameter in shared.chain(&read.parameters) {
            let parameter = self.parameter(parameter)?;
            // A parameter of the operation replaces that of the path.
            parameters.retain(|other| {
                other.name != parameter.name || other.location != parameter.location
            });
            parameters.push(parameter);
        }
        let body = read.request_body.map(|body| self.body(&body));
        Ok(Draft {
            operation_id: read.operation_id,
            summary: read.summary.or(read.description).unwrap_or_default(),
            parameters,
            body: body.transpose()?.flatten(),
        })
    }
}
