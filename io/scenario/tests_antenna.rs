//! Antennas with measured patterns.

use std::path::Path;

use groundwave_model::radio::Station;

use super::parse;
use super::tests::HEAD;
use super::tests_coverage::node;

/// A pattern without a gain: Radio Mobile, 10 dB less behind.
fn half_turn() -> String {
    let level = |deg: i32| if (90..270).contains(&deg) { "-10\n" } else { "0\n" };
    (0..360).map(level).collect()
}

const FILE: &str = "GAIN 14.85 dBd\nHORIZONTAL 4\n0 0\n90 6\n180 25\n270 6\nVERTICAL 4\n0 0\n90 12\n180 25\n270 12\n";

/// Station of a third node with `line`, in a folder with the files.
fn station(line: &str) -> Result<Station, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sector.msi"), FILE).unwrap();
    std::fs::write(folder.path().join("half.ant"), half_turn()).unwrap();
    let text = format!("{HEAD}{}", node(line));
    let scenario = parse(&text, "x.toml", folder.path())
        .map_err(|errors| errors.to_string().replace(&*folder.path().to_string_lossy(), "DIR"))?;
    let body = &scenario.records[2].body["station"];
    Ok(serde_json::from_value(body.clone()).unwrap())
}

#[test]
fn a_file_gives_gain_beamwidths_and_the_pattern_of_the_record() {
    let antenna = station("antenna = { pattern = \"sector.msi\" }").unwrap().antenna;
    assert_eq!((antenna.gain_dbi, antenna.front_to_back_db), (17.0, 25.0));
    assert_eq!((antenna.azimuth_beamwidth_deg, antenna.elevation_beamwidth_deg), (90.0, 45.0));
    let pattern = antenna.pattern.unwrap();
    assert!((pattern.loss_db(-45.0, 0.0) - 3.0).abs() < 1e-9);
    assert!((pattern.loss_db(0.0, -90.0) - 12.0).abs() < 1e-9);
}

#[test]
fn written_keys_stand_above_the_file_and_the_file_above_the_preset() {
    let line = "antenna = { preset = \"sector_17_90\", pattern = \"sector.msi\", gain_dbi = 15, \
                polarization = \"horizontal\", electrical_tilt_deg = 2 }";
    let antenna = station(line).unwrap().antenna;
    assert_eq!((antenna.gain_dbi, antenna.electrical_tilt_deg), (15.0, 2.0));
    assert_eq!((antenna.azimuth_beamwidth_deg, antenna.front_to_back_db), (90.0, 25.0));
    // Without a gain in the file, that of the preset counts.
    let antenna =
        station("antenna = { preset = \"yagi_12\", pattern = \"half.ant\" }").unwrap().antenna;
    assert_eq!((antenna.gain_dbi, antenna.front_to_back_db), (12.0, 10.0));
}

#[test]
fn presets_and_samples_in_the_scenario_have_patterns_too() {
    let line = "antenna = \"own\"\n[[antenna]]\nid = \"own\"\nbase = \"omni_5\"\n[antenna.pattern]\n\
                horizontal_loss_db = [0, 3, 9, 3]\nvertical_loss_db = [0, 12, 9, 12]";
    let antenna = station(line).unwrap().antenna;
    assert_eq!((antenna.gain_dbi, antenna.front_to_back_db), (5.0, 9.0));
    assert!((antenna.pattern.unwrap().loss_db(180.0, 0.0) - 9.0).abs() < 1e-9);
}

#[test]
fn invalid_patterns_give_an_error_at_their_key() {
    let table = [
        (
            "antenna = { pattern = \"half.ant\" }",
            "node[2].antenna.gain_dbi: missing key; allowed: a value here, or a preset to start from (preset)",
        ),
        (
            "antenna = { pattern = \"none.msi\" }",
            "node[2].antenna.pattern: DIR/none.msi: invalid file: ",
        ),
        ("antenna = { pattern = \"sector.msi\", gain_dbi = 70 }", "node[2].antenna.gain_dbi: "),
        (
            "antenna = { preset = \"omni_5\", pattern = { horizontal_loss_db = [0], vertical_loss_db = [0] } }",
            "node[2].antenna.pattern.horizontal_loss_db: 1 values is out of range; allowed: 4 to 3600 values",
        ),
        ("antenna = { preset = \"omni_5\", pattern = 7 }", "node[2].antenna.pattern: "),
    ];
    for (line, message) in table {
        let errors = station(line).unwrap_err();
        assert!(errors.contains(message), "{line}: {errors}");
    }
}

#[test]
fn antennas_without_a_pattern_have_no_key_of_it() {
    let scenario = parse(HEAD, "x.toml", Path::new("")).unwrap();
    assert_eq!(scenario.records[0].body["station"]["antenna"].get("pattern"), None);
}
