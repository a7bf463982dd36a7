//! Files of the ground: tiles and their packings, GeoTIFF files, what describes them, the geoid.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use groundwave_fuzz::fuzz_target;
use groundwave_model::terrain::{GeoPoint, Posts, Terrain};
use groundwave_terrain::cache::Cache;
use groundwave_terrain::{Geoid, TerrainStack};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{as_file, shipped};

/// Bytes of a tile of 3 arc-seconds.
const TILE_BYTES: usize = 2 * 1201 * 1201;

/// Lowest and highest height of a post, m.
const HEIGHTS_M: std::ops::RangeInclusive<f64> = -12_000.0..=9_000.0;

/// Bytes repeated up to a length, so that changes of a short document reach every part of a long file.
fn repeated(bytes: &[u8], length: usize) -> Vec<u8> {
    match bytes {
        [] => vec![0; length],
        bytes => bytes.iter().copied().cycle().take(length).collect(),
    }
}

/// Reads all files of a folder in each way in which commands do; heights are those of the Earth or none.
fn read_all(folder: &Path) {
    read(folder, &[Posts::Interpolated, Posts::Nearest]);
}

/// The same with some heights between posts.
fn read(folder: &Path, modes: &[Posts]) {
    for &posts in modes {
        let stack = TerrainStack::open_folders(&[folder.to_owned()], None, posts);
        let Ok(stack) = stack else { return };
        let (lat_deg, lon_deg) =
            ([57.5, 57.999_9, 59.9, 59.7, 60.0], [11.5, 11.0, 10.1, 10.7, 7.3]);
        let mut heights_m = [0.0; 5];
        let used = stack.sample(&lat_deg, &lon_deg, &mut heights_m);
        let unknown = heights_m.iter().filter(|height_m| height_m.is_nan()).count();
        assert!(unknown as u32 <= used.void_samples + used.missing_samples, "{used:?}");
        for height_m in heights_m {
            assert!(height_m.is_nan() || HEIGHTS_M.contains(&height_m), "{height_m}");
        }
        for region in stack.known_ground() {
            assert!(region.south_west.lat_deg() <= region.north_east.lat_deg(), "{region:?}");
        }
        let (described, fault) =
            (stack.describe().summary(), stack.fault().map(|fault| fault.to_string()));
        assert!(
            !described.is_empty()
                && fault.is_none_or(|fault| fault.contains(&*folder.to_string_lossy()))
        );
        drop((stack.check(), stack.files()));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive with these entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Posts of a hill, a spike, voids, and a value beyond the Earth.
fn posts() -> Vec<u8> {
    let heights_m = [0_i16, 3, 9, 20, 31, 700, 30, 18, 7, 1, i16::MIN, 32_767, 25_000, -40];
    heights_m.into_iter().flat_map(i16::to_be_bytes).collect()
}

/// GeoTIFF files of the fixtures.
fn rasters(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| shipped(&format!("tests/fixtures/terrain/{name}.tif"))).collect()
}

/// An index of fetched terrain.
const FETCHED: &[u8] =
    br#"{"files": {"glo30/N57E011": {"source": "glo30", "name": "a.tif", "file": "glo30/b.tif",
    "url": "http://a.example/a.tif", "length": 7, "sha256": "00", "about": {"name": "GLO-30"}}},
    "absent": ["glo30/N57E009"], "consents": ["glo30"]}"#;

/// A statement about the files of a folder.
const ABOUT: &[u8] = b"name = \"DTM\"\nground = \"bare_earth\"\nvertical_datum = \"local\"\nlicence = \"CC BY 4.0\"\n\
    attribution = \"Agency\"\nsea_bed = true\n";

// Each input is a whole tile to decode, so one document and one way of reading it.
fuzz_target!(hgt, vec![posts()], |bytes: &[u8]| {
    let modes = [Posts::Interpolated];
    as_file("N57E011.hgt", &repeated(bytes, TILE_BYTES), |path| {
        read(path.parent().unwrap(), &modes)
    });
    as_file("N57E011.hgt", bytes, |path| read(path.parent().unwrap(), &modes));
});
fuzz_target!(
    hgt_packed,
    {
        let tile = repeated(&posts(), TILE_BYTES);
        vec![
            gzip(&tile),
            archive(&[("N57E011.hgt", &tile)]),
            archive(&[("N57/N57E011.hgt", &tile), ("N57/N59E010.hgt", b"short"), ("a.txt", b"")]),
            b"PK\x03\x04".to_vec(),
            b"\x1f\x8b\x08\x00".to_vec(),
        ]
    },
    |bytes: &[u8]| {
        let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
        let names: &[&str] = match is_gzip {
            true => &["N57E011.hgt.gz"],
            false => &["N57E011.SRTMGL3.hgt.zip", "tiles.zip"],
        };
        for name in names {
            as_file(name, bytes, |path| read_all(path.parent().unwrap()));
        }
    }
);
fuzz_target!(
    geotiff,
    rasters(&[
        "zstd",
        "lerc",
        "lerc_zstd",
        "lzw_big",
        "strips_big_endian",
        "sparse",
        "utm_32",
        "scaled",
        "point",
        "etrs_32",
        "voids",
        "spikes",
        "unit_type_ft",
        "unit_type_us_ft",
        "unit_type_ft_egm2008",
        "vertical_us_ft",
        "vertical_ft",
        "undeclared_9999",
        "undeclared_32767",
        "mask_inside",
        "mask_alpha",
        "refused_rotated",
        "refused_unit",
        "refused_units",
        "refused_depth",
        "refused_bands",
        "refused_swiss",
    ]),
    |bytes: &[u8]| as_file("fuzzed.tif", bytes, |path| read_all(path.parent().unwrap()))
);
fuzz_target!(
    geotiff_mask,
    vec![shipped("tests/fixtures/terrain/mask_beside.tif.msk")],
    |bytes: &[u8]| as_file("fuzzed.tif.msk", bytes, |path| {
        let raster = shipped("tests/fixtures/terrain/mask_beside.tif");
        fs::write(path.with_extension(""), raster).unwrap();
        read_all(path.parent().unwrap());
    })
);
fuzz_target!(terrain_toml, vec![ABOUT.to_vec()], |bytes: &[u8]| {
    as_file("terrain.toml", bytes, |path| {
        let raster = shipped("tests/fixtures/terrain/voids.tif");
        fs::write(path.with_file_name("a.tif"), raster).unwrap();
        read_all(path.parent().unwrap());
    });
});
fuzz_target!(fetched_index, vec![FETCHED.to_vec()], |bytes: &[u8]| {
    as_file("index.json", bytes, |path| {
        let folder = path.parent().unwrap();
        read_all(folder);
        let cache = Cache::new(folder.to_owned());
        for entry in cache.index().into_iter().flat_map(|index| index.files.into_values()) {
            drop((cache.verify(&entry), cache.counts(&entry)));
        }
    });
});
fuzz_target!(geoid, vec![vec![1; 8]], |bytes: &[u8]| {
    drop(Geoid::decode(bytes));
    // Both layouts: that of NGA, and that of PROJ with a header of the south-western corner and the steps, deg,
    // rows and columns.
    let grid = match bytes.len() % 2 {
        0 => repeated(bytes, 2_076_480),
        _ => {
            let corner = [-90.0, -180.0, 0.25, 0.25].map(f64::to_be_bytes);
            let counts = [721_i32, 1440].map(i32::to_be_bytes);
            [corner.as_flattened(), counts.as_flattened(), &repeated(bytes, 4_153_000 - 40)]
                .concat()
        }
    };
    if let Ok(geoid) = Geoid::decode(&grid) {
        for (lat_deg, lon_deg) in [(57.7, 11.9), (-90.0, -180.0), (90.0, 180.0), (0.0, -0.1)] {
            let undulation_m = geoid.undulation_m(GeoPoint::new(lat_deg, lon_deg).unwrap());
            assert!((-110.0..=90.0).contains(&undulation_m), "{undulation_m}");
        }
    }
});
