//! Nodes that come to a running testbed and go from it.

use std::process::Command;

use super::bed::{Testbed, until};
use super::guest;
use crate::wire::tool;

guest!(
    "testbed::nodes":
    nodes_come_and_go_on_links,
    nodes_come_and_go_on_a_segment,
    removal_that_a_killed_controller_did_not_finish_is_finished,
    namespaces_hidden_by_a_mount_are_removed,
);

/// Place of the added node: below the relay on the ridge.
const PLACE: [&str; 4] = ["--lat", "57.7841", "--lon", "11.9412"];
const SEGMENT: (&str, &str) = ("name = \"ridge\"", "name = \"ridge\"\nwiring = \"segment\"");

/// Everything in the kernel and on disk that has the name of the testbed, without counters: interfaces,
/// disciplines, filters, classes and neighbours of each namespace.
fn inventory(name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let spaces = tool("ip", "netns list");
    let spaces = spaces.lines().filter_map(|line| line.split(' ').next());
    let mark = format!("gw.{name}.");
    let mut spaces: Vec<String> =
        spaces.filter(|space| space.starts_with(&mark)).map(str::to_owned).collect();
    spaces.sort();
    for space in spaces {
        let inside = |words: &str| tool("ip", &format!("netns exec {space} {words}"));
        let links = inside("ip -br link");
        let devices: Vec<String> = links
            .lines()
            .filter_map(|line| line.split(['@', ' ']).next())
            .map(str::to_owned)
            .collect();
        lines.extend(devices.iter().map(|device| format!("{space}: link {device}")));
        for device in &devices {
            for kind in ["qdisc", "class", "filter"] {
                let output = inside(&format!("tc {kind} show dev {device}"));
                let output = output.lines().filter(|line| !line.contains("not_in_hw"));
                lines
                    .extend(output.map(|line| format!("{space} {device}: {kind} {}", line.trim())));
            }
        }
        let neighbours = inside("ip -6 neighbour show nud permanent");
        lines.extend(neighbours.lines().map(|line| format!("{space}: neighbour {}", line.trim())));
    }
    let files = std::fs::read_dir(format!("/run/groundwave/{name}")).unwrap().flatten();
    lines.extend(files.map(|file| format!("file {}", file.file_name().to_string_lossy())));
    lines.sort();
    lines
}

fn routing_programs() -> usize {
    let output = Command::new("pgrep").args(["-c", "-x", "babeld"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

fn hosts(name: &str) -> String {
    std::fs::read_to_string(format!("/run/groundwave/{name}/hosts")).unwrap()
}

/// A node comes, is reached by the routing programs, and goes without a trace; another of the same name comes.
fn come_and_go(name: &'static str, changes: &[(&str, &str)]) {
    let testbed = Testbed::up(name, changes);
    testbed.in_force();
    let city = testbed.address("ramberget");
    testbed.await_answers("bohus", &city);
    let (before, programs) = (inventory(name), routing_programs());
    let mut addresses = Vec::new();
    for turn in 0..2 {
        let mut words = vec!["add", "spare"];
        words.extend(PLACE);
        words.extend(["--like", "nolvik"]);
        testbed.output_of(&words);
        testbed.in_force();
        let address = testbed.address("spare");
        assert!(hosts(name).contains(&format!("{address}\tspare\n")), "{}", hosts(name));
        assert_eq!(routing_programs(), programs + 1);
        println!("turn {turn}: reached after {:.1} s", testbed.await_answers("bohus", &address));
        testbed.await_answers("spare", &city);
        assert_ne!(inventory(name), before);
        addresses.push(address);
        // A program of somebody ends with the node.
        let sleeper = testbed.command("spare", "sleep").arg("3600").spawn();
        testbed.output_of(&["remove", "spare"]);
        assert!(!sleeper.unwrap().wait().unwrap().success());
        until("all is as before", || {
            let now = inventory(name);
            if now != before {
                for line in now.iter().filter(|line| !before.contains(line)) {
                    println!("left: {line}");
                }
            }
            now == before
        });
        assert_eq!(routing_programs(), programs);
        assert!(!hosts(name).contains("spare"), "{}", hosts(name));
        let (good, output) = testbed.outcome(&["remove", "spare"]);
        assert!(!good && output.contains("no node is called \"spare\""), "{output}");
    }
    assert_ne!(addresses[0], addresses[1], "addresses are not used again");
    // The relay goes: traffic takes the other way.
    testbed.output_of(&["remove", "save"]);
    println!("without save: reached after {:.1} s", testbed.await_answers("bohus", &city));
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.gwlog");
    testbed.output_of(&["down", "--keep-log", log.to_str().unwrap()]);
    let replay = Command::new(env!("CARGO_BIN_EXE_groundwave")).arg("replay").arg(&log).output();
    let replay = replay.unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
}

fn nodes_come_and_go_on_links() {
    come_and_go("guests", &[]);
}

fn nodes_come_and_go_on_a_segment() {
    come_and_go("gusts", &[SEGMENT]);
}

fn removal_that_a_killed_controller_did_not_finish_is_finished() {
    let testbed = Testbed::up("remains", &[SEGMENT]);
    testbed.in_force();
    // As left by a controller that was killed after it logged the removal: the world has no such node.
    tool("ip", "netns add gw.remains.ghost");
    testbed.kill_controller();
    testbed.output_of(&["attach", "--detach"]);
    until("the remains are gone", || !tool("ip", "netns list").contains("gw.remains.ghost"));
    testbed.in_force();
}

/// Another program mounts the folder of namespaces over itself.
fn namespaces_hidden_by_a_mount_are_removed() {
    let testbed = Testbed::up("hidden", &[("routing = \"babel\"", "routing = \"static\"")]);
    testbed.in_force();
    // As ip-netns(8) leaves it: a later `ip netns add` mounts nothing.
    assert!(tool("findmnt", "-n -o PROPAGATION /run/netns").contains("shared"));
    tool("mount", "--bind /run/netns /run/netns");
    let spaces = || {
        let entries = std::fs::read_dir("/run/netns").unwrap().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with("gw.hidden.")).count()
    };
    assert_eq!(spaces(), 6);
    testbed.output_of(&["down"]);
    assert_eq!(spaces(), 0);
    tool("umount", "/run/netns");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains("gw.hidden."), "{mounts}");
}
