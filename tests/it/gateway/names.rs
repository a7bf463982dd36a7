//! Names, labels and tags that people cannot see, on every surface that takes them.

use serde_json::{Value, json};

use super::Bench;

/// Blanks, a character of no width, one that reverses the order of what follows.
const UNSEEN: [&str; 5] = [" ", "\u{a0}", "a\u{200b}", "\u{202e}a", "a\nb"];

#[test]
fn names_that_cannot_be_seen_are_refused_on_every_surface() {
    let bench = Bench::new();
    let (id, _, _) = bench.node(81);
    let admin = bench.login("admin");
    let named = |name: &str| super::automation::flow(name, "alert", json!({ "message": "x" }));
    let created = bench.call(&admin, "POST", "/v1/flows", &named("seen")).is(201);
    let flow_path = format!("/v1/flows/{}", created["flow_id"].as_str().unwrap());
    let node = format!("/v1/nodes/{id}");
    let template = |title: &str, unit: &str| {
        json!({ "template_id": "probe", "title": title, "addresses": [72],
            "read": [{ "name": "raw", "reg": 0, "len": 2 }],
            "metrics": [{ "name": "temp_c", "unit": unit, "expr": "raw" }], "interval_s": 10 })
    };
    for unseen in UNSEEN {
        let surfaces: [(&str, &str, Value); 18] = [
            ("POST", "/v1/flows", named(unseen)),
            ("PUT", &flow_path, named(unseen)),
            ("PATCH", &flow_path, json!({ "name": unseen })),
            ("PATCH", &node, json!({ "name": unseen })),
            ("PATCH", &node, json!({ "tags": ["seen", unseen] })),
            ("POST", "/v1/nodes/register", json!({ "mac": "02:00:00:00:03:01", "name": unseen })),
            ("POST", "/v1/tokens", json!({ "name": unseen, "scopes": ["nodes:read"] })),
            ("POST", "/v1/trust/macs", json!({ "mac": "02:00:00:00:03:02", "label": unseen })),
            (
                "POST",
                "/v1/trust/join-keys",
                json!({ "name": unseen, "valid_s": 600, "nodes_max": 1 }),
            ),
            (
                "POST",
                "/v1/trust/join-keys",
                json!({ "name": "k", "valid_s": 600, "nodes_max": 1, "tags": [unseen] }),
            ),
            (
                "POST",
                "/v1/model/networks",
                json!({ "name": unseen, "overlay_cidr": "10.42.0.0/24" }),
            ),
            ("POST", "/v1/boards", json!({ "board_id": "own", "name": unseen })),
            (
                "POST",
                "/v1/camera",
                json!({ "name": unseen, "source": "http_mjpeg", "url": "http://10.41.0.9/x" }),
            ),
            (
                "POST",
                "/v1/external-systems",
                json!({ "name": unseen, "preset": "http", "base_url": "http://10.41.0.9/" }),
            ),
            ("POST", "/v1/sensors/templates", template(unseen, "°C")),
            ("POST", "/v1/sensors/templates", template("seen", unseen)),
            (
                "POST",
                "/v1/sensors/i2c/assignments",
                json!({ "node_id": id, "bus": 1, "address": 72, "template_id": "lm75", "label": unseen }),
            ),
            (
                "POST",
                "/v1/power/ups/samples",
                json!({ "ups_id": unseen, "ts": now(), "power_w": 1.0 }),
            ),
        ];
        for (method, path, body) in surfaces {
            let answer = bench.call(&admin, method, path, &body);
            assert_eq!(answer.status.as_u16(), 422, "{method} {path} {body}: {:?}", answer.json());
        }
        let items = json!({ "items": [{ "mac": "02:00:00:00:03:03", "label": unseen }] });
        let imported = bench.call(&admin, "POST", "/v1/trust/macs/import", &items).is(200);
        assert_eq!(imported["rejected"][0]["code"], "label", "{unseen:?}");
    }
    let node = bench.get(&admin, &node).is(200);
    assert_eq!((&node["name"], &node["tags"]), (&json!("node-81"), &json!([])));
}

#[test]
fn tag_that_occurs_twice_is_refused() {
    let bench = Bench::new();
    let (id, _, _) = bench.node(81);
    let admin = bench.login("admin");
    let node = format!("/v1/nodes/{id}");
    let key = |tags: Value| json!({ "name": "k", "valid_s": 600, "nodes_max": 1, "tags": tags });
    bench.call(&admin, "PATCH", &node, &json!({ "tags": ["a", "a"] })).is(422);
    bench.call(&admin, "POST", "/v1/trust/join-keys", &key(json!(["a", "a"]))).is(422);
    bench.call(&admin, "PATCH", &node, &json!({ "tags": ["a", "b"] })).is(200);
    bench.call(&admin, "POST", "/v1/trust/join-keys", &key(json!(["a", "b"]))).is(201);
}

fn now() -> String {
    groundwave_http::time::rfc3339(groundwave_files::wall::wall_ns())
}
