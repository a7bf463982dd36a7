//! Our files in other programs: GDAL (through rasterio) and rio-cogeo.

use std::path::{Path, PathBuf};
use std::process::Command;

use groundwave_needs::needs;
use groundwave_test_data::fetched;

use crate::support::{self, stdout};

fn rasters(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            paths.extend(rasters(&path));
        } else if path.extension().is_some_and(|extension| extension == "tif") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

#[needs(gdal, terrain)]
#[test]
fn gdal_redraws_rasters_in_metres_as_a_sweep_does() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = support::scenario_path("coverage_gothenburg.toml");
    let text = std::fs::read_to_string(scenario).unwrap();
    let scenario = folder.path().join("s.toml");
    std::fs::write(&scenario, text.replace("cell_arcsec = 6", "cell_arcsec = 20")).unwrap();
    let out = folder.path().join("out");
    let (scenario, out_text) = (scenario.to_str().unwrap(), out.to_str().unwrap());
    let products = ["--products", "margin,best_server,sites", "--exact-rasters"];
    stdout(&support::groundwave(&[&["sweep", scenario, "-o", out_text], &products[..]].concat()));
    let degrees = folder.path().join("degrees");
    std::fs::create_dir(&degrees).unwrap();
    for path in rasters(&out) {
        std::fs::rename(&path, degrees.join(path.file_name().unwrap())).unwrap();
    }
    let check = support::root().join("tests/it/warp_check.py");
    for (crs, epsg) in [("utm", "32632"), ("EPSG:32633", "32633")] {
        let merge = ["sweep", "merge", out_text, "--crs", crs];
        stdout(&support::groundwave(&[&merge, &products[..]].concat()));
        let metric = rasters(&out);
        assert_eq!(metric.len(), 2 + 6);
        let mut command = Command::new(fetched("gis/bin/python"));
        command.arg(&check).arg(epsg).arg(&degrees).args(&metric);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}{errors}");
    }
    for (crs, why) in [
        ("EPSG:25832", "EPSG:32601 to 32660"),
        ("EPSG:3857", "EPSG:32601 to 32660"),
        ("EPSG:32601", "middle lies in EPSG:32632"),
    ] {
        let output = support::groundwave(&["sweep", "merge", out_text, "--crs", crs]);
        let error = support::refusal(&output);
        assert!(error.contains(why), "{error}");
    }
}

#[needs(gdal, terrain)]
#[test]
fn gdal_and_rio_cogeo_accept_every_raster_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scenario = support::scenario_path("coverage_gothenburg.toml");
    let arguments = ["sweep", scenario.to_str().unwrap(), "-o", out.to_str().unwrap()];
    stdout(&support::groundwave(&arguments));
    let usual = rasters(&out);
    assert_eq!(usual.len(), 4 + 6, "four of the network, one a site");
    // The same units again, by other codecs, and what is not made unless it is named.
    let mut from = out.clone();
    let mut again = |name: &str, products: &str, more: &[&str]| {
        let to = folder.path().join(name);
        std::fs::create_dir(&to).unwrap();
        for name in ["manifest.json", "terrain.json", "units"] {
            std::fs::rename(from.join(name), to.join(name)).unwrap();
        }
        let merge = ["sweep", "merge", to.to_str().unwrap(), "--products", products];
        stdout(&support::groundwave(&[&merge, more].concat()));
        from.clone_from(&to);
        to
    };
    let zstd = again("zstd", "margin,power", &["--compression", "zstd"]);
    let all = "margin,power,best_server,sites";
    let lerc = again("lerc", all, &["--compression", "lerc"]);
    let exact = again("exact", "margin,sites", &["--exact-rasters"]);
    let lossless = ["--exact-rasters", "--compression", "lerc"];
    let lossless = again("lossless", "margin,sites", &lossless);
    let mut checked: Vec<String> = [&usual, &rasters(&zstd), &rasters(&exact)]
        .into_iter()
        .flatten()
        .map(|path| path.display().to_string())
        .collect();
    assert_eq!(checked.len(), 10 + 2 + 7);
    // LERC reads as the codecs with nothing lost, cell by cell.
    for path in [rasters(&lerc), rasters(&lossless)].concat() {
        let (folder, others) = match path.strip_prefix(&lerc) {
            Ok(name) if name.ends_with("rx_power_dbm.tif") => (&lerc, &zstd),
            Ok(_) => (&lerc, &out),
            Err(_) => (&lossless, &exact),
        };
        let other = others.join(path.strip_prefix(folder).unwrap());
        checked.push(format!("{}={}", path.display(), other.display()));
    }
    assert_eq!(checked.len(), 10 + 2 + 7 + (3 + 6) + (1 + 6));
    let check = support::root().join("tests/it/cog_check.py");
    let output =
        Command::new(fetched("gis/bin/python")).arg(check).args(&checked).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
}
