//! Heights of GeoTIFF files by what these state of unit, mask and posts without a height.

use std::path::{Path, PathBuf};

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terrain").join(name)
}

/// Ground of some files of the fixtures.
fn ground(names: &[&str]) -> (tempfile::TempDir, Ground) {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    let ground = Ground::open(&[folder.path().to_owned()], Posts::Interpolated);
    (folder, ground.unwrap())
}

fn heights_m(ground: &Ground, at: &[[f64; 2]]) -> (Vec<f64>, TerrainUse) {
    let (lat, lon): (Vec<f64>, Vec<f64>) = at.iter().map(|[lat, lon]| (*lat, *lon)).unzip();
    let mut heights_m = vec![-1.0; at.len()];
    let used = ground.sample(&lat, &lon, &mut heights_m);
    (heights_m, used)
}

/// The plane of `make.py`, m.
fn plane([lat, lon]: [f64; 2]) -> f64 {
    100.0 + 20.0 * (lat - 59.0) + 12.0 * (lon - 10.0)
}

/// A position with heights around it, and one within the hole of 8 rows and 10 columns.
const WHOLE: [f64; 2] = [59.98, 10.03];
const HOLE: [f64; 2] = [59.94, 10.15];

#[test]
fn feet_become_metres_wherever_a_file_states_them() {
    for name in
        ["unit_type_ft", "unit_type_ft_egm2008", "unit_type_us_ft", "vertical_us_ft", "vertical_ft"]
    {
        let (_folder, ground) = ground(&[&format!("{name}.tif")]);
        let (heights_m, used) = heights_m(&ground, &[WHOLE, HOLE]);
        assert!(used.is_clean(), "{name}: {used:?}");
        for (height_m, at) in heights_m.iter().zip([WHOLE, HOLE]) {
            assert!((height_m - plane(at)).abs() < 1e-3, "{name}: {height_m}, not {}", plane(at));
        }
    }
}

#[test]
fn posts_without_a_height_are_voids_however_a_file_marks_them() {
    for files in [
        &["undeclared_9999.tif"][..],
        &["undeclared_32767.tif"],
        &["mask_inside.tif"],
        &["mask_beside.tif", "mask_beside.tif.msk"],
        &["mask_alpha.tif"],
    ] {
        let (_folder, ground) = ground(files);
        let (heights_m, used) = heights_m(&ground, &[WHOLE, HOLE]);
        assert!((heights_m[0] - plane(WHOLE)).abs() < 0.6, "{files:?}: {heights_m:?}");
        assert!(heights_m[1].is_nan(), "{files:?}: {heights_m:?}");
        assert_eq!((used.void_samples, used.missing_samples), (1, 0), "{files:?}");
        ground.check_rasters().unwrap();
    }
    // Without its mask the file has a height there: the mask is what makes the void.
    let (_folder, ground) = ground(&["mask_beside.tif"]);
    assert!((heights_m(&ground, &[HOLE]).0[0] - 5.0).abs() < 1e-6);
}

#[test]
fn spikes_and_pits_of_a_file_are_counted_with_their_place_and_keep_their_heights() {
    let (_folder, ground) = ground(&["spikes.tif"]);
    let [raster] = ground.mosaic.rasters() else { panic!("one file") };
    let counts = raster.counts().unwrap();
    assert_eq!((counts.posts, counts.voids, counts.customary + counts.outside), (48 * 48, 0, 0));
    assert_eq!(counts.spikes.count, 2);
    assert_eq!(
        raster.doubt(&counts).unwrap(),
        "2 of 2304 posts stand more than 300 m above or below all posts around them, most at 59.99569, 10.00569 \
         (800 m above); they are kept: a tower, or an error of the data"
    );
    let posts: [[f64; 2]; 3] = [[15.5, 20.5], [47.5, 5.5], [20.5, 45.5]];
    let at = posts.map(|[row, column]| [60.0 - row / 3600.0, 10.0 + column / 3600.0]);
    let (heights_m, _) = heights_m(&ground, &at);
    for ((height_m, at), above_m) in heights_m.iter().zip(at).zip([800.0, -400.0, 500.0]) {
        assert!((height_m - plane(at) - above_m).abs() < 0.01, "{height_m} at {at:?}");
    }
}

#[test]
fn units_and_systems_without_heights_are_refused_with_their_names() {
    for (name, reason) in [
        ("refused_unit", "invalid unit of the heights: found unit type \"dBm\" of the band"),
        ("refused_units", "found unit type \"m\" of the band beside vertical system EPSG:6360"),
        ("refused_depth", "invalid vertical system: found EPSG:5715, a depth"),
    ] {
        let file = format!("{name}.tif");
        let (_folder, ground) = ground(&[&file]);
        let [ignored] = ground.ignored() else {
            panic!("{name} is used");
        };
        assert!(ignored.reason.contains(&file), "{}", ignored.reason);
        assert!(ignored.reason.contains(reason), "{}", ignored.reason);
    }
}
