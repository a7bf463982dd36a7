//! Tracks of KML: spellings, dates and altitudes.

use groundwave_model::sample::station;

use super::super::{Dataset, Event, Height, ReadOptions, Source, identify, kml_tracks};
use super::count;

#[track_caller]
fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format, &kml_tracks::FORMAT);
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

fn point(prefix: &str, time: &str, place: &str) -> String {
    format!("<{prefix}when>{time}</{prefix}when><gx:coord>{place}</gx:coord>")
}

fn document(inside: &str) -> String {
    format!(
        "<kml xmlns=\"http://www.opengis.net/kml/2.2\" xmlns:kml=\"http://www.opengis.net/kml/2.2\" \
         xmlns:gx=\"http://www.google.com/kml/ext/2.2\"><Document>{inside}</Document></kml>"
    )
}

fn placemark(inside: &str) -> String {
    document(&format!("<Placemark>{inside}</Placemark>"))
}

/// Heights of a document.
fn heights(dataset: &Dataset) -> Vec<Height> {
    let height = |event: &(f64, Event)| match event.1 {
        Event::Height(_, height) => Some(height),
        _ => None,
    };
    dataset.events.iter().filter_map(height).collect()
}

#[test]
fn tracks_of_a_group_have_its_altitude_mode() {
    let points = point("", "2024-05-01T10:00:00Z", "11.9 57.7 120")
        + &point("", "2024-05-01T10:00:09Z", "11.9 57.7 130");
    let own = "<altitudeMode>absolute</altitudeMode>";
    let group = format!(
        "<gx:MultiTrack><altitudeMode>relativeToGround</altitudeMode><gx:Track>{points}</gx:Track>\
         <gx:Track>{own}{points}</gx:Track></gx:MultiTrack><gx:Track>{points}</gx:Track>"
    );
    let dataset = read(&placemark(&group));
    let mut expected = vec![Height::Ground(120.0), Height::Sea(120.0)];
    expected.extend([Height::Ground(130.0), Height::Sea(130.0)]);
    assert_eq!(heights(&dataset), expected);
    assert_eq!(count(&dataset.report, "clamped to the ground"), 2);
}

#[test]
fn tracks_are_recognised_by_their_elements_anywhere_in_the_document() {
    let track = |begin: &str, prefix: &str| {
        let points = point(prefix, "2024-05-01T10:00:00Z", "11.9 57.7")
            + &point(prefix, "2024-05-01T10:00:09Z", "11.91 57.7");
        placemark(&format!("{begin}{points}</gx:Track>"))
    };
    let far = format!("<description>{}</description><gx:Track>", "x".repeat(70_000));
    for text in [track("<gx:Track id=\"t1\">", ""), track("<gx:Track>", "kml:"), track(&far, "")] {
        let dataset = read(&text);
        assert_eq!(dataset.courses()[&0].len(), 2, "{}", dataset.report);
    }
}

#[test]
fn dates_of_days_and_months_are_their_beginning() {
    let dates = ["2024-02-29", "2024-03", "2025"];
    let places = ["11.9 57.7", "11.91 57.7", "11.92 57.7"];
    let points = dates.iter().zip(places).map(|(date, place)| point("", date, place));
    let points: String = points.collect();
    let dataset = read(&placemark(&format!("<gx:Track>{points}</gx:Track>")));
    let days: Vec<f64> = dataset.events.iter().map(|event| event.0 / 86_400.0).collect();
    assert_eq!(days, [19_782.0, 19_783.0, 20_089.0]);
    assert_eq!(count(&dataset.report, "a date without a time"), 3);
    let stamps = dates.map(|date| {
        format!("<Placemark><TimeStamp><when>{date}</when></TimeStamp><Point><coordinates>11.9,57.7</coordinates></Point></Placemark>")
    });
    let stamped = read(&document(&stamps.concat()));
    assert_eq!(stamped.courses()[&0].last().map(|fix| fix.0 / 86_400.0), Some(307.0));
}

#[test]
fn points_of_one_name_in_folders_of_the_same_time_are_different_nodes() {
    let mark = |time: &str, lat: &str| {
        format!(
            "<Placemark><name>Position</name><TimeStamp><when>2024-05-01T{time}Z</when></TimeStamp>\
             <Point><coordinates>11.9,{lat}</coordinates></Point></Placemark>"
        )
    };
    let folder = |name: &str, times: [&str; 2], lat: &str| {
        format!(
            "<Folder><name>{name}</name>{}</Folder>",
            times.map(|time| mark(time, lat)).concat()
        )
    };
    let (morning, later) = (["10:00:00", "10:10:00"], ["10:05:00", "10:15:00"]);
    let together = folder("Alice", morning, "57.7") + &folder("Bob", later, "57.8");
    let dataset = read(&document(&together));
    let names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Alice Position", "Bob Position"]);
    assert_eq!(count(&dataset.report, "in several folders at the same times"), 1);
    // Folders of days have one node.
    let days =
        folder("Monday", morning, "57.7") + &folder("Tuesday", ["11:00:00", "11:10:00"], "57.8");
    let dataset = read(&document(&days));
    assert_eq!((dataset.nodes.len(), dataset.courses()[&0].len()), (1, 4));
}

#[test]
fn points_of_several_names_at_one_time_are_nodes_of_their_own() {
    let mark = |name: &str, lat: &str| {
        format!(
            "<Placemark><name>{name}</name><TimeStamp><when>2024-05-01T10:00:00Z</when></TimeStamp>\
             <Point><coordinates>11.9,{lat}</coordinates></Point></Placemark>"
        )
    };
    let dataset = read(&document(&(mark("P", "57.7") + &mark("Q", "57.8"))));
    let names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["P", "Q"], "{}", dataset.report);
    let alone = Source::of(document(&mark("P", "57.7")).into());
    let dataset = kml_tracks::FORMAT.read(&alone, &ReadOptions::new(station())).unwrap();
    assert_eq!(dataset.nodes[0].name, "P");
}
