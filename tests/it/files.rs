//! Files and streams of the command line: spans of time, `-`, `--force`, `--continue`, errors.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{self, command, groundwave, refusal, stdout};

fn json(words: &[&str]) -> Value {
    let mut all = vec!["--json"];
    all.extend(words);
    serde_json::from_str(&stdout(&groundwave(&all))).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn scenario() -> String {
    text(&support::scenario_path("failover.toml")).to_owned()
}

fn recorded(folder: &Path) -> PathBuf {
    let log = folder.join("run.gwlog");
    stdout(&groundwave(&["record", &scenario(), "-o", text(&log)]));
    log
}

/// Runs the program with `input` on its standard input.
fn piped(words: &[&str], input: &[u8]) -> Output {
    let mut child = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its input may close it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_run_until_a_time_ends_where_a_replay_to_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let run = json(&["run", &scenario(), "--until", "60"]);
    let replay = json(&["replay", text(&log), "--to", "60"]);
    assert_eq!(run["digest"], replay["digest"]);
    for (name, words) in
        [("replay", vec!["replay", text(&log)]), ("log cat", vec!["log", "cat", text(&log)])]
    {
        let words = [&words[..], &["--from", "500", "--to", "400"]].concat();
        let error = refusal(&groundwave(&words));
        assert!(error.contains("invalid --to: found 400 s"), "{name}: {error}");
    }
}

#[test]
fn a_run_that_was_killed_is_continued_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let whole = recorded(folder.path());
    let digest = json(&["replay", text(&whole), "--check"])["digest"].clone();
    let bytes = fs::read(&whole).unwrap();
    let killed = folder.path().join("killed.gwlog");
    // Torn in the middle of what was recorded, index and end included.
    for share in [2, 3, 10] {
        fs::write(&killed, &bytes[..bytes.len() - bytes.len() / share]).unwrap();
        let words = ["run", &scenario(), "--record", text(&killed), "--continue"];
        assert_eq!(json(&words)["digest"], digest, "{share}");
        let again = json(&["replay", text(&killed), "--check"]);
        assert_eq!(again["digest"], digest, "{share}");
    }
    let other = text(&support::scenario_path("two_nodes.toml")).to_owned();
    let error = refusal(&groundwave(&["record", &other, "-o", text(&killed), "--continue"]));
    assert!(error.contains("invalid --continue"), "{error}");
    refusal(&groundwave(&["run", &other, "--continue"]));
}

#[test]
fn existing_files_are_written_over_by_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let plan = folder.path().join("plan.kml");
    let part = folder.path().join("part.gwlog");
    let masts = support::root().join("examples/masts.csv");
    for words in [
        vec!["record", &scenario(), "-o", text(&log)],
        vec!["convert", text(&masts), text(&plan)],
        vec!["log", "cut", text(&log), "-o", text(&part), "--to", "30"],
    ] {
        let first = words[0] == "record";
        if !first {
            stdout(&groundwave(&words));
        }
        let error = refusal(&groundwave(&words));
        assert!(error.contains("exists") && error.contains("--force"), "{error}");
        stdout(&groundwave(&[&words[..], &["--force"]].concat()));
    }
    let own = ["log", "cut", text(&log), "-o", text(&log), "--force"];
    let error = refusal(&groundwave(&own));
    assert!(error.contains("another file"), "{error}");
    json(&["replay", text(&log), "--check"]);
}

#[test]
fn links_modes_and_devices_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("real.toml"), "old").unwrap();
    fs::set_permissions(path("real.toml"), Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(path("real.toml"), path("link.toml")).unwrap();
    let init = |to: &str| groundwave(&["init", to, "--at", "57.7,11.9", "--force"]);
    let link = path("link.toml");
    stdout(&init(text(&link)));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(path("real.toml")).unwrap().contains("[scenario]"));
    assert_eq!(fs::metadata(path("real.toml")).unwrap().permissions().mode() & 0o777, 0o600);

    let pipe = path("pipe.toml");
    let status = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(status.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    // No --force: a pipe is not written over.
    stdout(&groundwave(&["init", text(&pipe), "--at", "57.7,11.9"]));
    assert!(reader.join().unwrap().contains("[scenario]"));
    let kind = fs::metadata(&pipe).unwrap().file_type();
    assert!(kind.is_fifo());
    let error =
        refusal(&groundwave(&["init", text(folder.path()), "--at", "57.7,11.9", "--force"]));
    assert!(error.contains("found the folder"), "{error}");
}

#[test]
fn a_dash_is_standard_input_or_output() {
    let masts = fs::read(support::root().join("examples/masts.geojson")).unwrap();
    let words = ["convert", "-", "-", "--output-format", "csv"];
    let table = stdout(&piped(&words, &masts));
    assert!(table.starts_with("id,name,") && table.lines().count() > 2, "{table}");
    let shipped = fs::read(scenario()).unwrap();
    stdout(&piped(&["validate", "-"], &shipped));
    let run = stdout(&piped(&["run", "-", "--until", "5", "--json"], &shipped));
    assert!(run.contains("\"digest\""));
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let events = stdout(&groundwave(&["convert", text(&log), "-", "--output-format", "eel"]));
    let mut lines = events.lines();
    for begin in ["# from 0.000 on path losses assume: 50 % of time", "# nem:1 is "] {
        assert!(lines.next().unwrap().starts_with(begin), "{events}");
    }
    let error = refusal(&piped(&["convert", "-", "x.kml"], b"hello"));
    assert!(error.contains("content of an unknown kind"), "{error}");
}

#[test]
fn log_is_recognized_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let renamed = folder.path().join("run.bin");
    fs::rename(recorded(folder.path()), &renamed).unwrap();
    let table = folder.path().join("run.csv");
    assert!(json(&["convert", text(&renamed), text(&table)])["written"].as_u64() > Some(5));
}

#[test]
fn errors_are_json_where_results_are() {
    for (words, expected) in [
        (vec!["--json", "replay", "none.gwlog"], "none.gwlog"),
        (vec!["--json", "replay"], "required"),
        (vec!["replay", "none.gwlog", "--json", "--speeed", "2x"], "--speeed"),
    ] {
        let document = refusal(&groundwave(&words));
        let error: Value =
            serde_json::from_str(&document).unwrap_or_else(|err| panic!("{err}: {document}"));
        // Members of problems (RFC 7807), and those of earlier versions.
        assert_eq!((&error["exit_code"], &error["error"]["exit_code"]), (&2.into(), &2.into()));
        assert_eq!(error["type"], "urn:groundwave:problem:invalid-input");
        assert_eq!(error["title"], "Invalid input");
        assert_eq!(error["detail"], error["error"]["message"]);
        let message = error["detail"].as_str().unwrap();
        assert!(message.contains(expected) && !message.contains("Usage"), "{message}");
    }
}

#[test]
fn json_errors_name_the_field_and_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let shipped = fs::read_to_string(support::scenario_path("two_nodes.toml")).unwrap();
    fs::write(&path, format!("[nodes]\n{shipped}")).unwrap();
    let place = format!("{}:1:2", path.display());
    for (words, field, place) in [
        (vec!["--json", "link", "1,1", "2,2", "--samples", "3"], "--samples", None),
        (vec!["--json", "replay", "a", "--speeed", "2x"], "--speeed", None),
        (vec!["--json", "run", text(&path)], "nodes", Some(place)),
        (vec!["--json", "sweep", text(&path), "-o", "-"], "--out", None),
    ] {
        let output = groundwave(&words);
        let lines = refusal(&output);
        let error: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(error["field"], field, "{error}");
        assert_eq!(error["place"].as_str(), place.as_deref(), "{error}");
    }
}

#[test]
fn tables_of_a_run_stand_beside_the_scenario_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    let text_of = fs::read_to_string(support::scenario_path("failover.toml")).unwrap();
    fs::write(&path, format!("{text_of}\n[output]\ndirectory = \"out\"\ntables = [\"flows\"]\n"))
        .unwrap();
    let run = |more: &[&str]| {
        let words = [&["run", text(&path), "--until", "5"][..], more].concat();
        command(&words).current_dir(std::env::temp_dir()).output().unwrap()
    };
    stdout(&run(&[]));
    let table = folder.path().join("out/flows.csv");
    let first = fs::read_to_string(&table).unwrap();
    assert!(first.lines().count() > 1, "{first}");
    // A second run would lose the first; it leaves no log either.
    let log = folder.path().join("run.gwlog");
    let error = refusal(&run(&["--seed", "2", "--record", text(&log)]));
    assert!(error.contains("flows.csv"), "{error}");
    assert_eq!(fs::read_to_string(&table).unwrap(), first);
    assert!(!log.exists());
    // A log that is there is refused before tables are written.
    fs::remove_file(&table).unwrap();
    fs::write(&log, "other").unwrap();
    refusal(&run(&["--record", text(&log)]));
    assert!(!table.exists());
    stdout(&run(&["--force", "--record", text(&log)]));
    assert_eq!(fs::read_to_string(&table).unwrap(), first);
}
