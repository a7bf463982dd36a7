use std::fs;

use groundwave_model::terrain::{GeoPoint, Terrain, sample_profile};

use super::fixture::{geotiff, geotiff_of, geotiff_signed};
use super::*;
use crate::{OffTiles, TerrainStack};

/// 40 by 40 cells of 0.001 degrees from 57.04 N 11 E: trees in the west, buildings in the east, water in the
/// southernmost row, class 99 in the northernmost.
fn classes() -> Vec<u8> {
    let row = |row: usize| match row {
        0 => vec![99; 40],
        39 => vec![80; 40],
        _ => (0..40).map(|column| if column < 20 { 10 } else { 50 }).collect(),
    };
    geotiff([11.0, 57.04], 0.001, &(0..40).map(row).collect::<Vec<_>>())
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, Vec<u8>)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            fs::write(folder.0.path().join(name), bytes).unwrap();
        }
        folder
    }

    fn open(&self) -> Result<LandCover, CoverError> {
        LandCover::open(self.0.path())
    }
}

const WORLD_COVER: &str = "ESA_WorldCover_10m_2021_v200_N57E009_Map.tif";

fn cover(of: &LandCover, lat_deg: f64, lon_deg: f64) -> Cover {
    let mut cover = [Cover::default()];
    of.sample(&[lat_deg], &[lon_deg], 1.0, &mut cover);
    cover[0]
}

#[test]
fn classes_have_kinds_and_heights_and_unknown_ones_none() {
    let folder = Folder::with(&[(WORLD_COVER, classes())]);
    let own = folder.open().unwrap();
    let of = |kind, height_agl_m| Cover { kind, height_agl_m };
    assert_eq!(own.files(), BTreeMap::new());
    assert_eq!(cover(&own, 57.02, 11.005), of(CoverKind::Forest, 12.0));
    assert_eq!(cover(&own, 57.02, 371.035), of(CoverKind::Suburban, 10.0));
    assert_eq!(cover(&own, 57.000_5, 11.005), of(CoverKind::Open, 0.0));
    assert_eq!(cover(&own, 57.039_5, 11.005), Cover::default());
    assert_eq!(cover(&own, 57.2, 11.005), Cover::default());
    let name = format!("land cover {WORLD_COVER}");
    assert!(own.files().contains_key(&name) && own.files().len() == 1);
    assert_eq!(own.file_digest(&name), own.files().remove(&name));
    let attribution = own.sources()[0].attribution.as_deref().unwrap();
    assert!(attribution.contains("ESA WorldCover"), "{attribution}");
}

#[test]
fn corine_is_read_as_it_is_published_in_signed_bytes() {
    let rows = vec![[vec![23; 20], vec![-128; 20]].concat(); 40];
    let corine = geotiff_signed([11.0, 57.04], 0.001, &rows);
    let folder = Folder::with(&[("U2018_CLC2018_V2020_20u1.tif", corine)]);
    let own = folder.open().unwrap();
    assert_eq!(cover(&own, 57.02, 11.005).kind, CoverKind::Forest);
    assert_eq!(cover(&own, 57.02, 11.035), Cover::default());
}

#[test]
fn layers_beside_those_of_a_product_are_left_out() {
    let quality = "ESA_WorldCover_10m_2021_v200_N57E009_InputQuality.tif";
    let with = Folder::with(&[(WORLD_COVER, classes()), (quality, Vec::new())]);
    assert_eq!(cover(&with.open().unwrap(), 57.02, 11.005).kind, CoverKind::Forest);
    let error = Folder::with(&[("nlcd_tcc_2021.tif", classes())]).open().unwrap_err().to_string();
    assert!(error.contains("nlcd_tcc_2021.tif: found shares, errors or quality"), "{error}");
}

#[test]
fn canopies_higher_than_trees_are_none() {
    let heights = |height_m: u8| geotiff([11.0, 57.04], 0.002, &vec![vec![height_m; 20]; 20]);
    let height_m = |canopy: Vec<u8>| {
        let files = [(WORLD_COVER, classes()), ("canopy_dm.tif", canopy)];
        cover(&Folder::with(&files).open().unwrap(), 57.02, 11.005).height_agl_m
    };
    assert_eq!([height_m(heights(130)), height_m(heights(210))], [130.0, 12.0]);
}

#[test]
fn heights_of_trees_and_buildings_replace_those_of_their_classes() {
    let heights = |height_m: u8| geotiff([11.0, 57.04], 0.002, &vec![vec![height_m; 20]; 20]);
    let canopy = "ETH_GlobalCanopyHeight_10m_2020_N57E009_Map.tif";
    let built = "GHS_BUILT_H_ANBH_E2018_GLOBE_R2023A_4326_3ss_V1_0_R3_C19.tif";
    let files = [(WORLD_COVER, classes()), (canopy, heights(23)), (built, heights(30))];
    let folder = Folder::with(&files);
    let own = folder.open().unwrap();
    let height_m = |lat, lon| cover(&own, lat, lon).height_agl_m;
    // The mean of a district of towers is not that of its streets.
    assert_eq!([height_m(57.02, 11.005), height_m(57.02, 11.035)], [23.0, 20.0]);
    assert_eq!(height_m(57.000_5, 11.005), 0.0);
    let folder = Folder::with(&files[1..2]);
    let own = folder.open().unwrap();
    let at = cover(&own, 57.02, 11.035);
    assert_eq!((at.kind, at.height_agl_m), (CoverKind::Forest, 23.0));
}

#[test]
fn table_beside_a_raster_counts_before_its_name() {
    let table = b"[classes]\n10 = { surroundings = 'forest', height_m = 25 }\n50 = { surroundings = 'urban' }";
    let files = [("town.tif", classes()), (CLASSES_FILE, table.to_vec())];
    let folder = Folder::with(&files);
    let own = folder.open().unwrap();
    let (trees, town) = (cover(&own, 57.02, 11.005), cover(&own, 57.02, 11.035));
    assert_eq!((trees.height_agl_m, town.kind), (25.0, CoverKind::Urban));
    assert_eq!(cover(&own, 57.000_5, 11.005).kind, CoverKind::Unknown);
}

#[test]
fn folder_that_cannot_be_used_gives_an_error_that_names_it() {
    let refused = |files: &[(&str, Vec<u8>)]| Folder::with(files).open().unwrap_err().to_string();
    for (files, part) in [
        (vec![], "found no .tif file"),
        (vec![("town.tif", classes())], "unknown classes of"),
        (vec![(WORLD_COVER, b"II*\0".to_vec())], WORLD_COVER),
        (vec![(WORLD_COVER, classes()), (CLASSES_FILE, b"[classes".to_vec())], CLASSES_FILE),
    ] {
        let error = refused(&files);
        assert!(error.contains(part) && error.starts_with("land cover: "), "{part}: {error}");
    }
    let error = LandCover::open(Path::new("/nowhere/at/all")).unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all"), "{error}");
}

#[test]
fn profiles_have_land_cover_at_thirty_metres_and_half_of_it_over_a_surface() {
    let folder = Folder::with(&[(WORLD_COVER, classes())]);
    let ends =
        [(57.02, 11.005), (57.02, 11.035)].map(|(lat, lon)| GeoPoint::new(lat, lon).unwrap());
    let flat = TerrainStack::default().off_tiles(OffTiles::SeaLevel);
    let flat = flat.with_cover(Some(folder.open().unwrap()));
    let profile = sample_profile(&flat, ends[0], ends[1], 32);
    let step_m = profile.distance_m / (profile.clutter_agl_m.len() - 1) as f64;
    assert!(step_m <= 30.0 && step_m > 25.0, "{step_m}");
    assert_eq!(profile.cover, [CoverKind::Forest, CoverKind::Suburban]);
    let count = |height_m| profile.clutter_agl_m.iter().filter(|own| **own == height_m).count();
    assert_eq!(count(12.0) + count(10.0), profile.clutter_agl_m.len());
    assert!(count(12.0).abs_diff(count(10.0)) <= 1);
    assert_eq!(flat.describe().attributions().len(), 1);
    let tiles = tempfile::tempdir().unwrap();
    fs::write(tiles.path().join("N57E011.hgt"), vec![0; 1201 * 1201 * 2]).unwrap();
    let surface = TerrainStack::open(Some(tiles.path()), None).unwrap();
    let surface = surface.with_cover(Some(folder.open().unwrap()));
    let halved = sample_profile(&surface, ends[0], ends[1], 32);
    let halves = profile.clutter_agl_m.iter().map(|height_m| height_m / 2.0);
    assert_eq!(halved.clutter_agl_m, halves.collect::<Vec<_>>());
}

/// 40 by 40 cells of 100 m about a position on the map of a system: trees in the west, buildings in the east.
fn projected(keys: &[u16], [east_m, north_m]: [f64; 2]) -> Vec<u8> {
    let row: Vec<u8> = (0..40).map(|column| if column < 20 { 41 } else { 24 }).collect();
    let corner = [east_m - 2_000.0, north_m + 2_000.0];
    geotiff_of(keys, corner, 100.0, &vec![row; 40], 40)
}

#[test]
fn published_projections_put_classes_where_they_are() {
    // Coordinates by PROJ.
    let systems: [(u16, [f64; 2], [f64; 2]); 3] = [
        // NLCD: San Francisco.
        (5070, [37.75, -122.45], [-2_278_765.783_6, 1_953_985.164_1]),
        // CORINE: Gothenburg.
        (3035, [57.71, 11.97], [4_438_573.339_1, 3_846_962.822_5]),
        (3857, [57.71, 11.97], [1_332_494.304_8, 7_906_642.734_8]),
    ];
    for (code, [lat_deg, lon_deg], at) in systems {
        let keys = [1024, 0, 1, 1, 3072, 0, 1, code];
        let folder = Folder::with(&[("nlcd.tif", projected(&keys, at))]);
        let own = folder.open().unwrap();
        let kind = |east_deg: f64| cover(&own, lat_deg, lon_deg + east_deg).kind;
        assert_eq!([kind(-0.003), kind(0.003)], [CoverKind::Forest, CoverKind::Urban], "{code}");
        assert_eq!(kind(0.5), CoverKind::Unknown, "{code}");
    }
    let keys = [1024, 0, 1, 1, 3072, 0, 1, 2056];
    let folder = Folder::with(&[("nlcd.tif", projected(&keys, [0.0, 0.0]))]);
    let error = folder.open().unwrap_err().to_string();
    assert!(error.contains("found EPSG:2056, allowed EPSG:4326"), "{error}");
    assert!(error.contains("Albers (EPSG:5070"), "{error}");
}
