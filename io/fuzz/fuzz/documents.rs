//! Documents of others: plans, tracks, maps, measurements, terrain.

use groundwave_fuzz::fuzz_target;
use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, Terrain};
use groundwave_scenario::formats;
use groundwave_scenario::formats::{FORMATS, Format, ReadOptions, Source, csv, identify};
use groundwave_terrain::{Geoid, TerrainStack, TileDirectory};

use super::{as_file, shipped, text};

/// Reads bytes with a format; a message of a refusal has no control characters.
fn read(format: &'static Format, bytes: &[u8]) {
    let options =
        ReadOptions { origin: GeoPoint::new(57.7, 11.9).ok(), ..ReadOptions::new(station()) };
    match format.read(&Source::of(bytes.to_vec()), &options) {
        Ok(dataset) => drop(dataset.into_plan(format, &station())),
        Err(error) => {
            let message = error.to_string();
            let bad = message.chars().any(|c| c.is_control() && c != '\n');
            assert!(!bad && !message.is_empty(), "{message:?}");
        }
    }
}

/// The format of this name.
fn named(name: &str) -> &'static Format {
    formats::by_name(name).unwrap_or_else(|| panic!("no format {name}"))
}

/// A plan written in a format, as a document of it.
fn written(name: &str) -> Vec<Vec<u8>> {
    let source = Source::of(shipped("tests/fixtures/exchange/foreign.kml"));
    let plan = named("kml").read(&source, &ReadOptions::new(station()));
    let (plan, _) = plan.unwrap().into_plan(named("kml"), &station()).unwrap();
    let mut bytes = Vec::new();
    let write = named(name).write_plan.expect("a format that is written");
    write(&plan, &mut bytes).unwrap();
    vec![bytes]
}

/// An index of fetched terrain.
const FETCHED: &[u8] =
    br#"{"files": {"glo30/N57E011": {"source": "glo30", "name": "a.tif", "file": "glo30/b.tif",
    "url": "http://a.example/a.tif", "length": 7, "sha256": "00", "about": {"name": "GLO-30"}}},
    "absent": ["glo30/N57E009"], "consents": ["glo30"]}"#;

fuzz_target!(
    geojson,
    vec![shipped("examples/masts.geojson"), shipped("tests/fixtures/exchange/foreign.geojson")],
    |bytes: &[u8]| read(named("geojson"), bytes)
);
fuzz_target!(kml, vec![shipped("tests/fixtures/exchange/foreign.kml")], |bytes: &[u8]| read(
    named("kml"),
    bytes
));
fuzz_target!(kmz, written("kmz"), |bytes: &[u8]| read(named("kmz"), bytes));
fuzz_target!(
    csv_plan,
    vec![
        shipped("examples/masts.csv"),
        shipped("examples/links.csv"),
        shipped("tests/fixtures/exchange/foreign.csv")
    ],
    |bytes: &[u8]| read(named("csv"), bytes)
);
fuzz_target!(
    scenario,
    vec![
        shipped("scenarios/failover.toml"),
        shipped("scenarios/convoy.toml"),
        shipped("scenarios/coverage_grid.toml"),
        shipped("scenarios/ns2_platoon.toml")
    ],
    |bytes: &[u8]| {
        drop(groundwave_scenario::parse_alone(&text(bytes), "fuzz"));
        read(named("scenario"), bytes);
    }
);
fuzz_target!(eel, vec![shipped("examples/emane.eel")], |bytes: &[u8]| read(named("eel"), bytes));
fuzz_target!(gpx, vec![shipped("examples/walk.gpx")], |bytes: &[u8]| read(named("gpx"), bytes));
fuzz_target!(ns2, vec![shipped("scenarios/ns2_platoon.scen")], |bytes: &[u8]| read(
    named("ns2"),
    bytes
));
fuzz_target!(mahimahi, vec![b"0\n0\n3\n12\n40\n".to_vec()], |bytes: &[u8]| {
    read(named("mahimahi"), bytes);
    drop(groundwave_io_impair::mahimahi::rates(&text(bytes), 10));
});
fuzz_target!(maps, vec![shipped("examples/meshviewer.json")], |bytes: &[u8]| {
    for format in FORMATS {
        if format.extensions.contains(&"json") || format.name.starts_with("core") {
            read(format, bytes);
        }
    }
});
fuzz_target!(levels, vec![shipped("examples/levels.csv")], |bytes: &[u8]| {
    as_file("levels.toml", &shipped("examples/levels.toml"), |path| {
        if let Ok(mapping) = csv::levels::load(path) {
            let options = ReadOptions { mapping: Some(mapping), ..ReadOptions::new(station()) };
            drop(named("csv").read(&Source::of(bytes.to_vec()), &options));
        }
    });
});
fuzz_target!(
    sniffing,
    vec![
        shipped("examples/walk.gpx"),
        shipped("examples/masts.geojson"),
        shipped("examples/emane.eel"),
        shipped("examples/trace.down")
    ],
    |bytes: &[u8]| {
        if let Ok(format) = identify(&Source::of(bytes.to_vec())) {
            read(format, bytes);
        }
    }
);
fuzz_target!(
    hgt,
    vec![vec![0; 2 * 1201 * 1201], b"PK\x03\x04".to_vec(), b"\x1f\x8b\x08\x00".to_vec()],
    |bytes: &[u8]| {
        for name in ["N57E011.hgt", "N57E011.hgt.gz", "N57E011.SRTMGL3.hgt.zip"] {
            as_file(name, bytes, |path| {
                let tiles = TileDirectory::open(path.parent().expect("a folder")).unwrap();
                drop(tiles.check());
                let mut heights_m = [0.0; 2];
                tiles.sample(&[57.5, 57.999_9], &[11.5, 11.0], &mut heights_m);
            });
        }
    }
);
fuzz_target!(
    geotiff,
    [
        "zstd",
        "lerc",
        "lerc_zstd",
        "lzw_big",
        "strips_big_endian",
        "sparse",
        "utm_32",
        "scaled",
        "refused_rotated"
    ]
    .map(|name| shipped(&format!("tests/fixtures/terrain/{name}.tif")))
    .to_vec(),
    |bytes: &[u8]| {
        as_file("fuzzed.tif", bytes, |path| {
            let folder = path.parent().expect("a folder");
            let stack = TerrainStack::open(Some(folder), None).unwrap();
            let mut heights_m = [0.0; 3];
            stack.sample(&[59.9, 59.7, 60.0], &[10.1, 10.7, 7.3], &mut heights_m);
            for height_m in heights_m {
                assert!(height_m.is_nan() || height_m.abs() <= 12_000.0, "{height_m}");
            }
            drop(stack.known_ground());
        });
    }
);
fuzz_target!(fetched_index, vec![FETCHED.to_vec()], |bytes: &[u8]| {
    as_file("index.json", bytes, |path| {
        drop(TerrainStack::open(path.parent(), None));
    });
});
fuzz_target!(geoid, vec![vec![1; 2_076_480]], |bytes: &[u8]| {
    if let Ok(geoid) = Geoid::decode(bytes) {
        let at = GeoPoint::new(57.7, 11.9).unwrap();
        assert!(geoid.undulation_m(at).is_finite());
    }
});
