//! The daemon itself: the program, its socket, and interfaces that are really there.

mod imported;
mod loaded;

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundwave_http::client::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::arrival::Figures;
use crate::bed::{Bed, arms};
use crate::wire::{NEAR, Traffic, ip, tool};

arms! {
    DAEMON,
    two_ports_are_shaped: vm;
    further_port_and_rule_names_outlive_a_kill: vm;
    rate_is_shaped_on_any_kernel: host, vm;
    a_foreign_root_survives_a_delete: host, vm;
    racing_clients_end_in_one_of_their_states: host, vm;
    without_the_capability_it_is_forbidden: host, vm;
    change_of_another_program_gives_an_event: host, vm;
    a_user_with_one_capability_gives_its_socket_to_a_group: host, vm;
}

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_groundwave");

/// A running daemon on `port1` and `port2`, and a connection to it.
struct Daemon {
    child: Child,
    client: Client,
    runtime: Runtime,
    folder: tempfile::TempDir,
}

impl Daemon {
    /// Starts it in the namespace of this thread, `before` the program's own words.
    fn start(before: &[&str]) -> Self {
        Self::configured(before, "", None)
    }

    /// Like [`Self::start`], with lines of configuration, in a folder of user `owner`.
    fn configured(before: &[&str], lines: &str, owner: Option<u32>) -> Self {
        ip("link add port2 type veth peer name far2\nlink set port2 up\nlink set far2 up\n");
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("impair.sock");
        let config = folder.path().join("impaird.toml");
        let mut file = std::fs::File::create(&config).unwrap();
        writeln!(file, "socket = \"{}\"\n{lines}", socket.display()).unwrap();
        if owner.is_some() {
            std::os::unix::fs::chown(folder.path(), owner, owner).unwrap();
        }
        for port in ["port1", "port2"] {
            writeln!(file, "[[ports]]\ndirection = \"{port}\"\ninterface = \"{port}\"").unwrap();
        }
        Self::launch(before, folder)
    }

    /// Starts it with the configuration in `folder`.
    fn launch(before: &[&str], folder: tempfile::TempDir) -> Self {
        let (socket, config) =
            (folder.path().join("impair.sock"), folder.path().join("impaird.toml"));
        let mut words: Vec<&str> = before.to_vec();
        words.extend([PROGRAM, "impaird", "--config"]);
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            // Many steps: in virtual time a sleep ends at once where the machine waits for a file.
            for _ in 0..10_000 {
                if let Ok(client) = Client::unix(&socket).await {
                    return client;
                }
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
            panic!("the daemon does not listen: {log}");
        });
        Self { child, client, runtime, folder }
    }

    /// Status and body of an answer.
    fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let method = method.parse().unwrap();
        let answer = self.client.ask(method, path, body);
        let (status, body) = self.runtime.block_on(answer).unwrap();
        (status.as_u16(), serde_json::from_slice(&body).unwrap())
    }

    fn put(&mut self, direction: &str, setting: &Value) -> (u16, Value) {
        self.ask("PUT", &format!("/v1/impairments/{direction}"), Some(setting))
    }

    /// The impairment after a PUT that must succeed, without divergence.
    fn set(&mut self, direction: &str, setting: &Value) {
        let (status, state) = self.put(direction, setting);
        assert_eq!(status, 200, "{state}");
        assert_eq!(state["impairment"], *setting);
        assert_eq!(state.get("divergence"), None, "{state}");
    }

    /// Kills it, and starts one in its place.
    fn kill_and_restart(mut self) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        Self::launch(&[], folder)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("impair.sock")
    }

    /// Tells it to stop; it must do so in order.
    fn stop(mut self) {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert!(!self.socket().exists(), "the socket is left behind");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have stopped as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn qdiscs_of_tc(port: &str) -> Vec<Value> {
    let qdiscs: Vec<Value> =
        serde_json::from_str(&tool("tc", &format!("-s -j qdisc show dev {port}"))).unwrap();
    qdiscs.into_iter().filter(|qdisc| qdisc["handle"] != "0:").collect()
}

fn two_ports_are_shaped(bed: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    let (status, system) = daemon.ask("GET", "/v1/system", None);
    assert_eq!(status, 200, "{system}");
    let can = &system["capabilities"];
    assert_eq!(can["supports_latency"], true, "{system}");
    assert_eq!(can["supports_loss_gilbert_elliott"], false, "{system}");
    let interfaces: Vec<&Value> = system["ports"].as_array().unwrap().iter().collect();
    assert_eq!(interfaces.len(), 2);

    let first = json!({"latency": {"kind": "constant", "duration": 20_000_000},
        "queue": {"limit": {"unit": "packets", "value": 500}}});
    let second = json!({"loss": {"model": "bernoulli", "pct": 5.0},
        "rate": {"bps": 10_000_000, "burst_bytes": 20_000}});
    daemon.set("port1", &first);
    daemon.set("port2", &second);
    assert_eq!(daemon.ask("GET", "/v1/impairments/port1", None).1["impairment"], first);
    assert_eq!(daemon.ask("GET", "/v1/impairments/port2", None).1["impairment"], second);
    assert_eq!(qdiscs_of_tc(NEAR)[0]["options"]["delay"]["delay"], 0.02);
    assert_eq!(qdiscs_of_tc("port2")[0]["options"]["loss-random"]["loss"], 0.05);

    let traffic = Traffic {
        count: 200,
        every: Duration::from_millis(1),
        frame_bytes: 500,
        quiet: Duration::from_millis(100),
    };
    let before = daemon.ask("GET", "/v1/impairments/port1/stats", None).1;
    let arrivals = bed.wire.as_mut().unwrap().measure(traffic);
    let measurement = Figures::of(traffic.count, &arrivals);
    assert!(
        measurement.lost == 0.0 && measurement.min_ms >= 20.0 && measurement.p50_ms <= 22.0,
        "{measurement:?}"
    );
    let after = daemon.ask("GET", "/v1/impairments/port1/stats", None).1;
    let grown = |key: &str| after[key].as_u64().unwrap() - before[key].as_u64().unwrap();
    assert_eq!((grown("packets_total"), grown("bytes_total")), (200, 100_000), "{after}");

    let refused = json!({"loss": {"model": "gilbert-elliott", "p": 0.1, "r": 0.5,
        "one_minus_h": 0.0, "one_minus_k": 1.0}});
    assert_eq!(daemon.put("port1", &refused).0, 422);
    assert_eq!(daemon.put("port1", &json!({"latency": 5})).0, 400);
    assert_eq!(daemon.put("port3", &json!({})).0, 400);
    assert_eq!(daemon.ask("GET", "/v1/impairments/port1", None).1["impairment"], first);

    let (status, cleared) = daemon.ask("DELETE", "/v1/impairments/port1", None);
    assert_eq!((status, &cleared["impairment"]), (200, &json!({})), "{cleared}");
    assert_eq!(qdiscs_of_tc(NEAR), [Value::Null; 0]);
    assert_eq!(qdiscs_of_tc("port2").len(), 3, "the other direction is another matter");
    daemon.stop();
}

fn further_port_and_rule_names_outlive_a_kill(_: &mut Bed) {
    ip("link add third type veth peer name far3\nlink set third up\nlink set far3 up\n");
    let lines = "[[ports]]\ndirection = \"port3\"\ninterface = \"third\"";
    let mut daemon = Daemon::configured(&[], lines, None);
    let (_, system) = daemon.ask("GET", "/v1/system", None);
    assert_eq!(system["ports"].as_array().unwrap().len(), 3, "{system}");
    assert_eq!(daemon.put("port4", &json!({})).0, 400);
    let rules = json!({
        "latency": {"kind": "constant", "duration": 20_000_000},
        "rules": [
            {"name": "ssh-to", "match": {"protocol": "tcp", "destination_ports": "22"}, "exclude": true},
            {"name": "voip", "match": {"protocol": "udp", "destination_ports": "5000-5100"},
             "impairment": {"loss": {"model": "bernoulli", "pct": 5.0}}},
        ],
    });
    daemon.set("port3", &rules);
    assert_eq!(qdiscs_of_tc("third")[0]["kind"], "prio");
    assert_eq!(qdiscs_of_tc("port2"), [Value::Null; 0], "the other ports are other matters");
    let mut daemon = daemon.kill_and_restart();
    let (status, state) = daemon.ask("GET", "/v1/impairments/port3", None);
    assert_eq!((status, &state["impairment"]), (200, &rules), "{state}");
    let (_, stats) = daemon.ask("GET", "/v1/impairments/port3/stats", None);
    assert_eq!(stats["rules"][0]["names"], json!(["ssh-to"]), "{stats}");
    daemon.stop();
}

fn rate_is_shaped_on_any_kernel(_: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    let shaped = json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000},
        "queue": {"limit": {"unit": "packets", "value": 40}}});
    daemon.set("port1", &shaped);
    let qdiscs = qdiscs_of_tc(NEAR);
    assert!(qdiscs.iter().any(|qdisc| qdisc["options"]["rate"] == 1_250_000), "{qdiscs:?}");
    let can_delay =
        daemon.ask("GET", "/v1/system", None).1["capabilities"]["supports_latency"] == true;
    let slow = json!({"latency": {"kind": "constant", "duration": 20_000_000}});
    let (status, answer) = daemon.put("port1", &slow);
    if can_delay {
        assert_eq!(status, 200, "{answer}");
    } else {
        assert_eq!(status, 422, "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains("sch_netem"), "{answer}");
        assert_eq!(daemon.ask("GET", "/v1/impairments/port1", None).1["impairment"], shaped);
    }
    daemon.stop();
    assert!(!qdiscs_of_tc(NEAR).is_empty(), "what is in force stays when the daemon stops");
}

/// Replaces the state of port1 `turns` times; every answer must be the read-back of that state.
async fn insist(socket: &Path, wish: &Value, turns: usize) {
    let mut client = Client::unix(socket).await.unwrap();
    for _ in 0..turns {
        let answer = client.ask("PUT".parse().unwrap(), "/v1/impairments/port1", Some(wish)).await;
        let (status, body) = answer.unwrap();
        let document: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status.as_u16(), 200, "{document}");
        assert_eq!(document["impairment"], *wish, "answered with another's state");
    }
}

fn racing_clients_end_in_one_of_their_states(_: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    let wishes = [
        json!({"rate": {"bps": 8_000_000, "burst_bytes": 16_000}}),
        json!({"rate": {"bps": 16_000_000, "burst_bytes": 32_000},
            "queue": {"limit": {"unit": "packets", "value": 77}}}),
        json!({"queue": {"limit": {"unit": "bytes", "value": 50_000}}}),
    ];
    let socket = daemon.socket();
    daemon.runtime.block_on(async {
        let [a, b, c] = &wishes;
        tokio::join!(insist(&socket, a, 50), insist(&socket, b, 50), insist(&socket, c, 50));
    });
    let (_, end) = daemon.ask("GET", "/v1/impairments/port1", None);
    assert!(wishes.contains(&end["impairment"]), "a mix: {end}");
    assert_eq!(end.get("divergence"), None, "{end}");
    daemon.stop();
}

fn a_foreign_root_survives_a_delete(_: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    tool("tc", &format!("qdisc add dev {NEAR} root handle 7: pfifo limit 9"));
    for method in ["GET", "DELETE"] {
        let (status, state) = daemon.ask(method, "/v1/impairments/port1", None);
        assert_eq!((status, &state["impairment"]), (200, &json!({})), "{state}");
        let items = state["divergence"].as_array().expect("a list of differences");
        assert!(items.iter().any(|item| item["kind"] == "foreign"), "{state}");
        assert_eq!(qdiscs_of_tc(NEAR)[0]["handle"], "7:");
    }
    daemon.stop();
}

fn without_the_capability_it_is_forbidden(_: &mut Bed) {
    let mut daemon =
        Daemon::start(&["setpriv", "--inh-caps=-net_admin", "--bounding-set=-net_admin"]);
    let shaped = json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000}});
    let (status, answer) = daemon.put("port1", &shaped);
    assert_eq!((status, &answer["status"]), (403, &json!(403)), "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("CAP_NET_ADMIN"), "{answer}");
    assert_eq!(qdiscs_of_tc(NEAR), [Value::Null; 0]);
    // As a daemon with the right to would have left it.
    let stack = "root handle 6758: tbf rate 1mbit burst 2000 limit 9000";
    tool("tc", &format!("qdisc add dev {NEAR} {stack}"));
    let (status, answer) = daemon.ask("DELETE", "/v1/impairments/port1", None);
    assert_eq!(status, 403, "{answer}");
    let (status, state) = daemon.ask("GET", "/v1/impairments/port1", None);
    assert_eq!((status, &state["impairment"]["rate"]["bps"]), (200, &json!(1_000_000)));
    assert_eq!(qdiscs_of_tc(NEAR)[0]["kind"], "tbf");
    daemon.stop();
}

fn change_of_another_program_gives_an_event(_: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    daemon.set("port1", &json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000}}));
    tool("tc", &format!("qdisc del dev {NEAR} root"));
    let log = daemon.folder.path().join("log");
    let event = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let log = std::fs::read_to_string(&log).unwrap();
        let line = log.lines().find(|line| line.contains("changed by another program"));
        line.map(str::to_owned)
    });
    let event = event.expect("an event of the daemon");
    println!("{event}");
    assert!(event.contains("port1") && event.contains("the kernel holds nothing"), "{event}");
    let (_, state) = daemon.ask("GET", "/v1/impairments/port1", None);
    let items = state["divergence"].as_array().expect("a list of differences");
    assert!(items.iter().all(|item| item["kind"] == "differs"), "{state}");
    assert_eq!(state["impairment"], json!({}));
    daemon.stop();
}

/// As under the shipped unit: a user of its own, one capability, the group of the configuration as a
/// supplementary group.
fn a_user_with_one_capability_gives_its_socket_to_a_group(_: &mut Bed) {
    const USER: u32 = 60_123;
    const GROUP: u32 = 60_456;
    let user = USER.to_string();
    let caps =
        ["inh-caps", "ambient-caps", "bounding-set"].map(|set| format!("--{set}=-all,+net_admin"));
    let groups = format!("--groups={GROUP}");
    let mut before = vec!["setpriv", "--reuid", &user, "--regid", &user, &groups];
    before.extend(caps.iter().map(String::as_str));
    let lines = format!("group = \"{GROUP}\"\nmode = \"0660\"");
    let mut daemon = Daemon::configured(&before, &lines, Some(USER));
    let facts = std::fs::metadata(daemon.socket()).unwrap();
    assert_eq!(
        (facts.uid(), facts.gid(), facts.permissions().mode() & 0o777),
        (USER, GROUP, 0o660)
    );
    daemon.set("port1", &json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000}}));
    daemon.stop();
}
