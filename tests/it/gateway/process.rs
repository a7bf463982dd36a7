//! The gateway as a process: its first start, a kill, its restart.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use groundwave_needs::needs;
use serde_json::{Value, json};

use super::beat;
use crate::support::{command, eventually};

/// A gateway process on a port of its own.
pub struct Process {
    child: Child,
    pub address: String,
    state: PathBuf,
    log: Mutex<Receiver<String>>,
    output: String,
}

/// Starts a gateway over what `folder` holds, with this log filter.
pub fn start(folder: &Path, filter: &str, log: Stdio) -> Process {
    start_with(folder, filter, log, &[])
}

/// As [`start`], with further options.
pub fn start_with(folder: &Path, filter: &str, log: Stdio, options: &[&str]) -> Process {
    let options = [&["gateway"], options].concat();
    launch(folder, filter, log, &options, "gateway listening on http://")
}

/// Starts planning server and gateway; the address is that of the planning server.
pub fn start_both(folder: &Path) -> Process {
    let options = ["--bind", "127.0.0.1:0"];
    launch(folder, "info", Stdio::piped(), &options, ": listening on http://")
}

/// Starts a server; its address follows `marker` in the log.
fn launch(folder: &Path, filter: &str, log: Stdio, options: &[&str], marker: &str) -> Process {
    let state = folder.join("state");
    let mut child = command(&["serve", "--gateway-bind", "127.0.0.1:0", "--tunnel", "off"])
        .arg("--db")
        .arg(folder.join("world.db"))
        .arg("--state")
        .arg(&state)
        .args(options)
        // The gateway makes the folders that it needs.
        .current_dir(folder.ancestors().find(|folder| folder.is_dir()).unwrap())
        .env("NO_COLOR", "1")
        .env("RUST_LOG", filter)
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let (sender, log) = channel();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut output = String::new();
    let address = loop {
        let line = log.recv().expect("the gateway logs its address");
        output = output + &line + "\n";
        if let Some((_, rest)) = line.split_once(marker) {
            break rest.split([',', ' ']).next().unwrap().to_owned();
        }
    };
    Process { child, address, state, log: Mutex::new(log), output }
}

impl Process {
    /// The first admin's password.
    pub fn bootstrap(&self) -> String {
        let path = self.state.join("bootstrap-admin");
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.trim().len(), 24);
        text.trim().to_owned()
    }

    /// Asks, on a connection of its own.
    pub fn ask(&self, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (fields, body) = match body {
            Value::Null => ([].as_slice(), String::new()),
            body => ([("Content-Type", "application/json")].as_slice(), body.to_string()),
        };
        let (status, body) = self.exchange(token, method, path, fields, body.as_bytes());
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// Posts without a body; the body of the answer.
    pub fn fetch(&self, token: &str, path: &str) -> Vec<u8> {
        let (status, body) = self.exchange(token, "POST", path, &[], b"");
        assert_eq!(status, 200);
        body
    }

    /// A request with header fields and a body, on a connection of its own: status and body of the answer.
    pub fn exchange(
        &self,
        token: &str,
        method: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        if !token.is_empty() {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in fields {
            head += &format!("{name}: {value}\r\n");
        }
        write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = answer.split_off(end + 4);
        let head = String::from_utf8(answer).unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body)
    }

    /// Posts.
    pub fn post(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        self.ask(token, "POST", path, body)
    }

    /// Resident memory, KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Asks it to read its certificate again.
    pub fn hang_up(&self) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-HUP", &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for a line of the log with this text; `false` if none comes.
    pub fn log_contains(&self, text: &str) -> bool {
        let limit = std::time::Duration::from_secs(60);
        let log = self.log.lock().unwrap();
        let mut lines = std::iter::from_fn(|| log.recv_timeout(limit).ok());
        lines.any(|line| line.contains(text))
    }

    /// Ends it as a loss of power would, but for what the kernel has.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as its operator would; what it logged.
    pub fn end(&mut self) -> String {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-TERM", &pid]).status();
        assert!(sent.unwrap().success());
        assert!(self.child.wait().unwrap().success());
        while let Ok(line) = self.log.get_mut().unwrap().recv() {
            self.output = std::mem::take(&mut self.output) + &line + "\n";
        }
        std::mem::take(&mut self.output)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first admin, with another password, logged in.
pub fn admin(server: &Process) -> String {
    let first = server.bootstrap();
    let login = |password: &str| {
        let body = json!({ "username": "admin", "password": password });
        let (status, answer) = server.post("", "/api/auth/login", &body);
        assert_eq!(status, 200, "{answer}");
        answer["access_token"].as_str().unwrap().to_owned()
    };
    let change = json!({ "current_password": first, "new_password": "a better password" });
    assert_eq!(server.post(&login(&first), "/api/auth/password", &change).0, 204);
    login("a better password")
}

#[test]
fn two_fresh_gateways_share_no_secret_and_have_no_usual_password() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let servers = folders.each_ref().map(|folder| start(folder.path(), "info", Stdio::piped()));
    assert_ne!(servers[0].bootstrap(), servers[1].bootstrap());
    let key = |server: &Process| std::fs::read(server.state.join("token.key")).unwrap();
    assert_ne!(key(&servers[0]), key(&servers[1]));
    for password in ["admin", "password", "groundwave", ""] {
        let login = json!({ "username": "admin", "password": password });
        assert_ne!(servers[0].post("", "/api/auth/login", &login).0, 200);
    }
    // A token of one is nothing to the other.
    let token = admin(&servers[0]);
    assert_eq!(servers[0].ask(&token, "GET", "/v1/nodes", &Value::Null).0, 200);
    assert_eq!(servers[1].ask(&token, "GET", "/v1/nodes", &Value::Null).0, 401);
    let (status, answer) = servers[0].ask("", "GET", "/health", &Value::Null);
    assert_eq!((status, &answer["status"]), (200, &json!("ok")));
}

/// Lets a node in ahead and logs it in: its id and its token.
pub fn mast(server: &Process, admin: &str, number: u8) -> (String, String) {
    let mac = format!("02:00:00:00:00:{number:02x}");
    let expected = json!({ "name": format!("Mast {number}"), "mac": mac });
    let (_, document) = server.post(admin, "/v1/nodes/register", &expected);
    let mut request = super::ask(number);
    request["enrollment_code"] = document["enrollment_code"].clone();
    assert_eq!(server.post("", super::REGISTER, &request).0, 201);
    let id = document["node"]["node_id"].as_str().unwrap().to_owned();
    let rotate = format!("/v1/nodes/{id}/rotate-credentials");
    let (_, document) = server.post(admin, &rotate, &Value::Null);
    let login =
        json!({ "username": document["username"], "password": document["enrollment_code"] });
    let (_, answer) = server.post("", "/api/auth/login", &login);
    let node = answer["access_token"].as_str().unwrap().to_owned();
    (id, node)
}

#[test]
fn a_recorded_gateway_replays_from_what_it_began_with() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("today.gwlog");
    let overlay = ["--overlay", "10.77.0.0/24"];
    // Before the recording the world is not empty any more.
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &overlay);
    let token = admin(&server);
    let (_, first) = mast(&server, &token, 5);
    assert_eq!(server.post(&first, "/v1/nodes/heartbeat", &beat(5, 1)).0, 200);
    server.end();
    let options = [&overlay[..], &["--record", log.to_str().unwrap()]].concat();
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let (id, second) = mast(&server, &token, 6);
    for seq in 1..=3 {
        assert_eq!(server.post(&second, "/v1/nodes/heartbeat", &beat(6, seq)).0, 200);
    }
    assert_eq!(server.post(&first, "/v1/nodes/heartbeat", &beat(5, 2)).0, 200);
    let (_, node) = server.ask(&token, "GET", &format!("/v1/nodes/{id}"), &Value::Null);
    assert!(node["overlay_ip"].as_str().unwrap().starts_with("10.77.0."), "{node}");
    server.end();
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    let path = log.to_str().unwrap();
    let replayed = command(&["replay", path, "--check", "--json"]).output().unwrap();
    let error = String::from_utf8_lossy(&replayed.stderr);
    assert!(replayed.status.success(), "{error}");
    let report: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert!(report["marks_compared"].as_u64().unwrap() >= 2, "{report}");
    assert!(report["commands"].as_u64().unwrap() >= 8, "{report}");
    // A log is evidence: a second run has a file of its own.
    let before = std::fs::read(&log).unwrap();
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &options);
    assert_eq!(server.post(&first, "/v1/nodes/heartbeat", &beat(5, 3)).0, 200);
    server.end();
    assert_eq!(std::fs::read(&log).unwrap(), before);
    let second = folder.path().join("today.2.gwlog");
    let replay = command(&["replay", second.to_str().unwrap(), "--check"]).output().unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
}

#[test]
fn a_kill_loses_no_heartbeat_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let (id, node) = mast(&server, &token, 5);
    let mut server = server;
    let mut seq = 0;
    for _ in 0..3 {
        for _ in 0..3 {
            seq += 1;
            let (status, answer) = server.post(&node, "/v1/nodes/heartbeat", &beat(5, seq));
            assert_eq!(status, 200, "{answer}");
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        server = start(folder.path(), "info", Stdio::piped());
        // Tokens outlive the process; the last message is in the store.
        let (status, answer) = server.post(&node, "/v1/nodes/heartbeat", &beat(5, seq));
        assert_eq!(status, 409, "{answer}");
        let path = format!("/v1/nodes/{id}/telemetry?metric=mesh.tx_mbps");
        let (_, answer) = server.ask(&token, "GET", &path, &Value::Null);
        let points = answer["series"][0]["points"].as_array().unwrap().len();
        assert_eq!(points as u64, seq, "{answer}");
    }
    let log = server.end();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn gateway_whose_network_covers_the_underlay_serves_until_it_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = ["--underlay", "10.99.0.0/24"];
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &elsewhere);
    let token = admin(&server);
    let valley = json!({ "name": "valley", "overlay_cidr": "10.41.0.0/24" });
    let (status, network) = server.ask(&token, "POST", "/v1/model/networks", &valley);
    assert_eq!(status, 201, "{network}");
    server.end();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let health = |server: &Process| server.ask(&token, "GET", "/health", &Value::Null).1;
    let report = health(&server);
    assert_eq!(
        (&report["status"], &report["checks"]["overlay"]),
        (&json!("degraded"), &json!("fail"))
    );
    let path = format!("/v1/model/networks/{}", network["network_id"].as_str().unwrap());
    let (status, problem) = server.ask(&token, "PUT", &path, &valley);
    assert_eq!(status, 422, "{problem}");
    let apart = json!({ "name": "valley", "overlay_cidr": "10.50.0.0/24" });
    assert_eq!(server.ask(&token, "PUT", &path, &apart).0, 200);
    assert_eq!(health(&server)["checks"]["overlay"], Value::Null);
    assert!(server.end().contains("no tunnel: the overlay range of this network"));
}

#[test]
fn overlay_without_the_addresses_of_nodes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    mast(&server, &token, 5);
    server.end();
    let output = command(&["serve", "gateway", "--gateway-bind", "127.0.0.1:0", "--tunnel", "off"])
        .args(["--db", "world.db", "--state", "state", "--overlay", "10.78.0.0/24"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("invalid --overlay: found 10.78.0.0/24, allowed a range with 10.42."),
        "{error}"
    );
    // In the range of before everything is as it was.
    start(folder.path(), "info", Stdio::piped()).end();
}

#[test]
fn bad_options_are_refused_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], expected: &str| {
        let output =
            command(&[&["serve", "gateway", "--gateway-bind", "127.0.0.1:0"], args].concat())
                .current_dir(folder.path())
                .output()
                .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
    };
    refused(&["--overlay", "10.42.0.1/24"], "the first address");
    refused(&["--overlay", "127.0.0.0/24"], "apart from 127.0.0.0/8, loopback");
    refused(&["--overlay", "10.0.0.0/8"], "apart from --underlay 10.41.0.0/24");
    refused(&["--underlay", "nonsense"], "invalid range");
    refused(&["--heartbeat-s", "0"], "allowed 0.1 to 3600");
    refused(&["--admin-password-file", "nowhere"], "nowhere");
}

/// Writes a new certificate of `localhost` with its key.
fn certificate(folder: &Path) {
    let output = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "30", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    assert!(output.unwrap().success());
}

/// Answer to a request that trusts the certificate in the folder, or the error.
fn curl(folder: &Path, url: &str) -> String {
    let output = std::process::Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "10", "--cacert"])
        .arg(folder.join("cert.pem"))
        .arg(url)
        .output()
        .unwrap();
    let (text, error) = (output.stdout, output.stderr);
    format!("{}{}", String::from_utf8_lossy(&text), String::from_utf8_lossy(&error))
}

#[needs(openssl, curl)]
#[test]
fn certificate_gives_a_tls_port() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let options =
        ["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--gateway-tls-bind", "127.0.0.1:0"];
    let server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let (_, secure) = server.output.split_once("listening on https://").unwrap();
    let secure = secure.lines().next().unwrap().to_owned();
    let port = secure.rsplit_once(':').unwrap().1.to_owned();
    let url = format!("https://localhost:{port}/health");
    let text = curl(folder.path(), &url);
    assert!(text.contains("\"status\":\"ok\"") && text.contains("\"tls\":\"ok\""), "{text}");
    // Another certificate is used from the signal on; one that does not fit its key is not.
    certificate(folder.path());
    server.hang_up();
    let is_new = eventually(|| curl(folder.path(), &url).contains("\"status\":\"ok\""));
    assert!(is_new, "the new certificate is not served");
    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    server.hang_up();
    assert!(server.log_contains("TLS certificate not read again"));
    assert!(curl(folder.path(), &url).contains("\"status\":\"ok\""));
    // On that port nothing is sent in the clear; nodes have the other one.
    assert_eq!(server.ask("", "GET", "/health", &Value::Null).0, 200);
    let mut plain = TcpStream::connect(&secure).unwrap();
    write!(plain, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn a_log_without_a_filter_has_no_line_for_each_heartbeat() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--heartbeat-s", "0.1"];
    let mut server = start_with(folder.path(), "", Stdio::piped(), &options);
    let admin = admin(&server);
    let (_, token) = mast(&server, &admin, 9);
    for seq in 1..=20 {
        let mut status = 429;
        // More come at once than the rate of heartbeats allows.
        while status == 429 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            status = server.post(&token, "/v1/nodes/heartbeat", &beat(9, seq)).0;
        }
        assert_eq!(status, 200);
    }
    let log = server.end();
    assert!(!log.contains("DEBUG") && !log.contains("TRACE"), "{log}");
    assert!(log.lines().count() < 20, "{log}");
}

#[test]
fn a_first_start_makes_its_folders_and_keeps_its_files_to_itself() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("var/lib/groundwave");
    let server = start(&place, "info", Stdio::piped());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place), mode(&server.state)), (0o700, 0o700));
    assert_eq!(mode(&place.join("world.db")), 0o600);
    for file in ["telemetry.redb", "audit.jsonl", "token.key"] {
        assert_eq!(mode(&server.state.join(file)), 0o600, "{file}");
    }
    let (status, _) = server.ask("", "GET", "/", &Value::Null);
    assert_eq!(status, 200);
}
