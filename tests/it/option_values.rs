//! Values of options: one form of errors, checks at the start, files of one command apart.

use std::path::Path;

use groundwave_needs::needs;

use crate::support::{command, groundwave, refusal, scenario_path, stdout};

#[test]
fn invalid_values_give_errors_with_option_value_and_allowed_values() {
    for (arguments, expected) in [
        (
            &["link", "1,1", "2,2", "--rain", "much"][..],
            "invalid --rain: found \"much\", allowed a number",
        ),
        (
            &["link", "1,1", "2,2", "--samples", "3"],
            "invalid --samples: found 3, allowed 8 to 4096",
        ),
        (
            &["link", "1,1", "2,2", "--samples", "x"],
            "invalid --samples: found \"x\", allowed a whole number",
        ),
        (&["--threads", "0", "doctor"], "invalid --threads: found 0, allowed 1 to 1024"),
        (
            &["--color", "green", "doctor"],
            "invalid --color: found \"green\", allowed auto, always, never",
        ),
        (&["serve", "both"], "invalid SERVICE: found \"both\", allowed planning, gateway"),
        (
            &["serve", "--trusted-proxy", "me"],
            "invalid --trusted-proxy: found \"me\", allowed an IP address",
        ),
        (&["agent", "--gateway", "me"], "invalid --gateway: found \"me\", allowed ADDRESS:PORT"),
        (&["agent", "--period", "0"], "invalid --period: found \"0\", allowed 0.5 to 300 s"),
        (
            &["study", "a.toml", "-o", "b", "--shard", "0/0"],
            "invalid --shard: found \"0/0\", allowed i/N",
        ),
        (&["replay", "a", "--speed", "fast"], "invalid --speed: found \"fast\", allowed max, or"),
        (&["agent", "--key-id"], "invalid --key-id: found no value, allowed one"),
    ] {
        let error = refusal(&groundwave(arguments));
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(!error.contains('\u{1b}'), "colour without a terminal: {error}");
        let output = groundwave(&[arguments, &["--json"]].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(document["error"]["message"].as_str().unwrap().starts_with(expected), "{document}");
    }
}

#[test]
fn values_out_of_range_give_errors_with_the_option_and_not_a_key_of_scenarios() {
    for (option, value, expected) in [
        ("--rain", "inf", "found \"inf\", allowed a number"),
        ("--rain", "nan", "found \"nan\", allowed a number"),
        ("--rain", "301", "found 301, allowed [0, 300]"),
        ("--time", "0", "found 0, allowed [0.1, 99.9]"),
        ("--location", "100", "found 100, allowed [0.1, 99.9]"),
        ("--situation", "-1", "found -1, allowed [0.1, 99.9]"),
        ("--azimuth", "361", "found 361, allowed [-360, 360]"),
        ("--azimuth", "10,361", "found 361, allowed [-360, 360]"),
        ("--tilt", "91", "found 91, allowed [-90, 90]"),
        ("--feeder-db", "-1", "found -1, allowed [0, 100]"),
        ("--gain-dbi", "100", "found 100, allowed [-30, 60]"),
        ("--height", "1e6", "found 1000000, allowed [0, 20000]"),
        ("--frequency-mhz", "1", "found 1, allowed [10, 100000]"),
        ("--tx-power-dbm", "90", "found 90, allowed [-50, 80]"),
        ("--woodland-depth", "-1", "found -1, allowed [0, 100000]"),
    ] {
        let error = refusal(&groundwave(&["link", "1,1", "2,2", "--flat-earth", option, value]));
        assert!(error.contains(&format!("invalid {option}: {expected}")), "{error}");
    }
    // The height of a position and a key of the environment are not of an option.
    let link = |arguments: &[&str]| {
        refusal(&groundwave(&[&["link", "1,1", "2,2,1e6", "--flat-earth"], arguments].concat()))
    };
    assert!(link(&["--height", "10"]).contains("invalid height_agl_m: found 1000000"));
    let error = link(&["--environment", "rain_rate_mm_h=-1"]);
    assert!(error.contains("invalid environment.rain_rate_mm_h: found -1"), "{error}");
    let error = link(&["--clutter", "urban", "--clutter-height", "-1"]);
    assert!(error.contains("invalid --clutter-height: found -1, allowed [1, 100]"), "{error}");
}

#[test]
fn options_of_positions_beside_nodes_of_a_scenario_are_refused() {
    let path = scenario_path("two_nodes.toml").display().to_string();
    for command in ["link", "profile"] {
        for (option, value) in [
            ("--radio", "lora_868_eu"),
            ("--antenna", "omni_9,omni_5"),
            ("--modem", "LongFast"),
            ("--height", "50"),
            ("--frequency-mhz", "5.8GHz"),
            ("--tx-power-dbm", "-3"),
        ] {
            let nodes = [command, "--scenario", &path, "a", "b", option, value];
            let error = refusal(&groundwave(&nodes));
            let expected = format!(
                "invalid {option}: found {value} beside nodes of {path}, allowed for positions only"
            );
            assert!(error.contains(&expected), "{error}");
        }
    }
    let nodes = ["link", "--scenario", &path, "a", "b", "--gain-dbi", "3", "--feeder-db", "1"];
    stdout(&groundwave(&nodes));
    let position = ["link", "--scenario", &path, "a", "57.71,11.9", "--height", "50"];
    stdout(&groundwave(&position));
    // A configuration file is for all paths.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "[link]\nheight = 50\n").unwrap();
    let nodes = ["link", "--scenario", &path, "a", "b"];
    stdout(&command(&nodes).env("GROUNDWAVE_CONFIG", &file).output().unwrap());
}

#[test]
fn offline_on_the_command_line_comes_before_fetching_in_the_environment() {
    let link = |arguments: &[&str], variables: &[(&str, &str)]| {
        let words = [&["link", "57.7,11.9", "57.72,11.95", "--flat-earth"], arguments].concat();
        command(&words).envs(variables.iter().copied()).output().unwrap()
    };
    let fetch = ("GROUNDWAVE_TERRAIN_FETCH", "true");
    stdout(&link(&["--offline"], &[fetch]));
    stdout(&link(&["--offline"], &[("GROUNDWAVE_TERRAIN_FETCH", "false")]));
    for output in
        [link(&["--offline", "--fetch"], &[]), link(&[], &[fetch, ("GROUNDWAVE_OFFLINE", "true")])]
    {
        let error = refusal(&output);
        assert!(error.contains("invalid --offline: found beside --fetch"), "{error}");
    }
}

#[test]
fn tilt_of_an_antenna_that_faces_the_other_end_is_refused() {
    let link = |arguments: &[&str]| {
        groundwave(&[&["link", "57.7,11.9", "57.8,11.9", "--flat-earth"], arguments].concat())
    };
    let error = refusal(&link(&["--antenna", "dish_30", "--tilt", "60"]));
    let expected = "invalid --tilt: found 60 for an antenna that looks at the other end, allowed \
                    with --azimuth";
    assert!(error.contains(expected), "{error}");
    refusal(&link(&["--antenna", "omni_9,dish_30", "--tilt", "2"]));
    stdout(&link(&["--antenna", "omni_9,dish_30", "--tilt", "2,0"]));
    stdout(&link(&["--antenna", "dish_30", "--azimuth", "0,180", "--tilt", "2"]));
}

#[test]
fn options_of_an_agent_that_lack_another_or_a_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["agent", "--key-id", "k1", "--once"][..], "--trust-secret"),
        (
            &["agent", "--fixture", "nohill", "--no-tunnel", "--key", "k"],
            "invalid --fixture: found no",
        ),
    ] {
        let output = command(arguments).current_dir(folder.path()).output().unwrap();
        let error = refusal(&output);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn invalid_names_and_addresses_of_a_server_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (option, value, allowed) in [
        ("--host", "mesh.example:80", "a host name or an address without a port"),
        ("--host", "bad host", "a host name"),
        ("--planner-address", "planner", "HOST:PORT"),
        ("--planner-address", "http://planner:80", "HOST:PORT"),
        ("--smtp-from", "nobody", "NAME@DOMAIN"),
        ("--terrain-url", "ftp://mirror.example", "http:// or https://"),
        ("--terrain-source", "moon", "glo30, srtm"),
        ("--mesh-ifname", "abcdefghijklmnop", "1 to 15 printable ASCII characters"),
        ("--tunnel-ifname", "a/b", "1 to 15 printable ASCII characters"),
        ("--nut", ":::", "HOST or HOST:PORT"),
        ("--gateway-bind", "localhost:port", "ADDRESS:PORT or NAME:PORT"),
        ("--tunnel-endpoint", "gateway", "ADDRESS:PORT"),
    ] {
        // The last option would be refused later: no server stays.
        let arguments = ["serve", "gateway", option, value, "--replay", "nothing.gwlog"];
        let output = command(&arguments).current_dir(folder.path()).output().unwrap();
        let error = refusal(&output);
        let expected = format!("invalid {option}: found {value:?}");
        assert!(error.contains(&expected) && error.contains(allowed), "{error}");
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "{option}");
    }
}

#[test]
fn options_of_a_server_without_the_option_they_need_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["--gateway-tls-bind", "127.0.0.1:0"][..], "--tls-cert"),
        (&["--smtp-from", "a@b.example"], "--smtp-url"),
        (&["--smtp-user", "u", "--smtp-password-file", "p"], "--smtp-url"),
        (&["--mqtt-user", "u", "--mqtt-password-file", "p"], "--mqtt-url"),
        (&["--tunnel", "off", "--tunnel-endpoint", "192.0.2.1:51820"], "--tunnel off"),
    ] {
        let arguments = [&["serve", "gateway"], arguments, &["--replay", "nothing.gwlog"]].concat();
        let output = command(&arguments).current_dir(folder.path()).output().unwrap();
        let error = refusal(&output);
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("nothing.gwlog"), "{error}");
    }
}

#[test]
fn a_server_whose_files_are_one_is_refused_before_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grid.dac"), "geoid").unwrap();
    for (arguments, parts) in [
        (&["--db", "z", "--log-file", "./z"][..], ["--log-file", "--db"]),
        (&["--db", "z", "--log-file", "z.journal.0"], ["--log-file", "the journal of --db"]),
        (&["--db", "z", "--record", "z"], ["--record", "--db"]),
        (&["--record", "y", "--log-file", "y"], ["--log-file", "--record"]),
        (&["--log-file", "gateway/audit.jsonl"], ["--state", "--log-file"]),
        (&["--db", "gateway/token.key"], ["--state", "--db"]),
        (&["--geoid", "grid.dac", "--log-file", "grid.dac"], ["--log-file", "--geoid"]),
    ] {
        let arguments = [&["serve"], arguments, &["--replay", "nothing.gwlog"]].concat();
        let output = command(&arguments).current_dir(folder.path()).output().unwrap();
        let error = refusal(&output);
        assert!(parts.iter().all(|part| error.contains(part)), "{arguments:?}: {error}");
        assert!(error.contains("allowed another file"), "{error}");
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
    assert_eq!(std::fs::read(folder.path().join("grid.dac")).unwrap(), b"geoid");
}

#[test]
fn a_folder_as_the_store_of_a_server_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("store")).unwrap();
    let arguments = ["serve", "planning", "--flat-earth", "--bind", "127.0.0.1:0", "--db", "store"];
    let output = command(&arguments).current_dir(folder.path()).output().unwrap();
    let error = refusal(&output);
    let expected = "invalid --db: found a folder at store, allowed the path of a file";
    assert!(error.contains(expected) && !error.contains("os error"), "{error}");
}

#[test]
fn no_command_writes_over_a_file_that_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("a.toml");
    std::fs::copy(scenario_path("two_nodes.toml"), &scenario).unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    stdout(&run(&["record", "a.toml", "-o", "a.gwlog"]));
    stdout(&run(&["run", "a.toml", "--store", "a.db"]));
    std::os::unix::fs::symlink("a.gwlog", folder.path().join("link.gwlog")).unwrap();
    let content = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let before = ["a.toml", "a.gwlog", "a.db"].map(content);
    for arguments in [
        &["record", "a.toml", "-o", "a.toml", "--force"][..],
        &["run", "a.toml", "--record", "b", "--store", "./b"],
        &["convert", "a.toml", "a.toml", "--force"],
        &["convert", "a.gwlog", "link.gwlog", "--force"],
        &["convert", ".", "a.toml", "--force"],
        &["calibrate", "a.gwlog", "-o", "link.gwlog", "--force"],
        &["log", "cut", "a.gwlog", "-o", "link.gwlog", "--force"],
        &["replay", "a.gwlog", "--report", "link.gwlog"],
        &["replay", "a.gwlog", "--report", "b.html", "--html", "b.html"],
        &["restore", "a.db", "--db", "a.db", "--force"],
    ] {
        let error = refusal(&run(arguments));
        assert!(error.contains("allowed another file"), "{arguments:?}: {error}");
    }
    assert_eq!(["a.toml", "a.gwlog", "a.db"].map(content), before);
    assert!(!folder.path().join("b").exists() && !folder.path().join("b.html").exists());
}

#[test]
fn the_links_of_a_run_are_written_as_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario_path("two_nodes.toml").display().to_string();
    let run = |arguments: &[&str]| {
        let arguments = [&["run", scenario.as_str()], arguments].concat();
        command(&arguments).current_dir(folder.path()).output().unwrap()
    };
    let report = stdout(&run(&["-o", "links.csv"]));
    assert!(report.contains("digest"), "{report}");
    let table = std::fs::read_to_string(folder.path().join("links.csv")).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("time_s,tx,rx,distance_m,") && lines.len() == 3, "{table}");
    assert_eq!(stdout(&run(&["-o", "-"])), table);
    assert!(refusal(&run(&["-o", "links.csv"])).contains("--force"));
    stdout(&run(&["-o", "links.csv", "--force"]));
}

#[test]
fn standard_output_beside_a_json_document_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario_path("two_nodes.toml").display().to_string();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    for arguments in [
        &["run", &scenario, "-o", "-", "--json"][..],
        &["run", &scenario, "-o", "-", "--events"],
        &["init", "-", "--at", "57.7,11.9", "--json"],
        &["convert", &scenario, "-", "--output-format", "csv", "--json"],
        &["calibrate", "a.gwlog", "-o", "-", "--json"],
        &["replay", "a.gwlog", "--report", "-", "--json"],
        &["export", "Ridge", "-o", "-", "--format", "csv", "--json"],
        &["backup", "-", "--db", "a.db", "--json"],
        &["testbed", "compare", "a.gwlog", "-o", "-", "--json"],
        &["sweep", &scenario, "-o", "-"],
        &["study", &scenario, "-o", "-"],
        &["run", &scenario, "--store", "-"],
    ] {
        let output = run(arguments);
        let error = refusal(&output);
        assert!(
            error.contains("found -") || error.contains("found \"-\""),
            "{arguments:?}: {error}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "{arguments:?}");
    }
}

#[test]
fn places_are_towns_too_and_quantities_have_units() {
    let link = |arguments: &[&str]| -> serde_json::Value {
        let own = ["--flat-earth", "--radio", "lora_868_eu", "--json"];
        let output = groundwave(&[&["link", "57.70,11.93"], arguments, &own].concat());
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let budget = link(&[
        "57.72,11.95",
        "--height",
        "100ft,2",
        "--tx-power-dbm",
        "100mW",
        "--gain-dbi",
        "0dBd",
        "--frequency-mhz",
        "0.869525GHz",
        "--modem",
        "LongFast",
    ]);
    let number = |path: &str| budget["forward"].pointer(path).unwrap().as_f64().unwrap();
    assert!((number("/budget/tx_power_dbm") - 20.0).abs() < 1e-9, "{budget}");
    assert!((number("/budget/tx_gain_dbi") - 2.15).abs() < 1e-9, "{budget}");
    assert!((number("/frequency_mhz") - 869.525).abs() < 1e-9, "{budget}");
    let height_m = number("/geometry/tx_antenna_msl_m") - number("/geometry/tx_ground_msl_m");
    assert!((height_m - 30.48).abs() < 1e-9, "{budget}");
    let error = refusal(&groundwave(&["link", "1,1", "2,2", "--height", "3 yd"]));
    assert!(error.contains("invalid --height: found \"3 yd\", allowed a number in m"), "{error}");
    let error = refusal(&groundwave(&["link", "1,1", "2,2", "--modem", "LongFast"]));
    assert!(error.contains("invalid --modem") && error.contains("LoRa"), "{error}");
}

#[needs(page)]
#[test]
fn towns_by_name_are_places_of_the_command_line() {
    let text = stdout(&groundwave(&["init", "-", "--at", "Gothenburg", "--flat"]));
    assert!(text.contains("lat_deg = 57.71000") && text.contains("lon_deg = 11.97000"), "{text}");
    let output = groundwave(&["link", "Göteborg,SE,30", "Kungälv", "--flat-earth", "--json"]);
    let note = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(note.contains("Kungälv, SE at 57.8"), "{note}");
    let budget: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let distance_m = budget["forward"]["geometry"]["distance_m"].as_f64().unwrap();
    assert!((10e3..30e3).contains(&distance_m), "{budget}");
    let error = refusal(&groundwave(&["terrain", "fetch", "Nowhereville"]));
    assert!(error.contains("invalid AREA") && error.contains("Uppsala"), "{error}");
}

#[test]
fn a_copy_goes_to_standard_output_and_a_failed_one_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| command(arguments).current_dir(folder.path()).output().unwrap();
    let scenario = scenario_path("two_nodes.toml").display().to_string();
    stdout(&run(&["run", &scenario, "--store", "a.db"]));
    let output = run(&["backup", "-", "--db", "a.db"]);
    assert!(output.status.success() && output.stdout.len() > 1000, "{output:?}");
    std::fs::write(folder.path().join("copy.redb"), &output.stdout).unwrap();
    stdout(&run(&["restore", "copy.redb", "--db", "b.db"]));
    let error = refusal(&run(&["backup", "nowhere/copy.redb", "--db", "a.db"]));
    assert!(error.contains("nowhere/copy.redb"), "{error}");
    std::fs::write(folder.path().join("no.db"), "two years of work").unwrap();
    refusal(&run(&["backup", "c.redb", "--db", "no.db"]));
    assert!(!Path::new(&folder.path().join("c.redb")).exists());
    let error = refusal(&run(&["backup", "copy.redb", "--db", "a.db"]));
    assert!(error.contains("copy.redb exists"), "{error}");
}
