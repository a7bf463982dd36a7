//! Own documents of both versions, calls of their operations, and three published documents.

use groundwave_gateway::external::{Endpoint, HttpMethod, ParameterPlace};
use groundwave_needs::needs;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{ApiDocument, OpenApiError, Operation, call, read};

fn fixture(name: &str) -> ApiDocument {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/openapi/");
    read(&std::fs::read_to_string(format!("{folder}{name}")).unwrap()).unwrap()
}

fn operation<'a>(document: &'a ApiDocument, id: &str) -> &'a Operation {
    let mut operations = document.operations.iter();
    let entry = operations.find(|entry| entry.operation_id.as_deref() == Some(id));
    entry.unwrap_or_else(|| panic!("{id} was not imported: {:?}", document.skipped))
}

fn endpoint(operation: &Operation) -> Endpoint {
    Endpoint {
        endpoint_id: Uuid::nil(),
        method: operation.method,
        path: operation.path.clone(),
        operation_id: operation.operation_id.clone(),
        summary: operation.summary.clone(),
        params: operation.params.clone(),
        places: operation.places.clone(),
        enabled: true,
        poll: None,
    }
}

fn params(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn reason<'a>(document: &'a ApiDocument, path: &str) -> &'a str {
    let mut skipped = document.skipped.iter();
    let entry = skipped.find(|entry| entry.path == path);
    &entry.unwrap_or_else(|| panic!("{path}: {:?}", document.skipped)).reason
}

#[test]
fn documents_of_3_0_become_operations_and_reasons() {
    let document = fixture("relay_30.yaml");
    assert_eq!((document.title.as_str(), document.base_path.as_str()), ("Relay board", "/api/v2"));
    let ids: Vec<_> =
        document.operations.iter().filter_map(|entry| entry.operation_id.clone()).collect();
    assert_eq!(ids, ["listRelays", "getRelay", "putRelay"]);
    let reasons = [
        ("TRACE /relays", "TRACE"),
        ("POST /relays/{relay_id}", "not JSON"),
        ("DELETE /relays/{relay_id}", "deepObject"),
        ("PATCH /relays/{relay_id}", "remote $ref"),
        ("GET /broken/{name}", "allowed names of path parameters"),
    ];
    for (path, word) in reasons {
        assert!(reason(&document, path).contains(word), "{path}: {:?}", document.skipped);
    }
    assert_eq!(document.skipped.len(), reasons.len());
    let list = operation(&document, "listRelays");
    let limit = &list.params["properties"]["limit"];
    assert_eq!(*limit, json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 50 }));
    assert_eq!(list.places["fields"], ParameterPlace::QueryList);
    assert!(!list.places.contains_key("Authorization"));
    let put = operation(&document, "putRelay");
    assert_eq!(put.params["required"], json!(["relay_id", "body"]));
    let body = &put.params["properties"]["body"];
    assert_eq!(body["required"], json!(["closed"]), "read-only properties are not required");
    assert_eq!(body["properties"]["label"]["type"], json!(["string", "null"]));
    assert_eq!(body["properties"]["parent"], json!({}), "a schema that contains itself ends");
}

#[test]
fn documents_of_3_1_become_operations_and_reasons() {
    let document = fixture("sensors_31.json");
    assert_eq!((document.version.as_str(), document.base_path.as_str()), ("3.1.0", "/hub"));
    let since = &operation(&document, "listSensors").params["properties"]["since"];
    assert_eq!(since["type"], json!(["integer", "null"]));
    let body = &operation(&document, "addSensor").params["properties"]["body"];
    assert_eq!(body["allOf"][1], json!({ "minProperties": 1 }));
    assert!(reason(&document, "GET /sensors/{id}").contains("required cookie session"));
}

#[test]
fn parameters_are_checked_and_put_in_their_places() {
    let document = fixture("relay_30.yaml");
    let list = endpoint(operation(&document, "listRelays"));
    let given = json!({ "limit": 7, "state": ["on", "off"], "fields": ["a b", "c&d"] });
    let request = call(&list, &params(&given)).unwrap();
    assert_eq!(request.path, "/relays?fields=a%20b,c%26d&limit=7&state=on&state=off");
    for bad in [
        json!({ "limit": 0 }),
        json!({ "limit": 51 }),
        json!({ "limit": "7" }),
        json!({ "state": ["up"] }),
        json!({ "unknown": 1 }),
    ] {
        assert!(call(&list, &params(&bad)).is_err(), "{bad}");
    }
    let wrong = call(&list, &params(&json!({ "limit": 51 }))).unwrap_err();
    assert_eq!(wrong[0].pointer, "/limit");
    let get = endpoint(operation(&document, "getRelay"));
    let request = call(&get, &params(&json!({ "relay_id": "a/b ../c", "X-Trace": "t" }))).unwrap();
    assert_eq!(request.path, "/relays/a%2Fb%20..%2Fc");
    assert_eq!(request.headers, [("X-Trace".to_owned(), "t".to_owned())]);
    for bad in [json!({}), json!({ "relay_id": ".." }), json!({ "relay_id": "" })] {
        assert!(call(&get, &params(&bad)).is_err(), "{bad}");
    }
    let smuggled = json!({ "relay_id": "a", "X-Trace": "t\r\nHost: evil" });
    assert!(call(&get, &params(&smuggled)).is_err());
    let put = endpoint(operation(&document, "putRelay"));
    let body = json!({ "closed": true, "label": null });
    let request = call(&put, &params(&json!({ "relay_id": "a", "body": body }))).unwrap();
    assert_eq!((put.method, request.body), (HttpMethod::Put, Some(body)));
    let bad = json!({ "relay_id": "a", "body": { "closed": "yes" } });
    assert_eq!(call(&put, &params(&bad)).unwrap_err()[0].pointer, "/body/closed");
}

#[test]
fn other_documents_are_refused() {
    let version = |text: &str| match read(text) {
        Err(OpenApiError::Version(version)) => version,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(version("{}"), "none");
    assert_eq!(version("{\"swagger\": \"2.0\"}"), "swagger 2.0");
    assert_eq!(version("openapi: 4.0.0"), "4.0.0");
    assert_eq!(version("openapi: é.1.0"), "é.1.0");
    for text in ["", "{", "a: [b", "\u{0}", "[1"] {
        assert!(read(text).is_err(), "{text:?}");
    }
    assert!(matches!(read("{\"openapi\":\"3.0.0\",\"paths\":3}"), Err(OpenApiError::Paths(_))));
    assert!(read("{\"openapi\":\"3.1.0\"}").unwrap().operations.is_empty());
}

#[test]
fn documents_that_grow_by_references_are_bounded() {
    // Each schema names the next one ten times: 10^8 parts when inlined.
    let mut schemas = Map::new();
    for level in 0..8 {
        let next = json!({ "$ref": format!("#/components/schemas/s{}", level + 1) });
        let all: Vec<_> = std::iter::repeat_n(next, 10).collect();
        schemas.insert(format!("s{level}"), json!({ "allOf": all }));
    }
    schemas.insert("s8".to_owned(), json!({ "type": "string" }));
    let parameter =
        json!({ "name": "q", "in": "query", "schema": { "$ref": "#/components/schemas/s0" } });
    for version in ["3.0.0", "3.1.0"] {
        let document = json!({
            "openapi": version,
            "info": { "title": "t", "version": "1" },
            "paths": { "/x": { "get": { "parameters": [parameter], "responses": { "200": { "description": "d" } } } } },
            "components": { "schemas": schemas },
        });
        let document = read(&document.to_string()).unwrap();
        assert!(document.operations.is_empty());
        assert!(document.skipped[0].reason.contains("too large"), "{:?}", document.skipped);
    }
}

/// A published document, below the folder of fetched data.
fn published(name: &str) -> ApiDocument {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.data").into();
    let folder = std::env::var_os("GROUNDWAVE_DATA").unwrap_or(usual);
    let path = std::path::Path::new(&folder).join("openapi").join(name);
    read(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[needs(openapi_documents)]
#[test]
fn published_documents_are_imported() {
    // Operations in the document, and those that are imported.
    let cases = [
        ("petstore.json", "3.0.0", 20),
        ("train-travel.json", "3.1.0", 7),
        ("star-trek.json", "3.0.1", 120),
    ];
    for (name, version, count) in cases {
        let document = published(name);
        assert_eq!(document.version, version);
        let (count_imported, skipped) = (document.operations.len(), document.skipped.len());
        assert_eq!(count_imported + skipped, count, "{name}: {:?}", document.skipped);
        assert!(count_imported * 4 >= count * 3, "{name}: {:?}", document.skipped);
        assert!(document.skipped.iter().all(|entry| !entry.reason.is_empty()));
    }
}

#[needs(openapi_documents)]
#[test]
fn operations_of_published_documents_are_called() {
    let pets = published("petstore.json");
    let find = endpoint(operation(&pets, "findPetsByStatus"));
    let given = params(&json!({ "status": ["sold", "pending"] }));
    let request = call(&find, &given).unwrap();
    assert!(request.path.starts_with("/pet/findByStatus?status=sold"), "{}", request.path);
    assert!(call(&find, &params(&json!({ "status": ["eaten"] }))).is_err());
    let add = endpoint(operation(&pets, "addPet"));
    let pet = json!({ "name": "Rex", "photoUrls": [] });
    assert_eq!(call(&add, &params(&json!({ "body": pet }))).unwrap().body, Some(pet));
    assert!(call(&add, &params(&json!({ "body": { "name": "Rex" } }))).is_err());
    let trains = published("train-travel.json");
    let trips = endpoint(operation(&trains, "get-trips"));
    assert!(call(&trips, &params(&json!({ "origin": "x" }))).is_err(), "required parameters");
}

#[test]
fn words_of_yaml_1_1_are_texts_and_patterns_that_look_around_are_left_out() {
    let document = read(
        r#"
openapi: 3.0.3
info: {title: Relays, version: "1"}
paths:
  /relays/{no}:
    get:
      operationId: on
      parameters:
        - {name: no, in: path, required: true, schema: {type: string, pattern: "^(?!00)[0-9]+$"}}
        - {name: kind, in: query, schema: {type: string, pattern: "^[a-z]+$", enum: [yes, off]}}
      responses: {"200": {description: Read}}
"#,
    )
    .unwrap();
    let get = operation(&document, "on");
    let properties = &get.params["properties"];
    assert_eq!(properties["no"].get("pattern"), None, "{properties}");
    assert_eq!(properties["kind"]["pattern"], "^[a-z]+$");
    assert_eq!(properties["kind"]["enum"], json!(["yes", "off"]));
    let call = call(&endpoint(get), &params(&json!({"no": "7", "kind": "off"}))).unwrap();
    assert_eq!(call.path, "/relays/7?kind=off");
}
