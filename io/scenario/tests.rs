//! Meaning of scenarios: sections in, records out.

use std::path::Path;

use serde_json::json;

use super::{OutputTable, Scenario, Terrain, parse};

/// Two nodes; tests append to it.
pub(super) const HEAD: &str = r#"
[scenario]
title = "t"
duration_s = 100
[[node]]
name = "a"
lat_deg = 57.7
lon_deg = 11.9
height_agl_m = 10
radio = "wifi_2g4_mesh"
[[node]]
name = "b"
lat_deg = 57.8
lon_deg = 11.9
height_agl_m = 20
radio = "wifi_2g4_mesh"
"#;

/// Parses [`HEAD`] and `text`.
fn parsed(text: &str) -> Scenario {
    let text = format!("{HEAD}{text}");
    parse(&text, "test.toml", Path::new("")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Time, name and body of every record but the first two, which add `a` and `b`.
#[track_caller]
fn check(text: &str, expect: &[(u64, &str, serde_json::Value)]) {
    let scenario = parsed(text);
    let actual: Vec<_> =
        scenario.records[2..].iter().map(|r| (r.at_ns, r.name.as_str(), r.body.clone())).collect();
    assert_eq!(actual, expect);
}

const S: u64 = 1_000_000_000;

#[test]
fn a_node_is_added_with_its_whole_station() {
    let scenario = parsed("");
    assert_eq!(scenario.records.len(), 2);
    let record = &scenario.records[0];
    assert_eq!((record.at_ns, record.name.as_str()), (0, "node.add"));
    assert_eq!(record.body["node"], "a");
    assert_eq!(record.body["name"], "a");
    assert_eq!(record.body["role"], "relay");
    assert_eq!(record.body["position"], json!({ "lat_deg": 57.7, "lon_deg": 11.9 }));
    assert_eq!(record.body["station"]["height_agl_m"], 10.0);
    assert_eq!(record.body["station"]["radio"]["frequency_mhz"], 2437.0);
    assert_eq!(record.body["station"]["antenna"]["gain_dbi"], 2.15);
    assert_eq!(scenario.node_names, ["a", "b"]);
    assert_eq!(scenario.lines, [5, 11]);
}

#[test]
fn what_is_left_out_has_its_default() {
    let scenario = parsed("");
    assert_eq!((scenario.seed, scenario.step_ns, scenario.duration_ns), (1, S, 100 * S));
    assert_eq!(scenario.terrain, Terrain::Flat { elevation_msl_m: 0.0 });
    assert_eq!(scenario.output.directory, None);
    use OutputTable::{Flows, Links, Nodes, Routes};
    assert_eq!(scenario.output.tables, [Nodes, Links, Routes, Flows]);
}

#[test]
fn files_are_relative_to_the_scenario() {
    let text = format!("{HEAD}[terrain]\ntiles = [\"N57E011\"]\ndirectory = \"t\"\n");
    let scenario = parse(&text, "x", Path::new("/srv/s")).unwrap();
    let directory = Some("/srv/s/t".into());
    assert_eq!(
        scenario.terrain,
        Terrain::Tiles { names: vec!["N57E011".into()], directory, geoid: None, posts: None }
    );
}

#[test]
fn flows_and_failures_begin_and_end() {
    check(
        "[[flow]]\nname = \"f\"\nsource = \"a\"\ntarget = \"b\"\nrate_bps = 64000\nat_s = 1.5\nuntil_s = 30\n\
         [[failure]]\nnode = \"a\"\nat_s = 10\nuntil_s = 20\n[[failure]]\nlink = [\"b\", \"a\"]\nat_s = 10\n",
        &[
            (
                1_500_000_000,
                "flow.start",
                json!({ "flow": "f", "name": "f", "source": "a", "target": "b", "rate_bps": 64_000.0 }),
            ),
            (10 * S, "node.fail", json!({ "node": "a" })),
            (10 * S, "link.fail", json!({ "a": "b", "b": "a" })),
            (20 * S, "node.restore", json!({ "node": "a" })),
            (30 * S, "flow.stop", json!({ "flow": "f" })),
        ],
    );
}

#[test]
fn every_kind_of_motion_lowers() {
    check(
        "[[motion]]\nnode = \"a\"\nat_s = 5\nuntil_s = 50\nwaypoints = [{ at_s = 10, lat_deg = 1, lon_deg = 2 }]\n\
         [[motion]]\nnodes = [\"a\", \"b\"]\nat_s = 60\ngoto = { lat_deg = 1, lon_deg = 2, speed_m_s = 3 }\n\
         [[motion]]\nnode = \"b\"\nat_s = 70\nwander = { area = { south_deg = 1, west_deg = 2, north_deg = 3, \
         east_deg = 4 }, speed_min_m_s = 1, speed_max_m_s = 2, pause_s = 0.5 }\n",
        &[
            (
                5 * S,
                "motion.follow",
                json!({ "node": "a", "waypoints": [
                    { "at_ns": 10 * S, "position": { "lat_deg": 1.0, "lon_deg": 2.0 } }
                ] }),
            ),
            (50 * S, "motion.stop", json!({ "node": "a" })),
            (
                60 * S,
                "motion.goto",
                json!({ "node": "a", "destination": { "lat_deg": 1.0, "lon_deg": 2.0 }, "speed_m_s": 3.0 }),
            ),
            (
                60 * S,
                "motion.goto",
                json!({ "node": "b", "destination": { "lat_deg": 1.0, "lon_deg": 2.0 }, "speed_m_s": 3.0 }),
            ),
            (
                70 * S,
                "motion.wander",
                json!({
                    "node": "b",
                    "area": { "south_deg": 1.0, "west_deg": 2.0, "north_deg": 3.0, "east_deg": 4.0 },
                    "speed_min_m_s": 1.0, "speed_max_m_s": 2.0, "pause_ns": 500_000_000,
                }),
            ),
        ],
    );
}

#[test]
fn weather_keeps_what_it_does_not_name() {
    let scenario = parsed(
        "[environment]\nmodel = \"free_space\"\nrain_rate_mm_h = 1\n\
         [[weather]]\nat_s = 20\nrain_rate_mm_h = 9\n[[weather]]\nat_s = 10\ntemperature_k = 280\n",
    );
    let set: Vec<_> = scenario.records.iter().filter(|r| r.name == "environment.set").collect();
    let of = |index: usize, key: &str| set[index].body["environment"][key].clone();
    assert_eq!(set.iter().map(|r| r.at_ns / S).collect::<Vec<_>>(), [0, 10, 20]);
    assert_eq!([of(0, "model"), of(1, "model"), of(2, "model")], ["free_space"; 3]);
    assert_eq!(
        [of(0, "rain_rate_mm_h"), of(1, "rain_rate_mm_h"), of(2, "rain_rate_mm_h")],
        [1.0, 1.0, 9.0]
    );
    assert_eq!(
        [of(0, "temperature_k"), of(1, "temperature_k"), of(2, "temperature_k")],
        [288.15, 280.0, 280.0]
    );
}

#[test]
fn commands_pass_through_and_come_last() {
    check(
        "[[command]]\nat_s = 10\ncommand = \"x.y\"\nn = 9007199254740993\nt = { deep = [1, \"two\", 3.5, true] }\n\
         [[failure]]\nnode = \"a\"\nat_s = 10\n",
        &[
            (10 * S, "node.fail", json!({ "node": "a" })),
            (
                10 * S,
                "x.y",
                json!({ "n": 9_007_199_254_740_993_u64, "t": { "deep": [1, "two", 3.5, true] } }),
            ),
        ],
    );
}

#[test]
fn commands_may_add_nodes_that_others_name() {
    let scenario = parsed(
        "[[command]]\nat_s = 3\ncommand = \"node.add\"\nnode = \"c\"\n[[failure]]\nnode = \"c\"\nat_s = 5\n",
    );
    assert_eq!(scenario.node_names, ["a", "b", "c"]);
}

#[test]
fn presets_build_on_each_other() {
    let scenario = parsed(
        "[[radio]]\nid = \"r1\"\nbase = \"wifi_5g_mesh\"\ntx_power_dbm = 20\n\
         [[radio]]\nid = \"r2\"\nbase = \"r1\"\nfeeder_loss_db = 3\n\
         [[antenna]]\nid = \"n1\"\nbase = \"dish_30\"\npolarization = \"horizontal\"\n\
         [[node]]\nname = \"c\"\nlat_deg = 0\nlon_deg = 0\nheight_agl_m = 1\n\
         radio = { preset = \"r2\", noise_figure_db = 7 }\nantenna = \"n1\"\n",
    );
    let station = &scenario.records[2].body["station"];
    assert_eq!(station["radio"]["frequency_mhz"], 5580.0);
    assert_eq!(station["radio"]["tx_power_dbm"], 20.0);
    assert_eq!(station["radio"]["feeder_loss_db"], 3.0);
    assert_eq!(station["radio"]["noise_figure_db"], 7.0);
    assert_eq!(station["antenna"]["polarization"], "horizontal");
    assert_eq!(station["antenna"]["gain_dbi"], 30.0);
}

#[test]
fn antennas_aim_at_nodes() {
    let at = |text: &str| {
        let node = "[[node]]\nname = \"c\"\nlat_deg = 57.7\nlon_deg = 11.9\nheight_agl_m = 10\nradio = \"ptp_5g8\"\n";
        parsed(&format!("{node}{text}")).records[2].body["station"]["pointing"].clone()
    };
    // b stands 0.1 deg north, 11.14 km: 10 m higher, and 7.30 m below the tangent at k = 4/3.
    let pointing = at("pointing = { at = \"b\" }\n");
    assert_eq!(pointing["azimuth_deg"], 0.0);
    let rise = (10.0_f64 - 11_138.0_f64.powi(2) / (2.0 * 6_371_008.8 * 4.0 / 3.0)) / 11_138.0;
    let want_deg = rise.atan().to_degrees();
    assert!((pointing["elevation_deg"].as_f64().unwrap() - want_deg).abs() < 1e-3, "{pointing}");
    let pointing = at("pointing = { azimuth_deg = 123.5, elevation_deg = -2 }\n");
    assert_eq!(pointing, json!({ "azimuth_deg": 123.5, "elevation_deg": -2.0 }));
    for (azimuth, kept_deg) in [("-90", 270.0), ("360", 0.0), ("-360", 0.0)] {
        let pointing = at(&format!("pointing = {{ azimuth_deg = {azimuth} }}\n"));
        assert_eq!(pointing["azimuth_deg"], kept_deg, "{azimuth}");
    }
}

#[test]
fn generated_nodes_repeat_and_follow_the_seed() {
    let text = "[[generate]]\ncount = 12\nprefix = \"n-\"\n\
        area = { south_deg = 57, west_deg = 11, north_deg = 58, east_deg = 12 }\n\
        station = { height_agl_m = 2, radio = \"lora_868_eu\" }\n\
        wander = { speed_min_m_s = 1, speed_max_m_s = 2 }\n";
    let one = parsed(text);
    assert_eq!(one, parsed(text));
    assert_eq!((one.node_names[2].as_str(), one.node_names[13].as_str()), ("n-01", "n-12"));
    assert_eq!(one.records.iter().filter(|r| r.name == "motion.wander").count(), 12);
    let reseeded = format!("{HEAD}{text}").replace("title = \"t\"", "title = \"t\"\nseed = 2");
    let other = parse(&reseeded, "x", Path::new("")).unwrap();
    assert_ne!(one.records[2].body["position"], other.records[2].body["position"]);
}

#[test]
fn ns2_traces_bring_or_move_nodes() {
    let trace = "origin = { lat_deg = 57.7, lon_deg = 11.9 }\nns2 = '''\n$node_(0) set X_ 0\n\
        $node_(0) set Y_ 1000\n$ns_ at 5.0 \"$node_(0) setdest 1000 1000 2\"\n\
        $ns_ at 50 \"$node_(0) setdest 0 0 0\"\n'''\n";
    let brings = parsed(&format!(
        "[[motion]]\nprefix = \"s\"\nstation = {{ height_agl_m = 2, radio = \"lora_868_eu\" }}\n{trace}"
    ));
    let names: Vec<_> = brings.records[2..].iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["node.add", "motion.goto", "motion.stop"]);
    let position = &brings.records[2].body["position"];
    // One kilometre north is 1000 / 111,3xx of a degree.
    assert!((position["lat_deg"].as_f64().unwrap() - 57.708_98).abs() < 1e-5, "{position}");
    assert!((position["lon_deg"].as_f64().unwrap() - 11.9).abs() < 1e-9, "{position}");
    let text = format!("{HEAD}[[motion]]\n{trace}").replace("\"a\"", "\"node-0\"");
    let moves = parse(&text, "x", Path::new("")).unwrap();
    let names: Vec<_> = moves.records[2..].iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["node.move", "motion.goto", "motion.stop"]);
}

#[test]
fn nodes_join_and_leave() {
    let scenario = parsed(
        "[[node]]\nname = \"c\"\nlat_deg = 0\nlon_deg = 0\nheight_agl_m = 1\nradio = \"ptp_5g8\"\n\
         at_s = 10\nuntil_s = 20\n[[motion]]\nnode = \"c\"\ngoto = { lat_deg = 1, lon_deg = 1, speed_m_s = 1 }\n",
    );
    let actual: Vec<_> =
        scenario.records[2..].iter().map(|r| (r.at_ns / S, r.name.as_str())).collect();
    assert_eq!(actual, [(10, "node.add"), (10, "motion.goto"), (20, "node.remove")]);
}
