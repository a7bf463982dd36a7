//! Layouts of folders as people have them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::tiles::TileDirectory;

/// Octets of a level tile of 3 arc-seconds.
fn level(height_m: i16) -> Vec<u8> {
    height_m.to_be_bytes().repeat(1201 * 1201)
}

fn height_m(folder: &Path, lat_deg: f64, lon_deg: f64) -> f64 {
    use groundwave_model::terrain::Terrain;
    let mut elevation_msl_m = [f64::NAN];
    let tiles = TileDirectory::open(folder).unwrap();
    tiles.sample(&[lat_deg], &[lon_deg], &mut elevation_msl_m);
    elevation_msl_m[0]
}

fn reasons(folder: &Path) -> Vec<String> {
    let folders = Folders::read(&[folder.to_owned()]).unwrap();
    folders.ignored.into_iter().map(|ignored| ignored.reason).collect()
}

#[test]
fn tiles_in_folders_below_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("skadi/N57");
    fs::create_dir_all(&below).unwrap();
    let packed = File::create(below.join("N57E011.hgt.gz")).unwrap();
    let mut packed = GzEncoder::new(packed, Compression::fast());
    packed.write_all(&level(57)).unwrap();
    packed.finish().unwrap();
    assert_eq!(height_m(folder.path(), 57.5, 11.5), 57.0);
}

#[test]
fn an_archive_of_many_tiles_supplies_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = ZipWriter::new(File::create(folder.path().join("N57.zip")).unwrap());
    for (name, height_m) in [("N57/N57E011.hgt", 11), ("N57/N57E012.hgt", 12)] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(&level(height_m)).unwrap();
    }
    archive.finish().unwrap();
    assert_eq!(height_m(folder.path(), 57.5, 11.5), 11.0);
    assert_eq!(height_m(folder.path(), 57.5, 12.5), 12.0);
}

#[test]
fn a_description_counts_for_the_folders_below() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("N57");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("N57E011.hgt"), level(1)).unwrap();
    fs::write(folder.path().join("terrain.toml"), "name = \"survey\"\nground = \"bare_earth\"\n")
        .unwrap();
    let folders = Folders::read(&[folder.path().to_owned()]).unwrap();
    let tile = folders.files.iter().find(|file| file.name == "N57E011.hgt").unwrap();
    assert_eq!(folders.sources[tile.source].name, "survey");
}

#[test]
fn a_link_to_a_folder_above_is_not_walked_again() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
    fs::write(folder.path().join("N57E011.hgt"), level(1)).unwrap();
    let folders = Folders::read(&[folder.path().to_owned()]).unwrap();
    assert_eq!(folders.files.len(), 1);
}

#[test]
fn formats_that_are_not_read_are_named_with_a_way_out() {
    for (name, format) in [
        ("n57_e011_1arc_v3.dt2", "DTED"),
        ("ground.ASC", "Esri ASCII grid"),
        ("ground.bil", "Esri BIL"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), b"").unwrap();
        let reasons = reasons(folder.path());
        assert!(
            matches!(&*reasons, [reason] if reason.starts_with(format) && reason.contains("gdal_translate")),
            "{reasons:?}"
        );
    }
}

#[test]
fn water_has_its_surface_where_a_source_holds_the_sea_bed() {
    // Kattegat, and the Dead Sea.
    for (name, lat_deg, lon_deg, post_m, expected_m) in
        [("N57E011", 57.5, 11.5, -40, 0.0), ("N31E035", 31.5, 35.5, -430, -430.0)]
    {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!("{name}.hgt")), level(post_m)).unwrap();
        assert_eq!(height_m(folder.path(), lat_deg, lon_deg), f64::from(post_m), "as it is");
        let about = "name = \"chart\"\nsea_bed = true\n";
        fs::write(folder.path().join("terrain.toml"), about).unwrap();
        assert_eq!(height_m(folder.path(), lat_deg, lon_deg), expected_m, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("N57");
    fs::create_dir(&below).unwrap();
    let mut packed =
        GzEncoder::new(File::create(below.join("N57E011.hgt.gz")).unwrap(), Compression::fast());
    packed.write_all(&level(-40)).unwrap();
    packed.finish().unwrap();
    assert_eq!(height_m(folder.path(), 57.5, 11.5), 0.0, "Terrain Tiles by their layout");
}
