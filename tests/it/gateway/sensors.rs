//! Sensors and GPIO lines: templates, boards, assignments, scans and readings.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use groundwave_gateway::peripheral::RecordHostReadings;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::{Answer, Bench, beat, request};

const TEMPLATES: &str = "/v1/sensors/templates";
const ASSIGNMENTS: &str = "/v1/sensors/i2c/assignments";

fn template(id: &str) -> Value {
    json!({
        "template_id": id,
        "addresses": [0x20],
        "read": [{ "name": "raw", "reg": 0, "len": 2 }],
        "metrics": [{ "name": "level_m", "unit": "m", "expr": "raw / 1000", "min": 0, "max": 10 }],
    })
}

fn toml(bench: &Bench, token: &str, path: &str, text: String) -> Answer {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/toml");
    bench.send_from("127.0.0.1".parse().unwrap(), request.body(Body::from(text)).unwrap())
}

#[test]
fn templates_are_made_changed_tried_and_removed() {
    let bench = Bench::new();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let listed = bench.get(&operator, TEMPLATES).is(200);
    assert_eq!(listed["total"], 7);
    assert!(listed["items"].as_array().unwrap().iter().all(|one| one["built_in"] == true));

    let creation = bench.call(&admin, "POST", TEMPLATES, &template("level"));
    assert_eq!(creation.headers["etag"], "\"1\"");
    assert_eq!(creation.is(201)["built_in"], false);
    bench.call(&admin, "POST", TEMPLATES, &template("level")).problem(409);
    bench.call(&admin, "POST", TEMPLATES, &template("bme280")).problem(409);
    bench.call(&operator, "POST", TEMPLATES, &template("other")).problem(403);

    let path = format!("{TEMPLATES}/level");
    let tried = format!("{path}/dry-run");
    let body = json!({ "registers": { "0x00": "07d0" } });
    let document = bench.call(&operator, "POST", &tried, &body).is(200);
    assert_eq!(document["metrics"]["level_m"], json!({ "value": 2.0, "unit": "m" }));
    let body = json!({ "registers": { "0x00": "ffff" } });
    let document = bench.call(&operator, "POST", &tried, &body).is(200);
    assert_eq!(document["metrics"], json!({}));
    assert!(document["faults"]["level_m"].as_str().unwrap().contains("allowed: 0 to 10"));
    for (registers, pointer) in [
        (json!({}), "/registers/0x00"),
        (json!({ "0x00": "7" }), "/registers/0x00"),
        (json!({ "0xzz": "07" }), "/registers/0xzz"),
    ] {
        let trial = bench.call(&operator, "POST", &tried, &json!({ "registers": registers }));
        assert_eq!(trial.problem(422), "template-invalid");
        assert_eq!(trial.json()["errors"][0]["pointer"], pointer);
    }

    let mut changed = template("level");
    changed["metrics"][0]["expr"] = json!("raw / 500");
    let answer = bench.call(&admin, "PUT", &path, &changed);
    assert_eq!(answer.headers["etag"], "\"2\"");
    let mut stale = request(&admin, "PUT", &path, &changed);
    stale.headers_mut().insert("if-match", "\"1\"".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), stale).problem(412);
    bench.call(&admin, "PUT", &path, &template("renamed")).problem(422);
    changed["metrics"][0]["expr"] = json!("unknown / 500");
    let trial = bench.call(&admin, "PUT", &path, &changed);
    assert_eq!(trial.problem(422), "invalid-body");
    assert_eq!(trial.json()["errors"][0]["pointer"], "/metrics/0/expr");
    let builtin = format!("{TEMPLATES}/bme280");
    bench.call(&admin, "PUT", &builtin, &template("bme280")).problem(409);
    bench.call(&admin, "DELETE", &builtin, &Value::Null).problem(409);
    assert_eq!(bench.get(&operator, &builtin).is(200)["identify"]["value"], 0x60);

    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.get(&operator, &path).problem(404);
}

#[test]
fn a_template_may_be_toml() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let text = "template_id = \"level\"\naddresses = [0x20]\nread = [{ name = \"raw\", reg = 0 }]\n\
                metrics = [{ name = \"level_m\", expr = \"raw / 10\" }]\n";
    let document = toml(&bench, &admin, TEMPLATES, text.to_owned()).is(201);
    assert_eq!(document["metrics"][0]["expr"], "raw / 10");
    let wrong = text.replace("level\"", "next\"").replace("raw / 10", "other / 10");
    let answer = toml(&bench, &admin, TEMPLATES, wrong);
    assert_eq!(answer.problem(422), "template-invalid");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("body:4:") && detail.contains("undefined name \"other\""), "{detail}");
    let long = format!("{text}# {}", "x".repeat(33 << 10));
    assert_eq!(toml(&bench, &admin, TEMPLATES, long).problem(413), "payload-too-large");
    let mut plain = request(&admin, "POST", TEMPLATES, &template("a"));
    plain.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), plain).problem(415);
}

#[test]
fn boards_are_built_in_or_created() {
    let bench = Bench::new();
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    assert_eq!(bench.get(&viewer, "/v1/boards").is(200)["total"], 4);
    let pi = bench.get(&viewer, "/v1/boards/raspberry_pi_4").is(200);
    let pins = pi["pins"].as_array().unwrap();
    assert_eq!(pins.len(), 40);
    let pin = pins.iter().find(|pin| pin["pin"] == 11).unwrap();
    assert_eq!((&pin["offset"], &pin["function"]), (&json!(17), &json!("gpio")));
    let board = json!({
        "board_id": "own", "name": "Own board",
        "headers": [{ "name": "J1", "pins": 2 }],
        "pins": [{ "header": "J1", "pin": 1, "function": "gpio", "chip": "own", "offset": 3, "name": "" }],
    });
    bench.call(&admin, "POST", "/v1/boards", &board).is(201);
    bench.call(&admin, "POST", "/v1/boards", &board).problem(409);
    let mut wrong = board.clone();
    wrong["board_id"] = json!("other");
    wrong["pins"][0]["pin"] = json!(3);
    let answer = bench.call(&admin, "POST", "/v1/boards", &wrong);
    assert_eq!(answer.problem(422), "invalid-body");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/pins/0/pin");
    assert_eq!(bench.get(&viewer, "/v1/boards/own").is(200)["pins"], board["pins"]);
    bench.get(&viewer, "/v1/boards/absent").problem(404);
}

#[test]
fn a_node_gets_its_assignments_and_reports_a_scan() {
    // Heartbeats follow one another as fast as they are answered.
    let bench =
        Bench::with(Settings { heartbeat: Duration::from_millis(100), ..Settings::default() });
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (node, token, _) = bench.node(7);
    let (other, other_token, _) = bench.node(8);
    let heartbeat = "/v1/nodes/heartbeat";
    let ack = bench.call(&token, "POST", heartbeat, &beat(7, 1)).is(200);
    assert!(ack.get("sensors_revision").is_none());

    bench.call(&admin, "POST", TEMPLATES, &template("level")).is(201);
    let assignment = json!({ "node_id": node, "bus": 1, "address": 0x20, "template_id": "level", "interval_s": 30 });
    let assignment_document = bench.call(&operator, "POST", ASSIGNMENTS, &assignment).is(201);
    bench.call(&operator, "POST", ASSIGNMENTS, &assignment).problem(409);
    let mut wrong = assignment.clone();
    wrong["template_id"] = json!("absent");
    bench.call(&operator, "POST", ASSIGNMENTS, &wrong).problem(422);
    let used = format!("{TEMPLATES}/level");
    bench.call(&admin, "DELETE", &used, &Value::Null).problem(409);

    let ack = bench.call(&token, "POST", heartbeat, &beat(7, 2)).is(200);
    let revision = ack["sensors_revision"].as_u64().unwrap();
    let path = format!("/v1/nodes/{node}/sensors");
    let plan = bench.get(&token, &path).is(200);
    assert_eq!(plan["revision"], revision);
    assert_eq!(plan["sensors"][0]["interval_s"], 30);
    assert_eq!(plan["templates"][0]["template_id"], "level");
    bench.get(&other_token, &path).problem(404);
    let ack = bench.call(&other_token, "POST", heartbeat, &beat(8, 1)).is(200);
    assert!(ack.get("sensors_revision").is_none(), "{other}: {ack}");

    // A changed template is a changed plan.
    let mut changed = template("level");
    changed["metrics"][0]["max"] = json!(20);
    bench.call(&admin, "PUT", &used, &changed).is(200);
    let ack = bench.call(&token, "POST", heartbeat, &beat(7, 3)).is(200);
    assert_ne!(ack["sensors_revision"].as_u64().unwrap(), revision);

    let scan = json!({ "node_id": node, "bus": 1 });
    bench.call(&operator, "POST", "/v1/sensors/i2c/scan", &scan).problem(422);
    let join = json!({ "supported_commands": ["i2c_scan"], "board": "test" });
    bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
    let job = bench.call(&operator, "POST", "/v1/sensors/i2c/scan", &scan).is(202);
    let ack = bench.call(&token, "POST", heartbeat, &beat(7, 4)).is(200);
    assert_eq!(ack["commands"][0]["args"]["bus"], "1");
    let result = format!("/v1/nodes/{node}/commands/{}/result", job["job_id"].as_str().unwrap());
    let devices = json!([
        { "bus": 1, "address": 0x20 },
        { "bus": 1, "address": 0x76, "template_id": "bme280", "identified_by": "id_register" },
    ]);
    let outcome = json!({ "state": "done", "output": devices.to_string() });
    bench.call(&token, "POST", &result, &outcome).is(204);
    let devices_document = bench
        .get(&operator, &format!("/v1/sensors/i2c/devices?node_id={node}&bus=1"))
        .is(200)["items"]
        .clone();
    assert_eq!(devices_document[0]["identified_by"], "manual");
    assert_eq!(
        (&devices_document[1]["template_id"], &devices_document[1]["present"]),
        (&json!("bme280"), &json!(true))
    );

    let removed =
        format!("{ASSIGNMENTS}/{}", assignment_document["assignment_id"].as_str().unwrap());
    bench.call(&operator, "DELETE", &removed, &Value::Null).is(204);
    bench.call(&admin, "DELETE", &used, &Value::Null).is(204);
    let ack = bench.call(&token, "POST", heartbeat, &beat(7, 5)).is(200);
    assert!(ack.get("sensors_revision").is_none());
}

#[test]
fn readings_are_those_of_nodes_and_of_the_gateways_machine() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    let (node, token, _) = bench.node(7);
    let mut heartbeat = beat(7, 1);
    heartbeat["metrics"] = json!({ "i2c.bme280_2.pressure_hpa": 1006.5, "sys.load1": 0.5 });
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
    let command = RecordHostReadings {
        readings: [("i2c.lm75.temperature_c".to_owned(), 25.5)].into(),
        partial: true,
    };
    bench.runtime.block_on(bench.gateway.world.submit(command)).unwrap();
    let document = bench.get(&viewer, "/v1/sensors/readings").is(200);
    assert_eq!(document["total"], 2);
    let own = &document["items"][0];
    assert_eq!((&own["node_id"], &own["unit"]), (&Value::Null, &json!("°C")));
    let other = &document["items"][1];
    assert_eq!((&other["node_id"], &other["unit"]), (&json!(node), &json!("hPa")));
    let of = |query: &str| {
        let document = bench.get(&viewer, &format!("/v1/sensors/readings?{query}"));
        document.is(200)["total"].clone()
    };
    assert_eq!(of("template_id=bme280"), 1);
    assert_eq!(of("template_id=bme"), 0);
    assert_eq!(of(&format!("node_id={node}")), 1);
}

#[test]
fn hardware_that_is_not_there_is_refused() {
    let bench = Bench::new();
    let operator = bench.login("operator");
    let absent = json!({ "bus": 1001 });
    let answer = bench.call(&operator, "POST", "/v1/sensors/i2c/scan", &absent);
    assert_eq!(answer.problem(503), "backend-absent");
    let wrong = json!({ "bus": 5000 });
    bench.call(&operator, "POST", "/v1/sensors/i2c/scan", &wrong).problem(422);
    let setting = json!({ "direction": "output" });
    bench.call(&operator, "PUT", "/v1/gpio/gpiochip900/1", &setting).problem(422);
    let setting = json!({ "direction": "output", "value": 1 });
    let answer = bench.call(&operator, "PUT", "/v1/gpio/gpiochip900/1", &setting);
    assert!(matches!(answer.status.as_u16(), 404 | 503), "{answer:?}");
    let (node, ..) = bench.node(7);
    let answer = bench.get(&operator, &format!("/v1/gpio?node_id={node}"));
    assert_eq!(answer.problem(503), "backend-absent");
    assert_eq!(bench.get("", "/capabilities").is(200)["features"]["sensors"], true);
}
