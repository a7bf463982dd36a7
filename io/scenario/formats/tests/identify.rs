//! Recognition of formats, and their registry.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::{
    Content, FORMATS, ReadOptions, Source, by_extension, by_name, identify, plan_formats,
};
use super::kml::zipped;
use super::{PLAN_FORMATS, defaults, fixture};

fn named(path: &str, text: &str) -> Result<&'static str, String> {
    let source = Source { path: path.into(), documents: vec![text.into()], ..Source::default() };
    identify(&source).map(|format| format.name).map_err(|error| error.to_string())
}

#[test]
fn content_counts_more_than_the_ending() {
    let graph = r#"{"type":"NetworkGraph","nodes":[],"links":[]}"#;
    for (path, text, name) in [
        ("a.json", graph, "netjson"),
        ("a.geojson", graph, "netjson"),
        ("", r#"{"type":"Point","coordinates":[1,2]}"#, "geojson"),
        ("a.txt", "\u{feff}name;lat;lon\n", "csv"),
        ("a.csv", "when,from,to\n", "csv"),
        ("a.csv.gz", "\u{1f}", "csv"),
        (
            "a.csv",
            "time,node,lat,lon\n2024-05-01T10:00:00Z,a,57,11\n2024-05-01T10:00:01Z,a,57,12\n",
            "tracks",
        ),
        (
            "a.csv",
            "date,name,lat,lon\n2024-05-01,a,57,11\n2024-05-02,b,57,12\n2024-05-03,c,57,12\n",
            "csv",
        ),
        ("a.dat", "1 0.0 0 0\n0 0.0 10 0\n", "bonnmotion"),
        ("", "# of ours\n\n[scenario]\ntitle = \"t\"\n", "scenario"),
        ("A.TOML", "x = 1", "scenario"),
        ("", "<?xml version=\"1.0\"?><!-- a --><kml xmlns=\"x\">", "kml"),
        ("", "<gpx version=\"1.1\">", "gpx"),
        ("a.xml", "<scenario name=\"a\">", "core"),
        ("", "0.0 nem:1 location gps 1,2\n", "eel"),
        ("", "# a\n$node_(0) set X_ 1\n", "ns2"),
        ("a.up", "0\n5\n", "mahimahi"),
        ("a.xml", "<cnml version=\"0.1\">", "cnml"),
        ("", r#"{"type":"DeviceMonitoring","general":{}}"#, "netjson-device"),
        ("", r#"[{"neigh_address":"aa","tq":1}]"#, "batctl"),
        ("", r#"{"links":[{"localIP":"1","remoteIP":"2"}]}"#, "olsrd"),
        ("", r#"{"rows":[{"value":{"latlng":[1,2]}}]}"#, "openwifimap"),
        ("", r#"[{"id":1,"coordinates":[1,2]}]"#, "nycmesh"),
        ("", r#"[{"netID":"000013","id":"roof"}]"#, "ttn"),
        ("", r#"{"nodes":[{"node_id":"a"}]}"#, "meshviewer"),
        ("", r#"{"nodes":{"a":{"neighbours":{}}}}"#, "meshviewer"),
        ("", r#"{"links":[{"source":"a","target":"b","source_tq":1}]}"#, "meshviewer"),
    ] {
        assert_eq!(named(path, text).as_deref(), Ok(name), "{path} {text}");
    }
}

#[test]
fn unknown_document_points_to_the_list_of_formats() {
    for (text, actual) in [
        ("", "an empty document"),
        ("{\"type\":", "invalid JSON"),
        ("[1, 2]", "JSON of an unknown kind"),
        ("hello", "content of an unknown kind"),
    ] {
        let message = named("a.json", text).unwrap_err();
        assert!(message.contains(actual) && message.contains("--format"), "{message}");
        assert!(message.contains("convert --help") && message.len() < 300, "{message}");
    }
}

#[test]
fn the_registry_is_consistent() {
    let names: BTreeSet<_> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names.len(), FORMATS.len());
    for format in FORMATS {
        assert_eq!(by_name(&format.name.to_uppercase()), Some(format));
        assert!(!format.description.is_empty() && !format.extensions.is_empty(), "{format}");
        let writes = format.write_plan.is_some() || format.write_recording.is_some();
        assert!(format.read.is_some() || writes, "{format}");
        // A format exchanged over HTTP has a media type, and reads its own output.
        let exchanged = format.write_plan.is_some();
        assert_eq!(format.media_type.is_some(), exchanged, "{format}");
        assert!(!exchanged || format.holds(Content::Plan), "{format}");
    }
    assert_eq!(plan_formats().collect::<Vec<_>>(), PLAN_FORMATS);
    let plan = |path: &str| by_extension(Path::new(path), |format| format.write_plan.is_some());
    let recording = |path: &str| {
        let format = by_extension(Path::new(path), |format| format.write_recording.is_some());
        format.map(|format| format.name)
    };
    assert_eq!(plan("a.json").map(|format| format.name), Some("geojson"));
    assert_eq!(recording("a.json"), Some("netjson"));
    assert_eq!((recording("a.xml"), recording("a.csv")), (Some("core"), Some("csv")));
    assert_eq!((plan("a.docx"), recording("a.pdf")), (None, None));
}

#[test]
fn documents_of_other_programs_are_recognised() {
    for (name, format) in
        [("foreign.geojson", "geojson"), ("foreign.kml", "kml"), ("foreign.csv", "csv")]
    {
        let name_of = identify(&Source::of(fixture(name))).map(|format| format.name);
        assert_eq!(name_of, Ok(format));
    }
}

#[test]
fn zip_files_are_what_their_kml_is() {
    let track = "<gx:Track><when>2024-05-01T10:00:00Z</when><when>2024-05-01T10:00:09Z</when>\
                 <gx:coord>11.9 57.7 0</gx:coord><gx:coord>11.9 57.701 0</gx:coord></gx:Track>";
    let kml = |content: &str| {
        let space = "xmlns:gx=\"http://www.google.com/kml/ext/2.2\"";
        format!(
            "<kml {space}><Document><Placemark><name>Anna</name>{content}</Placemark></Document></kml>"
        )
    };
    let point = kml("<Point><coordinates>11.9,57.7</coordinates></Point>");
    for (content, name) in [(kml(track), "kmltrack"), (point, "kmz")] {
        for path in ["a.kmz", "a.zip", ""] {
            let bytes = zipped(&[("doc.kml", content.as_bytes())]);
            let source = Source { path: path.into(), ..Source::of(bytes) };
            let format = identify(&source).unwrap();
            assert_eq!(format.name, name, "{path}");
            let dataset = format.read(&source, &ReadOptions::new(defaults())).unwrap();
            assert_eq!(dataset.events.len(), if name == "kmltrack" { 2 } else { 0 });
        }
    }
    let other = Source::of(zipped(&[("a.txt", b"a")]));
    let error = identify(&other).unwrap_err().to_string();
    assert!(error.contains("found a zip file without readable KML"), "{error}");
}

#[test]
fn files_of_settings_are_not_called_json() {
    let error = named("omnetpp.ini", "# INET\n[General]\nnetwork = Mesh\n").unwrap_err();
    assert!(error.contains("a file of settings with the section [General]"), "{error}");
    for json in ["[1, 2", "[true]", "[\"a\"", "{\"a\": ["] {
        let error = named("a.txt", json).unwrap_err();
        assert!(error.contains("JSON"), "{json}: {error}");
    }
}
