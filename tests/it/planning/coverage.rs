//! Coverage jobs: every cell a link, every watcher the whole story.

use std::sync::Arc;
use std::time::Duration;

use groundwave_needs::needs;
use groundwave_terrain::TerrainStack;
use serde_json::{Value, json};

use super::Bench;
use crate::support;

/// The events of a stream: name and data.
fn events(body: &[u8]) -> Vec<(String, Value)> {
    let text = std::str::from_utf8(body).unwrap();
    let event = |block: &str| {
        let field = |name: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(name).map(|rest| rest.trim().to_owned()))
        };
        let (name, data) = (field("event:")?, field("data:")?);
        Some((name, serde_json::from_str(&data).unwrap()))
    };
    text.split("\n\n").filter_map(event).collect()
}

fn ask(bench: &Bench, source: &str, resolution: i64) -> String {
    let body = json!({
        "source_node_id": source, "radius_km": 6.0, "resolution": resolution,
        "rx_height_agl_m": 2.0,
    });
    let answer = bench.call("POST", "/api/v1/coverage", &body);
    assert_eq!(answer.status.as_u16(), 202);
    answer.json()["job_id"].as_str().unwrap().to_owned()
}

fn source(bench: &Bench) -> (String, String) {
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}/nodes");
    let body = json!({ "name": "s", "lat": 57.72, "lon": 11.7, "height_agl_m": 25.0 });
    (bench.make(&path, &body), path)
}

/// Started first, rows in order, all their cells before their end, then done, and nothing more.
fn assert_complete(events: &[(String, Value)], side: u64) {
    let (name, data) = &events[0];
    assert_eq!((name.as_str(), data), ("started", &json!({ "rows": side, "cols": side })));
    let mut rest = events[1..].iter();
    for row in 0..side {
        for col in 0..side {
            let (name, data) = rest.next().unwrap();
            assert_eq!(name, "tile");
            assert_eq!((&data["row"], &data["col"]), (&json!(row), &json!(col)));
            let keys: Vec<_> = data.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["col", "lat", "lon", "row", "rx_power_dbm", "verdict"]);
        }
        assert_eq!(rest.next().unwrap(), &("row_done".to_owned(), json!({ "row": row })));
    }
    assert_eq!(rest.next().unwrap().0, "done");
    assert_eq!(rest.next(), None);
}

#[needs(terrain)]
#[test]
fn every_cell_equals_the_link_to_it() {
    let (tiles, geoid) = support::data();
    let terrain = TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    let (node, nodes) = source(&bench);
    let job = ask(&bench, &node, 5);
    let stream = bench.call("GET", &format!("/api/v1/coverage/{job}/stream"), &Value::Null);
    assert_complete(&events(&stream.body), 5);
    let snapshot = bench.call("GET", &format!("/api/v1/coverage/{job}"), &Value::Null).json();
    assert_eq!(snapshot["status"], "done");
    let cells = snapshot["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 25);
    let squares = bench.call("GET", &format!("/api/v1/coverage/{job}/tiles"), &Value::Null);
    let rates = events(&squares.body)[0].1["rates"][0].clone();
    let rates = rates.as_array().unwrap();
    assert!(!rates.is_empty());
    let mut worst_db = 0.0_f64;
    for cell in cells {
        let receiver = json!({
            "name": "r", "lat": cell["lat"], "lon": cell["lon"],
            "height_agl_m": 2.0, "radio": snapshot["receiver"],
        });
        let rx = bench.make(&nodes, &receiver);
        let link = json!({ "tx_node_id": node, "rx_node_id": rx });
        let analysis = bench.call("POST", "/api/v1/links/analyze", &link).json();
        let result = &analysis["result"];
        let power_dbm = result["receiver"]["rx_power_dbm"].as_f64().unwrap();
        let shown_dbm = cell["rx_power_dbm"].as_f64().unwrap();
        worst_db = worst_db.max((power_dbm - shown_dbm).abs());
        assert_eq!(result["verdict"], cell["verdict"]);
        let step = rates.iter().rfind(|step| step["from_dbm"].as_f64() <= Some(power_dbm));
        let rate_bps = step.map_or(0.0, |step| step["data_rate_bps"].as_f64().unwrap());
        assert_eq!(result["rate"]["data_rate_bps"], rate_bps);
    }
    assert!(worst_db <= 1e-9, "{worst_db} dB apart");
}

/// The card of a link on the page and the list of links have one answer.
#[needs(terrain)]
#[test]
fn analyses_with_a_sample_per_post_are_the_links_of_the_deployment() {
    let (tiles, geoid) = support::data();
    let terrain = TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    for (name, lat, lon) in [("a", 57.72, 11.7), ("b", 57.65, 11.95)] {
        let radio = json!({ "preset": "lora_868_eu" });
        let body =
            json!({ "name": name, "lat": lat, "lon": lon, "height_agl_m": 8.0, "radio": radio });
        bench.make(&format!("{path}/nodes"), &body);
    }
    let links = bench.call("GET", &format!("{path}/links"), &Value::Null).json();
    assert_eq!(links["links"].as_array().map(Vec::len), Some(1), "{links}");
    let link = &links["links"][0];
    let analyze = |is_per_post: bool| {
        let (tx, rx) = (&link["a_node_id"], &link["b_node_id"]);
        let body = json!({ "tx_node_id": tx, "rx_node_id": rx, "is_per_post": is_per_post });
        bench.call("POST", "/api/v1/links/analyze", &body).json()
    };
    let (analysis, other) = (analyze(true), analyze(false));
    let number = |value: &Value| value.as_f64().unwrap();
    for (direction, result) in [("forward", "result"), ("reverse", "reverse")] {
        let difference_db = number(&analysis[result]["margin"]["link_margin_db"])
            - number(&link[direction]["link_margin_db"]);
        assert!(difference_db.abs() < 1e-6, "{direction}: {difference_db} dB apart");
    }
    let count = |analysis: &Value| analysis["profile"]["samples"].as_array().unwrap().len();
    assert_eq!(count(&other), 256);
    assert!((32..=1024).contains(&count(&analysis)) && count(&analysis) != 256, "{link}");
}

/// Percentiles are those of links alike: not of the share of time that a budget asks for, but of what is
/// known of ground and surroundings.
#[needs(terrain)]
#[test]
fn percentiles_of_a_link_are_those_of_links_alike() {
    let (tiles, geoid) = support::data();
    let terrain = TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    let node = |name: &str, lat: f64, lon: f64| {
        let body = json!({ "name": name, "lat": lat, "lon": lon, "height_agl_m": 8.0 });
        bench.make(&format!("{path}/nodes"), &body)
    };
    let ends = [node("a", 57.72, 11.7), node("b", 57.65, 11.95)];
    let link = json!({ "tx_node_id": ends[0], "rx_node_id": ends[1] });
    let analyze = || bench.call("POST", "/api/v1/links/analyze", &link).json();
    let change = |environment: Value| {
        let changed = bench.call("PATCH", &path, &json!({ "environment": environment }));
        assert_eq!(changed.status.as_u16(), 200, "{:?}", changed.json());
    };
    let low = analyze();
    let prediction = &low["result"]["prediction"];
    assert_eq!(prediction["basis"], "surroundings_unknown");
    let number = |value: &Value| value.as_f64().unwrap();
    let percentiles = low["percentiles"].as_array().unwrap();
    let shares: Vec<_> = percentiles.iter().map(|one| number(&one["percent"])).collect();
    assert_eq!(shares, [10.0, 50.0, 90.0]);
    let sigma_db =
        number(&prediction["link_sigma_db"]).hypot(number(&prediction["place_sigma_db"]));
    for (one, deviate) in percentiles.iter().zip([1.281_55, 0.0, -1.281_55]) {
        let power_dbm = number(&prediction["rx_power_dbm"]) + deviate * sigma_db;
        assert!((number(&one["rx_power_dbm"]) - power_dbm).abs() < 1e-3);
        // Margins are powers less a constant.
        let result = &low["result"];
        let constant = number(&result["receiver"]["rx_power_dbm"])
            - number(&result["margin"]["link_margin_db"]);
        assert!((power_dbm - number(&one["link_margin_db"]) - constant).abs() < 1e-3);
    }
    let interval = prediction["rx_power_interval_dbm"].as_array().unwrap();
    let width_db = number(&interval[1]) - number(&interval[0]);
    assert!((width_db - 2.0 * 1.644_85 * sigma_db).abs() < 1e-3);
    change(json!({ "time_percent": 90.0, "location_percent": 90.0 }));
    let sure = analyze();
    assert!(
        number(&sure["result"]["margin"]["link_margin_db"])
            < number(&low["result"]["margin"]["link_margin_db"])
    );
    for (one, other) in percentiles.iter().zip(sure["percentiles"].as_array().unwrap()) {
        let apart_db = number(&one["rx_power_dbm"]) - number(&other["rx_power_dbm"]);
        assert!(apart_db.abs() < 1e-9, "{one} {other}");
    }
    // Once the surroundings are described, less is unknown.
    change(json!({ "time_percent": 50.0, "location_percent": 50.0,
                   "clutter": { "kind": "statistical", "below_height_m": 5.0 } }));
    let described = analyze()["result"]["prediction"].clone();
    assert_ne!(described["basis"], "surroundings_unknown");
    assert!(number(&described["place_sigma_db"]) < number(&prediction["place_sigma_db"]));
}

#[test]
fn early_and_late_streams_equal_the_snapshot() {
    let bench = Bench::flat();
    let (node, _) = source(&bench);
    let job = ask(&bench, &node, 9);
    let path = format!("/api/v1/coverage/{job}/stream");
    let early = bench.call("GET", &path, &Value::Null);
    assert_eq!(early.media(), "text/event-stream");
    let late = bench.call("GET", &path, &Value::Null);
    assert_eq!(early.body, late.body);
    let stream_events = events(&late.body);
    assert_complete(&stream_events, 9);
    let snapshot = bench.call("GET", &format!("/api/v1/coverage/{job}"), &Value::Null).json();
    let tiles: Vec<_> = stream_events.into_iter().filter(|(name, _)| name == "tile").collect();
    for ((_, tile), cell) in tiles.iter().zip(snapshot["cells"].as_array().unwrap()) {
        assert_eq!(tile, cell);
    }
    let statistics = &snapshot["statistics"];
    assert_eq!(statistics["cells"], 81);
    let by_verdict = statistics["cells_by_verdict"].as_array().unwrap();
    let all: u64 = by_verdict.iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(all, 81);
    // The square measures twice the radius along each side.
    let bounds = &snapshot["bounds"];
    let height_deg = bounds["north"].as_f64().unwrap() - bounds["south"].as_f64().unwrap();
    assert!((height_deg * 111.4 - 12.0).abs() < 0.1, "{height_deg}");
}

#[test]
fn five_watchers_one_of_them_slow_and_one_that_leaves() {
    let bench = Bench::flat();
    let (node, _) = source(&bench);
    let job = ask(&bench, &node, 40);
    let path = format!("/api/v1/coverage/{job}/stream");
    let bodies = bench.watch_five(&path, Duration::from_millis(1));
    assert_eq!(bodies.len(), 4, "the fifth left");
    for body in &bodies {
        assert_complete(&events(body), 40);
    }
}

#[test]
fn questions_out_of_range_are_refused_and_counts_are_clamped() {
    let bench = Bench::flat();
    let (node, _) = source(&bench);
    let ask = |radius: Value, resolution: Value| {
        let body = json!({
            "source_node_id": node, "radius_km": radius, "resolution": resolution,
            "rx_height_agl_m": 2.0,
        });
        bench.call("POST", "/api/v1/coverage", &body)
    };
    for radius in [json!(0), json!(-1), json!(500.1)] {
        let answer = ask(radius, json!(4));
        assert_eq!(answer.status.as_u16(), 400);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("(0, 500]"), "{detail}");
    }
    for (resolution, side) in [(json!(1), 4), (json!(-7), 4), (json!(300), 256)] {
        let answer = ask(json!(500), resolution);
        let job = answer.json()["job_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/coverage/{job}");
        let snapshot = bench.call("GET", &path, &Value::Null).json();
        assert_eq!((&snapshot["rows"], &snapshot["cols"]), (&json!(side), &json!(side)));
    }
}

#[needs(terrain)]
#[test]
fn ground_off_all_tiles_is_never_covered() {
    let (tiles, geoid) = support::data();
    let terrain = TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}/nodes");
    // On the eastern edge of the one tile: half of the square lies off it.
    let node = bench.make(&path, &json!({ "name": "s", "lat": 57.5, "lon": 11.999 }));
    let job = ask(&bench, &node, 8);
    let stream = bench.call("GET", &format!("/api/v1/coverage/{job}/stream"), &Value::Null);
    let mut off = 0;
    for (_, tile) in events(&stream.body).iter().filter(|(name, _)| name == "tile") {
        if tile["lon"].as_f64().unwrap() > 12.001 {
            assert_eq!(tile["verdict"], "no_data");
            off += 1;
        }
    }
    assert_eq!(off, 32);
}

/// Values of the cells of a job by the squares of its stream, row by row, and the servers; with the
/// number of squares.
fn squares(bench: &Bench, job: &str, last: Option<u32>) -> (Value, Vec<(String, Value)>) {
    let mut request = axum::http::Request::get(format!("/api/v1/coverage/{job}/tiles"));
    if let Some(last) = last {
        request = request.header("last-event-id", last.to_string());
    }
    let answer = bench.send(request.body(axum::body::Body::empty()).unwrap());
    assert_eq!(answer.media(), "text/event-stream");
    let mut stream_events = events(&answer.body);
    let (name, started) = stream_events.remove(0);
    assert_eq!(name, "started");
    (started, stream_events)
}

fn decode(value: &Value) -> Vec<u8> {
    use base64::Engine as _;
    let text = value.as_str().unwrap();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn squares_have_the_cells_of_the_snapshot_and_a_stream_of_them_is_resumed() {
    let bench = Bench::flat();
    let (node, _) = source(&bench);
    let job = ask(&bench, &node, 100);
    let (started, stream_events) = squares(&bench, &job, None);
    assert_eq!((&started["rows"], &started["columns"]), (&json!(100), &json!(100)));
    let path = format!("/api/v1/coverage/{job}");
    let snapshot = bench.call("GET", &path, &Value::Null).json();
    assert_eq!(started["bounds"], snapshot["bounds"]);
    let names: Vec<_> = stream_events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tile", "tile", "tile", "tile", "done"]);
    assert_eq!(stream_events[4].1["statistics"], snapshot["statistics"]);
    let sensitivity_dbm = started["sensitivity_dbm"][0].as_f64().unwrap();
    let (mut cell_count, mut verdicts) = (0, std::collections::BTreeSet::new());
    for (_, tile) in &stream_events[..4] {
        let of = |name: &str| tile[name].as_u64().unwrap() as usize;
        let (row, column, columns) = (of("row"), of("column"), of("columns"));
        assert_eq!((row % 64, column % 64), (0, 0));
        assert_eq!(tile["server"], Value::Null);
        let powers = decode(&tile["received_power_cdbm"]);
        let powers = powers.as_chunks::<2>().0;
        assert_eq!(powers.len(), of("rows") * columns);
        let percents = decode(&tile["link_probability_percent"]);
        assert_eq!(percents.len(), powers.len());
        for (place, power) in powers.iter().enumerate() {
            let cell = &snapshot["cells"][(row + place / columns) * 100 + column + place % columns];
            let exact_dbm = cell["rx_power_dbm"].as_f64().unwrap();
            let dbm = f64::from(i16::from_le_bytes(*power)) / 100.0;
            assert!((dbm - exact_dbm).abs() <= 0.005 + 1e-9, "{dbm}, not {exact_dbm}");
            let verdict = cell["verdict"].as_str().unwrap();
            if exact_dbm < sensitivity_dbm {
                assert!(["poor", "no_link"].contains(&verdict), "{verdict} at {exact_dbm} dBm");
            }
            let of_percent = match percents[place] {
                99.. => "excellent",
                90.. => "good",
                50.. => "marginal",
                10.. => "poor",
                _ => "no_link",
            };
            assert_eq!(verdict, of_percent, "{} %", percents[place]);
            verdicts.insert(verdict.to_owned());
            cell_count += 1;
        }
    }
    assert_eq!(cell_count, 100 * 100);
    assert!(verdicts.len() > 2, "{verdicts:?}");
    let (_, rest) = squares(&bench, &job, Some(1));
    assert_eq!(rest, stream_events[2..]);
    let (_, rest) = squares(&bench, &job, Some(99));
    assert_eq!(rest, stream_events[4..]);
}

#[test]
fn every_cell_of_several_transmitters_has_its_best_server() {
    let bench = Bench::flat();
    let (west, nodes) = source(&bench);
    let body = json!({ "name": "e", "lat": 57.72, "lon": 11.75, "height_agl_m": 25.0 });
    let east = bench.make(&nodes, &body);
    let ask = |more: Value| {
        let body = json!({
            "source_node_id": west, "radius_km": 6.0, "resolution": 32,
            "rx_height_agl_m": 2.0, "more_source_node_ids": more,
        });
        bench.call("POST", "/api/v1/coverage", &body)
    };
    let answer = ask(json!([east]));
    let job = answer.json()["job_id"].as_str().unwrap().to_owned();
    let (started, stream_events) = squares(&bench, &job, None);
    assert_eq!(started["source_node_ids"], json!([west, east]));
    let servers = decode(&stream_events[0].1["server"]);
    // Same stations on flat ground: the nearer one serves.
    assert_eq!((servers[16 * 32], servers[16 * 32 + 31]), (0, 1));
    for (more, status) in [
        (json!([west]), 400),
        (json!(vec![east.clone(); 16]), 400),
        (json!(["00000000-0000-0000-0000-000000000000"]), 404),
    ] {
        assert_eq!(ask(more).status.as_u16(), status);
    }
    let file = |format: &str| {
        let path = format!("/api/v1/coverage/{job}/export?format={format}");
        bench.call("GET", &path, &Value::Null)
    };
    let png = file("png");
    assert_eq!((png.status.as_u16(), png.media()), (200, "image/png"));
    let reader = png::Decoder::new(std::io::Cursor::new(&png.body)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (32, 32));
    let texts = reader.info().utf8_text.iter();
    let mut texts = texts.map(|text| (text.keyword.as_str(), text.get_text().unwrap()));
    let (keyword, text) = texts.next().unwrap();
    assert!(
        keyword == "Description" && text.starts_with("Assumed: 50 % of time"),
        "{keyword}: {text}"
    );
    let tif = file("tif").body;
    assert_eq!(&tif[..4], b"II*\0");
    let text = String::from_utf8_lossy(&tif);
    assert!(
        ["rx_power", "link_margin", "link_probability", "server", "ASSUMPTIONS"]
            .iter()
            .all(|band| text.contains(band))
    );
    let of_probability = file("png&layer=probability");
    assert_eq!((of_probability.status.as_u16(), of_probability.media()), (200, "image/png"));
    assert_ne!(of_probability.body, png.body);
    assert_eq!(file("png&layer=colour").status.as_u16(), 400);
    let world = file("png_world");
    assert_eq!((world.status.as_u16(), world.media()), (200, "application/zip"));
    let disposition = world.headers["content-disposition"].to_str().unwrap();
    assert_eq!(disposition, "attachment; filename=\"coverage-of-s-and-1-more.zip\"");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(world.body)).unwrap();
    let mut entry = |name: &str| {
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name(name).unwrap(), &mut content).unwrap();
        content
    };
    assert_eq!(entry("coverage-of-s-and-1-more.png"), png.body);
    assert!(entry("coverage-of-s-and-1-more.prj").starts_with(b"GEOGCS[\"GCS_WGS_1984\""));
    // Pixel centres: half a cell within the bounds of the coverage, and the last one half a cell from the others.
    let lines = String::from_utf8(entry("coverage-of-s-and-1-more.pgw")).unwrap();
    let lines: Vec<f64> = lines.lines().map(|line| line.parse().unwrap()).collect();
    let bound = |key: &str| started["bounds"][key].as_f64().unwrap();
    let [width, height] =
        [(bound("east") - bound("west")) / 32.0, (bound("north") - bound("south")) / 32.0];
    let expected =
        [width, 0.0, 0.0, -height, bound("west") + width / 2.0, bound("north") - height / 2.0];
    assert!(
        lines.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
        "{lines:?} {expected:?}"
    );
    assert_eq!(lines.len(), 6);
    let kmz = file("kmz").body;
    assert_eq!(&kmz[..2], b"PK");
    assert_eq!(file("jpg").status.as_u16(), 400);
}
