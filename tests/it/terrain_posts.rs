//! Tiles with posts that are no heights: what is computed over them, and that their files are named.

mod spikes;
mod swapped;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use axum::http::Method;
use groundwave_http::client::Client;
use groundwave_setup::terrain::TerrainOptions;
use serde_json::{Value, json};

use crate::planning::server::Process;
use crate::support::{command, refusal, stdout};

/// Posts along one side of a tile.
const SIDE: usize = 1201;

/// Ground of hills between 10 and 110 m.
fn hills(row: usize, column: usize) -> i16 {
    (60.0 + 50.0 * (row as f64 / 31.0).sin() * (column as f64 / 47.0).cos()) as i16
}

/// A folder with the tile N57E011: hills, with a square of `post` around a row and a column.
fn tiles(folder: &Path, name: &str, at: [usize; 2], post: i16) -> PathBuf {
    let is_around =
        |row: usize, column: usize| row.abs_diff(at[0]) < 4 && column.abs_diff(at[1]) < 4;
    written(folder, name, |row, column| match is_around(row, column) {
        true => post,
        false => hills(row, column),
    })
}

fn written(folder: &Path, name: &str, post: impl Fn(usize, usize) -> i16) -> PathBuf {
    let tiles = folder.join(name);
    std::fs::create_dir(&tiles).unwrap();
    let posts = (0..SIDE * SIDE).flat_map(|at| post(at / SIDE, at % SIDE).to_be_bytes());
    std::fs::write(tiles.join("N57E011.hgt"), posts.collect::<Vec<u8>>()).unwrap();
    tiles
}

/// Post under the western end of the links of these tests, and one in the middle of them.
const UNDER_NODE: [usize; 2] = [600, 600];
const BETWEEN: [usize; 2] = [600, 624];

/// Western and eastern node, deg.
const WEST: [f64; 2] = [57.5, 11.5];
const EAST: [f64; 2] = [57.5, 11.54];

/// Node beyond the eastern one, deg: its link with that one crosses no post of another value.
const FAR: [f64; 2] = [57.5, 11.545];

/// Values of posts that are no heights, each with its entry of the log.
const NO_HEIGHTS: [(i16, &str); 5] = [
    (-9_999, "are -32767, 32767 or -9999"),
    (-32_767, "are -32767, 32767 or -9999"),
    (32_767, "are -32767, 32767 or -9999"),
    (25_000, "are outside -12000 to 9000 m"),
    (-12_001, "are outside -12000 to 9000 m"),
];

fn groundwave(folder: &Path, words: &[&str]) -> Output {
    let mut program = command(words);
    program.env("GROUNDWAVE_DATA", folder.join("none"));
    program.output().unwrap()
}

fn link(folder: &Path, tiles: &Path) -> Output {
    let [west, east] = [WEST, EAST].map(|[lat, lon]| format!("{lat},{lon},20"));
    let tiles = tiles.to_str().unwrap();
    let radio = ["--radio", "wifi_5g_mesh", "--srtm-dir", tiles, "--json"];
    groundwave(folder, &[&["link", &west, &east], &radio[..]].concat())
}

fn run(folder: &Path, tiles: &Path) -> Output {
    let node = |name: &str, [lat, lon]: [f64; 2]| {
        format!(
            "[[node]]\nname = \"{name}\"\nlat_deg = {lat}\nlon_deg = {lon}\nheight_agl_m = 20\n\
             radio = \"wifi_5g_mesh\"\nantenna = \"omni_9\"\n"
        )
    };
    let scenario = folder.join("posts.toml");
    let head =
        "[scenario]\ntitle = \"t\"\nstep_s = 1\nduration_s = 2\n[terrain]\ntiles = [\"N57E011\"]\n";
    // The third is far from what is no height.
    let nodes = [node("west", WEST), node("east", EAST), node("far", FAR)];
    std::fs::write(&scenario, head.to_owned() + &nodes.concat()).unwrap();
    let words = ["run", scenario.to_str().unwrap(), "--srtm-dir", tiles.to_str().unwrap()];
    groundwave(folder, &[&words[..], &["--json"]].concat())
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap()
}

/// Document of a command that ended with a code.
fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_link_over_posts_that_are_no_heights_is_that_over_voids() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (place, at) in [("node", UNDER_NODE), ("middle", BETWEEN)] {
        let of_void = tiles(folder, place, at, i16::MIN);
        let (linked, ran) = (link(folder, &of_void), run(folder, &of_void));
        // So wide a void leaves no verdict, and the usual one is nothing else to warn of.
        assert_eq!(linked.status.code(), Some(3), "{place}");
        assert!(errors(&linked).contains("samples lie in voids"), "{}", errors(&linked));
        assert_eq!(errors(&linked).lines().count(), 1, "{}", errors(&linked));
        let (linked, ran) = (document(&linked), json_of(&ran));
        assert_eq!(linked["verdict"], "no_terrain_data");
        let voids = linked["forward"]["terrain"]["void_samples"].as_u64();
        assert!(voids > Some(0), "{linked}");
        for (post, doubt) in NO_HEIGHTS {
            let tiles = tiles(folder, &format!("{place}{post}"), at, post);
            let (actual, ticks) = (link(folder, &tiles), run(folder, &tiles));
            for output in [&actual, &ticks] {
                let error = errors(output);
                assert!(error.contains("N57E011.hgt") && error.contains(doubt), "{post}: {error}");
                assert_eq!(error.matches(doubt).count(), 1, "once for a tile: {error}");
            }
            assert_eq!(document(&actual), linked, "{post} in the {place}");
            assert_eq!(json_of(&ticks)["links"], ran["links"], "{post} in the {place}");
        }
    }
}

#[test]
fn a_tile_with_its_octets_in_the_wrong_order_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let swapped = written(folder, "swapped", |row, column| hills(row, column).swap_bytes());
    let level = written(folder, "level", |_, _| 100_i16.swap_bytes());
    for tiles in [swapped, level] {
        for output in [link(folder, &tiles), run(folder, &tiles)] {
            let error = refusal(&output);
            assert!(error.contains("N57E011.hgt") && error.contains("wrong order"), "{error}");
        }
    }
    // Too few heights to be sure: used, and named.
    let low = written(folder, "low", |_, _| 10_i16.swap_bytes());
    let error = errors(&link(folder, &low));
    assert!(
        error.contains("N57E011.hgt") && error.contains("octets in the wrong order?"),
        "{error}"
    );
}

/// Sends requests to a planning server over tiles; what it answered to each, and its log.
fn planned(folder: &Path, tiles: &Path, restart: bool) -> (Vec<(String, Value)>, String) {
    let db = folder.join(format!("{}.db", tiles.file_name().unwrap().to_str().unwrap()));
    let start = || {
        let mut serve = command(&["serve", "planning", "--bind", "127.0.0.1:0", "--db"]);
        serve.arg(&db).env("PLAN_SRTM_DIR", tiles).current_dir(folder);
        serve.env("NO_COLOR", "1").env("GROUNDWAVE_DATA", folder.join("none"));
        Process::of(serve)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let ask = |server: &Process, method: Method, path: &str, body: Value| {
        runtime.block_on(async {
            let mut client = Client::tcp(&server.address).await.unwrap();
            let body = (!body.is_null()).then_some(&body);
            let (status, bytes) = client.ask(method, path, body).await.unwrap();
            let document: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            assert!(status.is_success(), "{path}: {status} {document}");
            document
        })
    };
    let mut server = start();
    let answer = ask(&server, Method::POST, "/api/v1/deployments", json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{}", answer["id"].as_str().unwrap());
    let mut ids = Vec::new();
    for (name, [lat, lon]) in [("west", WEST), ("east", EAST), ("far", FAR)] {
        let node = json!({ "name": name, "lat": lat, "lon": lon, "height_agl_m": 20.0 });
        let node = ask(&server, Method::POST, &format!("{path}/nodes"), node);
        ids.push(node["id"].as_str().unwrap().to_owned());
    }
    if restart {
        server.end();
        server = start();
    }
    let [south, west, north, east] = [57.49, 11.49, 57.51, 11.56];
    let requests = [
        (Method::GET, format!("{path}/links"), Value::Null),
        (Method::POST, format!("{path}/scan"), json!({ "lat": 57.5, "lon": 11.52 })),
        (
            Method::POST,
            format!("{path}/links/preview"),
            json!({ "node_id": ids[1], "lat": 57.5, "lon": 11.541 }),
        ),
        (
            Method::POST,
            format!("{path}/placement"),
            json!({
                "bounds": { "south": south, "west": west, "north": north, "east": east },
                "count": 2, "candidates": [{ "lat": WEST[0], "lon": WEST[1] }, { "lat": 57.5, "lon": 11.52 }],
            }),
        ),
        (
            Method::POST,
            "/api/v1/mesh/recommend-protocol".to_owned(),
            json!({ "deployment_id": path.rsplit('/').next() }),
        ),
        (
            Method::POST,
            "/api/v1/links/analyze".to_owned(),
            json!({ "tx_node_id": ids[0], "rx_node_id": ids[1] }),
        ),
        (
            Method::POST,
            "/api/v1/relay/plan".to_owned(),
            json!({ "tx_node_id": ids[0], "rx_node_id": ids[2], "target_data_rate_bps": 1e6 }),
        ),
    ];
    let answers = requests.into_iter().map(|(method, path, body)| {
        let what = path.rsplit('/').next().unwrap().to_owned();
        (what, ask(&server, method, &path, body))
    });
    (answers.collect(), server.end())
}

#[test]
fn the_planner_answers_over_posts_that_are_no_heights_as_over_voids() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let of_void = tiles(folder, "void", UNDER_NODE, i16::MIN);
    let (expected, _) = planned(folder, &of_void, false);
    let links = expected[0].1["links"].as_array().unwrap();
    let count = |has: fn(u64) -> bool| {
        let voids = links.iter().map(|link| link["void_samples"].as_u64().unwrap());
        voids.filter(|voids| has(*voids)).count()
    };
    assert_eq!((count(|voids| voids > 0), count(|voids| voids == 0)), (2, 1), "{links:?}");
    for (number, (post, doubt)) in NO_HEIGHTS.into_iter().enumerate() {
        let tiles = tiles(folder, &format!("of{post}"), UNDER_NODE, post);
        let (answers, log) = planned(folder, &tiles, number == 0);
        for ((what, answers), (_, expected)) in answers.iter().zip(&expected) {
            // Ids differ from server to server, and with them the end from which a path is walked.
            match what.as_str() {
                "links" | "scan" | "preview" | "analyze" => assert_same(what, answers, expected),
                _ => assert_eq!(keys(answers), keys(expected), "{what}"),
            }
        }
        assert!(log.contains("N57E011.hgt") && log.contains(doubt), "{post}: {log}");
    }
}

fn keys(answer: &Value) -> Vec<&String> {
    answer.as_object().unwrap().keys().collect()
}

/// Compares what does not depend on the direction in which a path is walked.
#[track_caller]
fn assert_same(what: &str, actual: &Value, expected: &Value) {
    let verdicts = |answer: &Value| {
        let text = answer.to_string();
        let count = |word: &str| text.matches(word).count();
        ["\"void_samples\":0", "terrain_void", "no_link", "excellent", "good", "marginal", "poor"]
            .map(count)
    };
    assert_eq!(verdicts(actual), verdicts(expected), "{what}: {actual} {expected}");
}

#[test]
fn the_planner_counts_a_tile_in_the_wrong_order_as_missing_and_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let swapped = written(folder, "swapped", |row, column| hills(row, column).swap_bytes());
    let (answers, log) = planned(folder, &swapped, true);
    let links = answers[0].1["links"].as_array().unwrap();
    assert_eq!(links.len(), 3);
    assert!(links.iter().all(|link| link["missing_samples"].as_u64() > Some(0)), "{links:?}");
    assert!(log.contains("N57E011.hgt") && log.contains("wrong order"), "{log}");
}

#[test]
fn flat_ground_of_a_log_has_a_height_of_the_earth() {
    let open = |height: &str| {
        let inputs = BTreeMap::from([("flat_msl_m".to_owned(), height.to_owned())]);
        let opened = TerrainOptions::default().for_log(&inputs);
        opened.map_err(|failure| failure.message().to_owned())
    };
    assert!(open("7777").is_ok() && open("-500").is_ok());
    for height in ["9001", "-500.5", "1e300", "nan", "inf", "high"] {
        let error = open(height).err().unwrap();
        assert!(error.contains(height) && error.contains("[-500, 9000]"), "{error}");
    }
}

#[test]
fn a_folder_of_tiles_counts_for_a_scenario_without_terrain() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = written(folder, "tiles", hills);
    let scenario = folder.join("bare.toml");
    let node = |name: &str, [lat, lon]: [f64; 2]| {
        format!(
            "[[node]]\nname = \"{name}\"\nlat_deg = {lat}\nlon_deg = {lon}\nheight_agl_m = 20\nradio = \"wifi_5g_mesh\"\nantenna = \"omni_9\"\n"
        )
    };
    let nodes = [node("west", WEST), node("east", EAST)].concat();
    for terrain in ["", "[terrain]\nflat_msl_m = 0\n"] {
        let head = "[scenario]\ntitle = \"t\"\nstep_s = 1\nduration_s = 2\n";
        std::fs::write(&scenario, format!("{head}{terrain}{nodes}")).unwrap();
        let words = ["run", scenario.to_str().unwrap(), "--srtm-dir", tiles.to_str().unwrap()];
        let ran = json_of(&groundwave(folder, &[&words[..], &["--json"]].concat()));
        assert!(ran.to_string().contains("1 SRTM tile"), "{terrain}: {ran}");
        let link = ["link", "west", "east", "--scenario", scenario.to_str().unwrap()];
        let options = ["--srtm-dir", tiles.to_str().unwrap(), "--json"];
        let linked = json_of(&groundwave(folder, &[&link[..], &options].concat()));
        assert_eq!(linked["tiles_used"][0], "N57E011", "{terrain}: {linked}");
    }
}
