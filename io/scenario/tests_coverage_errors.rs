//! Error messages of a wrong `[coverage]`.

use std::path::Path;

use super::tests::HEAD;
use super::tests_coverage::{coverage, node};
use super::{limits, parse};

/// The one error of [`HEAD`] with `text` after it.
#[track_caller]
fn check_raw(text: &str, expect: &str) {
    let errors = parse(&format!("{HEAD}{text}"), "x.toml", Path::new("")).expect_err(text);
    assert_eq!(errors.errors.len(), 1, "{errors}");
    let text = errors.to_string();
    let first = text.lines().next().unwrap();
    assert!(first.contains(expect), "\n found: {first}\nexpect: {expect}");
}

/// The same with a `[coverage]` of 20 km before `text`.
#[track_caller]
fn check(text: &str, expect: &str) {
    check_raw(&format!("[coverage]\nradius_km = 20\n{text}\n"), expect);
}

#[test]
fn undrawable_maps_are_refused() {
    let map = |text: &str| format!("[coverage.maps.margin]\n{text}");
    check(
        &map("range = [40, -10]"),
        "x.toml:20:9: coverage.maps.margin.range: invalid range 40 to -10; allowed: MIN below MAX",
    );
    check(&map("range = [0, nan]"), "coverage.maps.margin.range[1]: nan is not a number");
    check(
        &map("range = [0, 40]\nauto = true"),
        "coverage.maps.margin: more than one scale; allowed: one of `range`, `auto` and `thresholds`",
    );
    check(&map("step = 5"), "coverage.maps.margin.step: a step without a range");
    check(
        &map("thresholds = [0, 3, 3]"),
        "coverage.maps.margin.thresholds: threshold 3 after 3; allowed: each above the one before",
    );
    check(
        &map("palette = \"jet\""),
        "coverage.maps.margin.palette: invalid palette \"jet\"; allowed: viridis, viridis_r, cividis",
    );
    check(&map("clear_below = inf"), "coverage.maps.margin.clear_below: inf is not a number");
    check(
        &map("clear_below = 5\nclear_above = 5"),
        "coverage.maps.margin.clear_above: 5 leaves nothing to show; allowed: above clear_below = 5",
    );
    check("[coverage.maps.loss]", "coverage.maps.loss: unknown key");
}

#[test]
fn numbers_out_of_range_give_errors() {
    let radius = |value: &str| format!("[coverage]\nradius_km = {value}\n");
    check_raw(
        &radius("0"),
        "x.toml:18:13: coverage.radius_km: 0 is out of range; allowed: (0, 500]",
    );
    check_raw(&radius("500.5"), "coverage.radius_km: 500.5 is out of range");
    check_raw(&radius("nan"), "coverage.radius_km: nan is not a number to compute with");
    check_raw(&radius("\"20\""), "coverage.radius_km: invalid type: string");
    check_raw("[coverage]\ncell_arcsec = 6\n", "coverage.radius_km: missing key");
    check(
        "cell_arcsec = 0.005",
        "x.toml:19:15: coverage.cell_arcsec: 0.005 is out of range; allowed: [0.01, 3600]",
    );
    check("cell_arcsec = inf", "coverage.cell_arcsec: inf is not a number");
    check(
        "cell_arcsec = 3600",
        "coverage.cell_arcsec: 0.180 cells from a site to the rim; allowed: [1, 50000] (radius_km = 20)",
    );
    check_raw(
        "[coverage]\nradius_km = 500\ncell_arcsec = 0.1\n",
        "coverage.cell_arcsec: 161878 cells from a site to the rim; allowed: [1, 50000]",
    );
    check("margin_db = 100.5", "coverage.margin_db: 100.5 is out of range; allowed: [-100, 100]");
    check("margin_db = -nan", "coverage.margin_db: -nan is not a number");
    check("samples = 7", "coverage.samples: 7 is out of range; allowed: [8, 4096]");
    check("samples = 4097", "coverage.samples: 4097 is out of range");
    check("samples = 8.5", "coverage.samples: invalid type: floating point");
    check("fast = 1", "coverage.fast: invalid type: integer");
    check("fats = true", "coverage.fats: unknown key \"fats\"");
    check("sampels = 64", "(did you mean \"samples\"?)");
    check_raw("[coverages]\nradius_km = 1\n", "unknown section \"coverages\"; allowed: scenario, ");
    check_raw(
        "[[coverage]]\nradius_km = 1\n",
        "coverage: found an array; allowed: one table, written [coverage]",
    );
}

#[test]
fn a_misnamed_node_gives_one_error_and_none_where_it_is_a_site() {
    let misnamed = node("").replace("name = \"c\"", "name = \"mast c\"");
    let sites = "[coverage]\nradius_km = 20\nsites = [\"a\", \"mast c\"]\n";
    check_raw(&format!("{misnamed}{sites}"), "name: invalid name \"mast c\"");
    // Others are unknown all the same.
    check_raw(&sites.replace("mast c", "mast d"), "coverage.sites[1]: unknown node \"mast d\"");
    // Without any valid node there is no second error on sites that are not there.
    let head = "[scenario]\ntitle = \"t\"\nduration_s = 100\n";
    for sites in ["", "sites = [\"mast\"]\n"] {
        let text = format!("{head}{misnamed}[coverage]\nradius_km = 20\n{sites}");
        let errors = parse(&text, "x.toml", Path::new("")).expect_err("a wrong name");
        assert_eq!(errors.errors.len(), 1, "{errors}");
    }
}

#[test]
fn impossible_receivers_are_refused() {
    let receiver = |line: &str| format!("[coverage.receiver]\n{line}\n");
    check(
        &receiver("height_agl_m = 20001"),
        "coverage.receiver.height_agl_m: 20001 is out of range; allowed: [0, 20000]",
    );
    check(
        &receiver("radio = \"lora_868_us\""),
        "x.toml:20:9: coverage.receiver.radio: unknown radio preset \"lora_868_us\"; allowed: ",
    );
    check(&receiver("radio = \"lora_868_us\""), "(did you mean \"lora_868_eu\"?)");
    check(
        &receiver("radio = { frequency_mhz = 868 }"),
        "coverage.receiver.radio.bandwidth_hz: missing key; allowed: a value here, or a preset",
    );
    check(
        &receiver("antenna = { preset = \"omni_5\", gain_dbi = 61 }"),
        "coverage.receiver.antenna.gain_dbi: 61 is out of range; allowed: [-30, 60]",
    );
    check(&receiver("antenna = 5"), "coverage.receiver.antenna: invalid type: integer");
    check(
        &receiver("pointing = { azimuth_deg = 1 }"),
        "coverage.receiver.pointing: unknown key \"pointing\"; allowed: height_agl_m, radio, antenna",
    );
}

#[test]
fn impossible_sites_are_refused() {
    check(
        "sites = [\"a\", \"bb\"]",
        "x.toml:19:15: coverage.sites[1]: unknown node \"bb\"; allowed: a, b (did you mean \"b\"?)",
    );
    check(
        "sites = [\"a\", \"b\", \"a\"]",
        "x.toml:19:20: coverage.sites[2]: \"a\" is listed twice; allowed: each site once",
    );
    check("sites = []", "coverage.sites: no site; allowed: at least one node, or no key");
    check("sites = \"a\"", "coverage.sites: invalid type: string \"a\"; allowed: an array");
    check(
        &format!("sites = [\"c\"]\n{}", node("at_s = 50")),
        "coverage.sites[0]: \"c\" joins at 50 s, after 0 s; allowed: a node that is there",
    );
    check(
        "choose = 0",
        "coverage.choose: 0 is out of range; allowed: [1, 2] (the sites there are)",
    );
    check("choose = 3", "coverage.choose: 3 is out of range; allowed: [1, 2]");
    check("choose = -1", "allowed: a whole number, 0 to 4294967295");
    let empty =
        "[scenario]\ntitle = \"t\"\nduration_s = 1\n[coverage]\nradius_km = 1\nchoose = 1\n";
    let errors = parse(empty, "x.toml", Path::new("")).unwrap_err().to_string();
    assert!(
        errors.starts_with(
            "x.toml:4:1: coverage: no node is there at 0 s; allowed: at least one site"
        ),
        "{errors}"
    );
}

#[test]
fn settings_that_cannot_vary_are_refused() {
    let vary = |line: &str| format!("[coverage.vary]\n{line}\n");
    check(
        &vary("height_agl_m = []"),
        "coverage.vary.height_agl_m: 0 values; allowed: 1 to 32 values, or no key",
    );
    let many: Vec<String> = (0..33).map(|value| value.to_string()).collect();
    check(
        &vary(&format!("tx_power_dbm = [{}]", many.join(", "))),
        "coverage.vary.tx_power_dbm: 33 values; allowed: 1 to 32 values",
    );
    check(
        &vary("height_agl_m = [10, 20001]"),
        "x.toml:20:21: coverage.vary.height_agl_m[1]: 20001 is out of range; allowed: [0, 20000]",
    );
    check(
        &vary("tx_power_dbm = [81]"),
        "coverage.vary.tx_power_dbm[0]: 81 is out of range; allowed: [-50, 80]",
    );
    check(
        &vary("frequency_mhz = [868, 9]"),
        "coverage.vary.frequency_mhz[1]: 9 is out of range; allowed: [10, 100000]",
    );
    check(
        &vary("tilt_deg = [-91]"),
        "coverage.vary.tilt_deg[0]: -91 is out of range; allowed: [-90, 90]",
    );
    check(
        &vary("tilt_deg = [2, 4, 2.0]"),
        "coverage.vary.tilt_deg[2]: 2 is listed twice; allowed: each value once",
    );
    check(
        &vary("frequency_mhz = [868, nan]"),
        "coverage.vary.frequency_mhz[1]: nan is not a number to compute with",
    );
    check(&vary("height_agl_m = 10"), "coverage.vary.height_agl_m: invalid type: integer");
    check(&vary("height_m = [10]"), "coverage.vary.height_m: unknown key \"height_m\"; allowed: ");
}

#[test]
fn too_large_grids_are_refused() {
    let list = |count: usize| {
        let values: Vec<String> = (10..10 + count).map(|value| value.to_string()).collect();
        format!("[{}]", values.join(", "))
    };
    let grid = |heights, powers, tilts| {
        let (heights, powers, tilts) = (list(heights), list(powers), list(tilts));
        format!(
            "[coverage.vary]\nheight_agl_m = {heights}\ntx_power_dbm = {powers}\ntilt_deg = {tilts}\n"
        )
    };
    let largest = coverage(&format!("[coverage]\nradius_km = 1\n{}", grid(32, 32, 1)));
    assert_eq!(largest.vary.combinations(), limits::COMBINATIONS_MAX);
    check(&grid(32, 11, 3), "x.toml:19:1: coverage.vary: 1056 combinations; allowed: at most 1024");
    let crowd = "[[generate]]\ncount = 998\nprefix = \"g\"\n\
        area = { south_deg = 1, west_deg = 1, north_deg = 2, east_deg = 2 }\n\
        station = { height_agl_m = 2, radio = \"lora_868_eu\" }\n";
    check(
        &format!("{}{crowd}", grid(32, 32, 1)),
        "x.toml:17:1: coverage: 1024000 rasters (1000 sites, 1024 combinations each); allowed: at most 1000000",
    );
}

#[test]
fn tilts_need_a_boresight() {
    let tilted = |line: &str, tilts: &str| {
        format!("sites = [\"c\"]\n[coverage.vary]\ntilt_deg = {tilts}\n{}", node(line))
    };
    let accepted = |line: &str, tilts: &str| {
        coverage(&format!("[coverage]\nradius_km = 1\n{}", tilted(line, tilts)));
    };
    // A dipole has a horizontal ring for a boresight, a dish has none unless one is set.
    accepted("antenna = \"omni_9\"", "[-90, 90]");
    accepted("antenna = \"dish_24\"\npointing = { azimuth_deg = 10 }", "[-90, 90]");
    accepted("antenna = \"dish_24\"\npointing = { azimuth_deg = 10, elevation_deg = -5 }", "[85]");
    check(
        &tilted("antenna = \"dish_24\"", "[0, 4]"),
        "coverage.vary.tilt_deg: \"c\" is directive and looks nowhere to tilt from; allowed: a pointing",
    );
    check(
        &tilted(
            "antenna = \"dish_24\"\npointing = { azimuth_deg = 10, elevation_deg = -5 }",
            "[4, 86]",
        ),
        "x.toml:21:16: coverage.vary.tilt_deg[1]: 86 tilts \"c\" to -91 deg elevation; allowed: elevation_deg - tilt_deg in",
    );
}

#[test]
fn impossible_points_are_refused() {
    let point = |lines: &str| format!("[[coverage.point]]\nname = \"p\"\n{lines}\n");
    let at = "lat_deg = 1\nlon_deg = 1";
    check(&point("lat_deg = 1"), "coverage.point[0].lon_deg: missing key");
    check(
        &point("lat_deg = 91\nlon_deg = 1"),
        "x.toml:21:11: coverage.point[0].lat_deg: 91 is out of range; allowed: [-90, 90]",
    );
    check(
        &point(&format!("{at}\nweight = 0")),
        "coverage.point[0].weight: 0 is out of range; allowed: (0, 10000000000]",
    );
    check(&point(&format!("{at}\nweight = -1")), "coverage.point[0].weight: -1 is out of range");
    check(&point(&format!("{at}\nweight = nan")), "coverage.point[0].weight: nan is not a number");
    check(&point(&format!("{at}\nwieght = 2")), "(did you mean \"weight\"?)");
    check(
        &format!("{}{}", point(at), point(at)),
        "x.toml:24:8: coverage.point[1].name: \"p\" is taken; allowed: each name once",
    );
    check(
        &point(at).replace("\"p\"", "\"Mölndal\""),
        "coverage.point[0].name: invalid name \"Mölndal\"",
    );
    check("[coverage.point]\nname = \"p\"", "coverage.point: invalid type: map; allowed: an array");
    check(
        &point(at).repeat(limits::POINTS_MAX + 1),
        "coverage.point: 10001 points; allowed: at most 10000",
    );
}

#[test]
fn several_errors_of_a_section_are_reported_together() {
    let text = format!(
        "{HEAD}[coverage]\nradius_km = -1\nsites = [\"z\"]\nsamples = 1\n\
         [coverage.receiver]\nradio = \"x\"\n[coverage.vary]\ntilt_deg = [99]\n\
         [[coverage.point]]\nname = \"p\"\nlat_deg = 1\nlon_deg = 1\nweight = 0\n"
    );
    let errors = parse(&text, "x.toml", Path::new("")).unwrap_err();
    let keys: Vec<&str> = errors.errors.iter().map(|e| e.key.as_str()).collect();
    let expect = [
        "coverage.radius_km",
        "coverage.sites[0]",
        "coverage.samples",
        "coverage.receiver.radio",
        "coverage.vary.tilt_deg[0]",
        "coverage.point[0].weight",
    ];
    assert_eq!(keys, expect, "{errors}");
}
