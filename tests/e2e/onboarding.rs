//! Two nodes are let in, report their state, fall silent and come back.

use std::collections::BTreeMap;
use std::process::Command;

use hyper::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::mesh;
use crate::tool::{Running, run, say, start, try_run, wait_for};

const GATEWAY: &str = "10.41.0.1:8080";
const NODES: [&str; 2] = ["n1", "n2"];
const PASSWORD: &str = "a long enough password for a test";

/// The program under test.
fn program() -> &'static str {
    env!("CARGO_BIN_EXE_groundwave")
}

/// Programs that run until the end of the stage.
pub struct Cast {
    _dnsmasq: Running,
    _gateway: Running,
    agents: BTreeMap<&'static str, Running>,
    admin: Api,
    /// Ids of the nodes by namespace.
    nodes: BTreeMap<&'static str, String>,
}

/// Gives the nodes addresses when they ask, as a node's DHCP client does.
const LEASE: &str =
    "#!/bin/busybox sh\n[ \"$1\" = bound ] && ip addr add $ip/24 dev $interface\nexit 0\n";

fn dnsmasq() -> Running {
    let line = "dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 --interface=bat0 \
                --bind-interfaces --no-ping --user=root --pid-file= --dhcp-authoritative \
                --dhcp-range=10.41.0.50,10.41.0.99,255.255.255.0,10m \
                --dhcp-leasefile=/run/leases";
    start("", line, "dnsmasq.log")
}

fn agent(netns: &str) -> Running {
    // Each node has a name of its own, which it gets from its own kernel elsewhere.
    let line = format!(
        "busybox unshare -u {0} agent --period 1 --key /run/{netns}.key --allow-configure",
        program()
    );
    start(netns, &line, &format!("{netns}.log"))
}

impl Cast {
    /// Starts everything, and lets the nodes in.
    pub fn assemble() -> Self {
        let dnsmasq = dnsmasq();
        let line = format!(
            "{} serve gateway --db /run/world.db --state /run/gateway --heartbeat-s 1 --tunnel on \
             --leases /run/leases",
            program()
        );
        let mut gateway = start("", &line, "gateway.log");
        let mut admin = Api::at(GATEWAY);
        let password = wait_for("the gateway wrote its first password", 60, || {
            let ended = gateway.0.try_wait().unwrap();
            assert!(ended.is_none(), "the gateway ended: see its log");
            std::fs::read_to_string("/run/gateway/bootstrap-admin").ok()
        });
        wait_for("the gateway is there", 60, || {
            (admin.try_ask(Method::GET, "/health", None).0 == 200).then_some(())
        });
        admin.log_in("admin", password.trim());
        let change = json!({ "current_password": password.trim(), "new_password": PASSWORD });
        admin.post("/api/auth/password", change);
        admin.log_in("admin", PASSWORD);
        let agents = NODES.map(|netns| (netns, agent(netns))).into();
        let mut cast =
            Self { _dnsmasq: dnsmasq, _gateway: gateway, agents, admin, nodes: BTreeMap::new() };
        cast.lease();
        cast.approve();
        cast
    }

    fn lease(&self) {
        std::fs::write("/run/lease.sh", LEASE).unwrap();
        run("", "chmod +x /run/lease.sh");
        for netns in NODES {
            run(netns, "busybox udhcpc -q -n -t 20 -T 1 -i bat0 -s /run/lease.sh");
        }
        let leases = self.admin.get("/v1/network/dhcp/leases");
        assert_eq!(leases["items"].as_array().map(Vec::len), Some(2), "{leases}");
        say("both nodes have a lease, as the gateway sees");
    }

    fn registrations(&self, state: &str) -> Vec<Value> {
        let listing = self.admin.get(&format!("/v1/admin/registrations?state={state}"));
        listing["items"].as_array().unwrap().clone()
    }

    fn approve(&mut self) {
        let pending = wait_for("both nodes ask to be let in", 60, || {
            let pending = self.registrations("pending");
            (pending.len() == 2).then_some(pending)
        });
        assert!(!try_run("n1", "ip link show wg0").0, "a tunnel before approval");
        for one in pending {
            assert_eq!(one["mac_verified"], true, "{one}");
            let id = one["registration_id"].as_str().unwrap();
            let path = format!("/v1/admin/registrations/{id}/approve");
            let approved = self.admin.post(&path, json!({}));
            assert_eq!(approved["state"], "approved", "{approved}");
        }
        assert_eq!(self.registrations("approved").len(), 2);
        say("an admin approved them");
        self.nodes = NODES.map(|netns| (netns, self.joined(netns))).into();
    }

    /// The id of the node in a namespace, once it is online.
    fn joined(&self, netns: &str) -> String {
        let addresses = run(netns, "ip -4 -o addr show bat0");
        let own = addresses
            .split_ascii_whitespace()
            .find(|word| word.starts_with("10.41.0."))
            .unwrap()
            .split('/')
            .next()
            .unwrap()
            .to_owned();
        wait_for(&format!("{netns} is online"), 90, || {
            let nodes = self.admin.get("/v1/nodes");
            let mut nodes = nodes["items"].as_array().unwrap().iter();
            let node =
                nodes.find(|one| one["underlay_ip"] == own.as_str() && one["state"] == "online")?;
            assert!(node["overlay_ip"].as_str().unwrap().starts_with("10.42.0."), "{node}");
            Some(node["node_id"].as_str().unwrap().to_owned())
        })
    }

    fn state(&self, netns: &str) -> String {
        let node = self.admin.get(&format!("/v1/nodes/{}", self.nodes[netns]));
        node["state"].as_str().unwrap().to_owned()
    }

    /// The overlay carries packets, encrypted.
    pub fn overlay(&self) {
        for netns in NODES {
            let output = run(netns, "ping -c 3 -i 0.3 -W 5 10.42.0.1");
            assert!(output.contains(" 0% packet loss"), "{output}");
            let handshakes = run(netns, "wg show wg0 latest-handshakes");
            let at = handshakes.split_ascii_whitespace().nth(1).unwrap();
            assert_ne!(at, "0");
        }
        let peers = self.admin.get("/v1/mesh/peers");
        let peers = peers["items"].as_array().unwrap();
        assert_eq!(peers.len(), 2);
        for peer in peers {
            assert_eq!(peer["connected"], true, "{peer}");
        }
        say("the overlay answers, and the gateway sees its peers");
    }

    /// A probe reaches a node, in the mesh and in the tunnel.
    pub fn probes(&self) {
        for via in ["underlay", "overlay"] {
            let request =
                json!({ "target": self.nodes["n1"], "kind": "ping", "duration_s": 1, "via": via });
            let creation = self.admin.post("/v1/mesh/probes", request);
            let id = creation["probe_id"].as_str().unwrap().to_owned();
            let outcome = wait_for(&format!("a probe of the {via}"), 30, || {
                let probe = self.admin.get(&format!("/v1/mesh/probes/{id}"));
                (probe["state"] == "done").then_some(probe)
            });
            assert_eq!(outcome["loss_pct"], 0.0, "{outcome}");
            assert!(outcome["rtt_ms"]["avg"].as_f64().unwrap() > 0.0, "{outcome}");
        }
    }

    /// Settings of the mesh are changed in the kernel: kept when confirmed, undone when not.
    pub fn settings(&self) {
        let interval = || run("", "batctl meshif bat0 orig_interval");
        let change = |interval_ms: u32, within_s: u32| -> Value {
            let request = json!({ "batman": { "orig_interval_ms": interval_ms, "hop_penalty": 25 },
                "confirm_within_s": within_s });
            let (status, answer) =
                self.admin.try_ask(Method::PUT, "/v1/mesh/config", Some(request));
            assert_eq!(status, 200, "{answer}");
            assert_eq!(answer["divergence"], json!([]), "{answer}");
            answer
        };
        let token = change(300, 60)["confirm_token"].clone();
        assert_eq!(interval().trim(), "300");
        assert_eq!(run("", "batctl meshif bat0 hop_penalty").trim(), "25");
        self.admin.post("/v1/mesh/config/confirm", json!({ "confirm_token": token }));
        say("a setting was changed and confirmed");
        change(900, 10);
        assert_eq!(interval().trim(), "900");
        wait_for("an unconfirmed setting is undone", 30, || {
            (interval().trim() == "300").then_some(())
        });
        assert_eq!(self.admin.get("/v1/mesh/config")["batman"]["orig_interval_ms"], 300);
    }

    /// Settings of a node reach its kernel, and reach it again when somebody changes them there.
    pub fn node_settings(&self) {
        let path = format!("/v1/nodes/{}/settings", self.nodes["n2"]);
        let penalty = || run("n2", "batctl meshif bat0 hop_penalty");
        let request = json!({ "batman": { "hop_penalty": 40 } });
        let (status, answer) = self.admin.try_ask(Method::PUT, &path, Some(request));
        assert_eq!(status, 200, "{answer}");
        wait_for("n2 keeps a pushed setting", 60, || {
            let answer = self.admin.get(&path);
            let is_in_force =
                answer["push"]["state"] == "done" && answer["divergence"] == json!([]);
            is_in_force.then_some(())
        });
        assert_eq!(penalty().trim(), "40");
        run("n2", "batctl meshif bat0 hop_penalty 20");
        wait_for("a setting that somebody changed is pushed again", 60, || {
            (penalty().trim() == "40").then_some(())
        });
    }

    /// The nodes and their links appear in the topology.
    pub fn topology(&self) {
        let graph = wait_for("both nodes and their links are in the topology", 60, || {
            let graph = self.admin.get("/v1/mesh/topology");
            let nodes = graph["nodes"].to_string();
            let has_all_nodes = self.nodes.values().all(|id| nodes.contains(id.as_str()));
            let links = graph["links"].as_array()?;
            let batman = links.iter().filter(|one| one["properties"]["kind"] == "batman").count();
            (has_all_nodes && batman >= 1).then_some(graph)
        });
        assert_eq!(graph["type"], "NetworkGraph");
        let id = &self.nodes["n1"];
        let latest = self.admin.get(&format!("/v1/nodes/{id}/telemetry/latest"));
        for metric in ["mesh.plink_estab", "mesh.signal_dbm", "mesh.neighbor_count", "sys.load1"] {
            assert!(latest.to_string().contains(metric), "{metric}: {latest}");
        }
        say("readings arrive");
    }

    /// A node cut off turns stale, then offline; back again it is online, and sends what it missed.
    pub fn cut_off(&self) {
        mesh::set_reception(1, false);
        say("n1 is out of reach");
        for state in ["stale", "offline"] {
            wait_for(&format!("n1 is {state}"), 60, || (self.state("n1") == state).then_some(()));
        }
        assert_eq!(self.state("n2"), "online");
        mesh::set_reception(1, true);
        say("n1 is within reach again");
        wait_for("n1 reaches the gateway", 60, || {
            try_run("n1", "ping -c 1 -W 1 10.41.0.1").0.then_some(())
        });
        say("n1 reaches the gateway on the underlay");
        wait_for("n1 is online again", 90, || (self.state("n1") == "online").then_some(()));
        let id = &self.nodes["n1"];
        wait_for("what it missed is reported", 60, || {
            let history = self.admin.get(&format!("/v1/nodes/{id}/telemetry?metric=sys.uptime_s"));
            let points = history["series"][0]["points"].as_array()?.clone();
            let times: Vec<i64> = points.iter().filter_map(|point| point[0].as_i64()).collect();
            let widest = times.windows(2).map(|pair| pair[1] - pair[0]).max()?;
            (times.len() > 20 && widest <= 3_000).then_some(())
        });
    }

    /// Prints the memory of the agents.
    pub fn memory(&self) {
        for (netns, running) in &self.agents {
            let status = std::fs::read_to_string(format!("/proc/{}/status", running.0.id()))
                .unwrap_or_default();
            let lines = status.lines().filter(|line| {
                ["VmRSS", "RssAnon", "Threads"].iter().any(|name| line.starts_with(name))
            });
            say(&format!(
                "agent of {netns}: {}",
                lines.collect::<Vec<_>>().join(", ").replace(['\t', ' '], "")
            ));
        }
    }
}

/// Secrets show up nowhere: neither in logs nor in what the programs were given.
pub fn no_secrets_in_logs() {
    let keys = NODES.map(|netns| std::fs::read_to_string(format!("/run/{netns}.key")).unwrap());
    for log in ["gateway.log", "n1.log", "n2.log"] {
        let text = std::fs::read_to_string(format!("/run/out/{log}")).unwrap();
        for secret in keys.iter().map(|key| key.trim()).chain([PASSWORD]) {
            assert!(!text.contains(secret), "a secret in {log}");
        }
    }
    let mode = Command::new("stat").args(["-c", "%a", "/run/n1.key"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&mode.stdout).trim(), "600");
    say("no secret in any log");
}
