//! Error messages of wrong scenarios.

use std::path::Path;

use groundwave_toml_document::TomlErrors;
use groundwave_toml_document::limits::ERRORS_MAX;

use super::parse;
use super::tests::HEAD;

/// Errors of [`HEAD`] with `text` after it.
fn errors(text: &str) -> TomlErrors {
    parse(&format!("{HEAD}{text}"), "x.toml", Path::new("")).expect_err(text)
}

/// The one error of [`HEAD`] with `text` after it, without its source lines.
#[track_caller]
fn check(text: &str, expect: &str) {
    let errors = errors(text);
    assert_eq!(errors.errors.len(), 1, "{errors}");
    let text = errors.to_string();
    let first = text.lines().next().unwrap();
    assert!(first.contains(expect), "\n found: {first}\nexpect: {expect}");
}

/// A third node with one more line.
fn node(line: &str) -> String {
    format!(
        "[[node]]\nname = \"c\"\nlat_deg = 1\nlon_deg = 1\nheight_agl_m = 1\nradio = \"ptp_5g8\"\n{line}\n"
    )
}

#[test]
fn an_error_names_file_line_key_and_remedy_and_shows_the_line() {
    let text = HEAD.replacen("wifi_2g4_mesh", "wifi_2g4_mseh", 1);
    let errors = parse(&text, "scenarios/x.toml", Path::new("")).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "scenarios/x.toml:10:9: node[0].radio: unknown radio preset \"wifi_2g4_mseh\"; allowed: \
         heltec_v3_eu, heltec_v3_us, heltec_v4_eu, heltec_v4_us, litebeam_5ac, lora_868_eu, lora_915_us, \
         nanostation_5ac, nanostation_5ac_loco, ptp_11g, ptp_5g8, rak4631_eu, rak4631_us, station_g2_eu, \
         station_g2_us, uhf_mobile_25w, … (19 in all) \
         (did you mean \"wifi_2g4_mesh\"?)\n   |\n10 | radio = \"wifi_2g4_mseh\"\n   |         \
         ^^^^^^^^^^^^^^^"
    );
}

#[test]
fn syntax_errors_have_a_place() {
    check("[[node]\n", "x.toml:17:8: ");
    check("x = = 3\n", "x.toml:17:5: ");
    check("[scenario]\n", "x.toml:17:");
}

#[test]
fn unknown_and_missing_keys_give_errors() {
    check(
        "[nodes]\n",
        "x.toml:17:2: nodes: unknown section \"nodes\"; allowed: scenario, terrain, ",
    );
    check(
        &node("hieght_agl_m = 1"),
        "x.toml:23:1: node[2].hieght_agl_m: unknown key \"hieght_agl_m\"",
    );
    check(&node("hieght_agl_m = 1"), "(did you mean \"height_agl_m\"?)");
    check(
        "[[flow]]\nname = \"f\"\ntarget = \"a\"\nrate_bps = 1\n",
        "x.toml:17:1: flow[0].source: missing key",
    );
    check(
        &node("pointing = { at = \"a\", elevation = 1 }"),
        "node[2].pointing.elevation: unknown key",
    );
    check(
        &node("antenna = { gain = 1 }"),
        "x.toml:23:13: node[2].antenna.gain: unknown key \"gain\"",
    );
    check("[[command]]\nat_s = 1\n", "command[0].command: missing key");
    check("[[command]]\ncommand = \"a.b\"\n", "command[0].at_s: missing key");
    check("[[weather]]\nat_s = 1\nrain = 2\n", "weather[0].rain: unknown key");
}

#[test]
fn wrong_types_give_errors() {
    let head = HEAD.replacen("lat_deg = 57.7\n", "lat_deg = \"57.7\"\n", 1);
    let errors = parse(&head, "x.toml", Path::new("")).unwrap_err().to_string();
    let want = "x.toml:7:11: node[0].lat_deg: invalid type: string \"57.7\"; allowed: a number";
    assert!(errors.starts_with(want), "{errors}");
    check(
        &node("antenna = 3"),
        "node[2].antenna: invalid type: integer \"3\"; allowed: the id of an antenna",
    );
    check(
        &node("role = \"sensr\""),
        "unknown value \"sensr\"; allowed: command, relay, team, sensor, asset (did",
    );
    check("[flow]\nname = \"f\"\n", "flow: found a table; allowed: tables, each written [[flow]]");
    check("[[mesh]]\n", "mesh: found an array; allowed: one table, written [mesh]");
    check("[mesh]\npacket_bytes = 70000\n", "allowed: a whole number, 0 to 65535");
    check("[mesh]\npacket_bytes = -1\n", "allowed: a whole number, 0 to 65535");
    check(
        "[[weather]]\nat_s = \"soon\"\nrain_rate_mm_h = 1\n",
        "weather[0].at_s: invalid type: string",
    );
}

#[test]
fn numbers_that_toml_allows_and_a_scenario_does_not() {
    check(
        &node("ground_msl_m = nan"),
        "x.toml:23:16: node[2].ground_msl_m: nan is not a number to compute with",
    );
    check(
        &node("ground_msl_m = -inf"),
        "-inf is not a number to compute with; allowed: a finite number",
    );
    check(&node("ground_msl_m = 1e999"), "1e999 is not a number to compute with");
    check(&node("ground_msl_m = 1979-05-27"), "dates are not used in scenarios");
    check(
        "[[command]]\nat_s = 1\ncommand = \"a.b\"\nx = 99999999999999999999\n",
        "does not fit in 64 bits",
    );
}

#[test]
fn values_out_of_range_are_refused() {
    check(&node("ground_msl_m = 10000"), "10000 is out of range; allowed: [-500, 9000]");
    check(
        &node("pointing = { azimuth_deg = 361 }"),
        "node[2].pointing.azimuth_deg: 361 is out of range; allowed: [-360, 360]",
    );
    check(
        &node("antenna = { preset = \"omni_5\", gain_dbi = 99 }"),
        "x.toml:23:43: node[2].antenna.gain_dbi: 99 is out of range; allowed: ",
    );
    check("[environment]\nk_factor = 0\n", "x.toml:18:12: environment.k_factor: 0 is out of range");
    check("[terrain]\ntiles = [\"57N11E\"]\n", "terrain.tiles[0]: invalid tile \"57N11E\"");
    check(
        "[terrain]\nflat_msl_m = 1\ntiles = [\"N57E011\"]\n",
        "the ground is flat and made of tiles",
    );
    let long = HEAD.replace("duration_s = 100", "duration_s = 1e6\nstep_s = 0.01");
    let errors = parse(&long, "x.toml", Path::new("")).unwrap_err().to_string();
    assert!(
        errors.contains("scenario.duration_s: 100000000 steps; allowed: at most 10000000"),
        "{errors}"
    );
}

#[test]
fn times_out_of_range_give_errors() {
    check("[[failure]]\nnode = \"a\"\nat_s = -1\n", "failure[0].at_s: -1 s is before the start");
    check(
        "[[failure]]\nnode = \"a\"\nat_s = 101\n",
        "101 s is after the end; allowed: [0, 100] (duration_s = 100)",
    );
    check(
        "[[failure]]\nnode = \"a\"\nat_s = 10\nuntil_s = 10\n",
        "ends before it begins; allowed: later than 10 s",
    );
    check(
        &(node("at_s = 50") + "[[failure]]\nnode = \"c\"\nat_s = 10\n"),
        "\"c\" joins at 50 s, after 10 s",
    );
    check(
        &(node("until_s = 50") + "[[failure]]\nnode = \"c\"\nat_s = 60\n"),
        "\"c\" leaves at 50 s",
    );
    let waypoints = "[[motion]]\nnode = \"a\"\nwaypoints = [{ at_s = 9, lat_deg = 1, lon_deg = 1 }, \
                     { at_s = 9, lat_deg = 1, lon_deg = 1 }]\n";
    check(
        waypoints,
        "motion[0].waypoints[1].at_s: 9 s is too early; allowed: later than the waypoint before, 9 s",
    );
    // Due at 0.5 s means applied at 1 s, when 0.7 s is past.
    let late = "[[motion]]\nnode = \"a\"\nat_s = 0.5\nwaypoints = [{ at_s = 0.7, lat_deg = 1, lon_deg = 1 }]\n";
    check(
        late,
        "waypoints[0].at_s: 0.7 s is too early; allowed: 1 s, when the motion begins, or later",
    );
}

#[test]
fn invalid_names_and_references_give_errors() {
    check(
        "[[failure]]\nnode = \"A\"\nat_s = 1\n",
        "failure[0].node: unknown node \"A\"; allowed: a, b (did you mean \"a\"?)",
    );
    check(
        "[[failure]]\nlink = [\"a\", \"zz\"]\nat_s = 1\n",
        "x.toml:18:14: failure[0].link[1]: unknown node \"zz\"",
    );
    check(
        "[[failure]]\nlink = [\"a\", \"a\"]\nat_s = 1\n",
        "failure[0].link: both ends are one node",
    );
    check("[[failure]]\nat_s = 1\n", "failure[0]: does not say what fails");
    check(&node("").replace("\"c\"", "\"a\""), "x.toml:18:8: node[2].name: \"a\" is taken");
    check(&node("").replace("\"c\"", "\"c d\""), "node[2].name: invalid name \"c d\"");
    check(
        &node("pointing = { at = \"d\" }"),
        "x.toml:23:19: node[2].pointing.at: unknown node \"d\"",
    );
    check(&node("pointing = { elevation_deg = 1 }"), "node[2].pointing: does not say where");
    check(
        "[[radio]]\nid = \"ptp_5g8\"\nbase = \"ptp_5g8\"\n",
        "radio[0].id: preset \"ptp_5g8\" is taken",
    );
    check(
        "[[radio]]\nid = \"r\"\nfrequency_mhz = 1e3\n",
        "radio[0].bandwidth_hz: missing key; allowed: a value here, or",
    );
    check(
        "[[command]]\nat_s = 1\ncommand = \"fail\"\n",
        "command[0].command: invalid command \"fail\"",
    );
    check(
        "[[flow]]\nname = \"f\"\nsource = \"a\"\ntarget = \"a\"\nrate_bps = 1\n",
        "flow[0].target: the source itself",
    );
}

#[test]
fn impossible_generation_is_refused() {
    let generate = |lines: &str| {
        format!(
            "[[generate]]\nprefix = \"g\"\nstation = {{ height_agl_m = 2, radio = \"ptp_5g8\" }}\n{lines}\n"
        )
    };
    let area = "area = { south_deg = 1, west_deg = 1, north_deg = 1.01, east_deg = 1.01 }";
    check(
        &generate(&format!("count = 100001\n{area}")),
        "generate[0].count: 100001 is out of range; allowed: [1, 99998]",
    );
    check(&generate(&format!("count = 0\n{area}")), "generate[0].count: 0 is out of range");
    check(
        &generate("count = 1\narea = { south_deg = 2, west_deg = 1, north_deg = 1, east_deg = 2 }"),
        "no inside",
    );
    check(
        &generate(&format!("count = 1\nplacement = \"poisson_disc\"\n{area}")),
        "generate[0].spacing_m: missing key",
    );
    check(
        &generate(&format!("count = 50\nplacement = \"poisson_disc\"\nspacing_m = 500\n{area}")),
        "of 50 nodes fit 500 m apart; allowed: a smaller spacing",
    );
}

#[test]
fn impossible_motion_is_refused() {
    check(
        "[[motion]]\nnode = \"a\"\n",
        "motion[0]: does not say how to move; allowed: exactly one of",
    );
    check(
        "[[motion]]\ngoto = { lat_deg = 1, lon_deg = 1, speed_m_s = 1 }\n",
        "motion[0]: does not say what moves",
    );
    check(
        "[[motion]]\nnode = \"a\"\ngoto = { lat_deg = 91, lon_deg = 1, speed_m_s = 1 }\n",
        "goto.lat_deg: 91 is out",
    );
    check(
        "[[motion]]\nnode = \"a\"\ngoto = { lat_deg = 1, lon_deg = 1, speed_m_s = 0 }\n",
        "goto.speed_m_s: 0 is out",
    );
    check(
        "[[motion]]\nnode = \"a\"\nwander = { speed_min_m_s = 1, speed_max_m_s = 2 }\n",
        "wander.area: missing key",
    );
    check(
        "[[motion]]\nnode = \"a\"\nwaypoints = []\n",
        "motion[0].waypoints: 0 waypoints; allowed: 1 to 86400",
    );
    check("[[motion]]\nns2 = \"\"\n", "motion[0].origin: missing key");
    let ns2 = "[[motion]]\norigin = { lat_deg = 1, lon_deg = 1 }\n";
    check(
        &format!("{ns2}ns2_file = \"none.scen\"\n"),
        "motion[0].ns2_file: none.scen: cannot be read: ",
    );
    check(
        &format!("{ns2}ns2_file = \".\"\n"),
        "motion[0].ns2_file: .: not a file; allowed: a plain file",
    );
    let lines = "ns2 = '''\n$node_(7) set X_ 1\n  $node_(7) jump\n'''\nprefix = \"q\"\n";
    let errors = errors(&format!("{ns2}{lines}"));
    let lines: Vec<String> =
        errors.errors.iter().map(|e| format!("{}:{}: {}", e.line, e.column, e.what)).collect();
    assert_eq!(
        lines,
        ["20:1: ns-2 line 1: unknown node \"q7\"", "21:3: ns-2 line 2: not understood"]
    );
}

#[test]
fn errors_in_a_trace_name_its_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.scen"), "# fine\n$node_(0) set X_ 1\n$node_(0) set Y_ far\n")
        .unwrap();
    let text = format!(
        "{HEAD}[[motion]]\norigin = {{ lat_deg = 1, lon_deg = 1 }}\nns2_file = \"t.scen\"\n\
         station = {{ height_agl_m = 1, radio = \"ptp_5g8\" }}\n"
    );
    let errors = parse(&text, "x.toml", dir.path()).unwrap_err().to_string();
    assert!(errors.contains("t.scen:3:1: \"far\" is not a number; allowed: metres\n"), "{errors}");
    assert!(errors.contains("3 | $node_(0) set Y_ far\n  | ^^^^^^^^^^^^^^^^^^^^"), "{errors}");
}

#[test]
fn absence_of_a_trace_is_one_error() {
    let text = |prefix: &str| {
        format!(
            "{HEAD}[[motion]]\norigin = {{ lat_deg = 1, lon_deg = 1 }}\nns2_file = \"t.scen\"\n{prefix}\
             station = {{ height_agl_m = 1, radio = \"ptp_5g8\" }}\n[[failure]]\nnode = \"node-0\"\nat_s = 1\n\
             [testbed]\nnode = [{{ name = \"node-3\", routing = \"none\" }}]\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let errors = parse(&text(""), "x.toml", folder.path()).unwrap_err();
    assert_eq!(errors.errors.len(), 1, "{errors}");
    let errors = parse(&text("prefix = \"q\"\n"), "x.toml", folder.path()).unwrap_err();
    assert_eq!(errors.errors.len(), 3, "{errors}");
}

#[test]
fn byte_order_mark_before_a_trace_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let trace = "\u{feff}$node_(0) set X_ 1\n$node_(0) set Y_ 2\n";
    std::fs::write(folder.path().join("t.scen"), trace).unwrap();
    let text = format!(
        "{HEAD}[[motion]]\norigin = {{ lat_deg = 1, lon_deg = 1 }}\nns2_file = \"t.scen\"\n\
         station = {{ height_agl_m = 1, radio = \"ptp_5g8\" }}\n"
    );
    let scenario = parse(&text, "x.toml", folder.path()).unwrap();
    assert!(scenario.node_names.contains(&"node-0".to_owned()));
}

#[test]
fn several_errors_come_together_in_file_order() {
    let errors = errors(
        "[[node]]\nname = 3\nlat_deg = \"x\"\nlon_deg = 1\nheight = 2\nradio = \"ptp_5g8\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\n",
    );
    let actual: Vec<(usize, &str)> =
        errors.errors.iter().map(|e| (e.line, e.key.as_str())).collect();
    let expect = [
        (18, "node[2].name"),
        (19, "node[2].lat_deg"),
        (21, "node[2].height"),
        (23, "flow[0].source"),
        (25, "flow[0].from"),
    ];
    assert_eq!(actual, expect, "{errors}");
}

#[test]
fn more_errors_than_a_screen_are_counted() {
    let mut text = String::new();
    for _ in 0..50 {
        text.push_str("[[failure]]\nnode = \"x\"\nat_s = 1\n");
    }
    let errors = errors(&text);
    assert_eq!((errors.errors.len(), errors.more), (ERRORS_MAX, 30));
    assert!(errors.to_string().ends_with("\nand 30 more"), "{errors}");
}

#[test]
fn control_characters_in_messages_are_escaped() {
    let errors = errors(&node("\"\\u001b[31m\" = 1\nlabel = \"\\u0007\"")).to_string();
    assert!(!errors.chars().any(|c| c.is_control() && c != '\n'), "{errors:?}");
}
