//! `testbed down` of many nodes, in namespaces of this machine: nothing is left, whatever the controller does.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use groundwave_needs::needs;

use crate::support::command;

/// Nodes of a testbed whose answers are longer than the buffers of a socket, 200 kB and more.
const NODES: usize = 120;

/// Rounds of `testbed up` and `testbed down`.
const ROUNDS: usize = 3;

/// Number in a variable of the environment, as `make soak` sets it; `usual` without one.
fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

/// A mesh of rows of ten nodes, 400 m apart, where each node receives several others.
fn scenario(nodes: usize) -> String {
    let mut text = String::from(
        "[scenario]\ntitle = \"many\"\nseed = 1\nstep_s = 1.0\nduration_s = 86400\n\
         [terrain]\nflat_msl_m = 0\n[mesh]\nlink_range_max_m = 900\n\
         [testbed]\nname = \"many\"\nrouting = \"static\"\n",
    );
    for number in 0..nodes {
        let lat_deg = 57.0 + (number / 10) as f64 * 0.0036;
        let lon_deg = 11.0 + (number % 10) as f64 * 0.0066;
        let _ = write!(
            text,
            "[[node]]\nname = \"n{number}\"\nrole = \"relay\"\nlat_deg = {lat_deg:.5}\n\
             lon_deg = {lon_deg:.5}\nheight_agl_m = 10\nradio = \"ptp_5g8\"\nantenna = \"omni_9\"\n"
        );
    }
    text
}

/// Runs a script in namespaces of its own, with the program as `$0`; what it printed.
fn run(folder: &Path, script: &str) -> String {
    let functions = "set -e\nmount -t tmpfs run /run\nip link set lo up\n\
        up() { \"$0\" testbed up many.toml --flat-earth --detach >/dev/null; }\n\
        left() { ls /run/netns 2>/dev/null | wc -l; ls /run/groundwave 2>/dev/null | wc -l; }\n\
        controller() { pgrep -f '^[^ ]*groundwave testbed'; }\n";
    let program = command(&[]).get_program().to_owned();
    let output = Command::new("unshare")
        .args(["-n", "-m", "-p", "--fork", "--mount-proc", "bash", "-c"])
        .arg(format!("{functions}{script}"))
        .arg(program)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    folder_of(NODES)
}

fn folder_of(nodes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("many.toml"), scenario(nodes)).unwrap();
    folder
}

#[needs(namespaces)]
#[test]
fn a_testbed_of_many_nodes_goes_down_each_time_and_leaves_nothing() {
    let (nodes, rounds) = (number("SOAK_NODES", NODES), number("SOAK_ROUNDS", ROUNDS));
    let folder = folder_of(nodes);
    let script = "for time in $(seq ROUNDS); do\n\
        up\n\
        ls /run/netns | wc -l\n\
        \"$0\" testbed status --json | wc -c\n\
        \"$0\" testbed down\n\
        left\n\
        done\n";
    let script = script.replace("ROUNDS", &rounds.to_string());
    let printed = run(folder.path(), &script);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 5 * rounds, "{printed}");
    for round in lines.chunks(5) {
        assert_eq!(round[0], nodes.to_string());
        let bytes: usize = round[1].parse().unwrap();
        assert!(bytes > 250_000, "longer than the buffers of a socket: {bytes}");
        assert_eq!(round[2], format!("testbed many removed: {nodes} nodes"));
        assert_eq!(&round[3..], ["0", "0"], "{printed}");
    }
}

#[needs(namespaces)]
#[test]
fn a_testbed_whose_controller_is_dead_or_stuck_goes_down() {
    let folder = folder();
    for signal in ["KILL", "STOP"] {
        let script = format!(
            "up\nkill -{signal} $(controller)\n\"$0\" testbed down\nleft\n\
             controller || echo none\n"
        );
        let printed = run(folder.path(), &script);
        let removed = format!("testbed many removed: {NODES} nodes\n0\n0\nnone\n");
        assert_eq!(printed, removed, "{signal}");
    }
}

#[needs(namespaces)]
#[test]
fn a_controller_that_is_starting_is_ended() {
    let folder = folder();
    let script = "\"$0\" testbed up many.toml --flat-earth >/dev/null 2>&1 & \n\
        until [ \"$(ls /run/netns 2>/dev/null | wc -l)\" -ge 5 ]; do sleep 0.01; done\n\
        test ! -e /run/groundwave/many/control.sock && echo starting\n\
        \"$0\" testbed down\n\
        left\n\
        controller || echo none\n";
    let printed = run(folder.path(), script);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "starting", "{printed}");
    assert!(lines[1].starts_with("testbed many removed: "), "{printed}");
    assert_eq!(&lines[2..], ["0", "0", "none"], "{printed}");
}

/// A terminal that closes, or a stop signal, ends a controller in the foreground with nothing left: also one that is
/// still setting the network up.
#[needs(namespaces)]
#[test]
fn a_controller_whose_terminal_closes_leaves_nothing() {
    let folder = folder();
    for signal in ["HUP", "TERM"] {
        for (moment, holds) in [
            ("up", "test -e /run/groundwave/many/control.sock"),
            ("starting", "[ \"$(ls /run/netns 2>/dev/null | wc -l)\" -ge 5 ]"),
        ] {
            let script = format!(
                "\"$0\" testbed up many.toml --flat-earth >/dev/null 2>errors &\n\
                 pid=$!\n\
                 until {holds}; do sleep 0.01; done\n\
                 test -e /run/groundwave/many/control.sock && echo up || echo starting\n\
                 kill -{signal} $pid\n\
                 set +e; wait $pid; echo $?; set -e\n\
                 left\n\
                 controller || echo none\n"
            );
            let printed = run(folder.path(), &script);
            let expected = format!("{moment}\n0\n0\n0\nnone\n");
            let errors = fs::read_to_string(folder.path().join("errors")).unwrap();
            assert_eq!(printed, expected, "{signal} while {moment}: {errors}");
        }
    }
}

/// One in the background ends alone: its network stays, and another controller takes over.
#[needs(namespaces)]
#[test]
fn a_background_controller_that_is_hung_up_leaves_its_network_to_another() {
    let folder = folder();
    let script = "up\n\
        kill -HUP $(controller)\n\
        while controller >/dev/null; do sleep 0.01; done\n\
        ls /run/netns | wc -l\n\
        \"$0\" testbed attach --flat-earth --detach >/dev/null\n\
        controller >/dev/null && echo attached\n\
        \"$0\" testbed down\n\
        left\n";
    let printed = run(folder.path(), script);
    let removed = format!("testbed many removed: {NODES} nodes");
    let expected =
        [NODES.to_string(), "attached".to_owned(), removed, "0".to_owned(), "0".to_owned()];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

/// Invalid names are refused by every command, and files beside those of testbeds remain.
#[needs(namespaces)]
#[test]
fn removal_takes_names_of_testbeds_only_and_leaves_other_files() {
    let folder = folder();
    let script = "mkdir -p /run/groundwave/Other /run/kept\n\
        touch /run/groundwave/Other/file /run/kept/file\n\
        for name in ../kept '' . .. /run/kept Other kept/ 'a b'; do\n\
        for words in down status pause; do\n\
        set +e; \"$0\" testbed $words --name \"$name\" 2>>errors; echo $?; set -e\n\
        done; done\n\
        \"$0\" testbed down\n\
        ls /run/kept /run/groundwave/Other\n";
    let printed = run(folder.path(), script);
    let lines: Vec<&str> = printed.lines().collect();
    let (codes, rest) = lines.split_at(24);
    assert!(codes.iter().all(|code| *code == "2"), "{printed}");
    assert_eq!(rest[0], "no testbed is up", "{printed}");
    assert_eq!(rest.iter().filter(|line| **line == "file").count(), 2, "{printed}");
    let errors = fs::read_to_string(folder.path().join("errors")).unwrap();
    let first = "invalid name of a testbed: found \"../kept\", allowed 1 to 16 of a-z, 0-9 and '-'";
    assert!(errors.contains(first), "{errors}");
}

/// A log that cannot be kept is refused before anything is removed.
#[needs(namespaces)]
#[test]
fn a_log_that_cannot_be_kept_leaves_the_testbed_up() {
    let folder = folder();
    let script = "up\n\
        for path in absent/x.gwlog /run; do\n\
        set +e; \"$0\" testbed down --keep-log $path 2>>errors; echo $?; set -e\n\
        done\n\
        ls /run/netns | wc -l\n\
        controller >/dev/null && echo running\n\
        \"$0\" testbed down --keep-log many.gwlog\n\
        left\n";
    let printed = run(folder.path(), script);
    let log = format!("testbed many removed: {NODES} nodes; log: many.gwlog");
    let expected = ["2", "2", &NODES.to_string(), "running", &log, "0", "0"];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    let errors = fs::read_to_string(folder.path().join("errors")).unwrap();
    assert!(errors.contains("invalid --keep-log absent/x.gwlog"), "{errors}");
    assert!(fs::metadata(folder.path().join("many.gwlog")).unwrap().len() > 0);
}
