//! The program in the virtual machine, as its tests call it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::wire::now_ns;

/// The nodes of the ridge.
pub const NODES: [&str; 6] = ["bohus", "ytterby", "save", "nolvik", "ramberget", "lindholmen"];

/// A testbed that is up. It goes down with this.
pub struct Testbed {
    pub name: &'static str,
    scenario: PathBuf,
    _folder: tempfile::TempDir,
}

impl Testbed {
    /// Brings the ridge up, with pieces of its scenario replaced.
    pub fn up(name: &'static str, changes: &[(&str, &str)]) -> Self {
        let testbed = Self::of(name, changes);
        let began_ns = now_ns();
        let path = testbed.scenario.display().to_string();
        testbed.output_of(&["up", &path, "--detach"]);
        println!("{name}: up after {:.1} s", seconds(began_ns));
        testbed
    }

    /// Starts a controller of the ridge and kills it when there are this many namespaces.
    pub fn killed_while_starting(
        name: &'static str,
        changes: &[(&str, &str)],
        spaces: usize,
    ) -> Self {
        let testbed = Self::of(name, changes);
        let mut controller = Command::new(env!("CARGO_BIN_EXE_groundwave"))
            .args(["testbed", "up", "--name", name])
            .arg(&testbed.scenario)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mark = format!("gw.{name}.");
        let there = || {
            let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            names.filter(|name| name.starts_with(&mark)).count()
        };
        while there() < spaces {
            std::thread::sleep(Duration::from_micros(200));
            assert!(controller.try_wait().unwrap().is_none(), "it ended");
        }
        controller.kill().unwrap();
        controller.wait().unwrap();
        testbed
    }

    /// A testbed of a file, not up yet.
    pub fn of_file(name: &'static str, scenario: PathBuf) -> Self {
        Self { name, scenario, _folder: tempfile::tempdir().unwrap() }
    }

    /// The ridge with pieces of its scenario replaced, not up yet.
    fn of(name: &'static str, changes: &[(&str, &str)]) -> Self {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/ridge.toml");
        let mut text = std::fs::read_to_string(shipped).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "the scenario contains {from}");
            text = text.replace(from, to);
        }
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("ridge.toml");
        std::fs::write(&scenario, text).unwrap();
        Self { name, scenario, _folder: folder }
    }

    /// Output of the program; it must succeed.
    pub fn output_of(&self, words: &[&str]) -> String {
        let (good, output) = self.outcome(words);
        assert!(good, "testbed {words:?}: {output}");
        output
    }

    /// `true` if the program succeeds, and its output.
    pub fn outcome(&self, words: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_groundwave"))
            .args(["testbed", words[0], "--name", self.name])
            .args(&words[1..])
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }

    /// Exit code of a program that `testbed exec` runs in a node.
    pub fn exit_code(&self, node: &str, program: &str) -> Option<i32> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundwave"));
        command.args(["testbed", "exec", "--name", self.name, node, "--", program]);
        command.output().unwrap().status.code()
    }

    /// The testbed as a document.
    pub fn status(&self) -> Value {
        serde_json::from_str(&self.output_of(&["status", "--json"])).unwrap()
    }

    /// Waits until what the world wants of each link is in force.
    pub fn in_force(&self) {
        until("everything is in force", || {
            let status = self.status();
            let mut links = status["links"].as_array().unwrap().iter();
            links.all(|link| {
                link["generation"] == link["observed_generation"] && link.get("failure").is_none()
            })
        });
    }

    /// The direction between two nodes in a document.
    pub fn link(status: &Value, from: &str, to: &str) -> Value {
        let mut links = status["links"].as_array().unwrap().iter();
        let candidate = links.find(|link| link["from"] == from && link["to"] == to);
        candidate.unwrap_or_else(|| panic!("no link {from} > {to}")).clone()
    }

    /// The address of a node.
    pub fn address(&self, node: &str) -> String {
        let status = self.status();
        let mut nodes = status["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|candidate| candidate["name"] == node).unwrap();
        node["address"].as_str().unwrap().to_owned()
    }

    /// A command that runs a program in a node.
    pub fn command(&self, node: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("gw.{}.{node}", self.name), program]);
        command
    }

    /// `true` if a ping from one node to an address is answered.
    fn answers(&self, from: &str, address: &str) -> bool {
        let mut ping = self.command(from, "ping");
        ping.args(["-c", "1", "-W", "1", "-n", "-q", address]);
        ping.output().unwrap().status.success()
    }

    /// Waits until pings from one node to an address are answered, three in a row; answers after
    /// how many seconds.
    pub fn await_answers(&self, from: &str, address: &str) -> f64 {
        let began_ns = now_ns();
        let mut row = 0;
        until(&format!("{from} reaches {address}"), || {
            row = if self.answers(from, address) { row + 1 } else { 0 };
            row == 3
        });
        seconds(began_ns)
    }

    /// The process of the controller.
    pub fn controller(&self) -> i32 {
        let scenario = self.scenario.display().to_string();
        let mine = |pid: &i32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("--background")
                && (words.contains(&scenario)
                    || words.contains("attach") && words.contains(self.name))
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.find(mine).expect("the controller runs")
    }

    /// Kills the controller, and waits until nothing answers for it.
    pub fn kill_controller(&self) {
        kill(Pid::from_raw(self.controller()), Signal::SIGKILL).unwrap();
        until("the controller is dead", || {
            let (_, output) = self.outcome(&["status", "--json"]);
            !output.contains("\"tick\"")
        });
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        let (good, output) = self.outcome(&["down"]);
        if !good && !std::thread::panicking() {
            panic!("down: {output}");
        }
        let log = format!("/run/groundwave/{}/controller.log", self.name);
        if let Ok(log) = std::fs::read_to_string(log) {
            println!("{log}");
        }
    }
}

/// Seconds since a moment.
pub fn seconds(began_ns: u64) -> f64 {
    (now_ns() - began_ns) as f64 / 1e9
}

/// Waits for something, for minutes at most. Waits cost nothing in a virtual machine that skips them;
/// questions do.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    const TURNS: usize = 240;
    for _ in 0..TURNS {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_secs(2));
    }
    panic!("{what}: not in {TURNS} turns");
}

/// Next hops by node and destination: those of the world and of the program.
pub type Ways = BTreeMap<(String, String), (Option<String>, Option<String>)>;

/// The ways of all pairs in a document.
pub fn ways(status: &Value) -> Ways {
    let nodes = status["nodes"].as_array().unwrap();
    let name = |node: &Value| node["name"].as_str().unwrap().to_owned();
    let mut ways = Ways::new();
    for node in nodes {
        for other in nodes.iter().filter(|other| *other != node) {
            let (from, to) = (name(node), name(other));
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let world = text(&node["next_hops"][&to]);
            let next_hop = text(&node["heard"][&to]["next_hop"]);
            ways.insert((from, to), (world, next_hop));
        }
    }
    ways
}

/// Pairs whose ways agree, and those whose ways do not, in words.
pub fn agreement(status: &Value) -> (usize, Vec<String>) {
    let ways = ways(status);
    let differ = ways.iter().filter(|(_, (world, kernel_route))| world != kernel_route);
    let differences = differ.map(|((from, to), (world, kernel_route))| {
        let word = |hop: &Option<String>| hop.clone().unwrap_or_else(|| "nobody".to_owned());
        format!("{from} to {to}: the world has {}, the program {}", word(world), word(kernel_route))
    });
    let differences: Vec<String> = differences.collect();
    (ways.len() - differences.len(), differences)
}
