//! The OpenAPI document: frozen, sound, complete.

use groundwave_web_gateway::{document, operations};
use serde_json::Value;

use super::Bench;
use crate::outline;

#[test]
fn operations_and_fields_are_unchanged() {
    outline::assert_unchanged("gateway", &document());
}

fn references(value: &Value, pointers: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            if let Some(Value::String(to)) = entries.get("$ref") {
                pointers.push(to.clone());
            }
            entries.values().for_each(|value| references(value, pointers));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, pointers)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut pointers = Vec::new();
    references(&document, &mut pointers);
    pointers.retain(|reference| document.pointer(reference.trim_start_matches('#')).is_none());
    assert_eq!(pointers, Vec::<String>::new());
}

#[test]
fn every_operation_has_a_summary_and_one_rule() {
    let document = document();
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let what = format!("{method} {path}");
            assert!(operation["summary"].is_string(), "{what}");
            let secured = operation.get("security").is_some();
            let answers = operation["responses"].as_object().unwrap();
            assert_eq!(
                secured,
                answers.contains_key("429") && answers.contains_key("401") && secured,
                "{what}"
            );
            if path.contains("{node_id}") {
                assert!(answers.contains_key("404"), "{what}");
            }
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    let mut ruled: Vec<_> = operations().iter().map(|operation| operation.id.to_owned()).collect();
    ids.sort();
    ruled.sort();
    assert_eq!(ids, ruled);
    assert!(ids.len() > 60, "{} operations", ids.len());
}

#[test]
fn document_and_docs_are_served_to_everybody() {
    let bench = Bench::new();
    let served = bench.get("", "/openapi.json");
    assert_eq!(served.is(200), document());
    let docs = bench.get("", "/docs/");
    assert!(docs.status.is_success(), "{}", docs.status);
    let policy = docs.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'self'"));
    assert!(served.headers.get("access-control-allow-origin").is_none());
}
