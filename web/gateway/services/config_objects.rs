//! Configuration objects over HTTP: list, read, create, replace, remove, for all kinds alike.
//!
//! Handlers name the kind by its view, a [`Shown`]; revisions are `ETag`s, and a change may name the
//! one it applies to in `If-Match`. `Idempotency-Key` is honoured for every POST.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use groundwave_engine::Id;
use groundwave_gateway::config::{ConfigObject, ConfigObjects, Expected, Put, Remove, Versioned};
use groundwave_gateway::configuration::{Configuration, Holds};
use groundwave_http::lenient::pointer_at;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem, id, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::world::{World, missing};

/// View of a configuration object.
pub trait Shown: Serialize + JsonSchema {
    type Object: ConfigObject;

    /// The view of an object.
    fn of(id: Uuid, versioned: &Versioned<Self::Object>) -> Self;
}

/// Revision of an object, as views show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Revision, for `If-Match`.
    pub revision: u64,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Time of the last change, RFC 3339.
    pub changed_at: String,
}

impl Revision {
    /// Revision of an object.
    #[must_use]
    pub fn of<T>(versioned: &Versioned<T>) -> Self {
        Self {
            revision: versioned.revision,
            created_at: rfc3339(versioned.created_ns),
            changed_at: rfc3339(versioned.changed_ns),
        }
    }
}

/// Objects of a kind.
#[must_use]
pub fn objects<T: ConfigObject>(world: &World) -> Arc<ConfigObjects<T>>
where
    Configuration: Holds<T>,
{
    Arc::clone(world.view().config.objects())
}

/// Page of the objects that `fits` accepts, oldest first.
///
/// # Errors
/// 422 for a page size outside 1 to 1000.
pub fn list<V: Shown>(
    world: &World,
    paging: &Paging,
    fits: impl Fn(&V::Object) -> bool,
) -> Result<Json<Page<V>>, Problem>
where
    Configuration: Holds<V::Object>,
{
    let objects = objects::<V::Object>(world);
    let all = objects
        .iter()
        .filter(|(_, versioned)| fits(&versioned.object))
        .map(|(id, versioned)| (id.uuid().to_string(), (id, versioned)));
    Ok(Json(paging.of(all, |(id, versioned)| V::of(id.uuid(), versioned))?))
}

/// Object as it is held.
///
/// # Errors
/// 404.
pub fn find<T: ConfigObject>(world: &World, id: Uuid) -> Result<Arc<Versioned<T>>, Problem>
where
    Configuration: Holds<T>,
{
    let all = objects::<T>(world);
    all.get(Id::new(id)).cloned().ok_or_else(|| missing(T::NAME, id))
}

/// Object with its revision.
///
/// # Errors
/// 404.
pub fn fetch<V: Shown>(world: &World, id: Uuid) -> Result<(Tag, Json<V>), Problem>
where
    Configuration: Holds<V::Object>,
{
    let versioned = find::<V::Object>(world, id)?;
    Ok((tag(versioned.revision), Json(V::of(id, &versioned))))
}

/// Creates an object; 201 with its revision.
///
/// # Errors
/// 409 for a name that another one has, 422 for a value that is not allowed or a reference to
/// nothing.
pub async fn create<V: Shown>(
    world: &World,
    object: V::Object,
) -> Result<(StatusCode, Tag, Json<V>), Problem>
where
    Configuration: Holds<V::Object>,
{
    let id = id::mint();
    let (tag, view) = put(world, id, object, Expected::Absent).await?;
    Ok((StatusCode::CREATED, tag, view))
}

/// Replaces an object, if `If-Match` names its revision or none.
///
/// # Errors
/// 404, 412 for another revision, and as [`create`].
pub async fn replace<V: Shown>(
    world: &World,
    id: Uuid,
    headers: &HeaderMap,
    object: V::Object,
) -> Result<(Tag, Json<V>), Problem>
where
    Configuration: Holds<V::Object>,
{
    let expected = Expected::revision(if_match_revision(headers)?);
    put(world, id, object, expected).await
}

/// Creates or replaces an object whose id follows from its content.
///
/// # Errors
/// As [`replace`].
pub async fn put<V: Shown>(
    world: &World,
    id: Uuid,
    object: V::Object,
    expected: Expected,
) -> Result<(Tag, Json<V>), Problem>
where
    Configuration: Holds<V::Object>,
{
    let versioned = write(world, id, object, expected).await?;
    Ok((tag(versioned.revision), Json(V::of(id, &versioned))))
}

/// Fields of objects, at any depth, whose texts people read in one line.
const LINES: [&str; 5] = ["comment", "label", "name", "title", "unit"];
/// Fields whose contents are those of other systems.
const FOREIGN: [&str; 4] = ["endpoints", "schema", "steps", "variables"];

/// Lines of an object with their pointers.
fn lines(value: &Value, pointer: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                lines(item, &format!("{pointer}/{index}"), visit);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| !FOREIGN.contains(&key.as_str())) {
                let at = pointer_at(pointer, key);
                match field {
                    Value::String(text) if LINES.contains(&key.as_str()) => visit(&at, text),
                    _ => lines(field, &at, visit),
                }
            }
        }
        _ => {}
    }
}

/// Checks the lines of an object that `before` does not have.
fn check_lines<T: Serialize>(object: &T, before: Option<&T>) -> Result<(), Problem> {
    let value = |object: &T| serde_json::to_value(object).unwrap_or_default();
    let mut earlier = BTreeSet::new();
    if let Some(before) = before {
        lines(&value(before), "", &mut |_, text| {
            earlier.insert(text.to_owned());
        });
    }
    let mut outcome = Ok(());
    lines(&value(object), "", &mut |pointer, text| {
        if outcome.is_ok() && !earlier.contains(text) {
            outcome = name::check_text(pointer, text);
        }
    });
    outcome
}

/// Creates or replaces an object; the object as it is held.
///
/// # Errors
/// As [`replace`].
pub async fn write<T: ConfigObject>(
    world: &World,
    id: Uuid,
    object: T,
    expected: Expected,
) -> Result<Versioned<T>, Problem>
where
    Configuration: Holds<T>,
{
    let id = Id::new(id);
    let all = objects::<T>(world);
    let before = all.get(id).map(|before| &before.object);
    let name_before = before.and_then(ConfigObject::name);
    if let Some(name) = object.name().filter(|name| Some(*name) != name_before) {
        name::check("/name", name)?;
    }
    check_lines(&object, before)?;
    let command = Put { id, object, expected };
    world.submit(command).await
}

/// Removes an object, if `If-Match` names its revision or none; 204.
///
/// # Errors
/// 404, 409 while something refers to it, 412 for another revision.
pub async fn remove<T: ConfigObject>(
    world: &World,
    id: Uuid,
    headers: &HeaderMap,
) -> Result<StatusCode, Problem> {
    let command =
        Remove::<T> { id: Id::new(id), expected: Expected::revision(if_match_revision(headers)?) };
    world.submit(command).await?;
    Ok(StatusCode::NO_CONTENT)
}
