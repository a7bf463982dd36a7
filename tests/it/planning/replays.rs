//! Recorded logs: upload, content, frames.

use std::io::{Read, Write};
use std::net::TcpStream;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::{Value, json};

use super::server::Process;
use super::{Answer, Bench};
use crate::support::{self, root};

fn upload(bench: &Bench, content: Vec<u8>) -> Answer {
    let request = Request::post("/api/v1/replays")
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .body(Body::from(content));
    bench.send(request.unwrap())
}

fn failover() -> Vec<u8> {
    std::fs::read(root().join("tests/fixtures/compat/failover.gwlog")).unwrap()
}

#[test]
fn frames_show_failures_where_the_log_has_them() {
    let bench = Bench::flat();
    let creation = upload(&bench, failover());
    let info = creation.json();
    assert_eq!(creation.status, StatusCode::CREATED, "{info}");
    let path = format!("/api/v1/replays/{}", info["id"].as_str().unwrap());
    assert_eq!(creation.headers[header::LOCATION], path);
    assert_eq!(bench.call("GET", &path, &Value::Null).json(), info);
    let all = bench.call("GET", "/api/v1/replays", &Value::Null).json();
    assert_eq!(all, json!([info]));
    let events = info["events"].as_array().unwrap();
    let fail = events.iter().find(|event| event["command"] == "node.fail").unwrap();
    let (at_s, failed) = (fail["at_s"].as_f64().unwrap(), &fail["body"]["node"]);
    assert!(failed.is_string(), "{fail}");
    let frames = |query: &str| {
        let answer = bench.call("GET", &format!("{path}/frames?{query}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.json());
        answer.json()
    };
    let document = frames("step_s=0.5");
    let document = document["frames"].as_array().unwrap();
    let duration_s = info["duration_s"].as_f64().unwrap();
    assert_eq!(document[0]["at_s"], 0.0);
    assert_eq!(document.last().unwrap()["at_s"].as_f64(), Some(duration_s));
    assert_eq!(document.len() as f64, duration_s / 0.5 + 1.0);
    let operating = |frame: &Value| {
        let nodes = frame["nodes"].as_array().unwrap().iter();
        let own = nodes.filter(|node| node["node_id"] == *failed);
        own.map(|node| node["operating"].as_bool().unwrap()).next()
    };
    let at =
        |at_s: f64| document.iter().find(|frame| frame["at_s"].as_f64() == Some(at_s)).unwrap();
    assert_eq!((operating(at(at_s - 0.5)), operating(at(at_s))), (Some(true), Some(false)));
    let routes = |frame: &Value| frame["flows"][0]["path"].clone();
    assert_ne!(routes(at(at_s - 0.5)), routes(at(at_s)));
    for flow in document.iter().flat_map(|frame| frame["flows"].as_array().unwrap()) {
        let rate = |key: &str| flow[key].as_f64().unwrap();
        let sum_bps = rate("carried_bps") + rate("lost_bps");
        assert!((sum_bps - rate("rate_bps")).abs() < 1e-3, "{flow}");
        assert_eq!(
            rate("carried_bps") > 0.0,
            !flow["path"].as_array().unwrap().is_empty(),
            "{flow}"
        );
        assert_eq!(
            flow["bottleneck"].is_object(),
            rate("carried_bps") > 0.0 && rate("lost_bps") > 0.0
        );
    }
    // A part of them is the same part.
    let part = frames(&format!("from_s={at_s}&to_s={}&step_s=1", at_s + 3.0));
    let times: Vec<_> =
        part["frames"].as_array().unwrap().iter().map(|f| f["at_s"].as_f64().unwrap()).collect();
    assert_eq!(times, [at_s, at_s + 1.0, at_s + 2.0, at_s + 3.0]);
    assert_eq!(part["frames"][0], *at(at_s));
    for bad in ["from_s=-1", "step_s=0", "to_s=-1", "step_s=0.0001", "from_s=1e9", "x=1"] {
        let answer = bench.call("GET", &format!("{path}/frames?{bad}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    assert_eq!(bench.call("DELETE", &path, &Value::Null).status, StatusCode::NO_CONTENT);
    assert_eq!(bench.call("GET", &path, &Value::Null).status, StatusCode::NOT_FOUND);
}

#[test]
fn what_is_no_log_is_refused_and_a_torn_one_is_shown() {
    let bench = Bench::flat();
    for bad in [Vec::new(), b"not a log at all".to_vec()] {
        assert_eq!(upload(&bench, bad).status, StatusCode::BAD_REQUEST);
    }
    let mut torn = failover();
    torn.truncate(torn.len() - 40);
    let answer = upload(&bench, torn);
    assert_eq!(answer.status, StatusCode::CREATED);
    assert!(answer.json()["torn_bytes"].as_u64().unwrap() > 0);
    // Of more than eight the first one leaves.
    let ids: Vec<_> = (0..8).map(|_| upload(&bench, failover()).json()["id"].clone()).collect();
    let all = bench.call("GET", "/api/v1/replays", &Value::Null).json();
    let names: Vec<_> = all.as_array().unwrap().iter().map(|info| info["id"].clone()).collect();
    assert_eq!(names, ids);
}

#[test]
fn a_variant_differs_from_its_log_after_its_change_and_names_what_it_cannot_do() {
    let bench = Bench::flat();
    let base = upload(&bench, failover()).json();
    let path = format!("/api/v1/replays/{}", base["id"].as_str().unwrap());
    let variants = format!("{path}/variants");
    let changes = json!({ "changes": [{ "at_s": 3, "fail": "north" }] });
    let answer = bench.call("POST", &variants, &changes);
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.json());
    let variant = answer.json();
    assert_eq!(variant["base_id"], base["id"]);
    assert_eq!(variant["changes"], json!(["3 s: node.fail north"]));
    let frames = |info: &Value| {
        let id = info["id"].as_str().unwrap();
        let path = format!("/api/v1/replays/{id}/frames?from_s=2&to_s=3&step_s=1");
        bench.call("GET", &path, &Value::Null).json()["frames"].clone()
    };
    let (recorded, changed) = (frames(&base), frames(&variant));
    assert_eq!(recorded[0], changed[0]);
    assert_ne!(recorded[1], changed[1]);
    let north = |frame: &Value| {
        let nodes = frame["nodes"].as_array().unwrap();
        let north = nodes.iter().find(|node| node["name"] == "north");
        north.unwrap()["operating"].as_bool()
    };
    assert_eq!((north(&recorded[1]), north(&changed[1])), (Some(true), Some(false)));
    // A window after the change shows its effect too.
    let later = |info: &Value| {
        let id = info["id"].as_str().unwrap();
        let path = format!("/api/v1/replays/{id}/frames?from_s=8&to_s=8&step_s=1");
        bench.call("GET", &path, &Value::Null).json()["frames"][0].clone()
    };
    assert_eq!((north(&later(&base)), north(&later(&variant))), (Some(true), Some(false)));
    for (changes, reason) in [
        (json!([]), "1 to 100"),
        (json!([{ "at_s": 3 }]), "changes[0]"),
        (json!([{ "at_s": -1, "fail": "north" }]), "changes[0].at_s"),
        (json!([{ "at_s": 3, "fail": "nobody" }]), "unknown node"),
        (json!([{ "at_s": 1e6, "fail": "north" }]), "later than the end"),
        (json!([{ "at_s": 3, "fial": "north" }]), "fial"),
    ] {
        let refused = bench.call("POST", &variants, &json!({ "changes": changes }));
        let problem = refused.json();
        assert!(refused.status.is_client_error(), "{problem}");
        assert!(problem.to_string().contains(reason), "{reason}: {problem}");
    }
    let of_variant = format!("/api/v1/replays/{}/variants", variant["id"].as_str().unwrap());
    let refused = bench.call("POST", &of_variant, &changes);
    assert_eq!(refused.status, StatusCode::CONFLICT);
    // Frames of a variant outlive its log.
    assert_eq!(bench.call("DELETE", &path, &Value::Null).status, StatusCode::NO_CONTENT);
    assert_eq!(north(&later(&variant)), Some(false));
}

#[test]
fn the_player_is_one_file_with_every_frame_of_a_short_log() {
    let bench = Bench::flat();
    let info = upload(&bench, failover()).json();
    let path = format!("/api/v1/replays/{}/player", info["id"].as_str().unwrap());
    let answer = bench.call("GET", &path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.media(), "text/html; charset=utf-8");
    let title = info["inputs"]["title"].as_str().filter(|title| !title.is_empty());
    let file = answer.headers[header::CONTENT_DISPOSITION].to_str().unwrap();
    let subject = title.unwrap_or("replay").to_owned();
    assert_eq!(file, groundwave_http::attachment(&subject, "html"));
    let page = String::from_utf8(answer.body).unwrap();
    let data = page.split_once("type=\"application/json\">").unwrap().1;
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["duration_s"], info["duration_s"]);
    let frames = (info["duration_s"].as_f64().unwrap() / info["step_s"].as_f64().unwrap()) + 1.0;
    assert_eq!(data["frames"].as_array().unwrap().len() as f64, frames);
    assert_eq!(data["step_s"], info["step_s"]);
    // Said once, until it changes, which it does not in this log.
    let assumptions = data["frames"].as_array().unwrap().iter();
    let assumptions: Vec<_> = assumptions.filter_map(|frame| frame["assumed"].as_str()).collect();
    let expected = "50 % of time, locations and situations; no clutter";
    assert!(assumptions.len() == 1 && assumptions[0].starts_with(expected), "{assumptions:?}");
    assert!(page.contains("Predictions assume"));
    for elsewhere in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn measurements_stand_beside_predictions_from_their_time_on() {
    let bench = Bench::flat();
    let log = root().join("tests/fixtures/compat/measured.gwlog");
    let info = upload(&bench, std::fs::read(log).unwrap()).json();
    assert!(info["commands_by_name"]["link.observe"].as_u64() > Some(0), "{info}");
    let (id, duration_s) = (info["id"].as_str().unwrap(), info["duration_s"].as_f64().unwrap());
    let path = format!("/api/v1/replays/{id}/frames?step_s={}", duration_s / 100.0);
    let frames = bench.call("GET", &path, &Value::Null).json();
    let frames = frames["frames"].as_array().unwrap();
    let measurements = |frame: &Value| -> Vec<Value> {
        let links = frame["links"].as_array().unwrap().iter();
        let ways = links.flat_map(|link| link["measured"].as_array().unwrap());
        ways.filter(|way| !way.is_null()).cloned().collect()
    };
    let last = frames.last().unwrap();
    assert!(!measurements(last).is_empty(), "{last}");
    for frame in frames {
        for way in measurements(frame) {
            assert!(way["at_s"].as_f64() <= frame["at_s"].as_f64(), "{way}");
            let values = way.as_object().unwrap().values();
            assert!(values.filter(|value| value.is_f64()).count() > 1, "{way}");
        }
    }
}

/// Status and document of an answer to octets that are sent to a server.
fn post(address: &str, path: &str, content: &[u8]) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
        content.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(content).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer[9..12].parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[test]
fn tracks_and_measurements_of_other_programs_become_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("plan.db"));
    let walk = std::fs::read(root().join("examples/emane.eel")).unwrap();
    let (status, info) = post(&server.address, "/api/v1/replays?name=emane.eel", &walk);
    assert_eq!(status, 201, "{info}");
    assert_eq!(info["inputs"]["title"], "emane");
    assert!(
        info["duration_s"].as_f64() > Some(1.0) && !info["notes"].as_array().unwrap().is_empty()
    );
    let id = info["id"].as_str().unwrap();
    let path = format!("/api/v1/replays/{id}/frames?step_s=1");
    let (_, frames) = support::get(&server.address, &path);
    let frames: Value = serde_json::from_slice(&frames).unwrap();
    let last = frames["frames"].as_array().unwrap().last().unwrap();
    assert!(!last["nodes"].as_array().unwrap().is_empty(), "{last}");

    // Heights above the ellipsoid are those above the geoid and the ground of the server, as in a conversion: the
    // geoid lies 30 to 45 m above the ellipsoid here, the ground below 200 m.
    let drone =
        b"0 nem:1 location gps 57.7,11.9,390,hae\n5 nem:1 location gps 57.71,11.9,390,hae\n";
    let (status, info) = post(&server.address, "/api/v1/replays?name=drone.eel", drone);
    assert_eq!(status, 201, "{info}");
    let path = format!("/api/v1/replays/{}/frames?step_s=1", info["id"].as_str().unwrap());
    let (_, frames) = support::get(&server.address, &path);
    let frames: Value = serde_json::from_slice(&frames).unwrap();
    let last = frames["frames"].as_array().unwrap().last().unwrap();
    let height_agl_m = last["nodes"][0]["height_agl_m"].as_f64().unwrap();
    assert!((145.0..=360.0).contains(&height_agl_m), "{last}");

    let sites = std::fs::read(root().join("examples/masts.geojson")).unwrap();
    let (status, refusal) = post(&server.address, "/api/v1/replays?name=masts.geojson", &sites);
    assert_eq!(status, 400);
    let detail = refusal["detail"].as_str().unwrap();
    assert!(detail.contains("no measurement and no movement"), "{detail}");
    // The import of the same documents says which is a recording, too.
    let import = "/api/v1/deployments/import?file_name";
    let (_, import_answer) = post(&server.address, &format!("{import}=emane.eel"), &walk);
    assert_eq!(import_answer["has_recording"], true, "{import_answer}");
    let (_, import_answer) = post(&server.address, &format!("{import}=masts.geojson"), &sites);
    assert_eq!(import_answer["has_recording"], false, "{import_answer}");
}

#[test]
fn a_server_lists_the_logs_it_was_started_with() {
    let log = root().join("tests/fixtures/compat/failover.gwlog");
    let log = log.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("plan.db");
    let arguments =
        ["serve", "planning", "--bind", "127.0.0.1:0", "--replay", log, "--replay", log];
    let mut command = support::command(&arguments);
    command.arg("--db").arg(&db).current_dir(folder.path());
    let server = Process::of(command);
    let (_, all) = support::get(&server.address, "/api/v1/replays");
    let all: Value = serde_json::from_slice(&all).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(all[0]["name"], "failover.gwlog");
    for (arguments, reason) in [
        (["serve", "planning", "--replay", "none.gwlog"], "none.gwlog"),
        (["serve", "gateway", "--replay", log], "planning"),
    ] {
        let refused = support::groundwave(&arguments);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("--replay") && text.contains(reason), "{text}");
    }
}
