//! What-if: changes of a recorded world, and those the world refuses.

use std::path::Path;

use serde_json::Value;

use crate::support::{groundwave, refusal, stdout};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

const SCENARIO: &str = "[scenario]\ntitle = \"line\"\nstep_s = 1\nduration_s = 60\n\
    [terrain]\nflat_msl_m = 0\n\
    [[node]]\nname = \"a\"\nlabel = \"Mast A\"\nlat_deg = 57.7\nlon_deg = 11.90\nheight_agl_m = 10\nradio = \"wifi_5g_mesh\"\n\
    [[node]]\nname = \"b\"\nlabel = \"Mast B\"\nlat_deg = 57.7\nlon_deg = 11.91\nheight_agl_m = 10\nradio = \"wifi_5g_mesh\"\n\
    [[node]]\nname = \"c\"\nlabel = \"Mast C\"\nlat_deg = 57.7\nlon_deg = 11.92\nheight_agl_m = 10\nradio = \"wifi_5g_mesh\"\n\
    [[flow]]\nname = \"f\"\nsource = \"a\"\ntarget = \"c\"\nrate_bps = 1e6\n";

/// A recording of three masts in a line with a flow along them, and the words of a replay of it
/// with `changes`.
fn with(folder: &Path, changes: &str) -> Vec<String> {
    let (scenario, log) = (folder.join("line.toml"), folder.join("line.gwlog"));
    std::fs::write(&scenario, SCENARIO).unwrap();
    if !log.exists() {
        stdout(&groundwave(&["record", text(&scenario), "-o", text(&log)]));
    }
    let file = folder.join("changes.toml");
    std::fs::write(&file, changes).unwrap();
    let words = ["--json", "replay", text(&log), "--with", text(&file)];
    words.map(str::to_owned).to_vec()
}

fn run(words: &[String]) -> std::process::Output {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    groundwave(&words)
}

fn changed(folder: &Path, changes: &str) -> Value {
    serde_json::from_str(&stdout(&run(&with(folder, changes)))).unwrap()
}

#[test]
fn a_change_that_the_world_refuses_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (change, expected) in [
        ("node = \"a\"\ntx_power_dbm = 500", "tx_power_dbm"),
        ("node = \"a\"\nheight_agl_m = -3", "height_agl_m"),
        ("rain_rate_mm_h = 1000", "rain_rate_mm_h"),
        (
            "add = \"a\"\nlat_deg = 57.7\nlon_deg = 11.9\nheight_agl_m = 2\nradio = \"ptp_5g8\"",
            "Mast A",
        ),
        ("cut = [\"a\", \"a\"]", "Mast A"),
        ("command = \"node.fail\"\nbody = { node = \"nobody\" }", "nobody"),
        ("command = \"node.fail\"\nbody = { knot = \"a\" }", "knot"),
    ] {
        let error =
            refusal(&run(&with(folder.path(), &format!("[[change]]\nat_s = 10\n{change}\n"))));
        assert!(error.contains("change at 10 s") && error.contains(expected), "{change}: {error}");
    }
    // The last tick shows its changes; behind it there is none.
    let last = "[[change]]\nat_s = 60\nnode = \"a\"\ntx_power_dbm = 500\n";
    let error = refusal(&run(&with(folder.path(), last)));
    assert!(error.contains("tx_power_dbm"), "{error}");
    let behind = "[[change]]\nat_s = 61\nfail = \"a\"\n";
    let error = refusal(&run(&with(folder.path(), behind)));
    assert!(error.contains("later than the end"), "{error}");
}

#[test]
fn nodes_are_named_by_label_or_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let outage_s = |name: &str| {
        let change = format!("[[change]]\nat_s = 20\nfail = \"{name}\"\n");
        changed(folder.path(), &change)["outage_s"][1].as_f64().unwrap()
    };
    assert!(outage_s("c") > 30.0);
    assert_eq!(outage_s("c"), outage_s("Mast C"));
}

#[test]
fn nodes_links_and_rain_have_short_forms() {
    let folder = tempfile::tempdir().unwrap();
    for (change, links, outage) in [
        ("cut = [\"a\", \"c\"]\n[[change]]\nat_s = 10\ncut = [\"a\", \"Mast B\"]", true, true),
        (
            "cut = [\"a\", \"b\"]\n[[change]]\nat_s = 10\ncut = [\"a\", \"c\"]\n\
             [[change]]\nat_s = 30\nmend = [\"a\", \"c\"]",
            true,
            true,
        ),
        ("move = \"c\"\nlat_deg = 60\nlon_deg = 11.92", true, true),
        ("remove = \"c\"", true, true),
        (
            "add = \"d\"\nrole = \"team\"\nlat_deg = 57.7\nlon_deg = 11.915\nheight_agl_m = 4\n\
             radio = \"wifi_5g_mesh\"\nantenna = \"omni_5\"",
            true,
            false,
        ),
        ("rain_rate_mm_h = 100", false, false),
        (
            "command = \"motion.goto\"\nbody = { node = \"c\", destination = { lat_deg = 57.7, \
             lon_deg = 11.921 }, speed_m_s = 2 }",
            false,
            false,
        ),
    ] {
        let record = changed(folder.path(), &format!("[[change]]\nat_s = 10\n{change}\n"));
        let count = record["changes"].as_array().unwrap().len();
        assert_eq!(count, change.matches("[[change]]").count() + 1, "{record}");
        let down = record["links_changed"].as_u64() > Some(0);
        assert_eq!(down, links, "{change}: {record}");
        let outage_s = record["outage_s"][1].as_f64().unwrap();
        assert_eq!(outage_s > 5.0, outage, "{change}: {record}");
    }
    let refused = refusal(&run(&with(folder.path(), "[[change]]\nat_s = 1\nmove = \"c\"\n")));
    assert!(refused.contains("changes.toml:"), "{refused}");
}

#[test]
fn commands_of_the_log_that_the_changed_world_refuses_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!(
        "{SCENARIO}[[failure]]\nnode = \"c\"\nat_s = 30\nuntil_s = 40\n[[failure]]\nnode = \"b\"\nat_s = 50\n"
    );
    let (source, log) = (folder.path().join("line.toml"), folder.path().join("line.gwlog"));
    std::fs::write(&source, scenario).unwrap();
    stdout(&groundwave(&["record", text(&source), "-o", text(&log)]));
    let file = folder.path().join("changes.toml");
    std::fs::write(&file, "[[change]]\nat_s = 10\nremove = \"c\"\n").unwrap();
    let words = ["replay", text(&log), "--with", text(&file)];
    let record: Value =
        serde_json::from_str(&stdout(&groundwave(&[&["--json"][..], &words[..]].concat())))
            .unwrap();
    let refused = record["refused"].as_array().unwrap();
    let commands: Vec<_> = refused.iter().map(|one| (&one["at_s"], &one["command"])).collect();
    assert_eq!(commands.len(), 2, "{record}");
    assert_eq!(commands[0], (&Value::from(30.0), &Value::from("node.fail")));
    assert_eq!(commands[1].1, "node.restore");
    let plain = stdout(&groundwave(&words));
    assert!(plain.contains("30 s: the changed world refuses node.fail of the log"), "{plain}");
    let report = folder.path().join("report.html");
    stdout(&groundwave(&[&words[..], &["--report", text(&report)]].concat()));
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("the changed world refuses node.restore"), "{page}");

    std::fs::write(&file, "[[change]]\nat_s = 10\nfail = \"c\"\n").unwrap();
    let harmless: Value =
        serde_json::from_str(&stdout(&groundwave(&[&["--json"][..], &words[..]].concat())))
            .unwrap();
    assert_eq!(harmless["refused"], Value::from(Vec::<Value>::new()));
}
