//! OpenAPI document of the gateway: operations with their access rules.

use axum::Router;
use groundwave_http::ApiDocument;
use groundwave_http::document::{About, add_problems};
use groundwave_http::endpoints::{Endpoints, Operation};
use serde_json::{Value, json};

use super::access::Access;
use super::endpoints::endpoints;
use super::state::Gateway;

const ABOUT: About = About {
    title: "Groundwave mesh gateway",
    description: "Lets nodes into a mesh, hears how they are, shows it to people. Log in at \
                  /api/auth/login and send `Authorization: Bearer TOKEN`; a token lives an hour. \
                  Three roles: viewer reads, operator writes a little, admin everything; nodes \
                  speak for themselves only. An API token (/v1/tokens) lives longer and reaches \
                  the operations of its scopes: `TAG:read` for GET, `TAG:write` for other \
                  methods, where TAG is the tag of the operation. Errors are RFC 7807 problems. A POST with a token \
                  may carry `Idempotency-Key` (1 to 128 characters): asked again with the same \
                  key and body within ten minutes, it is answered as before, with \
                  `Idempotency-Replayed: true`, and done once.",
    version: env!("CARGO_PKG_VERSION"),
};

/// OpenAPI document of the gateway.
#[must_use]
pub fn document() -> Value {
    build(endpoints()).1.json().clone()
}

/// Access rules of all operations.
#[must_use]
pub fn operations() -> Vec<Operation<Access>> {
    build(endpoints()).2
}

/// Router, document and operations of the endpoints.
pub(super) fn build(
    endpoints: Endpoints<Gateway, Access>,
) -> (Router<Gateway>, ApiDocument, Vec<Operation<Access>>) {
    let (router, mut document, operations) = endpoints.build(ABOUT);
    let schemes = json!({
        "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
    });
    document.set_security_schemes(schemes);
    for operation in &operations {
        if let Some(described) = document.operation(&operation.method, &operation.path) {
            add_access(described, &operation.rule);
        }
    }
    (router, document, operations)
}

/// Adds an access rule to an operation, with the problems it may answer with.
fn add_access(operation: &mut Value, access: &Access) {
    let forbidden = match access.role {
        Some(_) => "Insufficient role",
        None => "Unknown host name",
    };
    let mut common =
        vec![("400", "Malformed request"), ("403", forbidden), ("422", "Invalid value")];
    if access.role.is_some() {
        operation["security"] = json!([{ "bearer": [] }]);
        common.push(("401", "Missing, invalid, expired or revoked token"));
        common.push(("429", "Rate limit exceeded"));
    }
    let role = access.role.map_or("nobody", |role| role.word());
    operation["x-needs"] = json!({ "role": role, "node": access.nodes });
    add_problems(operation, &common);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_names_are_unique_and_references_resolve() {
        let (_, document, operations) = build(endpoints());
        for operation in operations {
            let described = &document.json()["paths"][&operation.path];
            let described = &described[operation.method.to_lowercase()];
            assert_eq!(described["operationId"], operation.id);
        }
        let schemas = document.json()["components"]["schemas"].as_object().unwrap();
        for name in schemas.keys() {
            // A second schema of the same name gets a number as suffix.
            let bare = name.trim_end_matches(|last: char| last.is_ascii_digit());
            assert!(bare == name || !schemas.contains_key(bare), "two schemas named {bare}");
        }
        assert_eq!(document.dangling(), Vec::<String>::new());
    }
}
