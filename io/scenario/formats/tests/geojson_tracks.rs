//! Tracks of GeoJSON: lines and points with times, and plans that have times as well.

use groundwave_model::sample::station;

use super::super::{Dataset, Datum, Event, Height, ReadOptions, Source, identify};
use super::count;

#[track_caller]
fn read(text: &str, datum: Option<Datum>) -> Dataset {
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format.name, "geojsontrack", "{text}");
    let options = ReadOptions { datum, ..ReadOptions::new(station()) };
    format.read(&source, &options).unwrap()
}

fn collection(features: &[String]) -> String {
    format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
}

fn line(kind: &str, places: &str, properties: &str) -> String {
    format!(
        r#"{{"type":"Feature","properties":{properties},"geometry":{{"type":"{kind}","coordinates":{places}}}}}"#
    )
}

const TIMES: &str = r#"["2024-05-01T10:00:00Z","2024-05-01T10:01:00Z"]"#;

#[test]
fn lines_with_times_are_tracks() {
    let places = "[[11.9,57.7,20],[11.91,57.7,30]]";
    let one = |key: &str| line("LineString", places, &format!(r#"{{"name":"A","{key}":{TIMES}}}"#));
    let group = line(
        "MultiLineString",
        &format!("[{places}]"),
        &format!(r#"{{"name":"A","coordinateProperties":{{"times":[{TIMES}]}}}}"#),
    );
    let moving = format!(
        r#"{{"type":"Feature","properties":{{"name":"A"}},"temporalGeometry":{{"type":"MovingPoint",
            "datetimes":{TIMES},"coordinates":{places}}}}}"#
    );
    for text in [collection(&[one("coordTimes")]), one("times"), collection(&[group]), moving] {
        let dataset = read(&text, None);
        let course: Vec<f64> = dataset.courses()[&0].iter().map(|fix| fix.0).collect();
        assert_eq!((dataset.nodes[0].name.as_str(), course), ("A", vec![0.0, 60.0]), "{text}");
        assert_eq!(dataset.begin_unix_s, Some(1_714_557_600.0), "{text}");
        assert_eq!(count(&dataset.report, "an altitude above an unknown level"), 2, "{text}");
        let dataset = read(&text, Some(Datum::Sea));
        let is_height = |event: &&(f64, Event)| matches!(event.1, Event::Height(_, Height::Sea(_)));
        assert_eq!(dataset.events.iter().filter(is_height).count(), 2, "{text}");
    }
}

fn point(properties: &str, lat: f64) -> String {
    line("Point", &format!("[11.9,{lat}]"), properties)
}

#[test]
fn points_with_times_are_those_of_their_nodes() {
    let of = |name: &str, minute: u32, lat: f64| {
        point(&format!(r#"{{"name":"{name}","time":"2024-05-01T10:0{minute}:00Z"}}"#), lat)
    };
    let dataset = read(
        &collection(&[of("A", 0, 57.7), of("B", 0, 57.8), of("A", 1, 57.71), of("B", 1, 57.81)]),
        None,
    );
    let names: Vec<&str> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((names, dataset.courses()[&1].len()), (vec!["A", "B"], 2));
    // Without names they are of one receiver.
    let unnamed = |minute: u32, lat: f64| {
        point(&format!(r#"{{"provider":"gps","time":"2024-05-01T10:0{minute}:00Z"}}"#), lat)
    };
    assert_eq!(read(&collection(&[unnamed(0, 57.7), unnamed(1, 57.71)]), None).nodes.len(), 1);
    // Sites with times have names of their own.
    for sites in [[of("A", 0, 57.7), of("B", 0, 57.8)], [unnamed(0, 57.7), unnamed(0, 57.8)]] {
        let source = Source::of(collection(&sites).into());
        assert_eq!(identify(&source).unwrap().name, "geojson");
    }
}
