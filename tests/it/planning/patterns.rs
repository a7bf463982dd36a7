//! Files of antenna patterns over the interface.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Bench;
use crate::support::command;

fn file(name: &str, content: &str) -> Value {
    json!({ "name": name, "content": STANDARD.encode(content) })
}

/// Posts files; the answer with its status.
fn read(bench: &Bench, files: &[Value]) -> (u16, Value) {
    let answer = bench.call("POST", "/api/v1/antennas/pattern", &json!({ "files": files }));
    (answer.status.as_u16(), answer.json())
}

#[test]
fn the_interface_reads_a_pattern_as_the_command_line_does() {
    let bench = Bench::flat();
    let text = std::fs::read_to_string("examples/sector.msi").unwrap();
    let (status, reading) = read(&bench, &[file("sector.msi", &text)]);
    assert_eq!(status, 200, "{reading}");
    let output = command(&["antenna", "examples/sector.msi", "--json"]).output().unwrap();
    assert_eq!(reading, serde_json::from_slice::<Value>(&output.stdout).unwrap());
    assert_eq!(reading["name"], "Sector 65");
    // 15.85 dBd.
    assert_eq!(reading["gain_dbi"], 18.0);
}

#[test]
fn both_cuts_of_splat_are_one_antenna_in_any_order() {
    let bench = Bench::flat();
    let azimuth = file("mast.az", "0\n0 1.0\n90 0.1\n180 0.1\n270 0.1\n");
    let elevation = file("mast.el", "0 0\n-10 0.5\n0 1.0\n10 0.5\n90 0.1\n");
    let (status, both) = read(&bench, &[azimuth.clone(), elevation.clone()]);
    assert_eq!((status, &both["format"]), (200, &json!("SPLAT!")), "{both}");
    assert_eq!(read(&bench, &[elevation, azimuth.clone()]).1["pattern"], both["pattern"]);
    let (status, alone) = read(&bench, std::slice::from_ref(&azimuth));
    assert_eq!(status, 200);
    assert_ne!(alone["pattern"]["vertical_loss_db"], both["pattern"]["vertical_loss_db"]);
    let (status, twice) = read(&bench, &[azimuth.clone(), azimuth]);
    let detail = twice["detail"].as_str().unwrap();
    assert_eq!(status, 400);
    assert!(detail.starts_with("mast.az: invalid content: found no such pattern"), "{detail}");
}

#[test]
fn invalid_files_give_their_line_and_the_allowed_values() {
    let bench = Bench::flat();
    let text = std::fs::read_to_string("examples/sector.msi").unwrap();
    let broken = text.replacen("2 7.7", "2 high", 1);
    let cases = [
        (
            vec![file("sector.msi", &broken)],
            "sector.msi: invalid loss of line 9: found \"high\", allowed -300 to 300 dB",
        ),
        (
            vec![file("a.msi", &text), file("b.msi", &text)],
            "a.msi: invalid content: found one of two files, allowed one file, or an azimuth and an elevation \
             pattern of SPLAT!",
        ),
        (Vec::new(), "invalid files: found 0, allowed 1 or 2"),
        (
            vec![json!({ "name": "a", "content": "?" })],
            "invalid files.content: found Invalid symbol 63, offset 0., allowed base64",
        ),
    ];
    for (files, message) in cases {
        let (status, problem) = read(&bench, &files);
        assert_eq!((status, problem["detail"].as_str().unwrap()), (400, message));
    }
}

#[test]
fn a_pattern_of_a_node_is_taken_away_as_it_was_given() {
    let bench = Bench::flat();
    let text = std::fs::read_to_string("examples/sector.msi").unwrap();
    let (_, reading) = read(&bench, &[file("sector.msi", &text)]);
    let plan = bench.make("/api/v1/deployments", &json!({ "name": "plan" }));
    let nodes = format!("/api/v1/deployments/{plan}/nodes");
    let id = bench.make(&nodes, &json!({ "name": "a", "lat": 57.7, "lon": 11.9 }));
    let path = format!("/api/v1/nodes/{id}");
    let before = bench.call("GET", &path, &Value::Null).json()["radio"].clone();
    let patch = |antenna: Value| {
        let body = json!({ "radio": { "antenna": antenna } });
        let answer = bench.call("PATCH", &path, &body);
        (answer.status.as_u16(), answer.json())
    };
    let own = json!({ "pattern": reading["pattern"], "gain_dbi": reading["gain_dbi"] });
    let antenna = &patch(own).1["radio"]["antenna"];
    assert_eq!(antenna["pattern"], reading["pattern"]);
    assert_eq!(antenna["azimuth_beamwidth_deg"], reading["azimuth_beamwidth_deg"]);
    // Fields alone leave the pattern in place.
    let antenna = before["antenna"].clone();
    assert_eq!(patch(antenna.clone()).1["radio"]["antenna"]["pattern"], reading["pattern"]);
    let mut whole = antenna;
    whole["clear_pattern"] = json!(true);
    assert_eq!(patch(whole).1["radio"], before);
    let both = json!({ "pattern": reading["pattern"], "clear_pattern": true });
    let (status, problem) = patch(both);
    assert_eq!(status, 400, "{problem}");
}

const PROFILE: &str = "name = \"harbour\"\n\n[[class]]\nfrequency_mhz = [800.0, 900.0]\n\
                       distance_km = [0.0, 5.0]\nloss_db = 4.2\nspread_db = 3.3\nlinks = 41\n";

#[test]
fn the_profile_of_a_calibration_is_read_as_the_command_line_does() {
    let bench = Bench::flat();
    let read = |content: &str| {
        let request = Request::post("/api/v1/calibrations/profile?file_name=profile.toml")
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .body(Body::from(content.to_owned()));
        bench.send(request.unwrap())
    };
    let answer = read(PROFILE);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    let calibration = answer.json();
    assert_eq!(
        (&calibration["name"], &calibration["classes"][0]["loss_db"]),
        (&json!("harbour"), &json!(4.2))
    );
    // It is what a deployment takes.
    let environment = json!({ "name": "Harbour", "environment": { "calibration": calibration } });
    let deployment = bench.call("POST", "/api/v1/deployments", &environment);
    assert_eq!(deployment.status, StatusCode::CREATED, "{}", deployment.json());
    assert_eq!(deployment.json()["environment"]["calibration"], calibration);
    let refusal = read(&PROFILE.replace("loss_db = 4.2", "loss_db = \"much\""));
    assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
    let detail = refusal.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("profile.toml") && detail.contains("loss_db"), "{detail}");
}
