//! Live coverage: it follows the nodes, computes only what they reach, and its stream is resumed.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Bench;
use super::changes::Listener;

/// Received power of a cell that nobody reaches.
const NO_POWER: i16 = i16::MIN + 1;

/// Cells put together from squares.
struct Picture {
    columns: usize,
    cells: Vec<(i16, u8)>,
    /// SINR by cell, hundredths of dB; none where interference does not count.
    ratios: Vec<i16>,
    /// The last state.
    state: Value,
    /// Id of the last event with one.
    id: String,
}

impl Picture {
    fn new(state: &Value) -> Self {
        let side = |name: &str| state[name].as_u64().unwrap() as usize;
        Self {
            columns: side("columns"),
            cells: vec![(NO_POWER, 0); side("rows") * side("columns")],
            ratios: vec![NO_POWER; side("rows") * side("columns")],
            state: state.clone(),
            id: String::new(),
        }
    }

    /// Hears until all cells of at least `evaluated` evaluations in all are there.
    fn receive(&mut self, listener: &mut Listener<'_>, evaluated: u64) {
        loop {
            let event = listener.next().unwrap();
            match event.name.as_str() {
                "state" => self.state = event.data,
                "tile" => self.draw(&event.data),
                other => panic!("{other}: {}", event.data),
            }
            if !event.id.is_empty() {
                self.id = event.id;
            }
            let state = &self.state;
            let is_last = self.id.ends_with(&format!("-{}", state["revision"]));
            let enough = state["evaluated_cells"].as_u64().unwrap() >= evaluated;
            if state["pending_nodes"] == 0 && enough && is_last {
                return;
            }
        }
    }

    fn draw(&mut self, tile: &Value) {
        let of = |name: &str| tile[name].as_u64().unwrap() as usize;
        let bytes = |name: &str| STANDARD.decode(tile[name].as_str().unwrap()).unwrap();
        let (powers, servers) = (bytes("received_power_cdbm"), bytes("server"));
        let numbers = |bytes: Vec<u8>| -> Vec<i16> {
            bytes.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect()
        };
        let index = |place: usize| {
            let [row, column] =
                [of("row") + place / of("columns"), of("column") + place % of("columns")];
            row * self.columns + column
        };
        for (place, cell) in numbers(powers).into_iter().zip(servers).enumerate() {
            self.cells[index(place)] = cell;
        }
        let has_ratios = !self.state["interference"].is_null();
        assert_eq!(tile.get("sinr_cdb").is_some(), has_ratios, "{tile}");
        if has_ratios {
            for (place, ratio) in numbers(bytes("sinr_cdb")).into_iter().enumerate() {
                self.ratios[index(place)] = ratio;
            }
        }
    }
}

fn setup() -> Value {
    json!({
        "bounds": { "south": 57.4, "west": 11.2, "north": 57.7, "east": 11.8 },
        "cell_arcsec": 30.0, "rx_height_agl_m": 2.0,
    })
}

#[test]
fn a_moved_node_changes_only_the_cells_it_reaches() {
    let bench = Bench::flat();
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    let node = |name: &str, lat: f64, lon: f64| {
        let body = json!({
            "name": name, "lat": lat, "lon": lon, "radio": { "tx_power_dbm": 20.0 },
        });
        bench.make(&format!("{path}/nodes"), &body)
    };
    let nodes = [node("a", 57.45, 11.3), node("b", 57.6, 11.5), node("c", 57.65, 11.7)];
    let live = format!("{path}/mesh-coverage");
    let state = bench.call("PUT", &live, &setup());
    assert_eq!(state.status, StatusCode::OK, "{:?}", state.json());
    let state = state.json();
    assert_eq!((&state["rows"], &state["columns"]), (&json!(36), &json!(72)));
    let tiles = format!("{live}/tiles");
    let mut listener = Listener::open(&bench, &tiles, None);
    let mut picture = Picture::new(&state);
    picture.receive(&mut listener, 1);
    while picture.state["nodes"].as_array().unwrap().len() < 3 {
        picture.receive(&mut listener, 1);
    }
    let first = picture.state["evaluated_cells"].as_u64().unwrap();
    let reached = picture.cells.iter().filter(|(power, _)| *power > NO_POWER);
    assert!(reached.count() > 30);
    // One node of three moves: about a third of the cells is evaluated, not all.
    let position = json!({ "lat": 57.5, "lon": 11.6 });
    let moved = format!("/api/v1/nodes/{}/position", nodes[0]);
    bench.call("PUT", &moved, &position);
    picture.receive(&mut listener, first + 1);
    let more = picture.state["evaluated_cells"].as_u64().unwrap() - first;
    assert!(more > 0 && more < first / 2, "{more} after {first}");
    // From the start it is the same.
    bench.call("DELETE", &live, &Value::Null);
    let state = bench.call("PUT", &live, &setup()).json();
    let mut fresh = Picture::new(&state);
    let mut listener = Listener::open(&bench, &tiles, None);
    fresh.receive(&mut listener, first);
    assert_eq!(fresh.cells, picture.cells);
    // A stream that was cut off goes on with what changed since.
    let id = fresh.id.clone();
    drop(listener);
    let before = fresh.state["evaluated_cells"].as_u64().unwrap();
    bench.call("PUT", &moved, &json!({ "lat": 57.45, "lon": 11.3 }));
    let mut resumed = Listener::open(&bench, &tiles, Some(&id));
    fresh.receive(&mut resumed, before + 1);
    assert_ne!(fresh.cells, picture.cells);
    // A node that fails serves nobody; nothing is evaluated until it works again, and then only its cells.
    let previous = fresh.cells.clone();
    let before = fresh.state["evaluated_cells"].as_u64().unwrap();
    let mut failed = setup();
    failed["failed_node_ids"] = json!([nodes[0]]);
    bench.call("PUT", &live, &failed);
    while fresh.state["failed_node_ids"] != failed["failed_node_ids"] || fresh.cells == previous {
        fresh.receive(&mut resumed, before);
    }
    assert_eq!(fresh.state["evaluated_cells"], before);
    bench.call("PUT", &live, &setup());
    while fresh.cells != previous {
        fresh.receive(&mut resumed, before + 1);
    }
    let more = fresh.state["evaluated_cells"].as_u64().unwrap() - before;
    assert!(more > 0 && more < first / 2, "{more} after {first}");
    // A node that is gone serves nobody.
    for node in &nodes {
        bench.call("DELETE", &format!("/api/v1/nodes/{node}"), &Value::Null);
    }
    while fresh.cells.iter().any(|(power, _)| *power != NO_POWER) {
        fresh.receive(&mut resumed, 0);
    }
    assert_eq!(bench.call("DELETE", &live, &Value::Null).status, StatusCode::NO_CONTENT);
    assert_eq!(bench.call("GET", &live, &Value::Null).status, StatusCode::NOT_FOUND);
}

#[test]
fn failed_nodes_serve_nobody_and_bad_areas_are_refused() {
    let bench = Bench::flat();
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    let body = json!({ "name": "a", "lat": 57.5, "lon": 11.5 });
    let node = bench.make(&format!("{path}/nodes"), &body);
    let live = format!("{path}/mesh-coverage");
    let mut failed = setup();
    failed["failed_node_ids"] = json!([node]);
    assert_eq!(bench.call("PUT", &live, &failed).status, StatusCode::OK);
    let state = bench.call("GET", &live, &Value::Null).json();
    assert_eq!((&state["revision"], &state["nodes"]), (&json!(0), &json!([])));
    for (key, value) in [
        ("interference", json!({ "duty_percent": 101.0 })),
        ("interference", json!({ "shadowing_correlation": 0.95 })),
        ("cell_arcsec", json!(0.5)),
        ("rx_height_agl_m", json!(-1.0)),
        ("bounds", json!({ "south": 57.7, "west": 11.2, "north": 57.4, "east": 11.8 })),
        ("bounds", json!({ "south": -80.0, "west": -170.0, "north": 80.0, "east": 170.0 })),
    ] {
        let mut bad = setup();
        bad[key] = value;
        let answer = bench.call("PUT", &live, &bad);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{key}");
    }
    let none = bench.call("PUT", &format!("/api/v1/deployments/{node}/mesh-coverage"), &setup());
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[test]
fn nodes_in_one_channel_disturb_each_other_and_others_do_not() {
    let bench = Bench::flat();
    let cover = |second_mhz: f64, interference: Value| {
        let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
        let path = format!("/api/v1/deployments/{within}");
        for (name, lon, frequency_mhz) in [("a", 11.47, 2437.0), ("b", 11.53, second_mhz)] {
            let radio = json!({ "tx_power_dbm": 20.0, "frequency_mhz": frequency_mhz });
            let body = json!({ "name": name, "lat": 57.55, "lon": lon, "radio": radio });
            bench.make(&format!("{path}/nodes"), &body);
        }
        let live = format!("{path}/mesh-coverage");
        let mut request = setup();
        request["interference"] = interference;
        let state = bench.call("PUT", &live, &request).json();
        let mut listener = Listener::open(&bench, &format!("{live}/tiles"), None);
        let mut picture = Picture::new(&state);
        picture.receive(&mut listener, 1);
        while picture.state["nodes"].as_array().unwrap().len() < 2 {
            picture.receive(&mut listener, 1);
        }
        picture
    };
    let busy = json!({ "duty_percent": 50.0 });
    let quiet = cover(2437.0, Value::Null);
    let [shared, apart] = [2437.0, 2487.0].map(|second_mhz| cover(second_mhz, busy.clone()));
    assert_eq!(shared.state["interference"]["shadowing_correlation"], 0.5);
    let powers = |picture: &Picture| picture.cells.iter().map(|cell| cell.0).collect::<Vec<_>>();
    assert!(powers(&shared) == powers(&quiet), "one channel: the strongest stays the server");
    assert!(quiet.ratios.iter().all(|ratio| *ratio == NO_POWER));
    let node = &shared.state["nodes"][0];
    let need = |name: &str| node[name].as_f64().unwrap();
    let noise_dbm = need("sensitivity_dbm") - need("required_sinr_db");
    let mut lower = 0;
    let snr_db = |power: i16| f64::from(power) / 100.0 - noise_dbm;
    for ((power, _), ratio) in shared.cells.iter().zip(&shared.ratios) {
        assert_eq!(*power > NO_POWER, *ratio > NO_POWER);
        let is_disturbed = f64::from(*ratio) / 100.0 < snr_db(*power) - 1.0;
        lower += usize::from(*power > NO_POWER && is_disturbed);
    }
    // The receiver is that of the first node: it decodes the other channel nowhere.
    let first = apart.state["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["sensitivity_dbm"].is_number());
    assert_eq!(first.count(), 1);
    let mut decoded = 0;
    for ((power, _), ratio) in apart.cells.iter().zip(&apart.ratios) {
        // Cells without a ratio are those that the other channel alone reaches.
        if *ratio > NO_POWER {
            assert!((f64::from(*ratio) / 100.0 - snr_db(*power)).abs() < 0.5, "{ratio} {power}");
            decoded += 1;
        }
    }
    assert!(lower > 10 && decoded > 10, "{lower} {decoded}");
}
