//! The firewall over the kernel of this machine: a gateway between two namespaces, and connections
//! through it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use groundwave_gateway::configuration::Configuration;
use groundwave_io_gateway::nft::{Nft, NftError, compile};
use groundwave_needs::needs;
use groundwave_netlink::netns::within;
use groundwave_web_gateway::Settings;
use groundwave_web_gateway::background_tasks::observe_firewall;
use serde_json::{Value, json};

use super::Bench;
use crate::support::eventually;

/// Patience with a connection that the firewall drops.
const PATIENCE: Duration = Duration::from_secs(3);

/// Namespaces `lan`, `gw` and `wan` in a row; they go with it.
struct Row {
    stem: String,
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments}: {error}");
}

impl Row {
    fn lay() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let row = Self { stem: format!("gwfw{}x{count}", std::process::id()) };
        for name in ["lan", "gw", "wan"] {
            ip(&format!("netns add {}{name}", row.stem));
            ip(&format!("-n {}{name} link set lo up", row.stem));
        }
        let ends = [("lan", "10.50.0", "lan0"), ("wan", "192.0.2", "wan0")];
        for (name, net, ifname) in ends {
            let stem = &row.stem;
            ip(&format!(
                "-n {stem}gw link add {ifname} type veth peer name eth0 netns {stem}{name}"
            ));
            ip(&format!("-n {stem}gw address add {net}.1/24 dev {ifname}"));
            ip(&format!("-n {stem}gw link set {ifname} up"));
            ip(&format!("-n {stem}{name} address add {net}.2/24 dev eth0"));
            ip(&format!("-n {stem}{name} link set eth0 up"));
            ip(&format!("-n {stem}{name} route add default via {net}.1"));
        }
        within(Some(&row.path("gw")), || {
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        })
        .unwrap();
        row
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/run/netns/{}{name}", self.stem))
    }

    fn nft(&self, line: &str) {
        let program = ["netns", "exec", &format!("{}gw", self.stem), "nft", line];
        let output = Command::new("ip").args(program).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "nft {line}: {error}");
    }

    /// A server in a namespace that answers one line: the address of its client.
    fn serve(&self, name: &str, at: &str) -> TcpListener {
        let at: SocketAddr = at.parse().unwrap();
        let listener = within(Some(&self.path(name)), || TcpListener::bind(at)).unwrap().unwrap();
        let own = listener.try_clone().unwrap();
        std::thread::spawn(move || {
            for stream in own.incoming() {
                let Ok(mut stream) = stream else { return };
                let peer = stream.peer_addr().unwrap().ip();
                let _ = write!(stream, "{peer}");
            }
        });
        listener
    }

    /// The address that a server saw, if a connection from the namespace came through.
    fn connect(&self, name: &str, to: &str) -> Option<String> {
        let to: SocketAddr = to.parse().unwrap();
        within(Some(&self.path(name)), || {
            let mut stream = TcpStream::connect_timeout(&to, PATIENCE).ok()?;
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            let mut text = String::new();
            stream.read_to_string(&mut text).ok()?;
            Some(text)
        })
        .unwrap()
    }

    fn settings(&self) -> Settings {
        Settings { netns: Some(self.path("gw")), ..Settings::default() }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for name in ["lan", "gw", "wan"] {
            let name = format!("{}{name}", self.stem);
            let _ = Command::new("ip").args(["netns", "delete", &name]).status();
        }
    }
}

fn zone(bench: &Bench, admin: &str, body: &Value) -> String {
    let document = bench.call(admin, "POST", "/v1/firewall/zones", body).is(201);
    document["zone_id"].as_str().unwrap().to_owned()
}

/// Zones `lan` and `wan`; the second one is hidden behind the gateway. Nothing is forwarded.
fn zones(bench: &Bench, admin: &str) -> (String, String) {
    let lan = json!({ "name": "lan", "interfaces": ["lan0"],
        "input": "accept", "output": "accept", "forward": "drop", "mss_clamp": true });
    let wan = json!({ "name": "wan", "interfaces": ["wan0"],
        "input": "drop", "output": "accept", "forward": "drop", "masquerade": true });
    (zone(bench, admin, &lan), zone(bench, admin, &wan))
}

const APPLY: &str = "/v1/firewall/apply";

fn apply(bench: &Bench, admin: &str) -> Value {
    bench.call(admin, "POST", APPLY, &Value::Null).is(200)
}

fn confirm(bench: &Bench, admin: &str, applied: &Value) {
    let body = json!({ "confirm_token": applied["confirm_token"] });
    bench.call(admin, "POST", "/v1/firewall/confirm", &body).is(204);
}

fn ruleset(bench: &Bench, admin: &str) -> Value {
    bench.get(admin, "/v1/firewall/ruleset").is(200)
}

#[needs(namespaces, nftables)]
#[test]
fn connections_pass_or_are_dropped_by_rule() {
    let row = Row::lay();
    let bench = Bench::with(row.settings());
    let admin = bench.login("admin");
    let _servers = ["192.0.2.2:8000", "192.0.2.2:8001"].map(|at| row.serve("wan", at));
    assert_eq!(row.connect("lan", "192.0.2.2:8001").as_deref(), Some("10.50.0.2"));

    let (lan, wan) = zones(&bench, &admin);
    let rule = json!({ "src_zone": lan, "dest_zone": wan, "proto": "tcp", "dest_port": 8000,
        "src_ip": "10.50.0.0/24", "action": "accept", "comment": "web" });
    let rule = bench.call(&admin, "POST", "/v1/firewall/rules", &rule).is(201);
    // What is staged is not in force.
    assert_eq!(row.connect("lan", "192.0.2.2:8001").as_deref(), Some("10.50.0.2"));
    let dry = bench.call(&admin, "POST", APPLY, &json!({ "dry_run": true })).is(200);
    assert_eq!((&dry["dry_run"], &dry["confirm_token"]), (&json!(true), &Value::Null));
    assert!(dry["diff"].as_array().unwrap().len() > 5);
    assert_eq!(ruleset(&bench, &admin)["ruleset"], Value::Null);

    let applied = apply(&bench, &admin);
    assert_eq!(applied["divergence"], json!([]));
    let answer = bench.call(&admin, "POST", APPLY, &Value::Null);
    assert_eq!(answer.problem(409), "conflict");
    confirm(&bench, &admin, &applied);
    // The server sees the address of the gateway.
    assert_eq!(row.connect("lan", "192.0.2.2:8000").as_deref(), Some("192.0.2.1"));
    assert_eq!(row.connect("lan", "192.0.2.2:8001"), None);
    let path = format!("/v1/firewall/rules/{}", rule["rule_id"].as_str().unwrap());
    let counted = bench.get(&admin, &path).is(200);
    assert_eq!(counted["packets"], 1);

    let mut dropped = json!({ "src_zone": lan, "dest_zone": wan, "proto": "tcp",
        "dest_port": "7999-8000", "action": "reject", "priority": -1 });
    bench.call(&admin, "POST", "/v1/firewall/rules", &dropped).is(201);
    dropped["dest_port"] = json!(8001);
    dropped["action"] = json!("accept");
    bench.call(&admin, "POST", "/v1/firewall/rules", &dropped).is(201);
    assert_eq!(ruleset(&bench, &admin)["staged"], true);
    let applied = apply(&bench, &admin);
    confirm(&bench, &admin, &applied);
    assert_eq!(row.connect("lan", "192.0.2.2:8000"), None);
    assert_eq!(row.connect("lan", "192.0.2.2:8001").as_deref(), Some("192.0.2.1"));
    let listed = bench.get(&admin, &format!("/v1/firewall/rules?zone={lan}")).is(200);
    assert_eq!(listed["total"], 3);
    assert!(listed["items"][1]["packets"].as_u64().unwrap() >= 1);
}

#[needs(namespaces, nftables)]
#[test]
fn zones_of_networks_are_matched_by_address() {
    let row = Row::lay();
    let bench = Bench::with(row.settings());
    let admin = bench.login("admin");
    let _server = row.serve("gw", "10.50.0.1:8000");
    let network = json!({ "name": "mesh", "overlay_cidr": "10.50.0.0/24" });
    let network = bench.call(&admin, "POST", "/v1/model/networks", &network).is(201);
    let id = network["network_id"].as_str().unwrap().to_owned();
    let mesh = zone(
        &bench,
        &admin,
        &json!({ "name": "mesh", "networks": [id],
        "input": "drop", "output": "accept", "forward": "drop" }),
    );
    confirm(&bench, &admin, &apply(&bench, &admin));
    assert_eq!(row.connect("lan", "10.50.0.1:8000"), None);
    // The network is held by its zone.
    let path = format!("/v1/model/networks/{id}");
    let answer = bench.call(&admin, "DELETE", &path, &Value::Null);
    assert!(
        answer.problem(409) == "conflict" && answer.json()["detail"].to_string().contains("mesh")
    );
    let rule = json!({ "chain": "input", "src_zone": mesh, "proto": "tcp", "dest_port": 8000,
        "action": "accept" });
    bench.call(&admin, "POST", "/v1/firewall/rules", &rule).is(201);
    confirm(&bench, &admin, &apply(&bench, &admin));
    assert_eq!(row.connect("lan", "10.50.0.1:8000").as_deref(), Some("10.50.0.2"));
}

#[needs(namespaces, nftables)]
#[test]
fn an_unconfirmed_ruleset_is_reverted() {
    let row = Row::lay();
    row.nft("add table ip others");
    let bench = Bench::with(row.settings());
    let admin = bench.login("admin");
    let _server = row.serve("wan", "192.0.2.2:8000");
    zones(&bench, &admin);
    let body = json!({ "confirm_within_s": 10 });
    let applied = bench.call(&admin, "POST", APPLY, &body).is(200);
    assert_eq!(row.connect("lan", "192.0.2.2:8000"), None);
    assert_eq!(ruleset(&bench, &admin)["state"], "pending");
    for _ in 0..600 {
        if ruleset(&bench, &admin)["state"] == "none" {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(row.connect("lan", "192.0.2.2:8000").as_deref(), Some("10.50.0.2"));
    let after = ruleset(&bench, &admin);
    assert_eq!((&after["state"], &after["ruleset"]), (&json!("none"), &Value::Null));
    assert_eq!(after["foreign_tables"], json!([{ "family": "ip", "name": "others" }]));
    let body = json!({ "confirm_token": applied["confirm_token"] });
    bench.call(&admin, "POST", "/v1/firewall/confirm", &body).problem(410);
    let body = json!({ "confirm_token": "another" });
    bench.call(&admin, "POST", "/v1/firewall/confirm", &body).problem(404);
    let view = bench.world.view();
    let mut alerts = view
        .events
        .iter()
        .filter(|event| event.data.get("about").is_some_and(|about| about == "firewall-reverted"));
    assert!(alerts.next().is_some());
}

#[needs(namespaces, nftables)]
#[test]
fn foreign_changes_give_divergence_and_a_restart_restores_the_confirmed_ruleset() {
    let row = Row::lay();
    let bench = Bench::with(row.settings());
    let admin = bench.login("admin");
    let _server = row.serve("wan", "192.0.2.2:8000");
    let (lan, _) = zones(&bench, &admin);
    confirm(&bench, &admin, &apply(&bench, &admin));
    assert_eq!(ruleset(&bench, &admin)["divergence"], json!([]));
    row.nft("insert rule inet meshgw forward accept");
    let document = ruleset(&bench, &admin);
    assert_eq!(document["divergence"][0]["pointer"], "/chains/forward/rules/0");
    let view = bench.world.view();
    let observed = view.firewall.observed.as_ref().unwrap();
    assert_eq!(observed.divergence[0], "/chains/forward/rules/0");
    row.nft("delete table inet meshgw");
    let document = ruleset(&bench, &admin);
    assert_eq!(
        document["divergence"],
        json!([{ "pointer": "/table", "wanted": true, "found": false }])
    );
    assert_eq!(row.connect("lan", "192.0.2.2:8000").as_deref(), Some("10.50.0.2"));
    let restore =
        || bench.runtime.block_on(bench.gateway.firewall.restore(&bench.gateway.world)).unwrap();
    for change in ["flush ruleset", "insert rule inet meshgw forward accept"] {
        row.nft(change);
        assert!(restore(), "{change}");
        assert_eq!(ruleset(&bench, &admin)["divergence"], json!([]));
        assert_eq!(row.connect("lan", "192.0.2.2:8000"), None);
    }
    assert!(!restore());

    // A ruleset that awaits confirmation when the gateway is killed is not applied again.
    let open = json!({ "src_zone": lan, "action": "accept" });
    bench.call(&admin, "POST", "/v1/firewall/rules", &open).is(201);
    apply(&bench, &admin);
    let again = Bench::open(bench.close(), row.settings());
    again.runtime.block_on(again.gateway.firewall.start(&again.gateway.world));
    let admin = again.login("admin");
    let document = ruleset(&again, &admin);
    assert_eq!((&document["state"], &document["divergence"]), (&json!("confirmed"), &json!([])));
    assert_eq!(row.connect("lan", "192.0.2.2:8000"), None);
}

#[needs(namespaces, nftables)]
#[test]
fn a_removed_table_is_back_without_a_comparison_by_the_clock() {
    /// Longer than any test.
    const NEVER: Duration = Duration::from_secs(1 << 32);
    let row = Row::lay();
    let bench = Bench::with(row.settings());
    let admin = bench.login("admin");
    zones(&bench, &admin);
    confirm(&bench, &admin, &apply(&bench, &admin));
    let observer = bench.runtime.spawn(observe_firewall(bench.gateway.clone(), NEVER));
    let nft = Nft::new(Some(row.path("gw")));
    let before = nft.list().unwrap().unwrap();
    for change in ["delete table inet meshgw", "flush ruleset", "flush chain inet meshgw forward"] {
        row.nft("add table inet others");
        row.nft(change);
        let is_restored = || before.differences(nft.list().unwrap().as_ref()).is_empty();
        assert!(eventually(is_restored), "{change}");
    }
    observer.abort();
}

#[test]
fn without_access_to_nftables_the_firewall_is_absent() {
    let bench = Bench::with(Settings {
        netns: Some(PathBuf::from("/run/netns/none-of-this-name")),
        ..Settings::default()
    });
    let admin = bench.login("admin");
    let answer = bench.call(&admin, "POST", APPLY, &Value::Null);
    assert_eq!(answer.problem(503), "backend-absent");
    let answer = bench.get(&admin, "/v1/firewall/ruleset");
    assert_eq!(answer.problem(503), "backend-absent");
    let answer = bench.get("", "/capabilities").is(200);
    assert_eq!(
        (&answer["backends"]["nft"], &answer["features"]["firewall"]),
        (&json!("absent"), &json!(false))
    );
    let body = json!({ "confirm_within_s": 9 });
    let answer = bench.call(&admin, "POST", APPLY, &body);
    assert_eq!(answer.problem(422), "invalid-body");
}

#[needs(namespaces, nftables)]
#[test]
fn a_transaction_with_a_bad_rule_changes_nothing() {
    let row = Row::lay();
    let nft = Nft::new(Some(row.path("gw")));
    let config = Configuration::default();
    let sound = compile(&config.firewall_zones, &config.firewall_rules, &config.networks);
    nft.apply(&sound.json()).unwrap();
    let before = nft.list().unwrap().unwrap();
    let mut bad: Value = serde_json::from_str(&sound.json()).unwrap();
    let rule = json!({ "add": { "rule": { "family": "inet", "table": "meshgw", "chain": "input",
        "expr": [{ "jump": { "target": "nowhere" } }] } } });
    bad["nftables"].as_array_mut().unwrap().insert(4, rule);
    for refused in [nft.check(&bad.to_string()), nft.apply(&bad.to_string())] {
        assert!(matches!(refused, Err(NftError::Refused(_))), "{refused:?}");
    }
    let after = nft.list().unwrap();
    assert_eq!(before.differences(after.as_ref()), []);
    assert!(before.rules() > 0);
    nft.remove().unwrap();
    assert!(nft.list().unwrap().is_none());
}
