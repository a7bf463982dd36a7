//! Firmware: images whole or not at all, ranges, roll-outs over agent processes with a harmless command.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use groundwave_files::hex::hex;
use groundwave_io_gateway::firmware::FirmwareFolder;
use groundwave_needs::needs;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::agents::{AgentProcess, wait_for};
use super::{Answer, Bench, request};

const IMAGES: &str = "/v1/firmware/images";
const ROLLOUTS: &str = "/v1/firmware/rollouts";

/// A gateway with a folder of images, that wants heartbeats every half second.
fn bench(place: &Path) -> Bench {
    Bench::with(Settings {
        heartbeat: Duration::from_millis(500),
        firmware: Some(FirmwareFolder::open(&place.join("images")).unwrap()),
        ..Settings::default()
    })
}

/// An image of 700,000 bytes.
pub fn image() -> Vec<u8> {
    (0..700_000_u32).map(|at| (at / 7) as u8).collect()
}

/// Path of the upload of an image as version 2.
pub fn upload_path(image: &[u8]) -> String {
    format!("{IMAGES}?version=2&sha256={}", hex(&Sha256::digest(image)))
}

/// Uploads an image with the digest of `announced`.
fn upload(bench: &Bench, version: &str, announced: &[u8], image: &[u8]) -> Answer {
    let admin = bench.login("admin");
    let digest = hex(&Sha256::digest(announced));
    let request = Request::post(format!("{IMAGES}?version={version}&sha256={digest}"))
        .header("authorization", format!("Bearer {admin}"))
        .header("content-type", "application/octet-stream")
        .body(Body::from(image.to_vec()));
    bench.send_from("127.0.0.1".parse().unwrap(), request.unwrap())
}

fn files(place: &Path) -> usize {
    std::fs::read_dir(place.join("images")).unwrap().count()
}

#[test]
fn an_image_is_taken_whole_and_read_in_ranges() {
    let place = tempfile::tempdir().unwrap();
    let bench = bench(place.path());
    let image = image();
    for wrong in [&image[1..], b""] {
        upload(&bench, "2", &image, wrong).problem(422);
    }
    let empty = upload(&bench, "2", b"", b"").is(422);
    assert_eq!(empty["detail"], "empty image: allowed 1 byte or more");
    assert_eq!(files(place.path()), 0);
    let document = upload(&bench, "2", &image, &image).is(201);
    assert_eq!(document["size_bytes"], 700_000);
    upload(&bench, "2", &image, &image).problem(409);
    assert_eq!(files(place.path()), 1);
    // Without a node that can install it, there is nothing to roll out.
    let mut rollout = json!({ "image_id": document["image_id"] });
    for pointer in ["/image_id", "/tag"] {
        let refused = bench.call(&bench.login("admin"), "POST", ROLLOUTS, &rollout).is(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer);
        rollout["tag"] = json!("roof");
    }
    // A release has an image for each board.
    let board = upload(&bench, "2&board=rpi-4", &image, &image).is(201);
    assert_eq!((&board["version"], &board["board"]), (&json!("2"), &json!("rpi-4")));
    upload(&bench, "2&board=rpi-4", &image, &image).problem(409);
    upload(&bench, "%E2%80%AE2", &image, &image).problem(422);
    let admin = bench.login("admin");
    let path = format!("{IMAGES}/{}", board["image_id"].as_str().unwrap());
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    assert_eq!(files(place.path()), 1);
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    bench
        .call(&admin, "POST", &format!("{IMAGES}?version=3&sha256={}", "0".repeat(64)), &json!({}))
        .problem(415);

    let path = format!("{IMAGES}/{}", document["image_id"].as_str().unwrap());
    let content = format!("{path}/content");
    let mut coded = request(&operator, "GET", &content, &Value::Null);
    coded.headers_mut().insert("accept-encoding", "gzip, zstd".parse().unwrap());
    let whole = bench.send_from("127.0.0.1".parse().unwrap(), coded);
    assert_eq!((whole.status.as_u16(), whole.headers.get("content-encoding")), (200, None));
    assert!(whole.body == image, "{} bytes", whole.body.len());
    let range = |range: &str| {
        let mut range_request = request(&operator, "GET", &content, &Value::Null);
        range_request.headers_mut().insert("range", range.parse().unwrap());
        bench.send_from("127.0.0.1".parse().unwrap(), range_request)
    };
    assert_eq!(bench.get(&operator, &content).body, image);
    let part = range("bytes=300000-599999");
    assert_eq!(part.status.as_u16(), 206);
    assert_eq!(part.headers["content-range"], "bytes 300000-599999/700000");
    assert_eq!(part.body, image[300_000..600_000]);
    assert_eq!(range("bytes=-5").body, image[699_995..]);
    let outside = range("bytes=700000-");
    outside.problem(416);
    assert_eq!(outside.headers["content-range"], "bytes */700000");
    // Without its file, as after a copy that lacks it, an image is no download of nothing.
    let file = place.path().join("images").join(document["image_id"].as_str().unwrap());
    std::fs::remove_file(file).unwrap();
    assert_eq!(bench.get(&operator, &content).status.as_u16(), 503);
    let health = bench.get("", "/health").is(200);
    assert_eq!(
        (&health["status"], &health["checks"]["firmware"]),
        (&json!("degraded"), &json!("degraded"))
    );
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.get(&operator, &content).problem(404);
    assert_eq!(files(place.path()), 0);
    // Without a folder there is nothing to write to.
    let without = Bench::new();
    assert_eq!(upload(&without, "2", &image, &image).problem(503), "backend-absent");
}

/// An agent of version 1 whose command installs every image but that of version 3.
fn agent(bench: &Bench, number: u8, place: &Path) -> AgentProcess {
    let own = place.join(number.to_string());
    std::fs::create_dir(&own).unwrap();
    let (command, version) = (own.join("install"), own.join("version"));
    let script = "#!/bin/sh\nset -e\ntest \"$2\" != 3\ncp \"$1\" \"${0%/*}/image\"\n\
                  echo \"$2\" > \"${0%/*}/version\"\n";
    std::fs::write(&command, script).unwrap();
    std::fs::set_permissions(&command, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&version, "1\n").unwrap();
    let (command, version) = (command.to_str().unwrap(), version.to_str().unwrap());
    let options = ["--firmware-command", command, "--firmware-version", version];
    AgentProcess::start_tagged(bench, number, &["roof"], &options)
}

#[test]
fn a_rollout_reaches_its_nodes_and_takes_them_back_after_failures() {
    let place = tempfile::tempdir().unwrap();
    let bench = bench(place.path());
    let admin = bench.login("admin");
    let images = ["1", "2", "3"].map(|version| {
        let image = version.repeat(400_000);
        let document = upload(&bench, version, image.as_bytes(), image.as_bytes()).is(201);
        document["image_id"].as_str().unwrap().to_owned()
    });
    let none = json!({ "image_id": images[1], "tag": "roof" });
    bench.call(&admin, "POST", ROLLOUTS, &none).problem(422);
    let agents = [61, 62, 63].map(|number| agent(&bench, number, place.path()));
    for agent in &agents {
        agent.wait_for(&bench, |node| {
            node["state"] == "online" && node["firmware"]["firmware"] == "1"
        });
    }
    let begin = |image: &str, before: &str| {
        let body = json!({ "image_id": image, "rollback_image_id": before, "tag": "roof",
            "stages": [{ "nodes": 1 }, { "percent": 100 }], "healthy_s": 1 });
        let document = bench.call(&admin, "POST", ROLLOUTS, &body).is(201);
        format!("{ROLLOUTS}/{}", document["rollout_id"].as_str().unwrap())
    };
    let plan = json!({ "image_id": images[1], "tag": "roof",
        "stages": [{ "nodes": 1 }, { "percent": 100 }] });
    let plan = bench.call(&admin, "POST", &format!("{ROLLOUTS}/dry-run"), &plan).is(200);
    assert_eq!(plan["stages"], json!([1, 3]));
    let stages = plan["nodes"].as_array().unwrap().iter().map(|one| &one["stage"]);
    assert_eq!(stages.collect::<Vec<_>>(), [0, 1, 1]);
    // The dry run refuses what the roll-out does.
    for (key, value) in [
        ("stages", json!([])),
        ("stages", json!([{ "percent": 100 }, { "percent": 10 }])),
        ("stages", json!([{ "nodes": 0 }])),
        ("stages", json!([{ "percent": 101 }])),
        ("failures_max_percent", json!(100)),
        ("install_within_s", json!(0)),
        ("rollback_image_id", json!(images[1])),
        ("window", json!({ "days": ["mon"], "from": "25:00", "to": "05:00", "tz": "UTC" })),
    ] {
        let mut bad = json!({ "image_id": images[1], "tag": "roof" });
        bad[key] = value;
        bench.call(&admin, "POST", &format!("{ROLLOUTS}/dry-run"), &bad).problem(422);
    }
    let rollouts = bench.get(&admin, ROLLOUTS).is(200);
    assert_eq!(rollouts["items"], json!([]));
    let path = begin(&images[1], &images[0]);
    let rollout_document =
        wait_for(&bench, &path, |rollout_document| rollout_document["state"] != "running");
    assert_eq!(rollout_document["state"], "done", "{rollout_document}");
    let states = rollout_document["nodes"].as_array().unwrap().iter().map(|one| &one["state"]);
    assert_eq!(states.collect::<Vec<_>>(), ["healthy"; 3]);
    for number in 61..=63 {
        let image = std::fs::read(place.path().join(format!("{number}/image"))).unwrap();
        assert_eq!(image, "2".repeat(400_000).as_bytes());
    }
    // The next image fails on the first node: nothing else gets it.
    let path = begin(&images[2], &images[1]);
    let rollout_document =
        wait_for(&bench, &path, |rollout_document| rollout_document["state"] == "rolled_back");
    assert_eq!(rollout_document["stage"], 0);
    let states = rollout_document["nodes"].as_array().unwrap().iter().map(|one| &one["state"]);
    assert_eq!(states.collect::<Vec<_>>(), ["reverted", "waiting", "waiting"]);
    assert_eq!(rollout_document["failed"], 1);
    assert!(rollout_document["nodes"][0]["failure"].is_string(), "{rollout_document}");
    for agent in &agents {
        agent.wait_for(&bench, |node| node["firmware"]["firmware"] == "2");
    }
    let events = bench.get(&admin, "/v1/admin/audit?action=rollout_create").is(200);
    assert_eq!(events["items"].as_array().unwrap().len(), 3);
}

#[test]
fn an_agent_logs_why_it_gets_no_image() {
    let place = tempfile::tempdir().unwrap();
    let bench = bench(place.path());
    let image = image();
    let document = upload(&bench, "2", &image, &image).is(201);
    for file in std::fs::read_dir(place.path().join("images")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let agent = agent(&bench, 64, place.path());
    agent.wait_for(&bench, |node| node["state"] == "online" && node["firmware"]["firmware"] == "1");
    let body = json!({ "image_id": document["image_id"], "tag": "roof" });
    bench.call(&bench.login("admin"), "POST", ROLLOUTS, &body).is(201);
    agent.wait_for_line("firmware image: /v1/firmware/images/");
    agent.wait_for_line("upload it again");
}

#[needs(small_disk)]
#[test]
fn an_image_for_which_there_is_no_space_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=256k small . && cd \"$PWD\" && echo mounted && exec cat";
    let mut holder = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", mount])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 8];
    holder.stdout.take().unwrap().read_exact(&mut line).unwrap();
    // The small disk, as the process in its mount namespace sees it.
    let inside = place.path().strip_prefix("/").unwrap();
    let disk = Path::new("/proc").join(holder.id().to_string()).join("root").join(inside);
    let bench = bench(&disk);
    let image = vec![7; 1 << 20];
    assert_eq!(upload(&bench, "2", &image, &image).problem(507), "storage-full");
    assert_eq!(files(&disk), 0);
    let small = vec![7; 1 << 10];
    upload(&bench, "2", &small, &small).is(201);
    drop(bench);
    drop(holder.stdin.take());
    holder.wait().unwrap();
}
