//! Coverage among interference of the sites.

use std::path::Path;

use super::{FLAT, files, sweep};
use crate::support::{self, stdout};

#[test]
fn interference_takes_coverage_where_sites_share_a_channel() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    let run = |name: &str, interference: &str, text: &str| {
        std::fs::write(&scenario, format!("{text}\n[coverage.interference]\n{interference}\n"))
            .unwrap();
        let out = folder.path().join(name);
        let layers = "best_server,sinr,carrier_to_interference,sinr_server,sinr_probability";
        stdout(&sweep(&scenario, &out, &["--products", layers]));
        let summary: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
        let variant = &summary["variants"][0];
        let km2 = |value: &serde_json::Value| value.as_f64().unwrap();
        let air = &variant["interference"];
        let numbers =
            [&variant["area_km2"]["covered"], &air["covered_km2"], &air["served_percent"]];
        (numbers.map(km2), files(&out))
    };
    // Alone, silent neighbours: the best server by SINR is the best server.
    let ([covered, quiet, quiet_percent], silent) = run("silent", "duty_percent = 0", FLAT);
    assert!((covered - quiet).abs() < 1e-9, "{covered} {quiet}");
    let ([_, busy, busy_percent], _) = run("busy", "duty_percent = 100", FLAT);
    let ([_, seldom, seldom_percent], _) = run("seldom", "duty_percent = 5", FLAT);
    assert!(busy < seldom && seldom <= quiet, "{busy} {seldom} {quiet}");
    assert!(busy_percent < seldom_percent && seldom_percent < quiet_percent);
    let files = ["sinr_db.tif", "sinr.png", "carrier_to_interference_db.tif", "sinr_server.png"];
    for file in files {
        assert!(silent.contains_key(Path::new(file)), "{file}");
    }
    // The duty of a merge is that of the sweep.
    let out = folder.path().join("seldom");
    let merged = support::groundwave(&[
        "sweep",
        "merge",
        out.to_str().unwrap(),
        "--products",
        "sinr",
        "--json",
    ]);
    let merged: serde_json::Value = serde_json::from_str(&stdout(&merged)).unwrap();
    assert_eq!(merged["variants"][0]["interference"]["covered_km2"].as_f64(), Some(seldom));
}
