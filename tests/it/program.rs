//! The program as people use it.

use groundwave_needs::needs;

use crate::support::{self, blind, groundwave, stdout};

fn scenario(name: &str) -> String {
    support::scenario_path(name).display().to_string()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(&groundwave(arguments))).unwrap()
}

#[needs(terrain)]
#[test]
fn the_demo_shows_links_routes_and_rates() {
    let text = stdout(&groundwave(&["run", &scenario("gothenburg.toml")]));
    for expected in ["Gothenburg", "SRTM", "verdict", "excellent", "Mbit/s", "→", "met", "digest"]
    {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colour without a terminal");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns");
}

#[needs(terrain)]
#[test]
fn a_run_shows_the_worst_of_its_flows_and_not_only_its_end() {
    let text = stdout(&groundwave(&["run", &scenario("storm.toml")]));
    let during = text.split_once("During the run\n").unwrap().1;
    assert!(during.contains("lowest bottleneck"), "{text}");
}

#[test]
fn what_was_recorded_replays_and_reads() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.gwlog");
    let log = log.to_str().unwrap();
    let live = json(&["run", &scenario("failover.toml"), "--record", log, "--json"]);
    let again = json(&["replay", log, "--json"]);
    assert_eq!(live["digest"], again["digest"]);
    assert_eq!(again["marks_compared"], 1);
    assert_eq!(live["links"], again["links"]);
    let lines = stdout(&groundwave(&["log", "cat", log, "--json"]));
    let commands: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| commands.iter().filter(|line| line["command"] == name).count();
    let nodes = live["nodes"].as_array().unwrap().len();
    assert_eq!(named("node.add") - named("node.remove"), nodes);
    assert!(named("node.fail") > 0 && named("link.fail") > 0);
}

#[test]
fn a_damaged_log_is_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.gwlog");
    stdout(&groundwave(&["run", &scenario("failover.toml"), "--record", log.to_str().unwrap()]));
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let error = support::refusal(&groundwave(&["replay", log.to_str().unwrap()]));
    let log = log.to_str().unwrap();
    let place = format!("log {log}: damaged at byte");
    assert!(error.contains(&place), "{error}");
    for arguments in [
        &["log", "cat", log][..],
        &["log", "stat", log],
        &["calibrate", log, "-o", "profile.toml"],
        &["convert", log, "rows.csv"],
    ] {
        let error = support::refusal(&groundwave(arguments));
        assert!(error.contains(&place), "{arguments:?}: {error}");
    }
}

#[needs(terrain)]
#[test]
fn the_two_directions_of_a_link_are_the_two_links() {
    let path = scenario("gothenburg.toml");
    let there = json(&["link", "--scenario", &path, "bohus", "save", "--json"]);
    let back = json(&["link", "--scenario", &path, "save", "bohus", "--json"]);
    let close = |a: &serde_json::Value, b: &serde_json::Value| {
        let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
        assert!((a - b).abs() < 0.02, "{a} {b}");
    };
    for key in ["rx_power_dbm", "snr_db"] {
        close(&there["forward"]["receiver"][key], &back["backward"]["receiver"][key]);
        close(&there["backward"]["receiver"][key], &back["forward"]["receiver"][key]);
    }
    let run = json(&["run", &path, "--until", "1", "--json"]);
    let names: std::collections::BTreeMap<_, _> = run["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node["name"].as_str().unwrap()))
        .collect();
    let ours = |link: &&serde_json::Value| {
        let ends = [names[link["a"].as_str().unwrap()], names[link["b"].as_str().unwrap()]];
        ends.iter().any(|name| name.starts_with("Bohus"))
            && ends.iter().any(|name| name.starts_with("Säve"))
    };
    let links = run["links"].as_array().unwrap();
    let link = links.iter().find(ours).unwrap();
    // Which end is the lower id is the world's business.
    let ways = [&link["budget"]["forward"], &link["budget"]["backward"]];
    let from_bohus = usize::from(!names[link["a"].as_str().unwrap()].starts_with("Bohus"));
    close(&ways[from_bohus]["path_loss_db"], &there["forward"]["losses"]["total_path_loss_db"]);
}

#[needs(terrain)]
#[test]
fn missing_terrain_is_disclosed_and_never_silent() {
    // From the tile N57E011 into the sea west of it, where there is no tile.
    let over = blind(&groundwave(&["link", "57.7,11.9,30", "57.7,10.5,30", "--json"]));
    let over: serde_json::Value = serde_json::from_str(&over).unwrap();
    assert_eq!(over["verdict"], "no_terrain_data");
    assert!(over["forward"]["terrain"]["missing_samples"].as_u64().unwrap() > 0);
    let warnings = over["forward"]["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning == "terrain_missing"), "{warnings:?}");
    let report = json(&["link", "57.7,11.9,30", "57.7,10.5,30", "--flat-earth", "--json"]);
    assert_eq!(report["forward"]["terrain"]["missing_samples"], 0);
    assert_ne!(report["verdict"], "no_terrain_data");
    let text = blind(&groundwave(&["profile", "57.7,11.9", "57.7,10.5"]));
    assert!(text.contains("outside the tiles taken as sea level"), "{text}");
    assert!(text.contains("assumed: "), "{text}");
}

/// The program in an empty folder without any terrain.
fn bare(arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = support::command(arguments);
    command.current_dir(folder.path());
    command.env("GROUNDWAVE_DATA", folder.path());
    command.output().unwrap()
}

#[test]
fn programs_that_tests_start_have_a_home_and_variables_of_their_own() {
    let environment = || {
        let text = stdout(&support::launcher("env").output().unwrap());
        // Cargo sets some of its own for each test program.
        assert!(!text.contains("CARGO_"), "{text}");
        assert!(text.lines().any(|line| line == "TZ=UTC"), "{text}");
        let home = text.lines().find_map(|line| line.strip_prefix("HOME="));
        let home = std::path::PathBuf::from(home.unwrap());
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0, "{text}");
        home
    };
    let home = environment();
    assert_ne!(Some(home.as_os_str()), std::env::var_os("HOME").as_deref());
    assert_ne!(home, environment());
}

const ENDS: [&str; 2] = ["57.7142,11.9367,30", "57.8868,11.5880,20"];

#[test]
fn a_link_without_tiles_has_no_verdict_but_the_missing_terrain() {
    let link = |more: &[&str]| bare(&[&["link", ENDS[0], ENDS[1]], more].concat());
    let text = blind(&link(&[]));
    assert!(text.contains("terrain: none, flat earth at 0 m assumed"), "{text}");
    assert!(text.contains("no terrain data"), "{text}");
    for good in ["excellent", "good", "marginal", "poor"] {
        assert!(!text.contains(good), "{good} in {text}");
    }
    assert!(text.contains("ground unknown"), "{text}");
    let works = text.lines().find(|line| line.contains("works with")).expect("a row");
    assert!(works.contains('–') && !works.contains('%'), "{works}");
    let document: serde_json::Value = serde_json::from_str(&blind(&link(&["--json"]))).unwrap();
    assert_eq!(document["verdict"], "no_terrain_data");
    for direction in ["forward", "backward"] {
        let result = &document[direction];
        assert_eq!(
            (&result["verdict"], &result["prediction"]["basis"]),
            (&"no_link".into(), &"ground_unknown".into()),
            "{direction}"
        );
    }
    let output = stdout(&link(&["--flat-earth"]));
    assert!(output.contains("terrain: flat earth at 0 m"), "{output}");
    assert!(!output.contains("no terrain data"), "{output}");
    blind(&bare(&["profile", ENDS[0], ENDS[1]]));
    stdout(&bare(&["profile", ENDS[0], ENDS[1], "--flat-earth"]));
}

#[needs(terrain)]
#[test]
fn the_header_names_the_tiles_that_were_used() {
    let text = stdout(&groundwave(&["link", ENDS[0], ENDS[1]]));
    assert!(text.contains("terrain: N57E011 of 1 SRTM tile"), "{text}");
    let elsewhere = blind(&groundwave(&["link", "51.5,-0.12,20", "51.6,-0.2,20"]));
    assert!(elsewhere.contains("terrain: none of 1 SRTM tile used"), "{elsewhere}");
    let run = stdout(&groundwave(&["run", &scenario("gothenburg.toml"), "--until", "1"]));
    assert!(run.contains("terrain: 1 of 1 SRTM tile used"), "{run}");
}

#[test]
fn values_of_a_station_that_no_option_names_are_shown_as_assumed() {
    let line = |ends: [&str; 2], more: &[&str]| {
        let words = [&["link", "--flat-earth"], &ends[..], more].concat();
        let output = groundwave(&words);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("not named, assumed: ")).map(str::to_owned)
    };
    let bare = ["57.7,11.9", "57.72,11.95"];
    let all = "radio wifi_5g_mesh, antenna omni_2_15, 10 m above ground";
    assert_eq!(line(bare, &[]).as_deref(), Some(all));
    let devices = line(["57.7,11.9,20", "57.72,11.95"], &["--radio", "rak4631_eu"]).unwrap();
    assert!(
        devices.starts_with("antenna ") && devices.ends_with(", 10 m above ground"),
        "{devices}"
    );
    let options = ["--radio", "ptp_5g8", "--gain-dbi", "20", "--height", "12"];
    assert_eq!(line(bare, &options), None);
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join("omni.ant");
    std::fs::write(&pattern, "0\n".repeat(360)).unwrap();
    let options = ["--radio", "ptp_5g8", "--height", "12", "--pattern", pattern.to_str().unwrap()];
    let gain = "gain of 2.15 dBi, as the file of the pattern has none";
    assert_eq!(line(bare, &options).as_deref(), Some(gain));
    assert_eq!(line(bare, &[&options[..], &["--gain-dbi", "16"]].concat()), None);
    let value = json(&[&["--json", "link", "--flat-earth"], &bare[..]].concat());
    let end = &value["assumed_stations"][1];
    assert_eq!((&end["radio"], &end["height_agl_m"]), (&"wifi_5g_mesh".into(), &10.0.into()));
}

#[test]
fn a_tile_that_is_no_square_is_refused_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("N60E011.hgt"), vec![0; 2 * 3601 * 1801]).unwrap();
    let tiles = folder.path().to_str().unwrap();
    let link = ["link", "60.5,11.5,20", "60.6,11.5,20", "--srtm-dir", tiles];
    let error = support::refusal(&groundwave(&link));
    assert_eq!(error.matches("N60E011.hgt").count(), 1, "{error}");
    let bytes = (2 * 3601 * 1801).to_string();
    assert_eq!(error.matches(&bytes).count(), 1, "{error}");
}

/// Two nodes whose scenario has no ground.
const UNSAID: &str = "[scenario]\ntitle = \"unsaid\"\nduration_s = 2\n\
    [[node]]\nname = \"a\"\nlat_deg = 57.700\nlon_deg = 11.9\nheight_agl_m = 10\nradio = \"wifi_2g4_mesh\"\n\
    [[node]]\nname = \"b\"\nlat_deg = 57.705\nlon_deg = 11.9\nheight_agl_m = 10\nradio = \"wifi_2g4_mesh\"\n";

#[test]
fn scenario_without_terrain_gives_a_notice_of_missing_ground() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unsaid.toml");
    std::fs::write(&path, UNSAID).unwrap();
    let (path, log) = (path.to_str().unwrap(), folder.path().join("unsaid.gwlog"));
    let missing = "no terrain data under 1 of 1 links";
    let validated = stdout(&groundwave(&["validate", path]));
    assert!(validated.contains(missing), "{validated}");
    let checked = json(&["validate", path, "--json"]);
    assert_eq!(checked[0]["links_without_terrain"], 1);
    let run = ["run", path, "--record", log.to_str().unwrap()];
    let ran = stdout(&groundwave(&run));
    assert!(ran.contains(missing) && ran.contains("no terrain data"), "{ran}");
    assert!(ran.contains("rests on: ground unknown (1 link)"), "{ran}");
    let row = ran
        .lines()
        .find(|line| line.contains(" m ") && line.contains(" to -"))
        .expect("a row of the link");
    assert!(row.contains('–') && !row.contains('%'), "{row}");
    // A replay stands on the same ground.
    let again = stdout(&groundwave(&["replay", log.to_str().unwrap(), "--check"]));
    assert!(again.contains(missing), "{again}");
    let page = folder.path().join("report.html");
    stdout(&groundwave(&["replay", log.to_str().unwrap(), "--report", page.to_str().unwrap()]));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(missing), "the report has it too");
    blind(&groundwave(&["link", "--scenario", path, "a", "b"]));
    let flat = stdout(&groundwave(&["validate", path, "--flat-earth"]));
    assert!(!flat.contains("no terrain data"), "{flat}");
}

#[needs(terrain)]
#[test]
fn profiles_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("path.svg");
    let file = picture.to_str().unwrap();
    stdout(&groundwave(&["profile", "57.7142,11.9367,30", "57.8868,11.5880,20", "--plot", file]));
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("Fresnel") && !svg.contains("NaN"));
}

#[test]
fn every_subcommand_gives_json() {
    let presets = json(&["presets", "--json"]);
    let count = |key: &str| presets[key].as_array().unwrap().len();
    assert_eq!(
        (count("radios"), count("antennas"), count("roles"), count("modulations")),
        (19, 12, 5, 10)
    );
    assert!(presets["radios"][0]["source"].as_str().unwrap().len() > 10);
    // A table cuts no source.
    let output = stdout(&groundwave(&["presets"]));
    for catalogue in ["radios", "antennas", "models"] {
        for entry in presets[catalogue].as_array().unwrap() {
            let source = entry["source"].as_str().unwrap();
            assert!(output.contains(source), "{source}");
        }
    }
    let valid = json(&["validate", &scenario("two_nodes.toml"), "--json"]);
    assert_eq!(valid[0]["valid"], true);
    assert_eq!(json(&["schema"])["$schema"].as_str().unwrap().len(), 44);
    assert!(
        json(&["completions", "bash", "--json"])["script"].as_str().unwrap().contains("groundwave")
    );
    let profile = json(&["profile", "57.7,11.9", "57.8,11.9", "--samples", "9", "--json"]);
    assert_eq!(profile["samples"].as_array().unwrap().len(), 9);
}

#[test]
fn every_path_loss_model_is_listed_and_can_be_chosen() {
    let help = stdout(&groundwave(&["link", "--help"]));
    let listed = stdout(&groundwave(&["presets", "models", "--json"]));
    for model in groundwave_model::radio::Model::ALL {
        let value = model.option_value();
        // clap leaves the full stop of a description out.
        for text in [value, model.get().description().trim_end_matches('.')] {
            let squeezed = |page: &str| page.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&help).contains(text), "{text}");
            assert!(squeezed(&listed).contains(text), "{text}");
        }
        let ends = ["57.70,11.90,30", "57.72,11.94,2"];
        let allowed_mhz = model.get().validity().frequency_mhz;
        let mhz = 868.0_f64.clamp(*allowed_mhz.start(), *allowed_mhz.end()).to_string();
        let radio = ["--radio", "lora_868_eu", "--frequency-mhz", &mhz];
        let link = ["link", ends[0], ends[1], "--model", value, "--json"];
        let link = json(&[&link[..], &radio[..]].concat());
        assert_eq!(link["forward"]["model"], model.get().name());
    }
}

#[test]
fn completions_and_help_exist_for_every_shell_and_subcommand() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&groundwave(&["completions", shell])).contains("replay"), "{shell}");
    }
    let help = stdout(&groundwave(&["--help"]));
    for subcommand in ["run", "link", "profile", "validate", "replay", "log", "presets", "schema"] {
        assert!(help.contains(subcommand));
        assert!(stdout(&groundwave(&[subcommand, "--help"])).contains("Examples:"), "{subcommand}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    use std::io::Read;
    use std::process::Stdio;
    let mut child = support::command(&["presets", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut one = [0];
    child.stdout.take().unwrap().read_exact(&mut one).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
