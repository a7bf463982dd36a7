//! The OpenAPI document: frozen, sound, complete, served.

use groundwave_impaird::document;
use serde_json::Value;

use super::Bench;
use crate::outline;

#[test]
fn operations_and_fields_are_unchanged() {
    outline::assert_unchanged("impair", document(2).json());
}

#[test]
fn document_is_sound_and_has_its_problems() {
    assert_eq!(document(2).dangling(), Vec::<String>::new());
    let document = document(2);
    let paths = document.json()["paths"].as_object().unwrap();
    let mut operations = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            operations.push(format!("{method} {path}"));
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.contains_key("200") && responses.contains_key("500"), "{path}");
            let is_list = path == "/v1/leases" && method == "get";
            let has_input = path.contains("{direction}") || path.contains("leases") && !is_list;
            assert_eq!(responses.contains_key("400"), has_input, "{path}");
            for (status, response) in responses {
                if status.starts_with(['4', '5']) {
                    let schema = &response["content"]["application/problem+json"]["schema"];
                    assert_eq!(schema["$ref"], "#/components/schemas/Problem", "{path}");
                }
            }
        }
    }
    assert_eq!(
        operations,
        [
            "get /v1/calibration/baseline",
            "delete /v1/impairments/{direction}",
            "get /v1/impairments/{direction}",
            "put /v1/impairments/{direction}",
            "get /v1/impairments/{direction}/stats",
            "get /v1/leases",
            "post /v1/leases",
            "delete /v1/leases/{id}",
            "put /v1/leases/{id}",
            "get /v1/system",
        ]
    );
}

#[test]
fn document_and_docs_are_served() {
    let bench = Bench::new();
    let served = bench.call("GET", "/api-docs/openapi.json", &Value::Null);
    assert_eq!(served.json(), *document(2).json());
    let moved = bench.call("GET", "/swagger-ui", &Value::Null);
    assert!(moved.status.is_redirection() || moved.status.is_success(), "{}", moved.status);
    let page = bench.call("GET", "/swagger-ui/", &Value::Null);
    assert!(page.status.is_success());
    let script = bench.call("GET", "/swagger-ui/swagger-initializer.js", &Value::Null);
    let script = String::from_utf8(script.body).unwrap();
    assert!(script.contains("/api-docs/openapi.json"), "{script}");
}
