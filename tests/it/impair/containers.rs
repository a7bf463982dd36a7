//! Ports in namespaces that go and come. A process with a network namespace of its own stands for a container, and a
//! program of the name `docker` names that process.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use axum::http::Method;
use groundwave_http::client::Client;
use groundwave_needs::needs;
use serde_json::{Value, json};

use crate::support::{command, eventually};

/// A process with a network namespace of its own, and the ends `eth0` and `eth1` of two wires there. It ends with this.
struct Container {
    process: Child,
}

fn run(program: &str, words: &str) -> String {
    let output = Command::new(program).args(words.split(' ')).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

impl Container {
    /// Starts it; `number` distinguishes its wires from those of others.
    fn start(folder: &Path, number: u32) -> Self {
        let process =
            Command::new("unshare").args(["-n", "sleep", "3600"]).stdin(Stdio::null()).spawn();
        let container = Self { process: process.unwrap() };
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let pid = container.pid();
        let theirs = || std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        assert!(eventually(|| theirs().is_some_and(|theirs| theirs != own)));
        for interface in ["eth0", "eth1"] {
            let far = format!("gwc{}x{number}{}", std::process::id() % 10_000, &interface[3..]);
            run("ip", &format!("link add {far} type veth peer name {interface} netns {pid}"));
        }
        std::fs::write(folder.join("pid"), pid.to_string()).unwrap();
        container
    }

    fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Disciplines of an interface in it.
    fn qdiscs(&self, interface: &str) -> Vec<Value> {
        let words = format!("-t {} -n tc -j qdisc show dev {interface}", self.pid());
        serde_json::from_str(&run("nsenter", &words)).unwrap()
    }

    /// Rate of an interface, bit/s.
    fn rate_bps(&self, interface: &str) -> Option<u64> {
        let qdiscs = self.qdiscs(interface);
        let tbf = qdiscs.iter().find(|qdisc| qdisc["kind"] == "tbf")?;
        Some(8 * tbf["options"]["rate"].as_u64()?)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // Its namespace goes with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A running daemon.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(socket: &Path, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = Client::unix(socket).await.unwrap();
        let (status, body) = client.ask(method, path, body).await.unwrap();
        (status.as_u16(), serde_json::from_slice(&body).unwrap_or(Value::Null))
    })
}

#[needs(namespaces)]
#[test]
fn container_that_starts_again_has_its_impairments_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let docker = folder.join("docker");
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'inspect --format {{{{.State.Pid}}}} web' ] && exec cat {}\n\
         echo 'no such object' >&2; exit 1\n",
        folder.join("pid").display()
    );
    std::fs::write(&docker, script).unwrap();
    std::fs::set_permissions(&docker, PermissionsExt::from_mode(0o755)).unwrap();
    let first = Container::start(folder, 1);
    let socket = folder.join("impair.sock");
    let path = std::env::var("PATH").unwrap();
    let daemon = command(&["impaird", "--socket"])
        .arg(&socket)
        .args(["--interfaces", "container:web/eth0", "container:web/eth1"])
        .env("PATH", format!("{}:{path}", folder.display()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _daemon = Daemon(daemon);
    assert!(eventually(|| UnixStream::connect(&socket).is_ok()));
    let system = ask(&socket, Method::GET, "/v1/system", None).1;
    assert_eq!(system["ports"][0]["namespace"], "container:web", "{system}");
    let rate = |bps: u64| json!({ "rate": { "bps": bps, "burst_bytes": 20_000 } });
    let set = |port: &str, bps: u64| {
        let path = format!("/v1/impairments/{port}");
        let (status, state) = ask(&socket, Method::PUT, &path, Some(&rate(bps)));
        assert_eq!((status, state.get("divergence")), (200, None), "{state}");
    };
    set("port1", 8_000_000);
    set("port2", 4_000_000);
    assert_eq!(first.rate_bps("eth0"), Some(8_000_000));
    assert_eq!(first.rate_bps("eth1"), Some(4_000_000));
    // It ends, and another one has its name.
    drop(first);
    let second = Container::start(folder, 2);
    assert!(eventually(|| second.rate_bps("eth0") == Some(8_000_000)));
    assert!(eventually(|| second.rate_bps("eth1") == Some(4_000_000)));
    let is_in_force = || {
        let (status, state) = ask(&socket, Method::GET, "/v1/impairments/port1", None);
        status == 200 && state["impairment"] == rate(8_000_000) && state.get("divergence").is_none()
    };
    assert!(eventually(is_in_force));
    // Changes of others are noticed there as well, and later requests are for it.
    set("port1", 2_000_000);
    assert_eq!(second.rate_bps("eth0"), Some(2_000_000));
    run("nsenter", &format!("-t {} -n tc qdisc del dev eth0 root", second.pid()));
    assert!(eventually(|| {
        let state = ask(&socket, Method::GET, "/v1/impairments/port1", None).1;
        state.get("divergence").is_some()
    }));
}

/// A namespace with a name of `ip netns`, and the interfaces `eth0` and `eth1` there. It is deleted with this.
struct NamedNamespace(String);

impl NamedNamespace {
    fn add(name: &str) -> Self {
        run("ip", &format!("netns add {name}"));
        let namespace = Self(name.to_owned());
        for interface in ["eth0", "eth1"] {
            run("ip", &format!("-n {name} link add {interface} type veth peer name {interface}p"));
        }
        namespace
    }

    /// Rate of an interface, bit/s.
    fn rate_bps(&self, interface: &str) -> Option<u64> {
        let words = format!("netns exec {} tc -j qdisc show dev {interface}", self.0);
        let qdiscs: Vec<Value> = serde_json::from_str(&run("ip", &words)).unwrap();
        let tbf = qdiscs.iter().find(|qdisc| qdisc["kind"] == "tbf")?;
        Some(8 * tbf["options"]["rate"].as_u64()?)
    }
}

impl Drop for NamedNamespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

#[needs(namespaces)]
#[test]
fn name_of_a_namespace_that_is_added_again_has_its_impairments_again() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("gwn{}", std::process::id());
    let first = NamedNamespace::add(&name);
    let socket = folder.path().join("impair.sock");
    let daemon = command(&["impaird", "--socket"])
        .arg(&socket)
        .args(["--interfaces", &format!("netns:{name}/eth0"), &format!("netns:{name}/eth1")])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _daemon = Daemon(daemon);
    assert!(eventually(|| UnixStream::connect(&socket).is_ok()));
    let path = "/v1/impairments/port1";
    let rate = |bps: u64| json!({ "rate": { "bps": bps, "burst_bytes": 20_000 } });
    let set = |bps: u64| ask(&socket, Method::PUT, path, Some(&rate(bps))).0;
    assert_eq!(set(8_000_000), 200);
    assert_eq!(first.rate_bps("eth0"), Some(8_000_000));
    // An interface that returns.
    run("ip", &format!("-n {name} link del eth0"));
    run("ip", &format!("-n {name} link add eth0 type veth peer name eth0p"));
    assert!(eventually(|| first.rate_bps("eth0") == Some(8_000_000)));
    drop(first);
    // Nothing is in force in a namespace that is no more.
    assert!(eventually(|| set(4_000_000) == 500));
    let second = NamedNamespace::add(&name);
    assert!(eventually(|| second.rate_bps("eth0").is_some()));
    assert_eq!(set(2_000_000), 200);
    assert_eq!(second.rate_bps("eth0"), Some(2_000_000));
}

#[needs(namespaces)]
#[test]
fn interface_of_two_ports_is_refused() {
    let name = format!("gwd{}", std::process::id());
    let _namespace = NamedNamespace::add(&name);
    let folder = tempfile::tempdir().unwrap();
    run("ip", &format!("-n {name} link property add dev eth0 altname uplink"));
    let output = command(&["impaird", "--socket"])
        .arg(folder.path().join("impair.sock"))
        .args(["--interfaces", &format!("netns:{name}/eth0"), &format!("netns:{name}/uplink")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    let problem =
        format!("invalid port netns:{name}/uplink: found the interface of netns:{name}/eth0");
    assert!(error.contains(&problem), "{error}");
}
