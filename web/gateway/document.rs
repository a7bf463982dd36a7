//! The document of the gateway's interface: what handlers say of themselves, and what the table
//! says of all of them.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::gateway::access::{Needs, rule_of};
use crate::gateway::router::routes;
use crate::gateway::schemas::schemas;
use crate::http::ApiDocument;
use crate::http::document::{About, add_problems};

const ABOUT: About = About {
    title: "Groundwave mesh gateway",
    description: "Lets nodes into a mesh, hears how they are, shows it to people. Log in at \
                  /api/auth/login and send `Authorization: Bearer TOKEN`; a token lives an hour. \
                  Three roles: viewer reads, operator writes a little, admin everything; nodes \
                  speak for themselves only. Errors are RFC 7807 problems. A POST with a token \
                  may carry `Idempotency-Key` (1 to 128 characters): asked again with the same \
                  key and body within ten minutes, it is answered as before, with \
                  `Idempotency-Replayed: true`, and done once.",
    version: env!("CARGO_PKG_VERSION"),
};

/// The OpenAPI document of the gateway.
#[must_use]
pub fn document() -> Value {
    complete(&routes().into_openapi())
}

/// The document of these paths, with what the table says of each operation.
pub(super) fn complete(paths: &OpenApi) -> Value {
    let mut document = ApiDocument::of(ABOUT, paths, schemas).json().clone();
    document["components"]["securitySchemes"] = json!({
        "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
    });
    let Some(paths) = document["paths"].as_object_mut() else {
        return document;
    };
    let items = paths.values_mut().filter_map(Value::as_object_mut);
    items.flat_map(Map::values_mut).for_each(guarded);
    document
}

fn guarded(operation: &mut Value) {
    let Some(id) = operation["operationId"].as_str() else {
        return;
    };
    let Some(rule) = rule_of(id) else { return };
    if let Some(body) = operation.get_mut("requestBody") {
        let schema = &body["content"]["application/json"]["schema"];
        // A body that may be missing is said to be one of two things.
        body["required"] = schema.get("$ref").is_some().into();
    }
    let mut common = vec![
        (
            "400",
            "The request is no sound JSON, or a part of its path is not what it should be",
        ),
        ("403", "The gateway is not called by that name"),
        ("422", "A value is not allowed"),
    ];
    if rule.needs != Needs::Nothing {
        operation["security"] = json!([{ "bearer": [] }]);
        common.push(("401", "Log in first"));
        common[1].1 = "This is not for the role of the token";
        common.push(("429", "Too often"));
    }
    let needs = match rule.needs {
        Needs::Nothing => "nobody".to_owned(),
        Needs::Role(role) => role.word().to_owned(),
    };
    operation["x-needs"] = json!({ "role": needs, "node": rule.node });
    add_problems(operation, &common);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::access;

    #[test]
    fn every_operation_has_a_row_and_every_shape_one_name() {
        let document = document();
        access::table(&document).unwrap();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for name in schemas.keys() {
            // A second shape of the same name gets a number behind it.
            let bare = name.trim_end_matches(|last: char| last.is_ascii_digit());
            assert!(
                bare == name || !schemas.contains_key(bare),
                "two are called {bare}"
            );
        }
        let held = ApiDocument::of(
            ABOUT,
            &routes().into_openapi(),
            crate::gateway::schemas::schemas,
        );
        assert_eq!(held.dangling(), Vec::<String>::new());
    }
}
