//! OpenAPI document of an HTTP interface.
//!
//! Paths are collected by `utoipa` as routes are registered, bodies and schemas by `schemars` from
//! the signatures of the handlers ([`super::endpoints`]).

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{OpenApi, Ref, RefOr, Schema};

use super::Problem;

/// Schemas being collected.
pub struct Schemas(SchemaGenerator);

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self(settings.into_generator())
    }
}

impl Schemas {
    /// Adds the schema of `T` and of all it refers to.
    pub fn add<T: schemars::JsonSchema>(&mut self) {
        self.0.subschema_for::<T>();
    }

    /// Schema of `T`, by reference where it has a name.
    pub fn reference<T: schemars::JsonSchema>(&mut self) -> Value {
        match self.0.subschema_for::<T>().to_value() {
            // Any JSON.
            Value::Bool(true) => json!({}),
            schema => schema,
        }
    }

    fn finish(mut self) -> Map<String, Value> {
        self.0.take_definitions(true).into_iter().collect()
    }
}

/// OpenAPI 3.1 document.
#[derive(Debug, Clone)]
pub struct ApiDocument(Value);

/// Title, description and version of an interface.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Title.
    pub title: &'static str,
    /// Description.
    pub description: &'static str,
    /// Version.
    pub version: &'static str,
}

impl ApiDocument {
    /// Document of paths and schemas; `describe` adds to the paths and to the schemas what the
    /// signatures of the handlers have.
    #[must_use]
    pub fn new(
        about: About,
        paths: &OpenApi,
        mut schemas: Schemas,
        describe: impl FnOnce(&mut Value, &mut Schemas),
    ) -> Self {
        let mut document = serde_json::to_value(paths).unwrap_or_default();
        document["openapi"] = json!("3.1.0");
        document["info"] = json!({
            "title": about.title,
            "description": about.description,
            "version": about.version,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        });
        describe(&mut document["paths"], &mut schemas);
        schemas.add::<Problem>();
        document["components"]["schemas"] = Value::Object(schemas.finish());
        let paths = document["paths"].as_object_mut().into_iter();
        let items = paths.flat_map(Map::values_mut).filter_map(Value::as_object_mut);
        let operations = items.flat_map(Map::iter_mut);
        operations.for_each(|(method, operation)| add_common(method, operation));
        Self(document)
    }

    /// Operation of a method and a path.
    pub fn operation(&mut self, method: &str, path: &str) -> Option<&mut Value> {
        self.0["paths"].get_mut(path)?.get_mut(method.to_lowercase())
    }

    /// Sets the schema of a name.
    pub fn set_schema(&mut self, name: &str, schema: Value) {
        self.0["components"]["schemas"][name] = schema;
    }

    pub fn set_security_schemes(&mut self, schemes: Value) {
        self.0["components"]["securitySchemes"] = schemes;
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// References to missing schemas.
    #[must_use]
    pub fn dangling(&self) -> Vec<String> {
        let mut references = Vec::new();
        collect_references(&self.0, &mut references);
        references.retain(|reference| {
            let pointer = reference.strip_prefix('#');
            pointer.and_then(|at| self.0.pointer(at)).is_none()
        });
        references
    }
}

/// Adds the problems that every operation may answer with.
fn add_common(method: &str, operation: &mut Value) {
    let mut common = vec![
        ("500", "Internal error; details are in the server log"),
        ("503", "Busy or stopping; retry later"),
    ];
    let has_body = operation.get("requestBody").is_some();
    if has_body || operation.get("parameters").is_some() {
        common.push(("400", "Malformed request"));
    }
    if has_body {
        common.push(("413", "Request body too long"));
        common.push(("415", "Unsupported media type of the request body"));
    }
    if method != "get" {
        common.push(("507", "Disk full or read-only, nothing changed; retry later"));
    }
    add_problems(operation, &common);
}

/// Adds problems by status unless the operation has them, and the schema of problems to responses
/// with status 4xx or 5xx and no body.
pub fn add_problems(operation: &mut Value, problems: &[(&str, &str)]) {
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    for (status, description) in problems {
        let response = json!({ "description": description });
        responses.entry(*status).or_insert(response);
    }
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    for (status, response) in responses {
        if status.starts_with(['4', '5']) && response.get("content").is_none() {
            response["content"] = json!({ "application/problem+json": { "schema": schema } });
        }
    }
}

fn collect_references(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(to) if key == "$ref" => references.push(to.clone()),
                    other => collect_references(other, references),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        _ => {}
    }
}

/// Lets `utoipa` refer to schemas of `schemars`: for types that a path attribute names.
#[macro_export]
macro_rules! schema_refs {
    ($($wire:ty),+ $(,)?) => {$(
        impl utoipa::PartialSchema for $wire {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::document::schema_ref::<$wire>()
            }
        }
        impl utoipa::ToSchema for $wire {
            fn name() -> std::borrow::Cow<'static, str> {
                <$wire as schemars::JsonSchema>::schema_name()
            }
        }
    )+};
}

/// Reference to the schema of `T`.
#[must_use]
pub fn schema_ref<T: schemars::JsonSchema>() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(T::schema_name()))
}

/// Binary body, in the document.
pub struct Bytes;

impl utoipa::PartialSchema for Bytes {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new().schema_type(Type::String);
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        RefOr::T(bytes.format(Some(format)).build().into())
    }
}

impl utoipa::ToSchema for Bytes {}
