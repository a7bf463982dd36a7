//! The daemon as a process: its configuration, its socket, its end.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use axum::http::Method;
use groundwave_http::client::Client;
use serde_json::Value;

use crate::support::{command, refusal, stdout};

const PORTS: &str = "[[ports]]\ndirection = \"port1\"\ninterface = \"lo\"\n\
                     [[ports]]\ndirection = \"port2\"\ninterface = \"gw-not-there\"\n";

/// A daemon over the running kernel. It changes nothing unless asked.
struct Process {
    child: Child,
    socket: PathBuf,
    output: Vec<String>,
}

fn configuration(folder: &Path, head: &str) -> PathBuf {
    let file = folder.join("impaird.toml");
    let socket = folder.join("impair.sock");
    let text = format!("socket = {socket:?}\n{head}{PORTS}");
    std::fs::write(&file, text).unwrap();
    file
}

impl Process {
    fn start(folder: &Path, head: &str) -> Self {
        let mut child = command(&["impaird", "--config"])
            .arg(configuration(folder, head))
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut output = Vec::new();
        while !output.iter().any(|line: &String| line.contains("listening on ")) {
            output.push(lines.next().expect("the daemon logs its socket").unwrap());
        }
        std::thread::spawn(move || lines.for_each(drop));
        let socket = folder.join("impair.sock");
        Self { child, socket, output }
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut client = Client::unix(&self.socket).await.unwrap();
            let (status, body) = client.ask(Method::GET, path, None).await.unwrap();
            (status.as_u16(), serde_json::from_slice(&body).unwrap_or(Value::Null))
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Error of a daemon that refused to start.
fn refused(args: &[&str], file: Option<&Path>) -> String {
    let mut command = command(args);
    if let Some(file) = file {
        command.arg("--config").arg(file);
    }
    refusal(&command.output().unwrap())
}

#[test]
fn the_socket_has_its_mode_and_group_and_goes_at_a_clean_stop() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let folder = tempfile::tempdir().unwrap();
        let gid = std::fs::metadata(folder.path()).unwrap().gid();
        let mut daemon =
            Process::start(folder.path(), &format!("mode = \"0640\"\ngroup = \"{gid}\"\n"));
        let facts = std::fs::metadata(&daemon.socket).unwrap();
        assert_eq!((facts.permissions().mode() & 0o777, facts.gid()), (0o640, gid));
        let (status, record) = daemon.get("/v1/system");
        assert_eq!((status, &record["ports"][0]["interface"]), (200, &Value::from("lo")));
        assert_eq!(record["ports"][0]["bdf"], "virtual");
        assert_eq!(record["ports"][1]["bdf"], "");
        assert!(
            daemon.output.iter().any(|line| line.contains("capabilities kept: ")),
            "{:?}",
            daemon.output
        );
        // A connection that sends nothing, and one in the middle of a request, are cut off.
        let _idle = UnixStream::connect(&daemon.socket).unwrap();
        daemon.signal(signal);
        let ended = daemon.child.wait().unwrap();
        assert!(ended.success());
        assert!(!daemon.socket.exists());
    }
}

#[test]
fn only_one_capability_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Process::start(folder.path(), "");
    let tasks = format!("/proc/{}/task", daemon.child.id());
    let net_admin = 1_u64 << 12;
    let mut thread_count = 0;
    for task in std::fs::read_dir(tasks).unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().trim().to_owned()
        };
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            let capabilities = u64::from_str_radix(&field(set), 16).unwrap();
            assert_eq!(capabilities & !net_admin, 0, "{set} {capabilities:x}");
        }
        assert_eq!(field("NoNewPrivs:"), "1");
        thread_count += 1;
    }
    assert!(thread_count > 0, "no thread was looked at");
}

#[test]
fn absent_interface_gives_a_problem_and_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Process::start(folder.path(), "");
    let (status, problem) = daemon.get("/v1/impairments/port2");
    assert_eq!(status, 500, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("gw-not-there"), "{problem}");
    assert_eq!(daemon.get("/v1/calibration/baseline").0 / 100, 4);
}

#[test]
fn a_stale_socket_is_replaced_and_a_living_daemon_is_not() {
    let folder = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(folder.path().join("impair.sock")).unwrap());
    let mut daemon = Process::start(folder.path(), "");
    let error = refused(&["impaird"], Some(&folder.path().join("impaird.toml")));
    assert!(error.contains("in use: another process answers"), "{error}");
    assert_eq!(daemon.get("/v1/system").0, 200, "it is still there");
    // A daemon that was killed leaves its socket behind, and the next one takes it.
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(daemon.socket.exists());
    let next = Process::start(folder.path(), "");
    assert_eq!(next.get("/v1/system").0, 200);
}

#[test]
fn what_is_no_socket_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = configuration(folder.path(), "");
    std::fs::write(folder.path().join("impair.sock"), "notes").unwrap();
    let error = refused(&["impaird"], Some(&file));
    assert!(error.contains("is not a socket"), "{error}");
}

#[test]
fn invalid_configuration_gives_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("grup = \"x\"\n", ["impaird.toml:2:1: grup: unknown key", "did you mean \"group\"?"]),
        ("mode = \"rw\"\n", ["impaird.toml:2:8: mode", "three octal digits"]),
        ("extensions = [\"loss\"]\n", ["impaird.toml:2:", "gilbert-elliott, paretonormal"]),
        ("group = \"no-such-group\"\n", ["there is no group \"no-such-group\"", "allowed"]),
    ];
    for (head, expected) in cases {
        let error = refused(&["impaird"], Some(&configuration(folder.path(), head)));
        for expected in expected {
            assert!(error.contains(expected), "{error} does not contain {expected}");
        }
    }
    let error = refused(&["impaird"], Some(&folder.path().join("nowhere.toml")));
    assert!(error.contains("nowhere.toml: cannot be read"), "{error}");
    let sound = command(&["impaird", "--check", "--config"])
        .arg(configuration(folder.path(), ""))
        .output()
        .unwrap();
    assert!(stdout(&sound).starts_with("port1 lo, port2 gw-not-there"));
}

#[test]
fn the_unit_keeps_what_the_daemon_promises() {
    let unit = stdout(&command(&["impaird", "--unit"]).output().unwrap());
    for line in [
        "RuntimeDirectory=impair",
        "AmbientCapabilities=CAP_NET_ADMIN",
        "CapabilityBoundingSet=CAP_NET_ADMIN",
        "NoNewPrivileges=yes",
        "ExecStart=/usr/bin/groundwave impaird",
    ] {
        assert!(unit.lines().any(|candidate| candidate == line), "{line}");
    }
}

#[test]
fn the_unit_has_the_group_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let unit = |head: &str| {
        let file = configuration(folder.path(), head);
        let mut command = command(&["impaird", "--unit", "--config"]);
        command.arg(file).output().unwrap()
    };
    let with = stdout(&unit("group = \"netdev\"\n"));
    let place = with.lines().position(|line| line == "SupplementaryGroups=netdev");
    let service = with.lines().position(|line| line == "[Service]");
    let install = with.lines().position(|line| line == "[Install]");
    assert!(service < place && place < install && place.is_some(), "{with}");
    let without = stdout(&unit(""));
    assert_eq!(without, with.replace("SupplementaryGroups=netdev\n", ""));
    let error = refusal(&unit("group = \"x\\nUser=root\"\n"));
    assert!(error.contains("invalid group"), "{error}");
}

#[test]
fn interfaces_on_the_command_line_are_checked_like_those_of_a_file() {
    let message_of = |names: [&str; 2]| {
        let output = command(&["impaird", "--check", "--interfaces"]).args(names).output().unwrap();
        refusal(&output)
    };
    let twice = message_of(["lo", "lo"]);
    assert!(twice.contains("found lo for port1 and port2"), "{twice}");
    let long = message_of(["lo", "abcdefghijklmnopqrstuvwxyz"]);
    assert!(long.contains("1 to 15 characters"), "{long}");
    let slash = message_of(["..", "lo"]);
    assert!(slash.contains("invalid --interfaces"), "{slash}");
}

#[test]
fn check_reports_a_missing_interface_and_creates_the_folder_of_logs() {
    let folder = tempfile::tempdir().unwrap();
    let checked = command(&["impaird", "--check", "--config"])
        .arg(configuration(folder.path(), ""))
        .output()
        .unwrap();
    let output = stdout(&checked);
    assert!(output.contains("gw-not-there (no such interface at present)"), "{output}");
    assert!(output.starts_with("port1 lo,"), "{output}");
    let logs = folder.path().join("state/log");
    let daemon = Process::start(folder.path(), &format!("log = {logs:?}\n"));
    assert_eq!(daemon.get("/v1/system").0, 200);
    assert_eq!(std::fs::read_dir(&logs).unwrap().count(), 1);
}

#[test]
fn open_requests_do_not_hold_the_daemon_up_for_ever() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let mut daemon = Process::start(folder.path(), "");
    let mut half = UnixStream::connect(&daemon.socket).unwrap();
    let head = "PUT /v1/impairments/port2 HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{";
    half.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    daemon.signal("-TERM");
    assert!(daemon.child.wait().unwrap().success());
    assert!(!daemon.socket.exists());
}
