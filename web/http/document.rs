//! The OpenAPI document of an API.
//!
//! Paths are collected by `utoipa` as routes are registered, so neither can drift from the other.
//! Schemas come from `schemars`, as those of scenarios do: the model and the shapes on the wire
//! need one derive, not two. [`crate::wire_schemas`] ties the two together.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{OpenApi, RefOr, Schema};

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

    fn finish(mut self) -> Map<String, Value> {
        self.0.take_definitions(true).into_iter().collect()
    }
}

/// The finished document, OpenAPI 3.1.
#[derive(Debug, Clone)]
pub struct ApiDocument(Value);

/// What an API says of itself.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl ApiDocument {
    /// Puts paths and schemas together.
    ///
    /// # Panics
    /// When the document cannot be written as JSON, which is a bug of its making.
    #[must_use]
    pub fn new(about: About, paths: &OpenApi, schemas: Schemas) -> Self {
        let mut document = serde_json::to_value(paths).expect("a document is plain data");
        document["openapi"] = json!("3.1.0");
        document["info"] = json!({
            "title": about.title,
            "description": about.description,
            "version": about.version,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        });
        document["components"]["schemas"] = Value::Object(schemas.finish());
        if let Some(paths) = document["paths"].as_object_mut() {
            let items = paths.values_mut().filter_map(Value::as_object_mut);
            items.flat_map(Map::values_mut).for_each(add_common);
        }
        Self(document)
    }

    /// Puts paths and the schemas that `register` adds together, with that of problems.
    #[must_use]
    pub fn of(about: About, paths: &OpenApi, register: fn(&mut Schemas)) -> Self {
        let mut collected = Schemas::default();
        register(&mut collected);
        collected.add::<Problem>();
        Self::new(about, paths, collected)
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// References to schemas that are not there; none in a sound document.
    #[must_use]
    pub fn dangling(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect_references(&self.0, &mut found);
        found.retain(|reference| {
            let pointer = reference.strip_prefix('#');
            pointer.and_then(|at| self.0.pointer(at)).is_none()
        });
        found
    }
}

/// Adds what every operation may answer: handlers need not repeat it.
fn add_common(operation: &mut Value) {
    let mut common = vec![
        ("500", "The server failed; its log says more"),
        (
            "503",
            "The server is busy or stopping; the same request may succeed later",
        ),
    ];
    if operation.get("requestBody").is_some() {
        common.push(("413", "The body is too long"));
        common.push(("415", "The body is not `application/json`"));
    }
    add_problems(operation, &common);
}

/// Adds problems an operation may answer with, by status, where it does not say so itself.
pub fn add_problems(operation: &mut Value, problems: &[(&str, &str)]) {
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    let Some(responses) = operation["responses"].as_object_mut() else {
        return;
    };
    for (status, description) in problems {
        responses.entry(*status).or_insert_with(|| {
            json!({
                "description": description,
                "content": { "application/problem+json": { "schema": schema } },
            })
        });
    }
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(to) if key == "$ref" => found.push(to.clone()),
                    other => collect_references(other, found),
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// Makes the types on the wire known to `utoipa` by the names their `schemars` schemas have, and a
/// function `$register` that adds all their schemas.
#[macro_export]
macro_rules! wire_schemas {
    ($(#[$meta:meta])* $vis:vis fn $register:ident: $($wire:ty),+ $(,)?) => {
        $(
            impl utoipa::PartialSchema for $wire {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                    utoipa::openapi::RefOr::Ref(utoipa::openapi::Ref::from_schema_name(
                        <$wire as schemars::JsonSchema>::schema_name(),
                    ))
                }
            }
            impl utoipa::ToSchema for $wire {
                fn name() -> std::borrow::Cow<'static, str> {
                    <$wire as schemars::JsonSchema>::schema_name()
                }
            }
        )+
        $(#[$meta])*
        $vis fn $register(schemas: &mut $crate::http::Schemas) {
            $(schemas.add::<$wire>();)+
        }
    };
}

/// Bytes that are no JSON, in the interface's document.
pub struct Bytes;

impl utoipa::PartialSchema for Bytes {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new().schema_type(Type::String);
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        RefOr::T(bytes.format(Some(format)).build().into())
    }
}

impl utoipa::ToSchema for Bytes {}
