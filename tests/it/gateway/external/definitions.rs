//! Definitions, presets, polls and tests of external systems.

use groundwave_needs::needs;
use groundwave_web_gateway::external::poll::poll;
use groundwave_web_gateway::services::external::state::Due;
use serde_json::{Value, json};

use super::{SYSTEMS, Server, bench, create, system};

#[test]
fn systems_are_defined_replaced_and_removed() {
    let bench = bench();
    let server = Server::start(&bench);
    let admin = bench.login("admin");
    let body = system(server.address);
    let answer = bench.call(&admin, "POST", SYSTEMS, &body);
    assert_eq!(answer.headers["etag"], "\"1\"");
    let answer = answer.is(201);
    assert_eq!(
        (&answer["auth"], &answer["state"]),
        (&json!({ "kind": "bearer" }), &json!("unknown"))
    );
    bench.call(&admin, "POST", SYSTEMS, &body).problem(409);
    let path = format!("{SYSTEMS}/{}", answer["system_id"].as_str().unwrap());
    let viewer = bench.login("viewer");
    assert_eq!(bench.get(&viewer, &path).is(200)["name"], "Relay board");
    assert_eq!(bench.get(&viewer, SYSTEMS).is(200)["total"], 1);
    // Without credentials of its own a replacement keeps those held, but for the same host only.
    let mut moved = body.clone();
    moved.as_object_mut().unwrap().remove("auth");
    moved["poll_interval_s"] = json!(30);
    let document = bench.call(&admin, "PUT", &path, &moved).is(200);
    assert_eq!((&document["auth"]["kind"], &document["revision"]), (&json!("bearer"), &json!(2)));
    bench.call(&admin, "POST", &format!("{path}/test"), &Value::Null).is(200);
    assert_eq!(server.last().headers["authorization"], "Bearer canary-token");
    moved["base_url"] = json!("http://10.0.0.9:1");
    let refused = bench.call(&admin, "PUT", &path, &moved).is(422);
    assert_eq!(refused["errors"][0]["pointer"], "/auth");
    let mut stale = crate::gateway::request(&admin, "PUT", &path, &body);
    stale.headers_mut().insert("if-match", "\"1\"".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), stale).problem(412);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.get(&viewer, &path).problem(404);
}

#[test]
fn definitions_are_checked() {
    let bench = bench();
    let admin = bench.login("admin");
    let wrong: [(&str, Value, &str); 10] = [
        ("base_url", json!("ftp://10.0.0.1"), "/base_url"),
        ("base_url", json!("http://user:pw@10.0.0.1"), "/base_url"),
        ("base_url", json!("http://10.0.0.1/?q=1"), "/base_url"),
        ("poll_interval_s", json!(4), "/poll_interval_s"),
        ("timeout_ms", json!(10_001), "/timeout_ms"),
        ("preset", json!("proxmox"), "/auth/kind"),
        ("auth", json!({ "kind": "bearer", "token": "a\nb" }), "/auth/token"),
        ("tls", json!({ "verify": true, "ca_pem": "no certificate" }), "/tls/ca_pem"),
        ("checks", json!([{ "metric": "UP", "path": "/" }]), "/checks/0/metric"),
        ("checks", json!([{ "metric": "x", "path": "status" }]), "/checks/0/path"),
    ];
    for (key, value, pointer) in wrong {
        let mut body = system("10.0.0.1:80".parse().unwrap());
        body[key] = value.clone();
        let answer = bench.call(&admin, "POST", SYSTEMS, &body);
        assert_eq!(answer.problem(422), "invalid-body");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{key} {value}");
    }
}

#[test]
fn presets_name_the_fields_they_need() {
    let bench = bench();
    let document = bench.get(&bench.login("viewer"), &format!("{SYSTEMS}/presets")).is(200);
    let presets: Vec<_> =
        document.as_array().unwrap().iter().map(|one| one["preset"].as_str().unwrap()).collect();
    for named in [
        "home_assistant",
        "grafana",
        "prometheus",
        "chirpstack",
        "meshtastic_mqtt",
        "openwisp",
        "custom",
    ] {
        assert!(presets.contains(&named), "{named}");
    }
    let admin = bench.login("admin");
    for preset in document.as_array().unwrap() {
        let scheme = preset["fields"]["properties"]["base_url"]["pattern"]
            .as_str()
            .unwrap()
            .trim_start_matches("^(")
            .split(['|', ')'])
            .next()
            .unwrap();
        let auth = match preset["fields"]["properties"]["auth"]["properties"]["kind"]["enum"][0]
            .as_str()
        {
            Some("bearer") => json!({ "kind": "bearer", "token": "t" }),
            Some("token_id") => json!({ "kind": "token_id", "token_id": "a", "token": "t" }),
            Some("api_key") => json!({ "kind": "api_key", "name": "X-API-KEY", "key": "t" }),
            _ => json!({ "kind": "none" }),
        };
        let body = json!({
            "name": preset["title"],
            "preset": preset["preset"],
            "base_url": format!("{scheme}://10.0.0.1"),
            "auth": auth,
        });
        let answer = bench.call(&admin, "POST", SYSTEMS, &body).is(201);
        assert_eq!(answer["checks"], preset["default_checks"]);
    }
}

#[test]
fn polls_become_series() {
    let bench = bench();
    let server = Server::start(&bench);
    let admin = bench.login("admin");
    let (path, creation) = create(&bench, &admin, &system(server.address));
    let id = creation["system_id"].as_str().unwrap().parse().unwrap();
    let due = Due { system: id, endpoint: None };
    bench.runtime.block_on(poll(&bench.gateway, due));
    let document = bench.get(&admin, &path).is(200);
    assert_eq!((&document["state"], &document["last_error"]), (&json!("up"), &Value::Null));
    let metrics = bench.get(&admin, &format!("{path}/metrics")).is(200);
    for (metric, value) in
        [("up", 1.0), ("status", 200.0), ("load", 0.5), ("ok", 1.0), ("node_load", 0.25)]
    {
        assert_eq!(metrics["latest"][metric]["value"], value, "{metric}");
        let series = metrics["series"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["metric"] == metric)
            .collect::<Vec<_>>();
        assert_eq!(series[0]["points"][0][1], value, "{metric}");
    }
    assert_eq!(metrics["latest"]["load"]["unit"], "1");
    let one = bench.get(&admin, &format!("{path}/metrics?metric=load&step_s=60")).is(200);
    assert_eq!(one["series"].as_array().unwrap().len(), 1);
    bench.get(&admin, &format!("{path}/metrics?from=yesterday")).problem(422);
    bench.get(&admin, &format!("{path}/metrics?step_s=0")).problem(422);
    // A check that finds no number degrades the system; a system that is gone is down.
    let mut body = system(server.address);
    body["checks"][0]["json_pointer"] = json!("/nothing");
    bench.call(&admin, "PUT", &path, &body).is(200);
    bench.runtime.block_on(poll(&bench.gateway, due));
    assert_eq!(bench.get(&admin, &path).is(200)["state"], "degraded");
    body["base_url"] = json!("http://127.0.0.1:1");
    bench.call(&admin, "PUT", &path, &body).is(200);
    bench.runtime.block_on(poll(&bench.gateway, due));
    let down = bench.get(&admin, &path).is(200);
    assert_eq!(down["state"], "down");
    assert!(down["last_error"].as_str().unwrap().contains("127.0.0.1:1"), "{down}");
}

#[test]
fn keys_in_urls_are_for_admins() {
    let bench = bench();
    let server = Server::start(&bench);
    let admin = bench.login("admin");
    let mut body = system(server.address);
    body["base_url"] = json!(format!("http://{}/api/SECRET1", server.address));
    let check = json!({ "metric": "a", "path": "/none?apikey=SECRET3", "json_pointer": "/a" });
    body["checks"] = json!([check]);
    let (path, creation) = create(&bench, &admin, &body);
    let id = creation["system_id"].as_str().unwrap().parse().unwrap();
    bench.runtime.block_on(poll(&bench.gateway, Due { system: id, endpoint: None }));
    let whole = bench.get(&admin, &path).is(200);
    assert_eq!((&whole["base_url"], &whole["checks"]), (&body["base_url"], &creation["checks"]));
    assert!(whole["last_error"].as_str().unwrap().contains("SECRET3"), "{whole}");
    for role in ["viewer", "operator"] {
        let token = bench.login(role);
        for path in [&path, SYSTEMS] {
            let text = bench.get(&token, path).is(200).to_string();
            assert!(!text.contains("SECRET"), "{text}");
            assert!(text.contains("/none?redacted") && text.contains("/(set)"), "{text}");
        }
    }
}

#[needs(ipv6, namespaces)]
#[test]
fn systems_are_reached_by_ipv4_and_ipv6() {
    let bench = bench();
    let admin = bench.login("admin");
    for (place, ip) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1")] {
        let server = Server::start_at(&bench, place);
        let mut echo = system(server.address);
        echo["preset"] = json!("ping");
        echo["base_url"] = json!(format!("icmp://{}", place.trim_end_matches(":0")));
        echo["auth"] = json!({ "kind": "none" });
        echo["timeout_ms"] = json!(400);
        for (body, status) in [(system(server.address), json!(200)), (echo, Value::Null)] {
            let document = bench.call(&admin, "POST", &format!("{SYSTEMS}/test"), &body).is(200);
            assert_eq!(document["reachable"], true, "{document}");
            assert_eq!((&document["resolved_ip"], &document["status"]), (&json!(ip), &status));
        }
    }
}

#[test]
fn test_of_a_system_gives_reachability_and_no_answer() {
    let bench = bench();
    let server = Server::start(&bench);
    let admin = bench.login("admin");
    let test = |path: &str| {
        let mut body = system(server.address);
        body["checks"] = json!([{ "metric": "x", "path": path }]);
        let answer = bench.call(&admin, "POST", &format!("{SYSTEMS}/test"), &body);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains("secret") && !text.contains("canary"), "{text}");
        answer.is(200)
    };
    let good = test("/status");
    assert_eq!((&good["reachable"], &good["status"]), (&json!(true), &json!(200)));
    assert_eq!(good["resolved_ip"], "127.0.0.1");
    assert_eq!(
        (&test("/fault")["reachable"], &test("/moved")["status"]),
        (&json!(true), &json!(302))
    );
    assert_eq!(bench.get(&admin, SYSTEMS).is(200)["total"], 0);
    for _ in 0..3 {
        test("/status");
    }
    let body = system(server.address);
    let limited = bench.call(&admin, "POST", &format!("{SYSTEMS}/test"), &body);
    assert_eq!(limited.problem(429), "rate-limited");
}
