//! The OpenAPI document of a daemon with its own ports: two by the contract, or further ones.

use groundwave_http::ApiDocument;
use groundwave_impair::Direction;
use serde_json::{Map, Value, json};

/// Schema of the directions of a daemon with `count` ports: their names.
fn directions(count: usize) -> Value {
    let place = |direction: Direction| match direction.index() {
        0 => "first",
        1 => "second",
        _ => "further",
    };
    let names = Direction::first(count).map(|direction| {
        json!({
            "description": format!("Out of the {} port.", place(direction)),
            "type": "string",
            "const": direction.name(),
        })
    });
    json!({
        "description": "One direction of the link: what leaves through that port.",
        "oneOf": names.collect::<Vec<_>>(),
    })
}

/// Schema of the changes of a lease in a daemon with `count` ports.
fn lease_changes(count: usize) -> Value {
    let change = |direction: Direction| {
        let name = direction.name();
        let schema = json!({
            "description": format!("In `{name}`; absent leaves it."),
            "anyOf": [{ "$ref": "#/components/schemas/LeaseChange" }, { "type": "null" }],
        });
        (name.to_owned(), schema)
    };
    json!({
        "description": "Changes of a lease, by direction.",
        "type": "object",
        "properties": Direction::first(count).map(change).collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// The document with the names of `count` ports.
pub(super) fn with_ports(mut document: ApiDocument, count: usize) -> ApiDocument {
    document.set_schema("Direction", directions(count));
    document.set_schema("LeaseChanges", lease_changes(count));
    document
}
