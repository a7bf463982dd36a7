//! Our files in other programs: GDAL (through rasterio) and rio-cogeo.

use std::path::{Path, PathBuf};
use std::process::Command;

use groundwave_needs::needs;
use groundwave_systems::testing::fetched;

use crate::support::{self, stdout};

fn rasters(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rasters(&path));
        } else if path.extension().is_some_and(|extension| extension == "tif") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[needs(gdal, terrain)]
#[test]
fn gdal_and_rio_cogeo_accept_every_raster_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scenario = support::scenario_path("coverage_gothenburg.toml");
    let arguments = [
        "sweep",
        scenario.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    stdout(&support::groundwave(&arguments));
    // The same units again, as Zstandard, and what is not made unless it is named.
    let zstd = folder.path().join("zstd");
    std::fs::create_dir(&zstd).unwrap();
    for name in ["manifest.json", "terrain.json", "units"] {
        std::fs::rename(out.join(name), zstd.join(name)).unwrap();
    }
    let folder = zstd.to_str().unwrap();
    let more = ["--products", "margin,power", "--compression", "zstd"];
    stdout(&support::groundwave(
        &[&["sweep", "merge", folder], &more[..]].concat(),
    ));
    let mut rasters = rasters(&out);
    assert_eq!(rasters.len(), 4 + 6, "four of the network, one a site");
    rasters.extend(self::rasters(&zstd));
    assert_eq!(rasters.len(), 4 + 6 + 2);
    let check = support::root().join("tests/it/cog_check.py");
    let output = Command::new(fetched("gis/bin/python"))
        .arg(check)
        .args(&rasters)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}
