//! Real SRTM tiles: known heights and the rows and columns neighbours share.

use std::path::{Path, PathBuf};

use groundwave_model::link::{Inputs, score};
use groundwave_model::radio::{Environment, Model, Station, Surroundings, presets};
use groundwave_model::terrain::{
    GeoPoint, Path as TerrainPath, Terrain, TerrainSource, TerrainUse, sample_profile,
};
use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::hgt::Tile;
use super::{HgtError, Resolution, TileDirectory};

/// The directory of real tiles.
fn directory() -> TileDirectory {
    TileDirectory::open(&shared("data/srtm")).unwrap()
}

/// The tile in the one file of the real tiles that starts with `name`.
fn tile(name: &str) -> Tile {
    let folder = shared("data/srtm");
    let path = [".hgt", ".hgt.zip", ".hgt.gz"].map(|end| folder.join(format!("{name}{end}")));
    let path: &PathBuf = path.iter().find(|path| path.exists()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (id, packing) = super::name::parse(name).unwrap().unwrap();
    super::read::read_tile(path, id, packing, None).unwrap()
}

fn point(lat: f64, lon: f64) -> GeoPoint {
    GeoPoint::new(lat, lon).unwrap()
}

/// Highest sample in a square of half a minute around a summit, whose position on the map and
/// in the tile differ by a post or two.
fn summit_m(terrain: &TileDirectory, lat: f64, lon: f64) -> f64 {
    let mut highest = f64::MIN;
    for i in -10..=10 {
        for j in -10..=10 {
            let at = point(lat + f64::from(i) / 1200.0, lon + f64::from(j) / 1200.0);
            highest = highest.max(terrain.elevation_msl_m(at).unwrap_or(f64::MIN));
        }
    }
    highest
}

#[needs(shared("data/srtm"))]
#[test]
fn points_give_their_published_heights() {
    let terrain = directory();
    // Name, position, surveyed height (m), and how much a 90 m post may cut off a summit.
    for (name, lat, lon, height_m, cut_m) in [
        ("Heidbrink", 52.291_4, 8.638_9, 319.6, 5.0),
        ("Arthur's Seat", 55.944_1, -3.161_8, 251.0, 30.0),
        ("Leith Hill", 51.176_0, -0.371_0, 294.0, 15.0),
    ] {
        let summit = summit_m(&terrain, lat, lon);
        assert!(summit <= height_m + 5.0 && summit >= height_m - cut_m, "{name}: {summit}");
    }
    // Kattegat west of Gothenburg, and the hills east of the city.
    let sea = terrain.elevation_msl_m(point(57.5, 11.3)).unwrap();
    assert!(sea.abs() <= 6.0, "{sea}");
}

#[needs(shared("data/srtm"))]
#[test]
fn mountains_and_coasts_have_no_spikes() {
    for entry in std::fs::read_dir(shared("data/srtm")).unwrap() {
        let path = entry.unwrap().path();
        let named = path.file_name().and_then(|name| super::name::parse(name.to_str()?));
        if let Some(Ok((id, packing))) = named {
            let tile = super::read::read_tile(&path, id, packing, None).unwrap();
            assert_eq!(tile.census().spikes.largest, None, "{id}");
        }
    }
}

#[needs(shared("data/srtm"))]
#[test]
fn neighbours_agree_on_what_they_share() {
    for (west, east) in [("N00E010", "N00E011"), ("N51W001", "N51E000"), ("N55W004", "N55W003")] {
        let (west_tile, east_tile) = (tile(west), tile(east));
        for row in 0..1201 {
            assert_eq!(west_tile.post_m(row, 1200), east_tile.post_m(row, 0), "{west} row {row}");
        }
    }
    let (south, north) = (tile("N41E001"), tile("N42E001"));
    for column in 0..1201 {
        let (below, above) = (south.post_m(0, column), north.post_m(1200, column));
        assert_eq!(below, above, "column {column}");
    }
}

#[needs(shared("data/srtm"))]
#[test]
fn a_profile_across_greenwich_has_no_step() {
    let terrain = directory();
    let profile = sample_profile(&terrain, point(51.5, -0.02), point(51.51, 0.02), 2001);
    assert_eq!(profile.terrain.missing_samples, 0);
    assert_eq!(profile.terrain.tiles.as_slice().len(), 2);
    // 1.5 m apart over city terrain; a swapped tile would jump by tens of metres.
    let steepest =
        profile.elevation_msl_m.windows(2).map(|z| (z[1] - z[0]).abs()).fold(0.0, f64::max);
    assert!(steepest < 2.0, "{steepest}");
    // The height on the shared column is the same from both sides.
    let mut elevation = [0.0; 3];
    terrain.sample(&[51.477_3; 3], &[-1e-12, 0.0, 1e-12], &mut elevation);
    assert!(
        (elevation[0] - elevation[1]).abs() < 1e-6 && (elevation[2] - elevation[1]).abs() < 1e-6
    );
}

#[needs(shared("data/srtm"))]
#[test]
fn one_arc_second_with_its_northern_half_void() {
    let terrain = directory();
    assert_eq!(terrain.resolution_arcsec(point(48.2, -124.5)), Some(1.0));
    let profile = sample_profile(&terrain, point(48.1, -124.3), point(48.9, -124.5), 512);
    assert!(profile.terrain.void_samples > 200, "{:?}", profile.terrain);
    assert_eq!(profile.terrain.missing_samples, 0);
    assert!(profile.elevation_msl_m.iter().all(|m| m.is_finite()));
    let holes = tile("N48W125");
    let voids = (0..3601 * 3601).filter(|i| holes.post_m(i / 3601, i % 3601).is_none()).count();
    assert_eq!(voids, 6_483_876);
}

#[needs(shared("data/srtm"))]
#[test]
fn southern_and_western_tiles_and_the_equator() {
    let south = tile("S46W066");
    assert_eq!(south.resolution(), Resolution::OneArcSecond);
    let posts = (0..3601 * 3601).filter_map(|i| south.post_m(i / 3601, i % 3601));
    let (low, high) = posts.fold((i16::MAX, i16::MIN), |(l, h), m| (l.min(m), h.max(m)));
    assert_eq!((low, high), (-3, 146));
    let terrain = directory();
    let mut elevation = [0.0; 3];
    let used = terrain.sample(&[0.0, 0.5, -0.5], &[10.5, 11.0, 10.5], &mut elevation);
    assert_eq!((used.missing_samples, used.tiles.as_slice().len()), (1, 2));
    assert!(elevation[0] > 0.0 && elevation[1] > 100.0 && elevation[2].is_nan());
}

#[needs(shared("data/srtm"))]
#[test]
fn every_real_tile_decodes() {
    let terrain = directory();
    assert!(terrain.tile_count() > 0 && terrain.ignored().is_empty());
    terrain.check().unwrap();
}

#[needs(shared("data/bad_inputs/hgt"))]
#[test]
fn real_bad_files_are_refused() {
    let folder = shared("data/bad_inputs/hgt");
    let terrain = TileDirectory::open(&folder).unwrap();
    assert_eq!((terrain.tile_count(), terrain.ignored().len()), (0, 3));
    let id = "N38W093".parse().unwrap();
    for name in ["sample-srtm-100kb.hgt", "sample-srtm-1mb.hgt"] {
        let path: &Path = &folder.join(name);
        let size = path.metadata().unwrap().len();
        let error =
            super::read::read_tile(path, id, super::name::Packing::Plain, None).unwrap_err();
        assert!(matches!(&error, HgtError::Size { source, .. } if source.found_bytes == size));
    }
}

/// A square of posts as a terrain of its own, south-west corner and spacing in degrees, rows from the south.
struct Posts {
    corner_deg: [f64; 2],
    spacing_deg: f64,
    rows: Vec<Vec<f64>>,
}

impl Posts {
    fn height_m(&self, lat_deg: f64, lon_deg: f64) -> f64 {
        let place = |deg: f64, corner_deg: f64| {
            let place = (deg - corner_deg) / self.spacing_deg;
            let first = (place as usize).min(self.rows.len() - 2);
            (first, place - first as f64)
        };
        let ((row, up), (column, right)) =
            (place(lat_deg, self.corner_deg[0]), place(lon_deg, self.corner_deg[1]));
        let along = |row: usize| {
            let [a_m, b_m] = [self.rows[row][column], self.rows[row][column + 1]];
            a_m + right * (b_m - a_m)
        };
        let [south_m, north_m] = [along(row), along(row + 1)];
        south_m + up * (north_m - south_m)
    }

    /// Every third post: 3" of the same ground.
    fn thinned(&self) -> Self {
        let rows = self.rows.iter().step_by(3);
        let rows = rows.map(|row| row.iter().step_by(3).copied().collect()).collect();
        Self { spacing_deg: 3.0 * self.spacing_deg, rows, ..*self }
    }

    /// The same surface in posts of a third of the spacing.
    fn refined(&self) -> Self {
        let spacing_deg = self.spacing_deg / 3.0;
        let count = 3 * (self.rows.len() - 1) + 1;
        let at =
            |corner: usize, number: usize| self.corner_deg[corner] + spacing_deg * number as f64;
        let row = |row| (0..count).map(|column| self.height_m(at(0, row), at(1, column))).collect();
        Self { spacing_deg, rows: (0..count).map(row).collect(), ..*self }
    }
}

impl Terrain for Posts {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        for ((lat_deg, lon_deg), height_m) in lat_deg.iter().zip(lon_deg).zip(elevation_msl_m) {
            *height_m = self.height_m(*lat_deg, *lon_deg);
        }
        TerrainUse::default()
    }

    fn undulation_m(&self, _: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
        Some(self.spacing_deg * 3_600.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource::default()
    }
}

/// Hills of Vancouver Island in posts of 1", 0.3 degrees of them without voids or sea.
fn hills() -> Posts {
    let tile = tile("N48W125");
    let height_m = |row, column| f64::from(tile.post_m(row, column).unwrap_or(0));
    // The first row of a tile is its northern one.
    let rows = (2_520..=3_600).rev();
    let rows = rows.map(|row| (360..=1_440).map(|column| height_m(row, column)).collect());
    let rows = rows.collect();
    Posts { corner_deg: [48.0, -124.9], spacing_deg: 1.0 / 3_600.0, rows }
}

/// Differences of the path loss by P.1812 among buildings of 10 m between posts of two spacings, dB, over paths of
/// 1 to 13 km.
fn differences_db(fine: &Posts, coarse: &Posts) -> Vec<f64> {
    let station = |height_agl_m| Station {
        surroundings: Surroundings::Suburban,
        ..Station::new(
            height_agl_m,
            presets::radio("lora_868_eu").unwrap().radio.clone(),
            presets::antenna("omni_2_15").unwrap().antenna.clone(),
        )
    };
    let model = Model::P1812;
    let environment = Environment { model, ..Environment::default() };
    let (mast, node) = (station(15.0), station(2.0));
    let side_deg = fine.spacing_deg * (fine.rows.len() - 1) as f64;
    // A lattice of ends without a common measure with the posts.
    let at = |number: usize, turn: f64| {
        let part = |step: f64| 0.02 + 0.96 * (number as f64 * step + turn).fract();
        point(
            fine.corner_deg[0] + side_deg * part(0.618_034),
            fine.corner_deg[1] + side_deg * part(0.754_878),
        )
    };
    let loss_db = |terrain: &Posts, from, to| {
        let inputs =
            Inputs { terrain, environment: &environment, packet_bytes: 40, spacing_m: None };
        let (there, _) = score(&inputs, (from, &mast), (to, &node)).unwrap();
        assert_eq!(there.model, model);
        there.losses.total_path_loss_db
    };
    let paths = (0..200).map(|number| (at(number, 0.1), at(number, 0.37)));
    let lengths_m = 1_000.0..13_000.0;
    let paths =
        paths.filter(|(a, b)| lengths_m.contains(&TerrainPath::between(*a, *b).distance_m()));
    paths.map(|(a, b)| loss_db(fine, a, b) - loss_db(coarse, a, b)).collect()
}

#[needs(shared("data/srtm"))]
#[test]
fn one_surface_has_one_loss_whatever_its_posts() {
    let surface = hills().thinned();
    let differences_db = differences_db(&surface.refined(), &surface);
    assert!(differences_db.len() > 80);
    // Samples are the same 30 m apart: rounding of positions remains.
    let is_equal = |db: &f64| db.abs() < 0.05;
    assert!(differences_db.iter().all(is_equal), "{differences_db:?}");
}

/// Every third post has lost the edges between: where a path is obstructed by one of them its loss is another, so
/// that the mean and the share of paths are judged, not each.
#[needs(shared("data/srtm"))]
#[test]
fn posts_of_3_arc_seconds_of_the_same_ground_have_the_loss_of_1_on_the_mean() {
    let fine = hills();
    let differences_db = differences_db(&fine, &fine.thinned());
    let count = differences_db.len() as f64;
    let mean_db = differences_db.iter().sum::<f64>() / count;
    let share = differences_db.iter().filter(|db| db.abs() <= 0.5).count() as f64 / count;
    assert!(mean_db.abs() <= 0.5 && share >= 0.6, "mean {mean_db} dB, within 0.5 dB {share}");
}
