//! Positions with latitude and longitude swapped: a question, and the positions stay as they are.

use super::*;

/// Message about swapped positions.
const QUESTION: &str =
    "no position lies on the terrain, but all would with latitude and longitude swapped";

#[test]
fn sites_that_lie_on_the_terrain_only_when_swapped_raise_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = written(folder, "tiles", hills);
    for (name, text, is_swapped) in [
        ("swapped", "name,lat,lon\na,11.5,57.5\nb,11.6,57.6\n", true),
        ("right", "name,lat,lon\na,57.5,11.5\nb,57.6,11.6\n", false),
        ("abroad", "name,lat,lon\na,11.5,57.5\nb,11.6,59.6\n", false),
    ] {
        let from = folder.join(format!("{name}.csv"));
        let to = folder.join(format!("{name}.toml"));
        std::fs::write(&from, text).unwrap();
        let words = ["convert", from.to_str().unwrap(), to.to_str().unwrap()];
        let ground = ["--srtm-dir", tiles.to_str().unwrap()];
        let output = groundwave(folder, &[&words[..], &ground].concat());
        assert_eq!(errors(&output).contains(QUESTION), is_swapped, "{}", errors(&output));
        let scenario = std::fs::read_to_string(&to).unwrap();
        let first = if name == "right" { "lat_deg = 57.5" } else { "lat_deg = 11.5" };
        assert!(scenario.contains(first), "the positions stay: {scenario}");
        // Commands over the scenario ask as well.
        let words = ["validate", to.to_str().unwrap()];
        let output = groundwave(folder, &[&words[..], &ground].concat());
        assert_eq!(errors(&output).contains(QUESTION), is_swapped, "{}", errors(&output));
    }
    let link = ["link", "11.5,57.5,20", "11.5,57.54,20", "--srtm-dir", tiles.to_str().unwrap()];
    let output = groundwave(folder, &link);
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains(QUESTION), "{}", errors(&output));
}

#[test]
fn way_points_and_site_files_become_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gpx = "<gpx><wpt lat=\"57.5\" lon=\"11.5\"><name>mast</name></wpt><wpt lat=\"57.6\" lon=\"11.6\"/></gpx>";
    for (name, text, nodes, height) in [
        ("a.gpx", gpx, 2, "height_agl_m = 10"),
        ("b.qth", "Bohus\n57.5\n-11.5\n30 m\n", 1, "height_agl_m = 30"),
    ] {
        let (from, to) = (folder.join(name), folder.join(format!("{name}.toml")));
        std::fs::write(&from, text).unwrap();
        let words = ["convert", from.to_str().unwrap(), to.to_str().unwrap(), "--json"];
        let summary = json_of(&groundwave(folder, &words));
        assert_eq!(summary["nodes"], nodes, "{summary}");
        let scenario = std::fs::read_to_string(&to).unwrap();
        assert!(
            scenario.contains("lat_deg = 57.5") && scenario.contains("lon_deg = 11.5"),
            "{scenario}"
        );
        assert!(scenario.contains(height), "{scenario}");
    }
}
