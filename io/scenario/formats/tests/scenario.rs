//! Plans from scenarios, and scenarios from plans.

use std::path::Path;

use groundwave_model::radio::{Model, presets};
use groundwave_simulation::site::NodeId;

use super::super::{ReadOptions, Source};
use super::{SCENARIO, assert_notes, defaults, plan_of, read, refused, written};

const TEXT: &str = r#"
[scenario]
title = "Two masts"
description = "and a flow between them"
duration_s = 10
[terrain]
tiles = ["N57E011"]
[environment]
model = "free_space"
[mesh]
packet_bytes = 256
[deployment]
center = { lat_deg = 57.7, lon_deg = 11.9 }
region = { type = "Polygon", coordinates = [[[11, 57], [12, 57], [12, 58], [11, 57]]] }
[[node]]
name = "a"
label = "Säve"
role = "command"
lat_deg = 57.7
lon_deg = 11.9
height_agl_m = 10
radio = { preset = "lora_868_eu", tx_power_dbm = 3 }
[[node]]
name = "67e55044-10b1-426f-9247-bb680e5fe0c8"
lat_deg = 57.8
lon_deg = 11.9
height_agl_m = 10
radio = "lora_868_eu"
pointing = { at = "a" }
at_s = 5
[[flow]]
name = "f"
source = "67e55044-10b1-426f-9247-bb680e5fe0c8"
target = "a"
rate_bps = 100
at_s = 6
[[weather]]
at_s = 7
rain_rate_mm_h = 3
"#;

#[test]
fn the_nodes_of_a_scenario_are_a_plan() {
    let (plan, notes) = plan_of(SCENARIO, TEXT);
    let outline = &plan.outline;
    assert_eq!((outline.name.as_str(), outline.environment.model), ("Two masts", Model::FreeSpace));
    assert_eq!(outline.environment.rain_rate_mm_h, 0.0);
    assert_eq!(outline.center.unwrap().lat_deg(), 57.7);
    assert_eq!(outline.region.as_ref().unwrap().rings()[0].len(), 4);
    let [first, second] = &plan.nodes[..] else {
        panic!("{plan:?}");
    };
    assert_eq!((first.id, first.name.as_str()), (None, "Säve"));
    assert_eq!(first.station.radio.tx_power_dbm, 3.0);
    let id = NodeId::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);
    assert_eq!(second.id, Some(id));
    let back_south = second.station.pointing.unwrap().azimuth_deg;
    assert_eq!(back_south, 180.0);
    assert_notes(
        &notes,
        &[
            "scenario.description is not part of a plan",
            "terrain is not part of a plan",
            "mesh.limits is not part of a plan: dropped (line 10)",
            "flow.start is not part of a plan: dropped (line 31)",
            "environment.set is not part of a plan: dropped (line 37)",
            "a node that joins later is taken as there from the start (line 23)",
        ],
    );
}

#[test]
fn what_is_written_reads_like_a_scenario() {
    let (mut plan, _) = plan_of(SCENARIO, TEXT);
    plan.nodes[1].station.radio = presets::RADIOS[4].radio.clone();
    plan.outline.name = " ".to_owned();
    let text = String::from_utf8(written(SCENARIO, &plan)).unwrap();
    for part in [
        "# tiles = [\"N57E011\"]",
        "title = \"Deployment\"",
        "[deployment]\nname = \" \"",
        "[[radio]]\nid = \"radio-1\"",
        "radio = \"wifi_2g4_mesh\"",
        "antenna = \"omni_2_15\"",
        "label = \"Säve\"",
        "name = \"67e55044-10b1-426f-9247-bb680e5fe0c8\"",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let scenario = crate::parse(&text, "x.toml", Path::new("")).unwrap();
    assert_eq!(scenario.node_names.len(), 2);
    let deployment = scenario.deployment.unwrap();
    assert_eq!(deployment.name.as_deref(), Some(" "));
}

#[test]
fn shipped_scenarios_are_plans_but_for_files_of_their_own() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let mut read_ones = 0;
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "toml")) {
        let bytes = std::fs::read(file).unwrap();
        if file.ends_with("ns2_platoon.toml") {
            // A scenario sent by a client must not read files of the server.
            refused(SCENARIO, &bytes, &["motion", "ns2_file", "without its folder"]);
            continue;
        }
        let (mut plan, _) = read(SCENARIO, &bytes, &defaults()).unwrap();
        let scenario = crate::load(file).unwrap();
        assert_eq!(plan.nodes.len(), scenario.node_names.len());
        // What is written names the model.
        plan.names_model = true;
        let again = read(SCENARIO, &written(SCENARIO, &plan), &defaults()).unwrap().0;
        assert_eq!(again, plan, "{}", file.display());
        read_ones += 1;
    }
    assert!(read_ones >= 9);
}

#[test]
fn a_long_title_is_cut_between_characters() {
    let title = "ö".repeat(80);
    let text = format!("[scenario]\ntitle = \"{title}\"\nduration_s = 1\n");
    let (plan, notes) = plan_of(SCENARIO, &text);
    assert_eq!(plan.outline.name, "ö".repeat(64));
    assert_notes(&notes, &["title is cut to 64 characters"]);
}

#[test]
fn faults_have_their_place() {
    let cases: [(&str, &[&str]); 5] = [
        ("[deployment]\nname = \"\"\n", &["scenario:5:8: deployment.name", "64 characters"]),
        (
            "[deployment]\ncenter = { lat_deg = 91, lon_deg = 0 }\n",
            &["deployment.center.lat_deg", "91"],
        ),
        (
            "[deployment]\nregion = { type = \"Polygon\", coordinates = [[[1, 2], [3, 4]]] }\n",
            &["deployment.region", "has 3 positions"],
        ),
        ("[deployment]\nzoom = 3\n", &["deployment.zoom", "name, center, region"]),
        (
            "[[command]]\nat_s = 0\ncommand = \"node.add\"\nnode = \"a\"\n",
            &["line 4: node.add", "missing field `name`"],
        ),
    ];
    for (text, says) in cases {
        let text = format!("[scenario]\ntitle = \"t\"\nduration_s = 1\n{text}");
        refused(SCENARIO, text.as_bytes(), says);
    }
}

#[test]
fn files_of_a_scenario_are_read_beside_it_and_for_bytes_alone_refused() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let source = Source::open(&folder.join("ns2_platoon.toml")).unwrap();
    let plan = SCENARIO.read(&source, &ReadOptions::new(defaults())).unwrap().plan.unwrap();
    assert_eq!(plan.nodes.len(), 10);
    // The name of a file that a client gives opens no folder.
    let bytes = Source { path: source.path.clone(), ..Source::of(source.bytes().to_vec()) };
    let error = SCENARIO.read(&bytes, &ReadOptions::new(defaults())).unwrap_err().to_string();
    assert!(
        error.contains("came without its folder") && !error.contains("unknown node"),
        "{error}"
    );
}
