//! Directories of synthetic tiles: a plane over several of them, so that every seam shows.

use std::fs;
use std::io::Write;

use groundwave_model::terrain::sample_profile;

use super::*;
use crate::gather::VOID;

const SIZE: usize = 2_884_802;

/// A directory that is deleted with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    fn open(&self) -> TileDirectory {
        TileDirectory::open(self.0.path()).unwrap()
    }
}

/// Ground that rises 2 m for each post northwards and 3 m for each post eastwards from -4000 m
/// at a corner: whole metres at every post, so bilinear heights are exact.
struct Plane {
    south: i32,
    west: i32,
}

impl Plane {
    fn height_m(&self, lat: f64, lon: f64) -> f64 {
        -4000.0 + 2400.0 * (lat - f64::from(self.south)) + 3600.0 * (lon - f64::from(self.west))
    }

    /// The tile `up` degrees north and `right` degrees east of the corner, 3 arc-seconds.
    fn tile(&self, up: i32, right: i32) -> Vec<u8> {
        self.altered_tile(up, right, |_, _, height| height)
    }

    /// The same with each post passed through `alter(row, column, height)`.
    fn altered_tile(&self, up: i32, right: i32, alter: impl Fn(i32, i32, i16) -> i16) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE);
        for row in 0..1201 {
            for column in 0..1201 {
                let height = 2 * (up * 1200 + 1200 - row) + 3 * (right * 1200 + column) - 4000;
                let height = alter(row, column, i16::try_from(height).unwrap());
                bytes.extend(height.to_be_bytes());
            }
        }
        bytes
    }
}

fn sample(terrain: &TileDirectory, at: &[(f64, f64)]) -> (Vec<f64>, TerrainUse) {
    let (lat, lon): (Vec<f64>, Vec<f64>) = at.iter().copied().unzip();
    let mut elevation = vec![-1.0; at.len()];
    let used = terrain.sample(&lat, &lon, &mut elevation);
    (elevation, used)
}

fn names(used: &TerrainUse) -> Vec<String> {
    used.tiles.as_slice().iter().map(ToString::to_string).collect()
}

#[test]
fn a_plane_over_four_tiles_has_no_seam() {
    // Equator and prime meridian, the antimeridian, and a plain corner; the third number is
    // where the samples' longitudes start, wrapped or not.
    for (south, west, lon0, tiles) in [
        (-1, -1, -1.0, ["S01W001", "S01E000", "N00W001", "N00E000"]),
        (10, 179, 179.0, ["N10E179", "N10W180", "N11E179", "N11W180"]),
        (10, 179, -181.0, ["N10E179", "N10W180", "N11E179", "N11W180"]),
        (-90, 57, 57.0, ["S90E057", "S90E058", "S89E057", "S89E058"]),
        (88, -71, 289.0, ["N88W071", "N88W070", "N89W071", "N89W070"]),
    ] {
        let (folder, plane) = (Folder::new(), Plane { south, west });
        for (name, (up, right)) in tiles.iter().zip([(0, 0), (0, 1), (1, 0), (1, 1)]) {
            folder.write(&format!("{name}.hgt"), &plane.tile(up, right));
        }
        let terrain = folder.open();
        let mut at = Vec::new();
        for i in 0..=40 {
            for j in 0..=40 {
                let (north, east) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                at.push((f64::from(south) + north, lon0 + east));
            }
        }
        // Hard by each edge.
        for hair in [1e-9, 1e-13, 1e-17] {
            at.push((f64::from(south) + 1.0 - hair, lon0 + 1.0 - hair));
            at.push((f64::from(south) + 1.0 + hair, lon0 + 1.0 + hair));
        }
        let (elevation, used) = sample(&terrain, &at);
        assert!(used.is_clean(), "{tiles:?}: {used:?}");
        assert_eq!(used.tiles.as_slice().len(), 4);
        assert_eq!(used.resolution_arcsec, Some(3.0));
        for ((lat, lon), m) in at.iter().zip(elevation) {
            let expected = plane.height_m(*lat, lon - lon0 + f64::from(west));
            assert!((m - expected).abs() < 1e-5, "{lat} {lon}: {m} {expected}");
        }
    }
}

#[test]
fn a_shared_edge_is_read_from_the_owner_or_else_from_the_neighbour() {
    let (folder, plane) = (Folder::new(), Plane { south: 0, west: 0 });
    folder.write("N00E000.hgt", &plane.tile(0, 0));
    let terrain = folder.open();
    // North and east edges and their corner: no owner, one neighbour.
    let edge = [(1.0, 0.25), (0.25, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)];
    let (elevation, used) = sample(&terrain, &edge);
    assert!(used.is_clean());
    for ((lat, lon), m) in edge.iter().zip(&elevation) {
        assert_eq!(*m, plane.height_m(*lat, *lon));
    }
    // Past them, in either order with a sample on the edge between, there is nothing.
    let past = [
        (1.000_001, 0.5),
        (1.0, 0.5),
        (1.000_001, 0.5),
        (0.5, 1.000_001),
        (0.5, 1.0),
        (-1e-9, 0.5),
    ];
    let (elevation, used) = sample(&terrain, &past);
    assert_eq!(used.missing_samples, 4);
    let has_height: Vec<bool> = elevation.iter().map(|m| m.is_finite()).collect();
    assert_eq!(has_height, [false, true, false, false, true, false]);
    // With an owner whose edge differs, the owner's value counts.
    folder.write("N01E000.hgt", &plane.altered_tile(1, 0, |_, _, height| height + 7));
    let (elevation, used) = sample(&folder.open(), &[(1.0, 0.25)]);
    assert_eq!(elevation[0], plane.height_m(1.0, 0.25) + 7.0);
    assert_eq!(names(&used), ["N01E000"]);
}

#[test]
fn poles_are_the_outer_rows() {
    let folder = Folder::new();
    folder.write("N89E010.hgt", &Plane { south: 89, west: 10 }.tile(0, 0));
    folder.write("S90E010.hgt", &Plane { south: -90, west: 10 }.tile(0, 0));
    let (elevation, used) = sample(&folder.open(), &[(90.0, 10.5), (-90.0, 10.5), (90.0, 30.5)]);
    assert_eq!(elevation[..2], [2400.0 + 1800.0 - 4000.0, 1800.0 - 4000.0]);
    assert!(elevation[2].is_nan());
    assert_eq!(used.missing_samples, 1);
}

#[test]
fn positions_that_do_not_exist_are_missing() {
    let folder = Folder::new();
    folder.write("N00E000.hgt", &Plane { south: 0, west: 0 }.tile(0, 0));
    let nowhere =
        [(f64::NAN, 0.5), (0.5, f64::NAN), (91.0, 0.5), (-91.0, 0.5), (0.5, f64::INFINITY)];
    let (elevation, used) = sample(&folder.open(), &nowhere);
    assert!(elevation.iter().all(|m| m.is_nan()));
    assert_eq!(used.missing_samples, 5);
    let (_, used) = sample(&folder.open(), &[(0.5, 0.5), (0.5, f64::NAN), (0.5, 360.5)]);
    assert_eq!(used.missing_samples, 1);
}

#[test]
fn voids_and_missing_ground_differ() {
    let (folder, plane) = (Folder::new(), Plane { south: 0, west: 0 });
    let holed = plane.altered_tile(0, 0, |row, column, height| {
        if (590..=610).contains(&row) && (590..=610).contains(&column) { VOID } else { height }
    });
    folder.write("N00E000.hgt", &holed);
    let terrain = folder.open();
    let bank = (0.5, 589.5 / 1200.0);
    let (elevation, used) = sample(&terrain, &[(0.5, 0.5), bank, (0.25, 0.25), (0.5, 1.5)]);
    assert!(elevation[0].is_nan() && elevation[3].is_nan());
    assert_eq!(elevation[1], plane.height_m(0.5, 589.0 / 1200.0), "the valid posts of the bank");
    assert_eq!((used.void_samples, used.missing_samples), (2, 1));
    let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    assert_eq!(terrain.resolution_arcsec(at(0.5, 0.5)), Some(3.0));
    assert_eq!(terrain.resolution_arcsec(at(0.5, 1.5)), None);
    assert_eq!(terrain.elevation_msl_m(at(0.5, 0.5)), None);
    // A profile along the equator-parallel 0.5: void bridged, sea beyond the tile.
    let profile = sample_profile(&terrain, at(0.5, 0.4), at(0.5, 1.2), 161);
    assert!(profile.terrain.void_samples > 0 && profile.terrain.missing_samples > 0);
    for i in 0..161 {
        let (lat, lon) = (profile.lat_deg[i], profile.lon_deg[i]);
        let expected = if lon > 1.0 { 0.0 } else { plane.height_m(lat, lon) };
        assert!((profile.elevation_msl_m[i] - expected).abs() < 0.1, "{lon}");
    }
}

#[test]
fn packings_and_letter_cases_mix_in_one_directory() {
    let (folder, plane) = (Folder::new(), Plane { south: 0, west: 0 });
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&plane.tile(0, 0)).unwrap();
    folder.write("n00e000.HGT.gz", &gz.finish().unwrap());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("N00E001.hgt", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&plane.tile(0, 1)).unwrap();
    folder.write("N00E001.SRTMGL3.hgt.ZIP", &zip.finish().unwrap().into_inner());
    folder.write("n01E000.Hgt", &plane.tile(1, 0));
    folder.write("README.txt", b"not a tile");
    let terrain = folder.open();
    assert_eq!((terrain.tile_count(), terrain.ignored().len()), (3, 0));
    terrain.check().unwrap();
    let at = [(0.3, 0.3), (0.3, 1.3), (1.3, 0.3)];
    let (elevation, used) = sample(&terrain, &at);
    for ((lat, lon), m) in at.iter().zip(elevation) {
        assert!((m - plane.height_m(*lat, *lon)).abs() < 1e-9);
    }
    assert_eq!(names(&used), ["N00E000", "N00E001", "N01E000"]);
    assert_eq!(terrain.describe().name, "3 SRTM tiles");
}

#[test]
fn of_two_files_of_one_tile_the_finer_is_used() {
    let folder = Folder::new();
    let fine = 11_i16.to_be_bytes().repeat(3601 * 3601);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&fine).unwrap();
    // The coarse one is plain and comes first by name; only the spacing favours the other.
    folder.write("N00E000.hgt", &3_i16.to_be_bytes().repeat(1201 * 1201));
    folder.write("N00E000.SRTMGL1.hgt.gz", &gz.finish().unwrap());
    folder.write("n00e000.a.hgt", b"cut short");
    let terrain = folder.open();
    let (elevation, used) = sample(&terrain, &[(0.5, 0.5)]);
    assert_eq!((elevation[0], used.resolution_arcsec), (11.0, Some(1.0)));
    let ignored: Vec<_> = terrain.ignored().iter().map(|i| i.path.file_name().unwrap()).collect();
    assert_eq!(ignored.len(), 2);
    assert!(ignored.contains(&std::ffi::OsStr::new("N00E000.hgt")));
    assert!(
        terrain
            .ignored()
            .iter()
            .all(|i| i.reason.contains("SRTMGL1") || i.reason.contains("N00E000.hgt"))
    );
    // Of equals the plain and first by name.
    let twins = Folder::new();
    for name in ["N00E000.b.hgt", "N00E000.a.hgt"] {
        twins.write(name, &3_i16.to_be_bytes().repeat(1201 * 1201));
    }
    assert!(twins.open().ignored()[0].path.ends_with("N00E000.b.hgt"));
}

#[test]
fn files_that_are_nearly_tiles_are_listed() {
    let folder = Folder::new();
    folder.write("N38W093T97.hgt", &vec![0; SIZE]);
    folder.write("S00E010.hgt", &vec![0; SIZE]);
    fs::create_dir(folder.0.path().join("N01E001.hgt")).unwrap();
    let terrain = folder.open();
    assert_eq!(terrain.tile_count(), 0);
    let notices: Vec<_> = terrain
        .ignored()
        .iter()
        .map(|i| (i.path.file_name().unwrap().to_str().unwrap(), i.reason.as_str()))
        .collect();
    assert_eq!(notices[0], ("N01E001.hgt", "not a regular file"));
    assert!(notices[1].0 == "N38W093T97.hgt" && notices[1].1.contains("names no tile"));
    assert!(notices[2].0 == "S00E010.hgt");
    let (_, used) = sample(&terrain, &[(38.5, -92.5)]);
    assert_eq!(used.missing_samples, 1);
}

#[test]
fn damaged_tile_gives_a_fault_and_no_ground() {
    let (folder, plane) = (Folder::new(), Plane { south: 0, west: 0 });
    folder.write("N00E000.hgt", &plane.tile(0, 0));
    folder.write("N00E001.hgt", &plane.tile(0, 1)[..SIZE / 2]);
    folder.write("N00E002.hgt.gz", b"noise");
    let terrain = folder.open();
    assert!(terrain.faults().is_empty(), "nothing was used yet");
    let error = terrain.check().unwrap_err();
    assert!(error.to_string().contains("N00E001.hgt"), "{error}");
    let at = [(0.5, 0.5), (0.5, 1.5), (0.5, 1.6), (0.5, 2.5), (0.5, 1.0)];
    let (elevation, used) = sample(&terrain, &at);
    assert_eq!(used.missing_samples, 3);
    assert!(elevation[1..4].iter().all(|m| m.is_nan()));
    assert_eq!(elevation[4], plane.height_m(0.5, 1.0), "the neighbour knows the edge");
    assert_eq!(names(&used), ["N00E000"]);
    let faults = terrain.faults();
    assert_eq!(faults.len(), 2);
    assert!(matches!(faults[0].1, HgtError::Size { .. }) && faults[0].0.west_deg() == 1);
    assert!(matches!(faults[1].1, HgtError::Read { .. }));
    assert_eq!(terrain.resolution_arcsec(GeoPoint::new(0.5, 1.5).unwrap()), None);
    assert!(terrain.check().is_err());
}

#[test]
fn many_threads_see_the_same_ground() {
    let (folder, plane) = (Folder::new(), Plane { south: 0, west: 0 });
    for (name, right) in [("N00E000.hgt", 0), ("N00E001.hgt", 1)] {
        folder.write(name, &plane.tile(0, right));
    }
    let terrain = folder.open();
    let at: Vec<_> = (0..200).map(|k| (0.4, f64::from(k) / 100.0)).collect();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| sample(&terrain, &at))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(results[0].1.is_clean());
    // The order of the samples does not matter either.
    let mut backwards = at.clone();
    backwards.reverse();
    let (mut elevation, used) = sample(&terrain, &backwards);
    elevation.reverse();
    assert_eq!((elevation, used), results[0]);
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    folder.write("file", b"");
    for name in ["absent", "file"] {
        let error = TileDirectory::open(&folder.0.path().join(name)).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
