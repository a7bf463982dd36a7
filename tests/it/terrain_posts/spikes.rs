//! Posts that stand alone: named with file and place, counted by `terrain verify`, kept as they are.

use sha2::{Digest, Sha256};

use super::*;

/// A folder with the tile N57E011: hills, with one post between the nodes higher by `more_m`.
fn spiked(folder: &Path, name: &str, more_m: i16) -> PathBuf {
    written(folder, name, |row, column| {
        hills(row, column) + if [row, column] == BETWEEN { more_m } else { 0 }
    })
}

#[test]
fn spike_below_a_path_is_named_with_its_place_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, more_m, side) in [("spike", 800, "above"), ("pit", -700, "below")] {
        let tiles = spiked(folder, name, more_m);
        for output in [link(folder, &tiles), run(folder, &tiles)] {
            let error = errors(&output);
            let spike =
                "1 of 1442401 posts stand more than 300 m above or below all posts around them";
            assert!(error.contains("N57E011.hgt") && error.contains(spike), "{error}");
            assert!(error.contains("57.50000, 11.52000") && error.contains(side), "{error}");
            assert_eq!(error.matches(spike).count(), 1, "once for a tile: {error}");
        }
        let document = document(&link(folder, &tiles));
        assert_eq!(document["forward"]["terrain"]["void_samples"], 0, "{document}");
        let is_blocked = document["forward"]["clearance"]["line_of_sight"] == false;
        assert_eq!(is_blocked, more_m > 0, "{document}");
    }
    let hill = spiked(folder, "hill", 290);
    assert!(!errors(&link(folder, &hill)).contains("stand"), "{}", errors(&link(folder, &hill)));
}

/// Puts a file into the index of a cache, as a fetch does.
fn receipt(cache: &Path, key: &str, name: &str, bytes: &[u8]) -> Value {
    let source = key.split('/').next().unwrap();
    let digest = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    std::fs::create_dir_all(cache.join(source)).unwrap();
    std::fs::write(cache.join(source).join(name), bytes).unwrap();
    json!({
        "source": source, "name": name, "file": format!("{source}/{name}"), "url": format!("http://a.example/{name}"),
        "length": bytes.len(), "sha256": digest, "about": { "name": source },
    })
}

#[test]
fn verify_counts_spikes_of_tiles_and_of_geotiff_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cache = folder.join("cache");
    let tile = std::fs::read(spiked(folder, "spike", 800).join("N57E011.hgt")).unwrap();
    let raster = std::fs::read("tests/fixtures/terrain/spikes.tif").unwrap();
    let sound = std::fs::read("tests/fixtures/terrain/lerc.tif").unwrap();
    let files = json!({
        "srtm/N57E011": receipt(&cache, "srtm/N57E011", "N57E011.hgt", &tile),
        "glo30/N59E010": receipt(&cache, "glo30/N59E010", "spikes.tif", &raster),
        "glo30/N60E010": receipt(&cache, "glo30/N60E010", "lerc.tif", &sound),
    });
    std::fs::write(cache.join("index.json"), json!({ "files": files }).to_string()).unwrap();
    let words = ["terrain", "verify", "--terrain-cache", cache.to_str().unwrap()];
    let report = json_of(&groundwave(folder, &[&words[..], &["--json"]].concat()));
    assert_eq!(report["sound"].as_array().unwrap().len(), 3, "{report}");
    let gaps = report["gaps"].as_array().unwrap();
    let counts: Vec<_> =
        gaps.iter().map(|gap| (gap["file"].as_str().unwrap(), &gap["spike_posts"])).collect();
    assert_eq!(counts, [("glo30/N59E010", &json!(2)), ("srtm/N57E011", &json!(1))]);
    let text = stdout(&groundwave(folder, &words));
    assert!(text.contains("glo30/N59E010: 2 of 2304 posts stand more than 300 m"), "{text}");
    assert!(text.contains("57.50000, 11.52000 (799 m above)"), "{text}");
}
