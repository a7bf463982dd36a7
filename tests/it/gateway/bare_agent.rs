//! The node agent of the release files in a root that has busybox and nothing else.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Bench;
use super::agents::{ahead, wait_for};
use crate::support::{launcher, root};

/// Runs a program of this root, with `/proc` and `/sys` as every Linux has them.
const ENTER: &str = "mount -t proc proc proc && mount --rbind /sys sys && exec chroot . \"$@\"";

/// A command in `folder` as its root.
fn within(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = launcher("unshare");
    command
        .args(["--map-root-user", "--mount", "--pid", "--fork", "--kill-child"])
        .args(["sh", "-c", ENTER, "sh"])
        .args(arguments)
        .current_dir(folder);
    command
}

/// Fills `folder` with busybox, the agent, and a dynamic program whose loader is not there.
fn fill(folder: &Path) {
    for name in ["bin", "proc", "sys", "tmp", "node"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    let agent = root().join("out/programs/groundwave-agent");
    let files = [(agent.as_path(), "groundwave-agent"), (Path::new("/usr/bin/env"), "dynamic")];
    for (file, name) in files {
        std::fs::copy(file, folder.join("bin").join(name)).unwrap();
    }
    let busybox = Command::new("sh").args(["-c", "command -v busybox"]).output().unwrap();
    let busybox = String::from_utf8(busybox.stdout).unwrap();
    std::fs::copy(busybox.trim_end(), folder.join("bin/busybox")).unwrap();
}

#[ignore = "make test-packages builds the program without shared libraries"]
#[test]
fn agent_over_busybox_enrols_and_sends_heartbeats() {
    let bench = Bench::new();
    let (machine, node) = ahead(&bench, 1, &[]);
    let bare = tempfile::tempdir().unwrap();
    fill(bare.path());
    for name in ["code", "look.json"] {
        std::fs::copy(machine.path().join(name), bare.path().join("node").join(name)).unwrap();
    }

    let dynamic = within(bare.path(), &["/bin/dynamic", "true"]).output().unwrap();
    assert!(!dynamic.status.success(), "the root has a loader of shared libraries");
    let applets = within(bare.path(), &["/bin/busybox", "ls", "/"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&applets.stdout), "bin\nnode\nproc\nsys\ntmp\n");

    let reading = within(bare.path(), &["/bin/groundwave-agent", "--once"]).output().unwrap();
    let text = String::from_utf8_lossy(&reading.stdout);
    assert!(reading.status.success() && text.contains("interfaces"), "{reading:?}");

    let gateway = bench.listen().to_string();
    let log = std::fs::File::create(machine.path().join("agent.log")).unwrap();
    let mut agent = within(bare.path(), &["/bin/groundwave-agent", "--gateway", &gateway])
        .args(["--no-tunnel", "--fixture", "/node", "--period", "0.5"])
        .args(["--key", "/node/node.key", "--enrollment-code", "/node/code"])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let path = format!("/v1/nodes/{node}");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_for(&bench, &path, |node| node["state"] == "online");
    }));
    agent.kill().unwrap();
    agent.wait().unwrap();
    let log = std::fs::read_to_string(machine.path().join("agent.log")).unwrap();
    assert!(outcome.is_ok(), "the node is not online; log of the agent:\n{log}");
}
