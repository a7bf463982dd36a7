//! The day of an operator: a gateway process, thirty agents, a relay that fails, a roll-out.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use groundwave_files::hex::hex;
use groundwave_files::wall::wall_ns;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::automation::Receiver;
use super::process::{Process, admin, start_with};

const AGENTS: u8 = 30;
const RELAY: u8 = 21;
/// Nodes that only the relay reaches.
const BEHIND: std::ops::RangeInclusive<u8> = 22..=29;
/// Node whose first installation fails.
const BAD: u8 = 7;
const OPTIONS: [&str; 7] = [
    "--heartbeat-s",
    "1",
    "--trusted-proxy",
    "127.0.0.1",
    "--allow-target",
    "127.0.0.1",
    "--public-map",
];

/// Content of a request.
enum Content<'a> {
    Json(Value),
    Bytes(&'a [u8]),
}

/// Request of a client at an underlay address, on a connection of its own: status and body.
fn send(
    server: &Process,
    (token, number): (&str, u8),
    method: &str,
    path: &str,
    content: Content<'_>,
) -> (u16, String) {
    let (kind, body) = match content {
        Content::Json(Value::Null) => ("", Vec::new()),
        Content::Json(body) => ("application/json", body.to_string().into_bytes()),
        Content::Bytes(body) => ("application/octet-stream", body.to_vec()),
    };
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nX-Forwarded-For: 10.41.0.{number}\r\n",
        server.address
    );
    if !token.is_empty() {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    if !kind.is_empty() {
        head += &format!("Content-Type: {kind}\r\n");
    }
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(&body).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).unwrap().parse().unwrap();
    (status, response.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// An agent by the protocol.
struct Agent {
    number: u8,
    node: String,
    token: String,
    seq: u64,
    acknowledged: usize,
    version: &'static str,
    installs: usize,
}

impl Agent {
    fn neighbors(&self, silent: &[u8]) -> Vec<Value> {
        let links = (1..RELAY).map(|number| (number, number + 1));
        let links = links.chain(BEHIND.map(|number| (RELAY, number))).chain([(1, AGENTS)]);
        let others = links.filter_map(|(a, b)| match (a == self.number, b == self.number) {
            (true, _) => Some(b),
            (_, true) => Some(a),
            _ => None,
        });
        let entry = |other: u8| json!({ "neigh_address": format!("02:00:00:00:00:{other:02x}"), "tq": 220 });
        others.filter(|other| !silent.contains(other)).map(entry).collect()
    }

    fn post(&self, server: &Process, path: &str, body: Value) -> Value {
        let (status, text) =
            send(server, (&self.token, self.number), "POST", path, Content::Json(body));
        assert!([200, 204].contains(&status), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    fn join(&self, server: &Process) {
        let report = json!({ "board": "board", "firmware": { "firmware": self.version },
            "supported_commands": ["firmware"] });
        self.post(server, "/v1/nodes/join", report);
    }

    /// A heartbeat, and the commands of its acknowledgement.
    fn heartbeat(&mut self, server: &Process, silent: &[u8]) {
        self.seq += 1;
        let heartbeat = json!({
            "mac": format!("02:00:00:00:00:{:02x}", self.number),
            "hostname": format!("node-{}", self.number), "boot_id": "boot", "seq": self.seq,
            "mesh": { "links": self.neighbors(silent) },
            "metrics": { "mesh.tx_mbps": self.seq as f64, "gps.fix_mode": 3,
                "gps.lat_deg": 57.7 + f64::from(self.number) / 1_000.0, "gps.lon_deg": 11.9 },
        });
        let reply = self.post(server, "/v1/nodes/heartbeat", heartbeat);
        self.acknowledged += 1;
        for command in reply["commands"].as_array().unwrap() {
            self.installs += 1;
            let fails = self.number == BAD && self.installs == 1;
            let state = if fails { "failed" } else { "done" };
            let id = command["command_id"].as_str().unwrap();
            let path = format!("/v1/nodes/{}/commands/{id}/result", self.node);
            self.post(server, &path, json!({ "state": state, "output": "flash: no space" }));
            if !fails {
                self.version = "2";
                self.join(server);
            }
        }
    }
}

struct Day {
    server: Process,
    token: String,
    agents: Vec<Agent>,
    silent: Vec<u8>,
}

impl Day {
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.server.ask(&self.token, method, path, body)
    }

    fn get(&self, path: &str) -> Value {
        let (status, document) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {document}");
        document
    }

    fn post(&self, path: &str, body: &Value, expected: u16) -> Value {
        let (status, document) = self.ask("POST", path, body);
        assert_eq!(status, expected, "{path}: {document}");
        document
    }

    /// One heartbeat of each agent that is not silent.
    fn round(&mut self) {
        for agent in &mut self.agents {
            if !self.silent.contains(&agent.number) {
                agent.heartbeat(&self.server, &self.silent);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }

    /// Heartbeats go on until a condition holds.
    #[track_caller]
    fn until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        for _ in 0..400 {
            if condition(self) {
                return;
            }
            self.round();
        }
        panic!("not reached: {what}");
    }

    fn states(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for node in self.get("/v1/nodes?limit=100")["items"].as_array().unwrap() {
            *counts.entry(node["state"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        counts
    }

    fn online(&self) -> usize {
        self.states().get("online").copied().unwrap_or_default()
    }
}

/// Thirty unknown peers request, and are approved by one request.
fn admit(server: &Process, token: &str) -> Vec<Agent> {
    for number in 1..=AGENTS {
        let request = Content::Json(super::ask(number));
        let (status, text) = send(server, ("", number), "POST", super::REGISTER, request);
        assert_eq!(status, 202, "{text}");
    }
    let bulk = "/v1/admin/registrations/approve";
    assert_eq!(server.post(token, bulk, &json!({ "select": {} })).0, 422);
    let body = json!({ "select": { "state": "pending", "source": "10.41.0.0/24" } });
    let (status, outcome) = server.post(token, bulk, &body);
    assert_eq!(status, 200, "{outcome}");
    assert_eq!(outcome["approved"].as_array().unwrap().len(), usize::from(AGENTS), "{outcome}");
    assert_eq!((&outcome["refused"], &outcome["skipped"]), (&json!([]), &json!([])));
    // Once approved they are not pending any more.
    let (_, outcome) = server.post(token, bulk, &body);
    assert_eq!((&outcome["approved"], &outcome["skipped"]), (&json!([]), &json!([])));
    let (_, nodes) = server.ask(token, "GET", "/v1/nodes?limit=100", &Value::Null);
    let agents = nodes["items"].as_array().unwrap().iter().map(|node| {
        let number = node["name"].as_str().unwrap().trim_start_matches("node-").parse().unwrap();
        let id = node["node_id"].as_str().unwrap().to_owned();
        let (_, credentials) =
            server.post(token, &format!("/v1/nodes/{id}/rotate-credentials"), &Value::Null);
        let login = json!({ "username": credentials["username"], "password": credentials["enrollment_code"] });
        let (status, text) =
            send(server, ("", number), "POST", "/api/auth/login", Content::Json(login));
        assert_eq!(status, 200, "{text}");
        let login: Value = serde_json::from_str(&text).unwrap();
        let token = login["access_token"].as_str().unwrap().to_owned();
        Agent { number, node: id, token, seq: 0, acknowledged: 0, version: "1", installs: 0 }
    });
    let agents: Vec<_> = agents.collect();
    agents.iter().for_each(|agent| agent.join(server));
    agents
}

/// The preset for silent nodes, with the webhook only.
fn silent_node_flow(day: &Day, receiver: &Receiver) -> Value {
    let metadata = day.get("/v1/flows/builder/metadata");
    let presets = metadata["presets"].as_array().unwrap();
    let preset = presets.iter().find(|preset| preset["name"] == "silent-node").unwrap();
    let mut flow = preset["flow"].clone();
    let other = |value: &Value| value == "email" || value == "mqtt";
    flow["steps"].as_array_mut().unwrap().retain(|step| !other(&step["step_id"]));
    flow["edges"].as_array_mut().unwrap().retain(|edge| !other(&edge["to"]));
    for step in flow["steps"].as_array_mut().unwrap() {
        if step["step_id"] == "webhook" {
            step["params"]["url"] = format!("http://{}/", receiver.address).into();
        }
    }
    flow
}

fn texts(receiver: &Receiver) -> Vec<String> {
    receiver.bodies().iter().map(|body| body["text"].as_str().unwrap().to_owned()).collect()
}

/// Hour and minute of a day, UTC, so many hours from now.
fn time_of_day(offset_h: i64) -> String {
    let minutes = (wall_ns() / 60_000_000_000) as i64 + offset_h * 60;
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

#[test]
fn an_operator_approves_is_notified_once_of_a_relay_and_rolls_firmware_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = start_with(folder.path(), "warn,groundwave=info", Stdio::piped(), &OPTIONS);
    let token = admin(&server);
    let agents = admit(&server, &token);
    let mut day = Day { server, token, agents, silent: Vec::new() };
    let receiver = Receiver::at(TcpListener::bind("127.0.0.1:0").unwrap());
    let flow = silent_node_flow(&day, &receiver);
    day.post("/v1/flows", &flow, 201);
    day.until("all are online", |day| day.online() == usize::from(AGENTS));

    // A relay dies: one notice with its eight nodes, not nine.
    day.silent = std::iter::once(RELAY).chain(BEHIND).collect();
    day.until("a notice of the relay", |_| !texts(&receiver).is_empty());
    day.until("nine are offline", |day| day.states().get("offline") == Some(&9));
    let names: Vec<String> = BEHIND.map(|number| format!("node-{number}")).collect();
    let notices = texts(&receiver);
    assert_eq!(notices.len(), 1, "{notices:?}");
    let prefix = format!("relay node-{RELAY} is silent: 8 nodes behind it: ");
    let list = notices[0].strip_prefix(&prefix).unwrap_or_else(|| panic!("{notices:?}"));
    let mut listed: Vec<_> = list.split(", ").collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    let trigger = receiver.bodies()[0]["trigger"].clone();
    assert_eq!((&trigger["event"], &trigger["behind_count"]), (&json!("outage"), &json!(8)));
    assert_eq!(day.get("/v1/flows/alerts?state=open")["total"], 1);
    let outages = day.get("/v1/mesh/outages?state=open");
    assert_eq!(outages["items"][0]["relay"]["name"], format!("node-{RELAY}"));
    assert_eq!(outages["items"][0]["behind"].as_array().unwrap().len(), 8);

    // A kill in the middle of it: the outage goes on, nothing is notified again.
    day.server.kill();
    day.server = start_with(folder.path(), "warn,groundwave=info", Stdio::piped(), &OPTIONS);
    day.until("the others are online after the restart", |day| day.online() == 21);
    assert_eq!(texts(&receiver).len(), 1);

    // It recovers: one notice, and the alert is closed.
    day.silent.clear();
    day.until("a notice of the recovery", |_| texts(&receiver).len() > 1);
    day.until("all are online", |day| day.online() == usize::from(AGENTS));
    let notices = texts(&receiver);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[1].starts_with(&format!("relay node-{RELAY} is back after ")), "{notices:?}");
    assert!(notices[1].ends_with(": 8 of 8 nodes behind it"), "{notices:?}");
    assert!(receiver.bodies()[1]["trigger"]["duration_s"].as_u64().unwrap() >= 12);
    assert_eq!(day.get("/v1/flows/alerts?state=open")["total"], 0);

    roll_out(&mut day);
    public_map(&day);

    // Nothing that was acknowledged is lost: as many readings as heartbeats, over the kill.
    for agent in &day.agents {
        let path = format!("/v1/nodes/{}/telemetry?metric=mesh.tx_mbps", agent.node);
        let points = day.get(&path)["series"][0]["points"].as_array().unwrap().len();
        assert_eq!(points, agent.acknowledged, "node {}", agent.number);
    }
    assert_eq!(texts(&receiver).len(), 2);
}

/// Dry run, a window that is closed, one that is open, one bad node, its retry.
fn roll_out(day: &mut Day) {
    let image = b"firmware 2".repeat(1_000);
    let digest = hex(&Sha256::digest(&image));
    let path = format!("/v1/firmware/images?version=2&sha256={digest}");
    let (status, text) =
        send(&day.server, (&day.token, 200), "POST", &path, Content::Bytes(&image));
    assert_eq!(status, 201, "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    for agent in &day.agents {
        let (status, node) =
            day.ask("PATCH", &format!("/v1/nodes/{}", agent.node), &json!({ "tags": ["roof"] }));
        assert_eq!(status, 200, "{node}");
    }
    let window =
        |from_h, to_h| json!({ "from": time_of_day(from_h), "to": time_of_day(to_h), "tz": "UTC" });
    let mut plan = json!({ "image_id": document["image_id"], "tag": "roof",
        "stages": [{ "nodes": 1 }, { "percent": 100 }], "failures_max_percent": 50, "healthy_s": 1,
        "window": window(2, 4) });
    let rollouts = "/v1/firmware/rollouts";
    let dry = day.post(&format!("{rollouts}/dry-run"), &plan, 200);
    assert_eq!(dry["stages"], json!([1, AGENTS]));
    assert_eq!(day.get(rollouts)["items"], json!([]));
    let begin = |day: &Day, plan: &Value| {
        let document = day.post(rollouts, plan, 201);
        format!("{rollouts}/{}", document["rollout_id"].as_str().unwrap())
    };
    // Outside the window no node begins.
    let closed = begin(day, &plan);
    (0..5).for_each(|_| day.round());
    assert!(day.agents.iter().all(|agent| agent.installs == 0));
    day.post(&format!("{closed}/cancel"), &json!({}), 200);
    plan["window"] = window(-2, 2);
    let open = begin(day, &plan);
    let state = |day: &Day| day.get(&open)["state"].clone();
    day.until("the roll-out is done", |day| state(day) == "done");
    let rollout = day.get(&open);
    assert_eq!(rollout["failed"], 1, "{rollout}");
    let bad: Vec<_> = rollout["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["state"] == "failed")
        .collect();
    let id = &day.agents.iter().find(|agent| agent.number == BAD).unwrap().node;
    assert_eq!((bad.len(), bad[0]["node_id"].as_str()), (1, Some(id.as_str())));
    assert!(bad[0]["failure"].as_str().unwrap().contains("flash: no space"), "{}", bad[0]);
    day.post(&format!("{open}/retry"), &json!({}), 200);
    day.until("the retry is done", |day| state(day) == "done");
    assert_eq!(day.get(&open)["failed"], 0);
    let installs = |agent: &Agent| agent.installs == if agent.number == BAD { 2 } else { 1 };
    assert!(day.agents.iter().all(|agent| installs(agent) && agent.version == "2"));
}

/// The map and its data are read without a login, and show neither addresses nor nodes kept private.
fn public_map(day: &Day) {
    let private = &day.agents.iter().find(|agent| agent.number == 3).unwrap().node;
    let (status, _) =
        day.ask("PATCH", &format!("/v1/nodes/{private}"), &json!({ "tags": ["private"] }));
    assert_eq!(status, 200);
    let (status, text) =
        send(&day.server, ("", 201), "GET", "/meshviewer.json", Content::Json(Value::Null));
    assert_eq!(status, 200, "{text}");
    let mesh: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(mesh["nodes"].as_array().unwrap().len(), usize::from(AGENTS) - 1);
    // 29 links, without the two of the private node.
    assert_eq!(mesh["links"].as_array().unwrap().len(), 27, "{mesh}");
    assert!(mesh["nodes"].as_array().unwrap().iter().all(|node| node["is_online"] == true));
    let (status, page) = send(&day.server, ("", 201), "GET", "/map", Content::Json(Value::Null));
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("29 of 29 nodes online, 27 links"), "{page}");
    for hidden in ["10.41.", "10.42.", "02:00:00:00", "node-3<"] {
        assert!(!text.contains(hidden) && !page.contains(hidden), "{hidden} is public");
    }
}
