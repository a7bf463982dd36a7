//! The walk of `docs/testbed.md`, as somebody would take it who has nothing but the page: every
//! command in it, in its order.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::bed::{agreement, until};
use super::guest;

guest!("testbed::page": every_command_of_the_page_gives_its_documented_result);

const PAGE: &str = include_str!("../../../docs/testbed.md");

/// Commands that come before the virtual machine, in which this test runs.
const BEFORE: [&str; 3] = ["apt-get install ", "make data", "cargo build --release"];

/// The commands of a block of the page.
type Block = Vec<String>;

/// All blocks of commands, in their order, each with the title of its chapter.
fn blocks() -> Vec<(String, Block)> {
    let (mut blocks, mut title, mut open) = (Vec::new(), String::new(), None::<Block>);
    for line in PAGE.lines() {
        match (&mut open, line) {
            (None, "```sh") => open = Some(Block::new()),
            (Some(_), "```") => blocks.push((title.clone(), open.take().expect("open"))),
            (Some(block), command) => {
                // Two blanks and a hash begin a comment for the reader.
                let command = command.split("  #").next().unwrap_or_default().trim();
                block.push(command.to_owned());
            }
            (None, line) => {
                if let Some(chapter) = line.strip_prefix("## ") {
                    chapter.clone_into(&mut title);
                }
            }
        }
    }
    blocks
}

/// A folder as after `git clone` and `make data`, and a path on which the program is.
struct Desk {
    folder: tempfile::TempDir,
    path: String,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (here, bin) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder.path().join("bin"));
        fs::create_dir(&bin).unwrap();
        symlink(here.join("scenarios"), folder.path().join("scenarios")).unwrap();
        let data = std::env::var_os("GROUNDWAVE_DATA").map_or(here.join(".data"), PathBuf::from);
        symlink(data, folder.path().join(".data")).unwrap();
        symlink(env!("CARGO_BIN_EXE_groundwave"), bin.join("groundwave")).unwrap();
        // The virtual machine has no user but root.
        let sudo = bin.join("sudo");
        fs::write(&sudo, "#!/bin/sh\nexec \"$@\"\n").unwrap();
        fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", bin.display());
        Self { folder, path }
    }

    fn shell(&self, command: &str) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).env("PATH", &self.path);
        shell.env("SHELL", "/bin/sh").current_dir(self.folder.path());
        shell
    }

    /// Types a command; returns its output. It must succeed.
    fn typed(&self, command: &str) -> String {
        let output = self.shell(command).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let transcript = text(&output.stdout) + &text(&output.stderr);
        println!("$ {command}\n{transcript}");
        assert!(output.status.success(), "{command}: {transcript}");
        transcript
    }
}

/// A terminal: a command, and what is typed into it.
struct Terminal {
    child: Child,
    output: PathBuf,
}

impl Terminal {
    fn open(desk: &Desk, number: usize, block: &[String]) -> Self {
        let output = desk.folder.path().join(format!("terminal{number}"));
        let file = fs::File::create(&output).unwrap();
        let mut child = desk
            .shell(&block[0])
            .stdin(Stdio::piped())
            .stderr(file.try_clone().unwrap())
            .stdout(file)
            .spawn()
            .unwrap();
        let mut keys = child.stdin.take().unwrap();
        for line in &block[1..] {
            writeln!(keys, "{line}").unwrap();
        }
        println!("terminal {number}: {block:?}");
        Self { child, output }
    }

    /// Text of the terminal.
    fn text(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    /// Answers to its ping so far.
    fn answers(&self) -> usize {
        self.text().matches(" bytes from ").count()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have been closed with its node.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for three more answers in each terminal.
fn go_on(terminals: &[Terminal], when: &str) {
    let before: Vec<usize> = terminals.iter().map(Terminal::answers).collect();
    until(&format!("the pings go on {when}"), || {
        let mut pairs = terminals.iter().zip(&before);
        pairs.all(|(terminal, before)| terminal.answers() >= before + 3)
    });
}

/// `true` if the world has routes between the two terminals in both directions.
fn is_joined(desk: &Desk) -> bool {
    let status = desk.shell("groundwave testbed status --json").output();
    let status: serde_json::Value = serde_json::from_slice(&status.unwrap().stdout).unwrap();
    let leads = |from: &str, to: &str| {
        let mut nodes = status["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|node| node["name"] == from).unwrap();
        node["next_hops"][to].is_string()
    };
    leads("bohus", "ramberget") && leads("ramberget", "bohus")
}

fn every_command_of_the_page_gives_its_documented_result() {
    let desk = Desk::new();
    let mut terminals = Vec::new();
    let (mut titles, mut went_on) = (Vec::new(), 0);
    for (title, block) in blocks() {
        titles.push(title.clone());
        match title.as_str() {
            "What you need" => {
                let is_preparation =
                    |command: &String| BEFORE.iter().any(|one| command.starts_with(one));
                assert!(block.iter().all(is_preparation), "{block:?}");
            }
            "Two terminals" => {
                terminals.push(Terminal::open(&desk, terminals.len() + 1, &block));
                let last = std::slice::from_ref(terminals.last().expect("just opened"));
                go_on(last, "in a new terminal");
            }
            "Let something happen" => {
                for command in &block {
                    desk.typed(command);
                    // The last of them leave no way.
                    if !command.contains("curl") && is_joined(&desk) {
                        go_on(&terminals, &format!("after {command}"));
                        went_on += 1;
                    }
                }
            }
            "Down" => {
                terminals.clear();
                let outputs: Vec<String> = block.iter().map(|line| desk.typed(line)).collect();
                let last = outputs.last().expect("a command");
                assert!(last.contains("its digest equals that of the log"), "{last}");
            }
            _ => {
                for command in &block {
                    desk.typed(command);
                }
            }
        }
        if title == "Up" {
            until("the ways are as predicted", || {
                let status = desk.shell("groundwave testbed status --json").output().unwrap();
                let status = serde_json::from_slice(&status.stdout).unwrap();
                agreement(&status).0 >= 29
            });
        }
    }
    let chapters = [
        "What you need",
        "Up",
        "Two terminals",
        "Let something happen",
        "Predicted and measured",
        "When the controller dies",
        "When another program changes the network",
        "Down",
        "Play a recording",
    ];
    assert!(went_on >= 4, "{went_on}");
    titles.dedup();
    assert_eq!(titles, chapters, "every chapter of the walk has commands");
    let picture = fs::read_to_string(desk.folder.path().join("ridge.svg")).unwrap();
    assert!(picture.starts_with("<svg"), "a picture");
    let routes = fs::read_to_string(desk.folder.path().join("routes.csv")).unwrap();
    assert!(routes.starts_with("time_s,node,destination,predicted,installed,is_same"), "{routes}");
    assert_eq!(crate::wire::tool("ip", "netns list"), "", "nothing is left");
}
