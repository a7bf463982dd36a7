//! First steps: the program without a command, `doctor`, `init`, scenarios from standard input.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::{command, groundwave, launcher, refusal, root, stdout};

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
        (&["init", "-", "--at", "57,11", "--spacing-km", "0"], ["--spacing-km", "0.01 to 100 km"]),
        (&["init", "-", "--at", "57,11", "--nodes", "1"], ["--nodes", "2 to 60"]),
        (&["init", "-", "--at", "57,11", "--height", "-3"], ["height", "-3"]),
    ] {
        let error = refusal(&groundwave(arguments));
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn init_writes_the_command_that_fetches_the_ground_and_words_of_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    let title = r#"the "first" \ mesh"#;
    let text = stdout(&run(&["init", "my mesh.toml", "--at", "57.70,11.93", "--title", title]));
    let fetch = "groundwave terrain fetch 57.7,11.93 --radius-km 5";
    assert!(text.contains(fetch) && text.contains("groundwave run 'my mesh.toml'"), "{text}");
    let scenario = std::fs::read_to_string(folder.path().join("my mesh.toml")).unwrap();
    let terrain = format!("#   {fetch}\ntiles = [\"N57E011\"]\n");
    assert!(scenario.contains(&terrain), "{scenario}");
    let text = stdout(&run(&["init", "-", "--at", "57.7,11.93", "--title", title, "--flat"]));
    let output = with_input(&["validate", "-"], text.as_bytes());
    assert!(stdout(&output).contains(title), "{output:?}");
    for title in ["two\nlines", "", "a\u{7f}b"] {
        let error = refusal(&run(&["init", "-", "--at", "57.7,11.93", "--title", title]));
        assert!(error.contains("invalid --title") && error.contains("1 to 200"), "{error}");
    }
}

#[test]
fn a_scenario_without_ground_gives_both_ways_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    let place = ["init", "a.toml", "--at", "57.70,11.93", "--coverage-km", "1", "--force"];
    stdout(&run(&place));
    let file = folder.path().join("a.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once("[terrain]\n").unwrap();
    let nodes = rest.find("\n[[node]]").unwrap();
    std::fs::write(&file, format!("{head}{}", &rest[nodes..])).unwrap();
    let ways = ["[terrain]", "tiles = [\"N57E011\"]", "--srtm-dir", "flat_msl_m = 0"];
    let has_ways = |text: &str| ways.iter().all(|way| text.contains(way));
    assert!(has_ways(&stdout(&run(&["validate", "a.toml"]))));
    assert!(has_ways(&stdout(&run(&["run", "a.toml"]))));
    let sweep = run(&["sweep", "a.toml", "-o", "out", "--products", "margin"]);
    assert_eq!(sweep.status.code(), Some(3));
    assert!(has_ways(&String::from_utf8_lossy(&sweep.stderr)), "{sweep:?}");
    // Folders of the command line supply ground, fetched or not.
    for option in ["--srtm-dir", "--terrain-cache"] {
        let tiles = root().join("scenarios/terrain").display().to_string();
        let text = stdout(&run(&["validate", "a.toml", option, &tiles]));
        assert!(!text.contains("no terrain data"), "{option}: {text}");
    }
}

#[test]
fn missing_tiles_count_as_open_sea_with_flat_earth() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    stdout(&run(&["init", "sea.toml", "--at", "0.5,-30.5", "--spacing-km", "1"]));
    let error = refusal(&run(&["run", "sea.toml"]));
    assert!(error.contains("N00W031") && error.contains("--flat-earth"), "{error}");
    assert!(!stdout(&run(&["run", "sea.toml", "--flat-earth"])).contains("no terrain data"));
}

#[test]
fn a_folder_of_tiles_is_listed_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let tiles = root().join("scenarios/terrain").display().to_string();
    let text = stdout(&groundwave(&["terrain", "list", "--srtm-dir", &tiles]));
    assert!(text.contains("N57E011") && text.contains("57.000"), "{text}");
    let text = stdout(&groundwave(&["terrain", "verify", "--srtm-dir", &tiles]));
    assert!(text.starts_with("1 of 1 files"), "{text}");
    std::fs::write(folder.path().join("N57E011.hgt.gz"), [0x1f, 0x8b, 1, 2, 3]).unwrap();
    let own = folder.path().to_str().unwrap();
    let output = groundwave(&["terrain", "verify", "--srtm-dir", own]);
    assert!(!output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("N57E011"), "{output:?}");
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
    // The command line turns off what the file turns on.
    for (arguments, code) in [(&[][..], 0), (&["--flat-earth=false"], 3)] {
        // Where no tile is.
        let ends = ["link", "10.7,11.9", "10.72,11.95"];
        let mut program = command(&[&ends[..], arguments].concat());
        let output = program.env("GROUNDWAVE_CONFIG", &file).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
    let error = refusal(&link(&[], "[link]\nradoi = \"x\"\n"));
    assert!(error.contains("config.toml:2: invalid option: found \\\"radoi\\\""), "{error}");
    std::fs::write(&file, text).unwrap();
    let mut program = command(&["serve", "--print-config"]);
    let printed = program.env("GROUNDWAVE_CONFIG", &file).env("PLAN_DB", "x.db").output().unwrap();
    let printed = stdout(&printed);
    assert!(printed.contains("bind = \"127.0.0.1:1\"  # ") && printed.contains("config.toml:5"));
    assert!(printed.contains("db = \"x.db\"  # PLAN_DB"), "{printed}");
}

/// Options in force are printed without the arguments that a run needs, with `--json` as a document.
#[test]
fn options_in_force_need_no_arguments() {
    for words in [&["sweep"][..], &["init"], &["study"], &["link"], &["terrain", "fetch"]] {
        let printed = stdout(&groundwave(&[words, &["--print-config"]].concat()));
        assert!(printed.contains(&format!("\n[{}]\n", words.join("."))), "{printed}");
        let output = groundwave(&[words, &["--print-config", "--json"]].concat());
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(document["command"], serde_json::json!(words));
        let options = document["options"].as_array().unwrap();
        let json = options.iter().find(|option| option["name"] == "json").unwrap();
        assert_eq!(json["source"], "command line", "{document}");
    }
    let error = refusal(&groundwave(&["sweep", "--print-config", "--bogus"]));
    assert!(error.contains("--bogus"), "{error}");
    // Options of all commands may stand in the table of one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "[presets]\njson = true\n").unwrap();
    let output = command(&["presets"]).env("GROUNDWAVE_CONFIG", &file).output().unwrap();
    serde_json::from_str::<Value>(&stdout(&output)).unwrap();
}

/// Variables of the environment that are neither true nor false are refused.
#[test]
fn a_variable_that_is_no_truth_value_is_refused() {
    for (variable, value) in
        [("GROUNDWAVE_FLAT_EARTH", "disabled"), ("GROUNDWAVE_TERRAIN_FETCH", "none")]
    {
        let mut program = command(&["link", "57.7,11.9", "57.72,11.95"]);
        let error = refusal(&program.env(variable, value).output().unwrap());
        assert!(error.contains(value) && error.contains("allowed true, false, yes, no"), "{error}");
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
        assert!(
            error.contains(&format!("invalid {option}")) && error.contains("another file"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(log).unwrap(), before);
}

#[test]
fn a_log_that_cannot_begin_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let init = ["init", "mesh.toml", "--at", "57.70,11.93", "--flat"];
    assert!(command(&init).current_dir(folder.path()).output().unwrap().status.success());
    // No file may have a length: the first write fails, as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" record mesh.toml -o run.gwlog";
    let output = launcher("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_groundwave")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("create log run.gwlog"), "{error}");
    assert!(!folder.path().join("run.gwlog").exists());
}

#[test]
fn quiet_commands_have_no_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let from = root().join("examples/emane.eel");
    let to = folder.path().join("emane.gwlog");
    let words = ["convert", from.to_str().unwrap(), to.to_str().unwrap()];
    let loud = groundwave(&words);
    assert!(loud.status.success() && !loud.stderr.is_empty());
    std::fs::remove_file(&to).unwrap();
    let quiet = groundwave(&[&words[..], &["--quiet"]].concat());
    assert!(quiet.status.success() && !quiet.stdout.is_empty());
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), "");
}

#[test]
fn messages_that_cannot_be_written_end_nothing() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let code = |arguments: &[&str]| {
        let mut program = command(arguments);
        program.stdout(Stdio::null()).stderr(full()).status().unwrap().code()
    };
    assert_eq!(code(&["run", "nope.toml"]), Some(2));
    assert_eq!(code(&["run", "nope.toml", "--json"]), Some(2));
    assert_eq!(code(&["presets", "--json"]), Some(0));
}
