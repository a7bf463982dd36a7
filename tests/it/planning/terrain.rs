//! Known ground, heights and squares of the web map.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use groundwave_model::terrain::{GeoPoint, NoTerrain, Terrain};
use groundwave_needs::needs;
use groundwave_terrain::TerrainStack;
use serde_json::{Value, json};

use super::Bench;
use crate::support;

/// Pixels of a PNG of 256 by 256.
fn pixels<const N: usize>(png: &[u8]) -> Vec<[u8; N]> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (256, 256));
    assert_eq!(pixels.len(), 256 * 256 * N);
    pixels.as_chunks::<N>().0.to_vec()
}

#[needs(terrain)]
#[test]
fn heights_of_a_square_are_those_of_the_points_and_unknown_ground_is_transparent() {
    let (tiles, geoid) = support::data();
    let terrain = Arc::new(TerrainStack::open(Some(&tiles), Some(&geoid)).unwrap());
    let bench = Bench::over(terrain.clone());
    // In the middle of N57E011.
    let answer = bench.call("GET", "/api/v1/terrain/tiles/12/2176/1243.png", &Value::Null);
    assert_eq!((answer.status, answer.media()), (StatusCode::OK, "image/png"));
    let cells = pixels::<4>(&answer.body);
    let squares = f64::from(1 << 12);
    let mut worst_m = 0.0_f64;
    for (row, column) in [(0, 0), (10, 200), (128, 128), (255, 255)] {
        let lon_deg = (2176.0 + (f64::from(column) + 0.5) / 256.0) / squares * 360.0 - 180.0;
        let down = (1243.0 + (f64::from(row) + 0.5) / 256.0) / squares;
        let lat = (std::f64::consts::PI * (1.0 - 2.0 * down)).sinh().atan();
        let at = GeoPoint::new(lat.to_degrees(), lon_deg).unwrap();
        let [red, green, blue, alpha] = cells[(row * 256 + column) as usize];
        assert_eq!(alpha, 255);
        let height_m = f64::from(red) * 256.0 + f64::from(green) + f64::from(blue) / 256.0;
        let path = format!("/api/v1/terrain/elevation?lat={}&lon={lon_deg}", at.lat_deg());
        let point = bench.call("GET", &path, &Value::Null).json();
        let expected_m = terrain.elevation_msl_m(at).unwrap();
        assert_eq!(point["elevation_msl_m"], json!(expected_m));
        let geoid_m = point["elevation_hae_m"].as_f64().unwrap() - expected_m;
        assert!((geoid_m - terrain.undulation_m(at)).abs() < 1e-9);
        worst_m = worst_m.max((height_m - 32_768.0 - expected_m).abs());
    }
    assert!(worst_m <= 0.5, "{worst_m} m apart");
    // Zoom 7: most of the square lies off the one tile.
    for path in ["tiles/7/68/38", "relief/7/68/38.png", "relief/7/68/38.png?detail=contours"] {
        let answer = bench.call("GET", &format!("/api/v1/terrain/{path}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let alphas: Vec<u8> = pixels::<4>(&answer.body).iter().map(|pixel| pixel[3]).collect();
        assert!(alphas.contains(&0) && alphas.contains(&255), "{path}");
    }
    let opaque = bench.call("GET", "/api/v1/terrain/tiles/7/68/38?opaque=true", &Value::Null);
    assert!(pixels::<4>(&opaque.body).iter().all(|pixel| pixel[3] == 255));
    let area = bench.call("GET", "/api/v1/terrain/area", &Value::Null).json();
    let expected = json!({
        "south": 57.0, "west": 11.0, "north": 58.0, "east": 12.0,
        "resolution_arcsec": terrain.resolution_arcsec(GeoPoint::new(57.5, 11.5).unwrap()),
        "source": "SRTM N57E011",
    });
    assert_eq!(area["areas"], json!([expected]));
    assert_eq!(area["has_geoid"], true);
}

#[test]
fn second_request_of_a_square_gives_not_modified() {
    let bench = Bench::flat();
    let path = "/api/v1/terrain/tiles/9/271/155";
    let first = bench.call("GET", path, &Value::Null);
    let tag = first.headers[header::ETAG].clone();
    assert_eq!(first.headers[header::CACHE_CONTROL], "public, max-age=300");
    let again = Request::get(path).header(header::IF_NONE_MATCH, &tag);
    let again = bench.send(again.body(Body::empty()).unwrap());
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    assert!(again.body.is_empty());
    assert_eq!(again.headers[header::ETAG], tag);
    // Flat ground at 0 m: known, and 32768 in the encoding.
    assert!(pixels::<4>(&first.body).iter().all(|pixel| *pixel == [128, 0, 0, 255]));
    let area = bench.call("GET", "/api/v1/terrain/area", &Value::Null).json();
    assert_eq!(area["areas"][0]["west"], -180.0);
    for path in ["tiles/6/0/0", "tiles/16/0/0", "tiles/9/512/0", "relief/9/0/512", "tiles/9/0/a"] {
        let answer = bench.call("GET", &format!("/api/v1/terrain/{path}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn unknown_ground_has_no_height_even_where_sea_level_is_assumed() {
    let assumed = NoTerrain { elevation_msl_m: 0.0 };
    let bench = Bench::over(Arc::new(assumed));
    let point = bench.call("GET", "/api/v1/terrain/elevation?lat=57.5&lon=11.5", &Value::Null);
    assert_eq!(point.json()["elevation_msl_m"], Value::Null);
    let area = bench.call("GET", "/api/v1/terrain/area", &Value::Null).json();
    assert_eq!(area["areas"], json!([]));
    let tile = bench.call("GET", "/api/v1/terrain/tiles/9/271/155", &Value::Null);
    assert!(pixels::<4>(&tile.body).iter().all(|pixel| *pixel == [0; 4]));
    let refused = bench.call("GET", "/api/v1/terrain/elevation?lat=91&lon=0", &Value::Null);
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}
