//! Meaning of `[coverage]`.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_model::radio::{Indoor, Surroundings, presets};
use groundwave_model::terrain::GeoPoint;

use super::coverage::{Coverage, Interference, Receiver, Vary, WeightedPoint};
use super::tests::HEAD;
use super::tests_ranges::stated;
use super::{json_schema, parse};

/// The coverage of [`HEAD`] with `text` after it.
#[track_caller]
pub(super) fn coverage(text: &str) -> Coverage {
    parse(&format!("{HEAD}{text}"), "x.toml", Path::new(""))
        .unwrap_or_else(|errors| panic!("{errors}"))
        .coverage
        .unwrap()
}

/// A third node with one more line.
pub(super) fn node(line: &str) -> String {
    format!(
        "[[node]]\nname = \"c\"\nlat_deg = 1\nlon_deg = 1\nheight_agl_m = 1\nradio = \"ptp_5g8\"\n{line}\n"
    )
}

#[test]
fn a_scenario_without_the_section_has_none() {
    let scenario = parse(HEAD, "x.toml", Path::new("")).unwrap();
    assert_eq!(scenario.coverage, None);
}

#[test]
fn what_is_left_out_has_its_default() {
    let expect = Coverage {
        radius_m: 20_000.0,
        cell_arcsec: 3.0,
        receiver: Receiver {
            height_agl_m: 1.5,
            radio: None,
            antenna: None,
            surroundings: Surroundings::Unknown,
            indoor: Indoor::Outdoors,
        },
        sites: vec!["a".into(), "b".into()],
        margin_db: 0.0,
        vary: Vary::default(),
        points: Vec::new(),
        choose: None,
        samples: None,
        maps: BTreeMap::new(),
        interference: Interference::default(),
    };
    assert_eq!(coverage("[coverage]\nradius_km = 20\n"), expect);
    assert_eq!(expect.vary.combinations(), 1);
}

#[test]
fn what_is_written_is_kept() {
    let actual = coverage(
        "[coverage]\nradius_km = 0.5\ncell_arcsec = 0.25\nsites = [\"b\", \"a\"]\nmargin_db = -3\n\
         choose = 1\nsamples = 512\nfast = true\n\
         [coverage.receiver]\nheight_agl_m = 4\nradio = { preset = \"lora_868_eu\", tx_power_dbm = 10 }\n\
         antenna = \"omni_5\"\n\
         surroundings = \"dense_urban\"\nindoor = \"thermally_efficient\"\n\
         [coverage.vary]\nheight_agl_m = [30, 15]\ntx_power_dbm = [14]\nfrequency_mhz = [868.1, 915, 2437]\n\
         tilt_deg = [-2, 0, 2.5]\n\
         [[coverage.point]]\nname = \"town\"\nlat_deg = 57.7\nlon_deg = 11.9\nweight = 2500\n\
         [[coverage.point]]\nname = \"pier\"\nlat_deg = 57.6\nlon_deg = 11.8\n",
    );
    let mut radio = presets::radio("lora_868_eu").unwrap().radio.clone();
    radio.tx_power_dbm = 10.0;
    let point = |name: &str, lat, lon, weight| WeightedPoint {
        name: name.into(),
        position: GeoPoint::new(lat, lon).unwrap(),
        weight,
    };
    let expect = Coverage {
        radius_m: 500.0,
        cell_arcsec: 0.25,
        receiver: Receiver {
            height_agl_m: 4.0,
            radio: Some(radio),
            antenna: Some(presets::antenna("omni_5").unwrap().antenna.clone()),
            surroundings: Surroundings::DenseUrban,
            indoor: Indoor::ThermallyEfficient,
        },
        sites: vec!["b".into(), "a".into()],
        margin_db: -3.0,
        vary: Vary {
            height_agl_m: vec![30.0, 15.0],
            tx_power_dbm: vec![14.0],
            frequency_mhz: vec![868.1, 915.0, 2437.0],
            tilt_deg: vec![-2.0, 0.0, 2.5],
        },
        points: vec![point("town", 57.7, 11.9, 2_500.0), point("pier", 57.6, 11.8, 1.0)],
        choose: Some(1),
        samples: Some(512),
        maps: BTreeMap::new(),
        interference: Interference::default(),
    };
    assert_eq!(actual, expect);
    assert_eq!(actual.vary.combinations(), 18);
}

#[test]
fn it_adds_no_record() {
    let text = format!("{HEAD}[coverage]\nradius_km = 20\n");
    let with = parse(&text, "x.toml", Path::new("")).unwrap();
    let without = parse(HEAD, "x.toml", Path::new("")).unwrap();
    assert_eq!(with.records, without.records);
}

#[test]
fn nodes_at_the_start_give_the_sites() {
    let late = node("at_s = 0.5");
    let command = "[[command]]\nat_s = 0\ncommand = \"node.add\"\nnode = \"d\"\n";
    let later = "[[command]]\nat_s = 1\ncommand = \"node.add\"\nnode = \"e\"\n";
    let generated = "[[generate]]\ncount = 2\nprefix = \"g\"\n\
        area = { south_deg = 1, west_deg = 1, north_deg = 2, east_deg = 2 }\n\
        station = { height_agl_m = 2, radio = \"ptp_5g8\" }\n";
    let actual =
        coverage(&format!("[coverage]\nradius_km = 20\n{late}{command}{later}{generated}"));
    assert_eq!(actual.sites, ["a", "b", "g1", "g2", "d"]);
}

/// Of lists the schema has no bounds: their descriptions state the ranges that the reader holds to.
#[test]
fn descriptions_of_lists_state_the_ranges_that_are_held() {
    let schema = json_schema();
    let accepted = |text: String| parse(&format!("{HEAD}{text}"), "x", Path::new("")).is_ok();
    for key in ["height_agl_m", "tx_power_dbm", "frequency_mhz", "tilt_deg"] {
        let written = |v: f64| format!("[coverage]\nradius_km = 1\nvary.{key} = [{v}]\n");
        let field = &schema["$defs"]["VaryFile"]["properties"][key];
        let [min, max] = stated(field).unwrap_or_else(|| panic!("{key} states no range"));
        assert!(accepted(written(min)), "{key} {min}");
        assert!(accepted(written(max)), "{key} {max}");
        assert!(!accepted(written(min - 0.001)), "{key} below {min}");
        assert!(!accepted(written(max + 0.001)), "{key} above {max}");
    }
}

#[test]
fn duty_of_sites_is_that_of_their_names() {
    let interference =
        |text: &str| coverage(&format!("[coverage]\nradius_km = 2\n{text}")).interference;
    assert_eq!(interference(""), Interference::default());
    let own = interference(
        "[coverage.interference]\nduty_percent = 20\nsites = { a = 5 }\nshadowing_correlation = 0\n",
    );
    assert_eq!(["a", "b"].map(|site| own.duty_percent_of(site)), [5.0, 20.0]);
    assert_eq!(own.shadowing_correlation, 0.0);
}
