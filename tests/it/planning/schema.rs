//! The OpenAPI document: frozen, sound, complete.

use groundwave_planning::document;
use serde_json::Value;

use super::Bench;
use crate::outline;

#[test]
fn operations_and_fields_are_unchanged() {
    outline::assert_unchanged("planning", document().json());
}

#[test]
fn every_reference_leads_somewhere() {
    assert_eq!(document().dangling(), Vec::<String>::new());
    assert_eq!(document().json()["openapi"], "3.1.0");
}

#[test]
fn every_operation_documents_its_problems() {
    let document = document();
    let paths = document.json()["paths"].as_object().unwrap();
    let mut operations = 0;
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            operations += 1;
            let what = format!("{method} {path}");
            assert!(operation["summary"].is_string(), "{what}");
            let responses = operation["responses"].as_object().unwrap();
            for (status, response) in responses {
                let media = &response["content"];
                if status.starts_with(['4', '5']) {
                    let schema = &media["application/problem+json"]["schema"];
                    assert_eq!(schema["$ref"], "#/components/schemas/Problem", "{what}");
                }
            }
            if path.contains("{id}") {
                assert!(responses.contains_key("404"), "{what}");
            }
        }
    }
    assert!(operations >= 25, "{operations} operations");
}

#[test]
fn document_and_docs_are_served() {
    let bench = Bench::flat();
    let served = bench.call("GET", "/openapi.json", &Value::Null);
    assert_eq!(served.json(), *document().json());
    let docs = bench.call("GET", "/docs/", &Value::Null);
    assert!(docs.status.is_success() && docs.media().starts_with("text/html"));
    let script = bench.call("GET", "/docs/swagger-ui-bundle.js", &Value::Null);
    assert!(script.body.len() > 100_000, "the docs are served from here");
}
