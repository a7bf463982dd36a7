//! Agent processes at a gateway, each with a machine of its own in a file.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Bench;
use super::admission::machine;
use crate::support::{command, launcher};

/// An agent process without a tunnel, and its node.
pub struct AgentProcess {
    child: Child,
    /// Working folder of the agent.
    pub folder: tempfile::TempDir,
    /// Node id.
    pub node: String,
}

/// Registers node `number` ahead: its folder with the code, its id.
pub fn ahead(bench: &Bench, number: u8, tags: &[&str]) -> (tempfile::TempDir, String) {
    let admin = bench.login("admin");
    let mac = format!("02:00:00:00:00:{number:02x}");
    let body = json!({ "name": format!("Node {number}"), "mac": mac, "tags": tags });
    let document = bench.call(&admin, "POST", "/v1/nodes/register", &body).is(201);
    let folder = machine(number);
    let code = document["enrollment_code"].as_str().unwrap();
    std::fs::write(folder.path().join("code"), code).unwrap();
    (folder, document["node"]["node_id"].as_str().unwrap().to_owned())
}

impl AgentProcess {
    /// Starts an agent with these options.
    pub fn start(bench: &Bench, number: u8, options: &[&str]) -> Self {
        Self::start_tagged(bench, number, &[], options)
    }

    /// Starts an agent whose node has these tags.
    pub fn start_tagged(bench: &Bench, number: u8, tags: &[&str], options: &[&str]) -> Self {
        let (folder, node) = ahead(bench, number, tags);
        let mut program = agent(bench, options);
        program.current_dir(folder.path()).stderr(log(&folder));
        let child = program.spawn().unwrap();
        Self { child, folder, node }
    }

    /// Starts an agent in a process namespace whose process 1 is a shell that, on SIGINT, writes the
    /// file `restarted` and ends.
    pub fn start_with_init(bench: &Bench, number: u8, options: &[&str]) -> Self {
        let (folder, node) = ahead(bench, number, &[]);
        let program = agent(bench, options);
        let init = "trap 'touch restarted; exit 0' INT; \"$@\" & wait";
        let mut shell = launcher("unshare");
        shell
            .args(["--pid", "--fork", "--kill-child", "--mount-proc"])
            // A shell cannot trap a signal that it starts with ignored, as jobs in the background do.
            .args(["env", "--default-signal=INT", "sh", "-c", init, "init"])
            .arg(program.get_program())
            .args(program.get_args())
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(log(&folder));
        let child = shell.spawn().unwrap();
        Self { child, folder, node }
    }

    /// Kills the agent and starts it again, with a log of its own.
    pub fn restart(&mut self, bench: &Bench, options: &[&str]) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut program = agent(bench, options);
        program.current_dir(self.folder.path()).stderr(log(&self.folder));
        self.child = program.spawn().unwrap();
    }

    /// Requests that the agent read its files again.
    pub fn hang_up(&self) {
        let pid = self.child.id().to_string();
        let outcome = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(outcome.unwrap().success());
    }

    /// Waits for a line of its log; a minute at most.
    #[track_caller]
    pub fn wait_for_line(&self, text: &str) {
        let log = || std::fs::read_to_string(self.folder.path().join(LOG)).unwrap();
        for _ in 0..600 {
            if log().contains(text) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no {text:?} in a minute: {}", log());
    }

    /// Waits until the node at the gateway is as wanted; a minute at most.
    #[track_caller]
    pub fn wait_for(&self, bench: &Bench, condition: impl Fn(&Value) -> bool) {
        let path = format!("/v1/nodes/{}", self.node);
        if let Err(value) = poll(bench, &path, condition) {
            let log = std::fs::read_to_string(self.folder.path().join(LOG)).unwrap();
            panic!("not in a minute: {value}; log of the agent:\n{log}");
        }
    }
}

/// Waits until what a viewer reads at `path` is as wanted; a minute at most.
#[track_caller]
pub fn wait_for(bench: &Bench, path: &str, condition: impl Fn(&Value) -> bool) -> Value {
    poll(bench, path, condition).unwrap_or_else(|value| panic!("not in a minute: {value}"))
}

/// The value as wanted, or the last one of a minute.
fn poll(bench: &Bench, path: &str, condition: impl Fn(&Value) -> bool) -> Result<Value, Value> {
    let viewer = bench.login("viewer");
    let mut value = Value::Null;
    for _ in 0..600 {
        value = bench.get(&viewer, path).is(200);
        if condition(&value) {
            return Ok(value);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(value)
}

/// File of the messages of an agent in its folder.
const LOG: &str = "agent.log";

fn log(folder: &tempfile::TempDir) -> std::fs::File {
    std::fs::File::create(folder.path().join(LOG)).unwrap()
}

fn agent(bench: &Bench, options: &[&str]) -> Command {
    let address = bench.listen().to_string();
    let mut program = command(&["agent", "--no-tunnel", "--fixture", ".", "--period", "0.5"]);
    program
        .args(["--gateway", &address, "--key", "node.key"])
        .args(["--enrollment-code", "code"])
        .args(options)
        .stdout(Stdio::null());
    program
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
