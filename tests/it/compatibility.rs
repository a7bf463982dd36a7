//! Logs and stores of earlier versions: logs replay to the digest of today's evaluation of links, stores open
//! with the same documents. `tests/fixtures/compat/README.md` lists what wrote them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use axum::http::Method;
use flate2::read::GzDecoder;
use groundwave_http::client::Client;
use groundwave_needs::needs;
use serde_json::{Value, json};

use crate::support::{self, command, groundwave, stdout};

fn fixture(name: &str) -> PathBuf {
    support::root().join("tests/fixtures/compat").join(name)
}

/// Replays `NAME.gwlog` and compares digest, ticks and commands. The digests in the log are those of an earlier
/// evaluation of links, which a check refuses by its number; a log of a world without links has none.
fn replays(name: &str, digest: &str, ticks: u64, commands: u64) {
    let log = fixture(&format!("{name}.gwlog"));
    let log = log.to_str().unwrap();
    let report: Value =
        serde_json::from_str(&stdout(&groundwave(&["--json", "replay", log]))).unwrap();
    let summary = (&report["digest"], &report["ticks"], &report["commands"]);
    assert_eq!(summary, (&json!(digest), &json!(ticks), &json!(commands)), "{name}");
    let checked = groundwave(&["replay", log, "--check"]);
    match name {
        // Worlds without links.
        "serve" => drop(stdout(&checked)),
        "impaird" => assert!(support::refusal(&checked).contains("holds no digest")),
        name => {
            let refused = support::refusal(&checked);
            assert!(refused.contains("those of evaluation 2"), "{name}: {refused}");
        }
    }
    let lines = stdout(&groundwave(&["--json", "log", "cat", log]));
    assert!(lines.lines().count() as u64 >= commands, "{name}: {lines}");
    stdout(&groundwave(&["log", "verify", log]));
}

#[test]
fn logs_of_scenarios_on_flat_ground_replay() {
    for (name, digest, ticks, commands) in [
        ("two_nodes", "b6f9b8320a8814f0861b8ddf14998bc1da9ebb057b49be9cd96eaa7189dc69d2", 60, 2),
        ("failover", "97310ddd74f15a9ca0ee95d4d2507ea7c11c5aeb5caab854ac06e570f5d67f8f", 240, 19),
    ] {
        replays(name, digest, ticks, commands);
    }
}

#[needs(terrain)]
#[test]
fn logs_of_scenarios_on_terrain_replay() {
    for (name, digest, ticks, commands) in [
        ("convoy", "fe16a3a6bf72d68847463a4f42b9dee6d1f0beabd30de52deb65fc684dbd0428", 480, 24),
        ("gothenburg", "bb57e162587b0dc3f21513d5d55239a02f3873db5cbc718fb688226a8ab2a0e8", 420, 24),
        (
            "lora_valley",
            "b9c9ddcd8b7032daf577f8894569f698c6f4f2eda00ef876e47025d6cb41fa67",
            360,
            13,
        ),
        ("manet50", "5febf9b7c6f52f76de0f7157d3080ea1c317d40429c4267605800b55cfd4b334", 60, 103),
        (
            "ns2_platoon",
            "a9d95b2bb07a41f9f9aeb7e727c280dfde69200afea3a40d71f8efba8e96994a",
            120,
            19,
        ),
        ("storm", "e8981d738721846a50494eb4962dbe52c455ecee28be89a34035af8da1795425", 900, 17),
    ] {
        replays(name, digest, ticks, commands);
    }
}

#[test]
fn a_log_of_a_server_replays() {
    let digest = "43b4ea94ed80ed472340e761bfecce821f2cf4c73106a8aef0270042c7e39331";
    replays("serve", digest, 212, 209);
}

#[test]
fn a_log_of_a_testbed_replays() {
    let digest = "857882ed2ce034528d8e1b57319713f58ae4f5831f1e8c6da8b150c81a74200f";
    replays("testbed", digest, 32, 59);
}

#[test]
fn a_log_of_measurements_replays() {
    let digest = "e979445d67e2549ac1096a84fa4719f649c38dd321800715c56a0ecdf783f575";
    replays("measured", digest, 5, 9);
}

/// The daemon writes no digests.
#[test]
fn a_log_of_the_impairment_daemon_replays() {
    let digest = "01705cd294c5ae1a2afb788e06f7a4dc5dbb4aa41ca55db4da60ecee6f5b20c3";
    replays("impaird", digest, 18, 17);
}

/// Wall clock at which the server starts, UTC: minutes after the store was written. By the clock of
/// the machine registrations would have expired since, and be removed.
const STARTED_AT: &str = "@2026-11-22 14:20:00";

/// `groundwave` with a wall clock that starts at [`STARTED_AT`].
fn command_then(args: &[&str]) -> Command {
    // The library alone: `faketime` waits for its program, and would leave it behind when killed.
    let library = Command::new("faketime")
        .args(["-f", STARTED_AT, "printenv", "LD_PRELOAD"])
        .output()
        .unwrap();
    let mut then = command(args);
    then.env("LD_PRELOAD", String::from_utf8(library.stdout).unwrap().trim())
        .env("FAKETIME", STARTED_AT)
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("TZ", "UTC");
    then
}

/// Both faces over a folder that holds `world.db` and `state`; ends with this.
struct Server {
    child: Child,
    planning: String,
    gateway: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = command_then(&["serve", "--bind", "127.0.0.1:0", "--tunnel", "off"])
            .args(["--gateway-bind", "127.0.0.1:0", "--underlay", "127.0.0.0/8"])
            .args(["--db", "world.db", "--state", "state"])
            .current_dir(folder)
            .env("GROUNDWAVE_DATA", folder)
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut head = String::new();
        let mut address = || loop {
            let Some(line) = lines.next() else {
                panic!("the server did not start: {head}");
            };
            let line = line.unwrap();
            if let Some((_, rest)) = line.split_once("listening on http://") {
                break rest.split([',', ' ']).next().unwrap().to_owned();
            }
            head += &line;
        };
        let (planning, gateway) = (address(), address());
        // The pipe is read on, so that the server never waits for its log.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, planning, gateway }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asserts that all of `expected` is in `found`: fields may be added, not taken away or changed.
fn assert_holds(actual: &Value, expected: &Value, path: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                let path = format!("{path}/{key}");
                let actual = actual.get(key);
                assert_holds(actual.unwrap_or_else(|| panic!("no {path}")), value, &path);
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{path}: {actual:?}");
            for (at, (actual, value)) in actual.iter().zip(expected).enumerate() {
                assert_holds(actual, value, &format!("{path}/{at}"));
            }
        }
        _ => assert_eq!(actual, expected, "{path}"),
    }
}

#[needs(faketime)]
#[tokio::test]
async fn stores_open_with_the_same_documents() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    for (packed, to) in [
        ("world.db.gz", folder.path().join("world.db")),
        ("telemetry.redb.gz", state.join("telemetry.redb")),
    ] {
        let mut bytes = Vec::new();
        let packed = std::fs::File::open(fixture(packed)).unwrap();
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        std::fs::write(to, bytes).unwrap();
    }
    for name in ["audit.jsonl", "token.key"] {
        std::fs::copy(fixture(name), state.join(name)).unwrap();
    }
    use std::os::unix::fs::PermissionsExt;
    let owner = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(state.join("token.key"), owner).unwrap();

    let server = Server::start(folder.path());
    let mut planning = Client::tcp(&server.planning).await.unwrap();
    let mut gateway = Client::tcp(&server.gateway).await.unwrap();
    let login = json!({ "username": "admin", "password": "a second secret phrase" });
    let (status, login_answer) =
        gateway.ask(Method::POST, "/api/auth/login", Some(&login)).await.unwrap();
    assert!(status.is_success(), "{status}");
    let login_answer: Value = serde_json::from_slice(&login_answer).unwrap();
    let token = login_answer["access_token"].as_str().unwrap();
    let expected = std::fs::read_to_string(fixture("documents.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    for (path, document) in expected.as_object().unwrap() {
        let answer = if path.starts_with("/api/") {
            planning.call(Method::GET, path, None, Vec::new()).await
        } else {
            gateway.call(Method::GET, path, Some(token), Vec::new()).await
        };
        let answer = answer.unwrap();
        assert!(answer.status.is_success(), "{path}: {}", answer.status);
        let actual: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_holds(&actual, document, path);
    }
}
