//! Ground that the server fetches on request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::{StatusCode, header};
use groundwave_http::Problem;
use groundwave_model::terrain::{Flat, GeoPoint, NoTerrain, Terrain, TileId};
use groundwave_planning::ground::{GroundSource, TileProgress};
use groundwave_planning::wire::coverage::Bounds;
use groundwave_planning::wire::ground::GroundTerms;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Bench;
use crate::support::eventually;

const OFFER: &str = "/api/v1/terrain/offer";
const FETCHES: &str = "/api/v1/terrain/fetches";

/// A source of ground at 40 m that publishes every tile but those of the open sea, south of the equator.
#[derive(Default)]
struct Hills {
    /// Tiles wait for the end of the test, or for a cancellation.
    is_slow: AtomicBool,
    requests: Mutex<Vec<TileId>>,
}

impl GroundSource for Hills {
    fn terms(&self) -> GroundTerms {
        GroundTerms {
            name: "Hills".to_owned(),
            address: "https://hills.example".to_owned(),
            licence: None,
            attribution: None,
            tile_max_mb: 7,
        }
    }

    fn lacking(&self, bounds: Bounds, terrain: &dyn Terrain) -> Result<Vec<TileId>, Problem> {
        let (south, north) = (bounds.south.floor() as i32, bounds.north.floor() as i32);
        let (west, east) = (bounds.west.floor() as i32, bounds.east.floor() as i32);
        let squares = (south..=north).flat_map(|lat| (west..=east).map(move |lon| (lat, lon)));
        let is_unknown = |lat: f64, lon: f64| {
            GeoPoint::new(lat, lon).is_ok_and(|at| terrain.elevation_msl_m(at).is_none())
        };
        Ok(squares
            .filter(|(lat, lon)| is_unknown(f64::from(*lat) + 0.5, f64::from(*lon) + 0.5))
            .filter_map(|(lat, lon)| TileId::new(lat, lon))
            .collect())
    }

    fn consent(&self) -> Result<(), String> {
        Ok(())
    }

    fn fetch(
        &self,
        tile: TileId,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(TileProgress),
    ) -> Result<(), String> {
        self.requests.lock().unwrap().push(tile);
        if tile.south_deg() < 0 {
            progress(TileProgress::Absent);
            return Ok(());
        }
        progress(TileProgress::Bytes(3, Some(10)));
        if self.is_slow.load(Ordering::Relaxed) && eventually(|| stop.is_cancelled()) {
            return Err("cancelled".to_owned());
        }
        progress(TileProgress::Bytes(10, Some(10)));
        Ok(())
    }

    fn renew(&self) -> Result<Arc<dyn Terrain>, String> {
        Ok(Arc::new(Flat { elevation_msl_m: 40.0 }))
    }
}

fn bench(source: &Arc<Hills>) -> Bench {
    let none = NoTerrain { elevation_msl_m: f64::NAN };
    Bench::fetching(Arc::new(none), Ok(source.clone()))
}

fn bounds([south, west, north, east]: [f64; 4]) -> Value {
    json!({ "south": south, "west": west, "north": north, "east": east })
}

const TOWN: [f64; 4] = [57.6, 11.5, 57.8, 12.1];

fn begin(bench: &Bench, area: [f64; 4]) -> super::Answer {
    bench.call("POST", FETCHES, &json!({ "bounds": bounds(area), "consent": true }))
}

/// The fetch at a path, when it has ended.
fn ended(bench: &Bench, path: &str) -> Value {
    let progress = || bench.call("GET", path, &Value::Null).json();
    assert!(eventually(|| progress()["state"] != "running"));
    progress()
}

#[test]
fn fetched_ground_is_in_use_without_a_restart() {
    let source = Arc::new(Hills::default());
    let bench = bench(&source);
    let deployment = bench.call("POST", "/api/v1/deployments", &json!({ "name": "Town" })).json();
    let nodes = format!("/api/v1/deployments/{}/nodes", deployment["id"].as_str().unwrap());
    for (name, lat) in [("a", 57.70), ("b", 57.72)] {
        let node = json!({ "name": name, "lat": lat, "lon": 11.9, "height_agl_m": 20 });
        assert_eq!(bench.call("POST", &nodes, &node).status, StatusCode::CREATED);
    }
    let links = nodes.replace("/nodes", "/links");
    let ground = || bench.call("GET", &links, &Value::Null).json()["links"][0]["ground"].clone();
    assert_eq!(ground(), "unknown");
    let relief = || bench.call("GET", "/api/v1/terrain/tiles/10/546/311.png", &Value::Null).body;
    let before = relief();

    let offer = bench.call("POST", OFFER, &json!({ "bounds": bounds(TOWN) })).json();
    assert_eq!(offer["tiles"], json!(["N57E011", "N57E012"]));
    assert_eq!((&offer["size_max_mb"], &offer["refusal"]), (&json!(14), &Value::Null));
    assert_eq!(offer["terms"]["address"], "https://hills.example");
    assert!(source.requests.lock().unwrap().is_empty());

    let fetch = begin(&bench, TOWN);
    assert_eq!(fetch.status, StatusCode::ACCEPTED);
    let path = fetch.headers[header::LOCATION].to_str().unwrap().to_owned();
    let end = ended(&bench, &path);
    assert_eq!((&end["state"], &end["failure"]), (&json!("done"), &Value::Null));
    assert_eq!(end["fetched"], json!(["N57E011", "N57E012"]));
    assert_eq!(end["received_bytes"], 20);
    let at = bench.call("GET", "/api/v1/terrain/elevation?lat=57.7&lon=11.9", &Value::Null).json();
    assert_eq!(at["elevation_msl_m"], 40.0);
    assert_ne!(ground(), "unknown");
    assert_ne!(relief(), before);
    let offer = bench.call("POST", OFFER, &json!({ "bounds": bounds(TOWN) })).json();
    assert_eq!((&offer["tiles"], &offer["fetch"]), (&json!([]), &Value::Null));
}

#[test]
fn land_cover_is_offered_and_fetched_as_heights_are() {
    let source = Arc::new(Hills::default());
    let bench = bench(&source);
    let question = json!({ "bounds": bounds(TOWN), "data": "land_cover" });
    let offer = bench.call("POST", OFFER, &question).json();
    assert_eq!((&offer["data"], &offer["refusal"]), (&json!("land_cover"), &Value::Null));
    let mut request = question;
    request["consent"] = json!(true);
    let fetch = bench.call("POST", FETCHES, &request);
    assert_eq!(fetch.status, StatusCode::ACCEPTED);
    let end = ended(&bench, fetch.headers[header::LOCATION].to_str().unwrap());
    assert_eq!((&end["data"], &end["state"]), (&json!("land_cover"), &json!("done")));
    assert_eq!(
        bench.call("POST", OFFER, &json!({ "bounds": bounds(TOWN) })).json()["data"],
        "heights"
    );
}

#[test]
fn tiles_that_are_not_published_leave_the_ground_as_it_is() {
    let source = Arc::new(Hills::default());
    let bench = bench(&source);
    let fetch = begin(&bench, [-57.8, 11.5, -57.6, 11.9]);
    let end = ended(&bench, fetch.headers[header::LOCATION].to_str().unwrap());
    assert_eq!((&end["state"], &end["absent"]), (&json!("done"), &json!(["S58E011"])));
    let at = bench.call("GET", "/api/v1/terrain/elevation?lat=57.7&lon=11.9", &Value::Null).json();
    assert_eq!(at["elevation_msl_m"], Value::Null);
}

#[test]
fn one_fetch_runs_at_a_time_and_is_cancelled_by_any_client() {
    let source = Arc::new(Hills::default());
    source.is_slow.store(true, Ordering::Relaxed);
    let bench = bench(&source);
    let fetch = begin(&bench, TOWN);
    let path = fetch.headers[header::LOCATION].to_str().unwrap().to_owned();
    let progress = || bench.call("GET", &path, &Value::Null).json();
    assert!(eventually(|| progress()["tile_bytes"] == 3));
    assert_eq!(progress()["tile_size_bytes"], 10);
    let second = begin(&bench, TOWN);
    assert_eq!(second.status, StatusCode::CONFLICT);
    let id = progress()["id"].as_str().unwrap().to_owned();
    let detail = second.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(&format!("DELETE {FETCHES}/{id} cancels it")), "{detail}");
    let offer = bench.call("POST", OFFER, &json!({ "bounds": bounds(TOWN) })).json();
    assert_eq!(offer["fetch"]["id"], json!(id));
    assert_eq!(bench.call("DELETE", &path, &Value::Null).status, StatusCode::NO_CONTENT);
    let end = ended(&bench, &path);
    assert_eq!((&end["state"], &end["fetched"]), (&json!("cancelled"), &json!([])));
    assert_eq!(source.requests.lock().unwrap().len(), 1);
    let other = format!("{FETCHES}/00000000-0000-0000-0000-000000000001");
    for method in ["GET", "DELETE"] {
        assert_eq!(bench.call(method, &other, &Value::Null).status, StatusCode::NOT_FOUND);
    }
}

#[test]
fn refused_requests_give_the_reason_and_fetch_nothing() {
    let source = Arc::new(Hills::default());
    let bench = bench(&source);
    let refusals = [
        (
            json!({ "bounds": bounds(TOWN), "consent": false }),
            "`consent` is false, allowed is true",
        ),
        (
            json!({ "bounds": bounds([57.8, 11.5, 57.6, 12.1]), "consent": true }),
            "`bounds.south` is 57.8, allowed is below `bounds.north`, 57.6",
        ),
        (
            json!({ "bounds": bounds([50.5, 10.5, 54.5, 13.5]), "consent": true }),
            "`bounds` has 20 tiles without data, allowed are 1 to 16",
        ),
        (
            json!({ "bounds": bounds(TOWN), "consent": true, "data": "buildings" }),
            "unknown variant `buildings`",
        ),
        (
            json!({ "bounds": bounds(TOWN), "consent": true, "url": "http://10.0.0.1" }),
            "unknown field `url`",
        ),
    ];
    for (body, reason) in refusals {
        let answer = bench.call("POST", FETCHES, &body);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(reason), "{text}");
    }
    let without = Bench::flat();
    let offer = without.call("POST", OFFER, &json!({ "bounds": bounds(TOWN) })).json();
    assert_eq!(offer["refusal"], "this server fetches none");
    let answer = begin(&without, TOWN);
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.json()["detail"], "this server fetches none");
    assert!(source.requests.lock().unwrap().is_empty());
}
