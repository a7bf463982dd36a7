//! GeoTIFF files of `tests/fixtures/terrain` beside the heights that GDAL and PROJ read from them.

use std::fs;
use std::path::{Path, PathBuf};

use groundwave_model::terrain::{GeoPoint, Ground as Kind, VerticalDatum, sample_profile};

use super::*;

/// Folder that is deleted with the test.
struct Folder(tempfile::TempDir);

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terrain");
    folder.join(name)
}

impl Folder {
    /// Files of the fixtures.
    fn with(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let name = format!("{name}.tif");
            fs::copy(fixture(&name), folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    fn open_with(&self, posts: Posts) -> Ground {
        Ground::open(&[self.0.path().to_owned()], posts).unwrap()
    }

    fn open(&self) -> Ground {
        self.open_with(Posts::Interpolated)
    }
}

/// A tile of 3 arc-seconds of one height.
fn level_tile(height_m: i16) -> Vec<u8> {
    height_m.to_be_bytes().repeat(1201 * 1201)
}

fn sample(ground: &Ground, at: &[[f64; 2]]) -> (Vec<f64>, TerrainUse) {
    let (lat, lon): (Vec<f64>, Vec<f64>) = at.iter().map(|[lat, lon]| (*lat, *lon)).unzip();
    let mut heights_m = vec![-1.0; at.len()];
    let used = ground.sample(&lat, &lon, &mut heights_m);
    (heights_m, used)
}

const GLO: [&str; 3] = [
    "Copernicus_DSM_COG_10_N59_00_E010_00_DEM",
    "Copernicus_DSM_COG_10_N60_00_E010_00_DEM",
    "Copernicus_DSM_COG_10_N60_00_E011_00_DEM",
];

/// The plane that the files of [`GLO`] are made of.
fn plane([lat, lon]: [f64; 2]) -> f64 {
    100.0 + 20.0 * (lat - 59.0) + 12.0 * (lon - 10.0)
}

#[test]
fn every_encoding_reads_as_gdal_reads_it() {
    let text = fs::read_to_string(fixture("heights.json")).unwrap();
    let all: BTreeMap<String, Vec<[f64; 3]>> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 11);
    for (name, expected) in all {
        let folder = Folder::with(&[&name]);
        let ground = folder.open();
        let at: Vec<_> = expected.iter().map(|[lat, lon, _]| [*lat, *lon]).collect();
        let (heights_m, used) = sample(&ground, &at);
        assert!(used.is_clean(), "{name}: {used:?}");
        for (height_m, [lat, lon, expected_m]) in heights_m.iter().zip(&expected) {
            assert!(
                (height_m - expected_m).abs() < 2e-4,
                "{name} at {lat}, {lon}: {height_m}, not {expected_m}"
            );
        }
        assert_eq!(ground.describe().summary(), "1 of 1 GeoTIFF file used");
        assert!(ground.raster_fault().is_none());
        ground.check_rasters().unwrap();
    }
}

#[test]
fn tiles_without_their_last_row_and_column_have_no_seam() {
    let folder = Folder::with(&GLO);
    let ground = folder.open();
    // Across 60 degrees north, where columns become fewer; across 11 degrees east; on posts.
    let mut at = vec![[60.0, 10.5], [59.99, 10.5], [60.5, 11.0], [60.5, 10.99]];
    for step in 0..200 {
        let share = f64::from(step) / 200.0;
        at.push([59.95 + share * 0.1, 10.03 + share * 0.9]);
        at.push([60.02 + share * 0.9, 10.93 + share * 0.1]);
    }
    let (heights_m, used) = sample(&ground, &at);
    assert!(used.is_clean(), "{used:?}");
    for (height_m, at) in heights_m.iter().zip(&at) {
        assert!((height_m - plane(*at)).abs() < 1e-4, "{at:?}: {height_m}, not {}", plane(*at));
    }
    assert_eq!(used.resolution_arcsec, Some(100.0));
    // One of the four posts around belongs to a tile that is not there.
    let (corner, used) = sample(&ground, &[[60.001, 10.97]]);
    assert!((corner[0] - plane([60.001, 10.97])).abs() < 1.0 && used.is_clean(), "{corner:?}");
    assert!(!used.kinds.is_mixed());
    let source = &ground.describe().sources[0];
    assert_eq!((source.name.as_str(), source.files), ("Copernicus GLO-30", 3));
    assert_eq!(source.vertical_datum, VerticalDatum::Egm2008);
    assert_eq!(source.ground, Kind::Surface);
    assert!(source.attribution.as_ref().unwrap().contains("DLR"));
    assert_eq!(ground.files().len(), 3);
}

#[test]
fn an_edge_without_a_neighbour_ends_half_a_post_further() {
    let folder = Folder::with(&GLO[..1]);
    let ground = folder.open();
    let step = 1.0 / 36.0;
    let last = 59.0 + step;
    let (heights_m, used) =
        sample(&ground, &[[last - 0.4 * step, 10.5], [last - 0.6 * step, 10.5]]);
    assert!((heights_m[0] - plane([last, 10.5])).abs() < 1e-4, "{heights_m:?}");
    assert!(heights_m[1].is_nan());
    assert_eq!((used.missing_samples, used.void_samples), (1, 0));
    let at = |lat| GeoPoint::new(lat, 10.5).unwrap();
    assert_eq!(ground.resolution_arcsec(at(59.5)), Some(100.0));
    assert_eq!(ground.resolution_arcsec(at(61.5)), None);
}

#[test]
fn voids_and_sparse_tiles_have_no_height() {
    for (name, inside, edge) in
        [("voids", [59.85, 10.4], [59.90, 10.299]), ("sparse", [59.76, 10.48], [59.84, 10.318])]
    {
        let folder = Folder::with(&[name]);
        let ground = folder.open();
        let (heights_m, used) = sample(&ground, &[inside, edge, [59.99, 10.05]]);
        assert!(
            heights_m[0].is_nan() && heights_m[1..].iter().all(|m| m.is_finite()),
            "{name} {heights_m:?}"
        );
        assert_eq!((used.void_samples, used.missing_samples), (2, 0), "{name}");
        let at = GeoPoint::new(inside[0], inside[1]).unwrap();
        assert!(ground.resolution_arcsec(at).is_some());
    }
}

#[test]
fn the_finest_source_counts_for_each_sample() {
    let folder = Folder::with(&["utm_32", "fine"]);
    folder.write("N59E007.hgt", &level_tile(500));
    let ground = folder.open();
    // In the fine file, in its void, beside it, and north of the tile in the coarse file.
    let fine = [59.9317, 7.3915];
    let (heights_m, used) = sample(&ground, &[fine, [59.9273, 7.3988], [59.9, 7.3], [60.01, 7.35]]);
    assert!(used.is_clean(), "{used:?} {heights_m:?}");
    assert_eq!(heights_m[..3], [700.0, 500.0, 500.0]);
    assert!((55.0..145.0).contains(&heights_m[3]), "{heights_m:?}");
    assert!(used.kinds.is_mixed());
    assert_eq!(ground.describe().summary(), "3 of 1 SRTM tile and 2 GeoTIFF files used");
    let spacing = |[lat, lon]: [f64; 2]| ground.resolution_arcsec(GeoPoint::new(lat, lon).unwrap());
    assert!((spacing(fine).unwrap() - 20.0 / 30.87).abs() < 1e-6);
    assert_eq!(spacing([59.9, 7.3]), Some(3.0));
    // The edge of the fine file blends into the tile without a step.
    let (across, used) = sample(
        &ground,
        &(0..400).map(|i| [59.9317, 7.385 + f64::from(i) * 2e-5]).collect::<Vec<_>>(),
    );
    assert!(used.is_clean());
    assert!(across.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 25.0), "{across:?}");
}

#[test]
fn nearest_posts_are_those_of_the_file() {
    let folder = Folder::with(&["lzw_big"]);
    let (ground, plain) = (folder.open_with(Posts::Nearest), folder.open());
    // Post (3, 5): the middle of its cell.
    let post = [60.0 - 3.5 * 0.005, 10.0 + 5.5 * 0.01];
    let near = [[post[0] + 0.002, post[1] - 0.004], [post[0] - 0.002, post[1] + 0.004]];
    let (expected, _) = sample(&plain, &[post]);
    let (heights_m, used) = sample(&ground, &near);
    assert_eq!(heights_m, [expected[0]; 2]);
    assert!(used.is_clean());
    assert_eq!(ground.describe().name, "1 GeoTIFF file, nearest posts");
    let folder = Folder::with(&[]);
    let mut tile = level_tile(100);
    let post = 2 * (600 * 1201 + 600);
    tile[post..post + 2].copy_from_slice(&900_i16.to_be_bytes());
    folder.write("N10E020.hgt", &tile);
    let near = [[10.5 + 1.4e-4 * 2.0, 20.5 - 1.4e-4 * 2.0], [10.5 + 5e-4, 20.5]];
    let (heights_m, _) = sample(&folder.open_with(Posts::Nearest), &near);
    assert_eq!(heights_m, [900.0, 100.0]);
    let (between, _) = sample(&folder.open(), &near[..1]);
    assert!((100.0..900.0).contains(&between[0]));
}

#[test]
fn profiles_and_curves_take_the_same_heights() {
    let folder = Folder::with(&["utm_32", "fine"]);
    folder.write("N59E007.hgt", &level_tile(500));
    for posts in [Posts::Interpolated, Posts::Nearest] {
        let ground = folder.open_with(posts);
        let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
        let profile = sample_profile(&ground, at(59.93, 7.389), at(60.01, 7.45), 300);
        assert!(profile.terrain.is_clean(), "{:?}", profile.terrain);
        let mut heights_m = vec![0.0; 300];
        ground.sample(&profile.lat_deg, &profile.lon_deg, &mut heights_m);
        let differing = heights_m.iter().zip(&profile.elevation_msl_m);
        let far = differing.filter(|(a, b)| (*a - *b).abs() > 0.01).count();
        // Nearest posts change at a line, which rounding of a position may cross.
        assert!(far <= usize::from(posts == Posts::Nearest), "{far} heights differ");
        assert!(profile.terrain.kinds.is_mixed());
    }
}

#[test]
fn folder_description_sets_its_source() {
    let folder = Folder::with(&["zstd"]);
    folder.write(
        "terrain.toml",
        b"name = \"Test DTM\"\nground = \"bare_earth\"\nvertical_datum = \"local\"\n\
          licence = \"CC BY 4.0\"\nattribution = \"The surveyors\"\n",
    );
    let source = folder.open().describe();
    assert_eq!(source.sources[0].summary(), "Test DTM (bare earth, local datum)");
    assert_eq!(source.attributions(), ["The surveyors"]);
    folder.write("terrain.toml", b"title = 7\n");
    let error = Ground::open(&[folder.0.path().to_owned()], Posts::Interpolated).unwrap_err();
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert!(reason.contains("terrain.toml") && reason.contains("title"), "{reason}");
}

#[test]
fn files_that_cannot_be_used_are_refused_with_the_reason() {
    for (name, what) in [
        ("refused_swiss", "coordinate system: found EPSG:2056, allowed EPSG:4326"),
        ("refused_bands", "SamplesPerPixel (277): found 3, allowed one band"),
        ("refused_rotated", "ModelTransformationTag (34264): found ["),
    ] {
        let folder = Folder::with(&[name]);
        let ground = folder.open();
        let [ignored] = ground.ignored() else {
            panic!("{name} is used");
        };
        assert!(ignored.reason.contains(what), "{}", ignored.reason);
        assert!(ignored.reason.contains(name), "{}", ignored.reason);
    }
}

#[test]
fn damaged_files_give_distinct_errors_and_count_as_missing() {
    let whole = fs::read(fixture("zstd.tif")).unwrap();
    let mut refused = 0;
    for length in (0..whole.len()).step_by(97) {
        let folder = Folder::with(&[]);
        folder.write("cut.tif", &whole[..length]);
        let ground = folder.open();
        if let [ignored] = ground.ignored() {
            assert!(ignored.reason.contains("cut.tif"), "{}", ignored.reason);
            refused += 1;
            continue;
        }
        let at: Vec<_> = (0..2500)
            .map(|i| [59.99 - f64::from(i / 50) * 0.0068, 10.01 + f64::from(i % 50) * 0.017])
            .collect();
        let (_, used) = sample(&ground, &at);
        assert!(used.missing_samples > 0, "{length} bytes: {used:?}");
        let fault = ground.raster_fault().unwrap().to_string();
        assert!(fault.contains("cut.tif: rows ") && fault.contains("columns "), "{fault}");
        assert_eq!(ground.check_rasters().unwrap_err().to_string(), fault);
        assert!(ground.known_ground().is_empty());
    }
    assert!((1..whole.len() / 97).contains(&refused), "{refused}");
}
