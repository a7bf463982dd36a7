//! Imported endpoints and their calls; a real MQTT broker.

use groundwave_needs::needs;
use groundwave_web_gateway::external::poll::poll;
use groundwave_web_gateway::services::external::state::Due;
use serde_json::{Value, json};

use super::{SYSTEMS, Server, bench, create, system};
use crate::gateway::automation;

#[test]
fn documents_are_imported_and_their_endpoints_called() {
    let bench = bench();
    let server = Server::start(&bench);
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (path, _) = create(&bench, &admin, &system(server.address));
    let import = format!("{path}/import-oas");
    let url = format!("http://{}/openapi.yaml", server.address);
    let body = bench.call(&admin, "POST", &import, &json!({ "url": url })).is(200);
    assert_eq!((&body["imported"], &body["openapi"]), (&json!(3), &json!("3.0.3")));
    assert_eq!(body["skipped"].as_array().unwrap().len(), 5);
    let endpoints = bench.get(&operator, &format!("{path}/endpoints")).is(200);
    let endpoint = |id: &str| {
        let all = endpoints["items"].as_array().unwrap();
        let operation = all.iter().find(|one| one["operation_id"] == id).unwrap().clone();
        format!("{path}/endpoints/{}", operation["endpoint_id"].as_str().unwrap())
    };
    let (list, put) = (endpoint("listRelays"), endpoint("putRelay"));
    let request = json!({ "params": { "limit": 5, "state": ["on"] } });
    let answer = bench.call(&operator, "POST", &format!("{list}/invoke"), &request).is(200);
    assert_eq!((&answer["status"], &answer["body"]), (&json!(200), &json!([1, 2])));
    let last_request = server.last();
    assert_eq!(last_request.uri.to_string(), "/api/v2/relays?limit=5&state=on");
    assert_eq!(last_request.headers["authorization"], "Bearer canary-token");
    let bad = json!({ "params": { "limit": 99 } });
    let body = bench.call(&operator, "POST", &format!("{list}/invoke"), &bad).is(422);
    assert_eq!(body["errors"][0]["pointer"], "/params/limit");
    // Other methods than GET and HEAD are for admins, and switched off at first.
    let request = json!({ "params": { "relay_id": "r1", "body": { "closed": true } } });
    bench.call(&operator, "POST", &format!("{put}/invoke"), &request).problem(403);
    bench.call(&admin, "POST", &format!("{put}/invoke"), &request).problem(422);
    bench.call(&admin, "PATCH", &put, &json!({ "enabled": true })).is(200);
    bench.call(&admin, "POST", &format!("{put}/invoke"), &request).is(200);
    let last_request = server.last();
    assert_eq!(
        (last_request.method.as_str(), &last_request.body[..]),
        ("PUT", br#"{"closed":true}"#.as_slice())
    );
    // A periodic call; a second import keeps it.
    let polled = json!({ "poll": { "every_s": 5, "json_pointer": "/1", "metric": "second" } });
    bench.call(&admin, "PATCH", &put, &polled).problem(422);
    bench.call(&admin, "PATCH", &list, &polled).is(200);
    let document = include_str!("../../../fixtures/openapi/relay_30.yaml");
    let body = bench.call(
        &admin,
        "POST",
        &import,
        &json!({ "document": document, "include": ["listRelays"] }),
    );
    assert_eq!(body.is(200)["imported"], 1);
    let remainder = bench.get(&operator, &format!("{path}/endpoints")).is(200);
    assert_eq!(remainder["items"][0]["poll"]["metric"], "second");
    let id = |text: &str| text.rsplit('/').next().unwrap().parse().unwrap();
    let due = Due { system: id(&path), endpoint: Some(id(&list)) };
    bench.runtime.block_on(poll(&bench.gateway, due));
    let metrics = bench.get(&operator, &format!("{path}/metrics?metric=second")).is(200);
    assert_eq!(metrics["series"][0]["points"][0][1], 2.0);
    bench.call(&admin, "PATCH", &list, &json!({ "poll": null })).is(200);
    assert_eq!(
        bench.get(&operator, &format!("{path}/endpoints")).is(200)["items"][0]["poll"],
        Value::Null
    );
    let wrong = [
        json!({}),
        json!({ "document": 3 }),
        json!({ "document": "x", "url": url }),
        json!({ "document": "{}" }),
    ];
    for wrong in wrong {
        bench.call(&admin, "POST", &import, &wrong).problem(422);
    }
    let long = json!({ "document": " ".repeat((2 << 20) + 1) });
    bench.call(&admin, "POST", &import, &long).problem(413);
}

#[needs(mosquitto)]
#[test]
fn a_broker_is_greeted_in_mqtt() {
    let bench = bench();
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let passwords = folder.path().join("passwords");
    let output = std::process::Command::new("mosquitto_passwd")
        .args(["-c", "-b", passwords.to_str().unwrap(), "mesh", "right"])
        .status();
    assert!(output.unwrap().success());
    let config =
        format!("listener {port} 127.0.0.1\npassword_file {}\nuser root\n", passwords.display());
    let file = folder.path().join("mosquitto.conf");
    std::fs::write(&file, config).unwrap();
    let mut broker = std::process::Command::new("mosquitto");
    let mut broker =
        broker.arg("-c").arg(&file).stderr(std::process::Stdio::null()).spawn().unwrap();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(broker.try_wait().unwrap().is_none(), "the broker ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let admin = bench.login("admin");
    let test = |auth: Value| {
        let body = json!({
            "name": "Mesh broker",
            "preset": "meshtastic_mqtt",
            "base_url": format!("mqtt://127.0.0.1:{port}"),
            "auth": auth,
        });
        bench.call(&admin, "POST", &format!("{SYSTEMS}/test"), &body).is(200)
    };
    let login =
        |password: &str| json!({ "kind": "basic", "username": "mesh", "password": password });
    let (right, wrong, none) =
        (test(login("right")), test(login("wrong")), test(json!({ "kind": "none" })));
    broker.kill().unwrap();
    broker.wait().unwrap();
    assert_eq!(
        (&right["reachable"], &right["status"], &right["error"]),
        (&json!(true), &json!(0), &Value::Null)
    );
    for refused in [wrong, none] {
        assert_eq!(
            (&refused["reachable"], &refused["status"]),
            (&json!(true), &json!(5)),
            "{refused}"
        );
    }
    assert_eq!(test(login("right"))["reachable"], false);
}

#[test]
fn flows_call_imported_endpoints() {
    let bench = bench();
    let server = Server::start(&bench);
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (path, creation) = create(&bench, &admin, &system(server.address));
    let document = include_str!("../../../fixtures/openapi/relay_30.yaml");
    let import = json!({ "document": document });
    bench.call(&admin, "POST", &format!("{path}/import-oas"), &import).is(200);
    let endpoints = bench.get(&admin, &format!("{path}/endpoints")).is(200);
    let endpoint = |id: &str| {
        let mut all = endpoints["items"].as_array().unwrap().iter();
        all.find(|one| one["operation_id"] == id).unwrap()["endpoint_id"].clone()
    };
    let call = |name: &str, endpoint: &Value, params: Value| {
        let params = json!({ "system_id": creation["system_id"], "endpoint_id": endpoint, "params": params });
        automation::flow(name, "external_call", params)
    };
    let run = |flow: &str| {
        let execution = automation::trigger(&bench, &operator, flow);
        automation::ended(&bench, &operator, flow, &execution)
    };
    let (list, put) = (endpoint("listRelays"), endpoint("putRelay"));
    // Texts of parameters name values of the context.
    let read = call("read", &list, json!({ "limit": 5, "state": ["{{/trigger/text}}"] }));
    let read = automation::create(&bench, &operator, &read);
    // The schema of the endpoint allows on and off.
    let outcome = run(&read);
    assert_eq!(outcome["state"], "failed", "{outcome}");
    assert!(server.requests.lock().unwrap().is_empty());
    let read = automation::create(&bench, &operator, &call("list", &list, json!({ "limit": 5 })));
    let outcome = run(&read);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let output = &outcome["steps"][1]["output"];
    assert_eq!((&output["status"], &output["body"]), (&json!(200), &json!([1, 2])));
    let last_request = server.last();
    assert_eq!(last_request.uri.to_string(), "/api/v2/relays?limit=5");
    assert_eq!(last_request.headers["authorization"], "Bearer canary-token");
    // A call that changes something is made a flow by admins only, and as long as it is switched on.
    let change = call("close", &put, json!({ "relay_id": "r1", "body": { "closed": true } }));
    bench.call(&operator, "POST", "/v1/flows", &change).problem(403);
    let change = automation::create(&bench, &admin, &change);
    assert_eq!(run(&change)["state"], "failed");
    let put = format!("{path}/endpoints/{}", put.as_str().unwrap());
    bench.call(&admin, "PATCH", &put, &json!({ "enabled": true })).is(200);
    assert_eq!(run(&change)["state"], "succeeded");
    assert_eq!(&server.last().body[..], br#"{"closed":true}"#.as_slice());
    // Operators may switch it off, admins alone on.
    let enable = |caller: &str, enabled| {
        bench.call(caller, "PATCH", &change, &json!({ "enabled": enabled }))
    };
    enable(&operator, false).is(200);
    enable(&operator, true).problem(403);
    enable(&admin, true).is(200);
    // The step that names an unknown endpoint is named.
    let wrong = call("wrong", &json!("00000000-0000-4000-8000-000000000009"), json!({}));
    let outcome = bench.call(&admin, "POST", "/v1/flows", &wrong).is(422);
    assert_eq!(outcome["errors"][0]["pointer"], "/steps/1/params/endpoint_id");
}
