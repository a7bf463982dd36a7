//! First steps: the program without a command, `doctor`, `init`, scenarios from standard input.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::{command, groundwave, refusal, root, stdout};

/// Output of the program with such a standard input.
fn with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut program = command(arguments);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = program.spawn().unwrap();
    process.stdin.take().unwrap().write_all(input).unwrap();
    process.wait_with_output().unwrap()
}

#[test]
fn without_a_command_the_program_shows_the_next_step() {
    let text = stdout(&groundwave(&[]));
    for part in ["groundwave demo", "groundwave init", "groundwave doctor", "abilities"] {
        assert!(text.contains(part), "{text}");
    }
    let document: Value = serde_json::from_str(&stdout(&groundwave(&["--json"]))).unwrap();
    assert!(document["steps"].as_array().unwrap().len() >= 4);
    assert!(document["missing"].is_u64());
}

#[test]
fn doctor_has_a_remedy_for_every_missing_ability_and_none_for_others() {
    let findings: Value =
        serde_json::from_str(&stdout(&groundwave(&["doctor", "--json"]))).unwrap();
    let findings = findings.as_array().unwrap();
    let names: Vec<_> = findings.iter().map(|one| one["ability"].as_str().unwrap()).collect();
    for name in ["terrain", "rights", "shaping", "namespaces", "tunnel", "routing", "gpu"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for finding in findings {
        let is_met = finding["state"] == "met";
        assert_eq!(is_met, finding["remedy"].is_null(), "{finding}");
        assert!(!finding["facts"].as_str().unwrap().is_empty(), "{finding}");
    }
    let text = stdout(&groundwave(&["doctor"]));
    assert_eq!(text.lines().filter(|line| !line.starts_with(' ')).count(), findings.len());
}

#[test]
fn init_writes_a_scenario_that_runs_and_keeps_an_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.toml");
    let file = file.to_str().unwrap();
    let place = ["--at", "57.70,11.93", "--flat", "--nodes", "5", "--radio", "wifi_2g4_mesh"];
    let init = |more: &[&str]| groundwave(&[&["init", file][..], &place, more].concat());
    let text = stdout(&init(&["--spacing-km", "0.5", "--coverage-km", "1"]));
    assert!(text.contains("5 nodes") && text.contains("groundwave run "), "{text}");
    let run: Value = serde_json::from_str(&stdout(&groundwave(&["run", file, "--json"]))).unwrap();
    assert_eq!(run["nodes"].as_array().unwrap().len(), 5);
    assert!(!run["links"].as_array().unwrap().is_empty());

    let before = std::fs::read_to_string(file).unwrap();
    let error = refusal(&init(&[]));
    assert!(error.contains("--force"), "{error}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), before);
    stdout(&init(&["--force"]));
    assert_ne!(std::fs::read_to_string(file).unwrap(), before);
}

#[test]
fn invalid_options_of_init_give_errors_with_allowed_values() {
    for (arguments, parts) in [
        (&["init", "-"][..], ["--at", "LAT,LON"]),
        (&["init", "-", "--at", "97,11"], ["97", "90"]),
        (&["init", "-", "--at", "57,11", "--radio", "lora"], ["\"lora\"", "lora_868_eu"]),
        (&["init", "-", "--at", "57,11", "--spacing-km", "0"], ["--spacing-km", "above 0 to 100"]),
        (&["init", "-", "--at", "57,11", "--nodes", "1"], ["--nodes", "2..=60"]),
        (&["init", "-", "--at", "57,11", "--height", "-3"], ["height", "-3"]),
    ] {
        let error = refusal(&groundwave(arguments));
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn scenarios_come_from_standard_input() {
    let scenario = groundwave(&["init", "-", "--at", "57.70,11.93", "--flat"]);
    let text = stdout(&scenario);
    let output = with_input(&["validate", "-"], text.as_bytes());
    assert!(stdout(&output).contains("valid: First mesh (4 nodes"), "{output:?}");
    let output = with_input(&["run", "-", "--json", "--quiet"], text.as_bytes());
    assert!(output.stderr.is_empty() && stdout(&output).contains("\"digest\""), "{output:?}");
    let error = refusal(&with_input(&["run", "-"], b"[scenario]\ntitel = \"a\"\n"));
    assert!(error.contains("standard input") && error.contains("titel"), "{error}");
}

#[test]
fn verbose_has_more_of_the_log_and_excludes_quiet() {
    let error = refusal(&groundwave(&["doctor", "--quiet", "--verbose"]));
    assert!(error.contains("--quiet") && error.contains("--verbose"), "{error}");
    assert!(stdout(&groundwave(&["doctor", "-vv", "--json"])).contains("terrain"));
}

/// A configuration file sets defaults; command line and environment replace them.
#[test]
fn a_configuration_file_sets_options_and_names_its_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let link = |arguments: &[&str], text: &str| {
        std::fs::write(&file, text).unwrap();
        let ends = ["link", "57.7,11.9", "57.72,11.95", "--json"];
        let mut program = command(&[&ends[..], arguments].concat());
        program.env("GROUNDWAVE_CONFIG", &file).output().unwrap()
    };
    let frequency_mhz = |output: &Output| {
        let document: Value = serde_json::from_str(&stdout(output)).unwrap();
        document["forward"]["frequency_mhz"].as_f64().or(document["frequency_mhz"].as_f64())
    };
    let text =
        "flat-earth = true\n[link]\nradio = \"lora_868_eu\"\n[serve]\nbind = \"127.0.0.1:1\"\n";
    assert_eq!(frequency_mhz(&link(&[], text)), Some(868.1));
    let other = link(&["--radio", "wifi_2g4_mesh"], text);
    assert_eq!(frequency_mhz(&other), Some(2437.0));
    let error = refusal(&link(&[], "[link]\nradoi = \"x\"\n"));
    assert!(error.contains("config.toml:2: invalid option: found \\\"radoi\\\""), "{error}");
    std::fs::write(&file, text).unwrap();
    let mut program = command(&["serve", "--print-config"]);
    let printed = program.env("GROUNDWAVE_CONFIG", &file).env("PLAN_DB", "x.db").output().unwrap();
    let printed = stdout(&printed);
    assert!(printed.contains("bind = \"127.0.0.1:1\"  # ") && printed.contains("config.toml:5"));
    assert!(printed.contains("db = \"x.db\"  # PLAN_DB"), "{printed}");
}

/// Variables of the environment that are neither true nor false are refused.
#[test]
fn a_variable_that_is_no_truth_value_is_refused() {
    for (variable, value) in
        [("GROUNDWAVE_FLAT_EARTH", "disabled"), ("GROUNDWAVE_TERRAIN_FETCH", "none")]
    {
        let mut program = command(&["link", "57.7,11.9", "57.72,11.95"]);
        let error = refusal(&program.env(variable, value).output().unwrap());
        assert!(error.contains(value) && error.contains("boolean"), "{error}");
    }
    let mut program = command(&["serve", "--print-config"]);
    let printed = stdout(&program.env("GATEWAY_PUBLIC_MAP", "1").output().unwrap());
    assert!(printed.contains("public-map = true  # GATEWAY_PUBLIC_MAP"), "{printed}");
}

/// A report does not replace the log that it is about.
#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.gwlog");
    let log = log.to_str().unwrap();
    let scenario = root().join("scenarios/failover.toml");
    let scenario = scenario.to_str().unwrap();
    stdout(&groundwave(&["record", scenario, "-o", log, "--until", "5"]));
    let before = std::fs::read(log).unwrap();
    for option in ["--report", "--html"] {
        let error = refusal(&groundwave(&["replay", log, option, log]));
        assert!(error.contains("invalid output") && error.contains("another file"), "{error}");
    }
    assert_eq!(std::fs::read(log).unwrap(), before);
}
