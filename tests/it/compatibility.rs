//! Logs and stores of earlier versions: logs replay to the digest they were recorded with, stores open
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

/// Replays `NAME.gwlog` and compares digest, ticks and commands; a log without a digest of its own
/// is replayed without `--check`.
fn replays(name: &str, digest: &str, ticks: u64, commands: u64, options: &[&str]) {
    let log = fixture(&format!("{name}.gwlog"));
    let log = log.to_str().unwrap();
    let replay = [&["--json", "replay", log], options].concat();
    let report: Value = serde_json::from_str(&stdout(&groundwave(&replay))).unwrap();
    let summary = (&report["digest"], &report["ticks"], &report["commands"]);
    assert_eq!(summary, (&json!(digest), &json!(ticks), &json!(commands)), "{name}");
    let lines = stdout(&groundwave(&["--json", "log", "cat", log]));
    assert!(lines.lines().count() as u64 >= commands, "{name}: {lines}");
    stdout(&groundwave(&["log", "verify", log]));
}

#[test]
fn logs_of_scenarios_on_flat_ground_replay() {
    for (name, digest, ticks, commands) in [
        ("two_nodes", "15fa2a5fbd252231d3f9f06e9f9e92991172481089262224cd7b774f3e9a4b02", 60, 2),
        ("failover", "6dd35f304b70ce75bc20c08759aecf8201e53be9ab32c171462b514563ce1e11", 240, 19),
    ] {
        replays(name, digest, ticks, commands, &["--check"]);
    }
}

#[needs(terrain)]
#[test]
fn logs_of_scenarios_on_terrain_replay() {
    for (name, digest, ticks, commands) in [
        ("convoy", "c93e3a75acaf059f977b142e6666910889c2e1c7b779d22395cf7349f0db1023", 480, 24),
        ("gothenburg", "613f57d2f1bbe6bae55957c222e9a8316b1e125a3612a894a444de748fdc1815", 420, 24),
        (
            "lora_valley",
            "1c93e4e743bf3cd3039cf1f9709334111ad59962e591ca1b8ba1cf966bf37a9d",
            360,
            13,
        ),
        ("manet50", "4b1494f8289a6501e8b7e3d90f62bebbcce63990900fbebd2d768cdb9fd142ad", 60, 103),
        (
            "ns2_platoon",
            "ce77af7706d5a48a861975ce4fb6b26da5c22afe075f517ff6ae7e7a44b9f13e",
            120,
            19,
        ),
        ("storm", "65d1fe88971dd00bcba325402b7f041a2bcd8052ec69b01efc6eef33eb61ffee", 900, 17),
    ] {
        replays(name, digest, ticks, commands, &["--check"]);
    }
}

#[test]
fn a_log_of_a_server_replays() {
    let digest = "43b4ea94ed80ed472340e761bfecce821f2cf4c73106a8aef0270042c7e39331";
    replays("serve", digest, 212, 209, &["--check"]);
}

#[test]
fn a_log_of_a_testbed_replays() {
    let digest = "00c7d27da8e89134a0d20c6f28a1680665cbdb1d18f423c9376dbca4ca572356";
    replays("testbed", digest, 32, 59, &["--check"]);
}

#[test]
fn a_log_of_measurements_replays() {
    let digest = "d04a8e280aadaedcbc0b0abcbd087047db97b6ed168b4e3a0b2c4bdd814c7035";
    replays("measured", digest, 5, 9, &["--check"]);
}

/// The daemon writes no digests.
#[test]
fn a_log_of_the_impairment_daemon_replays() {
    let digest = "01705cd294c5ae1a2afb788e06f7a4dc5dbb4aa41ca55db4da60ecee6f5b20c3";
    replays("impaird", digest, 18, 17, &[]);
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
