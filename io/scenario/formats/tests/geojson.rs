//! GeoJSON of others, and at fault.

use groundwave_model::radio::{Role, presets};
use serde_json::Value;

use super::{GEOJSON, assert_notes, defaults, fixture_text, plan_of, pointed, read, refused};

/// A collection with one feature.
fn with(properties: &str, coordinates: &str) -> String {
    format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[\n{{\"type\":\"Feature\",\"properties\":\
         {properties},\n\"geometry\":{{\"type\":\"Point\",\"coordinates\":{coordinates}}}}}]}}"
    )
}

#[test]
fn points_of_others_become_nodes() {
    let (plan, notes) = plan_of(GEOJSON, &fixture_text("foreign.geojson"));
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Ramberget", "Nolvik", "node 3", "Twins 1", "Twins 2"]);
    assert_eq!(plan.outline.name, "masts");
    let first = &plan.nodes[0];
    assert_eq!((first.position.lat_deg(), first.position.lon_deg()), (57.71417, 11.93667));
    assert_eq!(first.station, defaults());
    assert_eq!((first.id, first.role), (None, Role::Relay));
    let second = &plan.nodes[1];
    assert_eq!((second.role, second.station.height_agl_m), (Role::Command, 24.5));
    assert_eq!(second.station.radio, presets::radio("lora_868_eu").unwrap().radio);
    assert_eq!(second.station.antenna, presets::antenna("omni_5").unwrap().antenna);
    assert!((plan.nodes[2].position.lon_deg() - 11.9).abs() < 1e-9);
    let twin = &plan.nodes[4];
    assert_eq!((twin.position.lat_deg(), twin.station.radio.tx_power_dbm), (57.61, 10.0));
    assert_eq!(twin.station.pointing.unwrap().azimuth_deg, 270.0);
    assert_eq!(plan.outline.region.unwrap().rings()[0].len(), 5);
    assert_notes(
        &notes,
        &[
            "the third coordinate is not a height above ground: dropped (line 7: features[0].geometry.coordinates[2])",
            "no height above ground: 7.25 m is taken (4 times",
            "a height without a datum is taken as m above ground (line 9: features[1].properties.height)",
            "id is not a UUID: dropped",
            "no name: numbered",
            "longitude beyond 180 degrees",
            "\"ele\" is not a height above ground",
            "property \"operator\" is not used",
            "member \"generator\" is not used",
            "several points in one feature",
            "LineString is not a node",
            "polygon is not a region (ring 0 of region has 3 positions",
            "open ring of a polygon: closed (2 times",
            "the first polygon is taken as the region",
            "polygon besides the region: dropped",
            "feature without a geometry",
            "no propagation settings",
        ],
    );
    assert!(!notes.to_string().contains("marker-color"), "{notes}");
}

#[test]
fn one_feature_and_one_geometry_are_plans() {
    let feature = r#"{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[1,2]}}"#;
    assert_eq!(plan_of(GEOJSON, feature).0.nodes[0].name, "a");
    let point = r#"{"type":"Point","coordinates":[1,2]}"#;
    assert_eq!(plan_of(GEOJSON, point).0.nodes[0].position.lat_deg(), 2.0);
    let none = r#"{"features":[],"type":"FeatureCollection"}"#;
    assert!(plan_of(GEOJSON, none).0.nodes.is_empty());
}

#[test]
fn absent_settings_come_from_the_default_station() {
    let text = with(r#"{"radio":{"tx_power_dbm":3}}"#, "[11,57]");
    let (plan, notes) = read(GEOJSON, text.as_bytes(), &pointed()).unwrap();
    let station = &plan.nodes[0].station;
    assert_eq!(station.radio.tx_power_dbm, 3.0);
    assert_eq!(station.radio.frequency_mhz, pointed().radio.frequency_mhz);
    assert_eq!(station.pointing, pointed().pointing);
    assert_notes(&notes, &["parts of a radio: completed"]);
    // An antenna in the document comes without the default's pointing.
    let text = with(r#"{"antenna":"dish_24"}"#, "[11,57]");
    let (plan, _) = read(GEOJSON, text.as_bytes(), &pointed()).unwrap();
    assert_eq!(plan.nodes[0].station.pointing, None);
}

#[test]
fn faults_have_their_place() {
    let cases: [(String, &[&str]); 13] = [
        (with(r#"{"role":"boss"}"#, "[11,57]"), &["line 2: features[0].properties.role", "\"boss\"", "command, relay"]),
        (with(r#"{"radio":"wifi_2g4_mseh"}"#, "[11,57]"), &["did you mean \"wifi_2g4_mesh\""]),
        (with(r#"{"radio":{"power":3}}"#, "[11,57]"), &["properties.radio", "unknown field `power`"]),
        (with(r#"{"height_agl_m":-1}"#, "[11,57]"), &["properties.height_agl_m", "-1", "[0, 20000]"]),
        (with(r#"{"height_agl_m":"tall"}"#, "[11,57]"), &["\"tall\"", "a finite number"]),
        (with(r#"{"name":"a\tb"}"#, "[11,57]"), &["properties.name", "none of them a control character"]),
        (with("{}", "[57,111]"), &["coordinates[1]", "111", "-90 to 90; latitude and longitude may be swapped"]),
        (with("{}", "[319000,6399000]"), &["projected coordinates are not read"]),
        (with("{}", "[1e400,0]"), &["number out of range"]),
        (with("{}", "[11]"), &["features[0].geometry.coordinates", "[longitude, latitude]"]),
        (with("[]", "[11,57]"), &["an object or null"]),
        (r#"{"type":"Topology"}"#.to_owned(), &["type", "Topology"]),
        (r#"{"type":"FeatureCollection","features":[],"crs":{"properties":{"name":"EPSG:3006"}}}"#.to_owned(), &["EPSG:3006", "WGS84"]),
    ];
    for (text, says) in &cases {
        refused(GEOJSON, text.as_bytes(), says);
    }
}

#[test]
fn swapped_places_beside_a_region_are_noted() {
    let text = r#"{"type":"FeatureCollection","features":[
        {"type":"Feature","properties":null,"geometry":{"type":"Point","coordinates":[57.5,11.5]}},
        {"type":"Feature","properties":{"kind":"region"},"geometry":{"type":"Polygon","coordinates":[[[11,57],[12,57],[12,58],[11,57]]]}}]}"#;
    assert_notes(&plan_of(GEOJSON, text).1, &["if latitude and longitude were swapped"]);
}

#[test]
fn a_region_of_ours_must_be_sound() {
    let text = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"kind":"region"},
        "geometry":{"type":"Polygon","coordinates":[[[11,57],[12,57]]]}}]}"#;
    refused(GEOJSON, text.as_bytes(), &["features[0].geometry.coordinates", "has 3 positions"]);
}

#[test]
fn other_programs_find_the_fields_of_the_standard() {
    let (plan, _) = plan_of(GEOJSON, &fixture_text("foreign.geojson"));
    let json: Value = serde_json::from_slice(&super::written(GEOJSON, &plan)).unwrap();
    let features = json["features"].as_array().unwrap();
    assert_eq!(features.len(), 6);
    assert_eq!(features[0]["geometry"]["type"], "Polygon");
    assert_eq!(features[0]["properties"]["kind"], "region");
    let node = &features[2];
    assert_eq!(node["geometry"]["coordinates"], serde_json::json!([11.8, 57.75]));
    assert_eq!(node["properties"]["marker-color"], "#d55e00");
    assert_eq!(node["properties"]["radio"]["waveform"]["kind"], "lora");
    assert_eq!(json["deployment"]["name"], "masts");
}
