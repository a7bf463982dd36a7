//! Folders of documents, packed documents, documents in other encodings, and documents without content.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;

use super::super::{Dataset, Event, FormatError, ReadOptions, Source, identify, meshviewer};
use super::{count, dataset};

/// Reads a file or folder as the format of its content.
fn open(path: &Path) -> Result<Dataset, FormatError> {
    let source = Source::open(path).unwrap();
    let format = identify(&source)?;
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(57.7, 11.9).ok();
    format.read(&source, &options)
}

/// A folder of these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn gpx(name: &str, time: &str) -> String {
    let point = |lat: f64, second: u32| {
        let time = format!("{time}:{second:02}Z");
        format!("<trkpt lat=\"{lat}\" lon=\"11.9\"><time>{time}</time></trkpt>")
    };
    let points = point(57.7, 0) + &point(57.701, 30);
    format!("<gpx><trk><name>{name}</name><trkseg>{points}</trkseg></trk></gpx>")
}

fn names(dataset: &Dataset) -> Vec<&str> {
    dataset.nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn tracks_of_a_folder_share_the_time() {
    let (one, two) = (gpx("run", "2022-08-18T08:00"), gpx("run", "2022-08-18T08:01"));
    let files: [(&str, &[u8]); 4] = [
        ("README.md", b"ours"),
        ("a.gpx", one.as_bytes()),
        ("b.gpx", two.as_bytes()),
        ("c.gpx", b"<gpx></gpx>"),
    ];
    let tracks = open(folder(&files).path()).unwrap();
    assert_eq!(names(&tracks), ["run", "run 2"]);
    assert_eq!(tracks.begin_unix_s, Some(1_660_809_600.0));
    let courses = tracks.courses();
    assert_eq!((courses[&0][0].0, courses[&1][0].0), (0.0, 60.0));
    let report = tracks.report.to_string();
    for what in ["not GPX: not read (README.md)", "without nodes and events (c.gpx)", "3 documents"]
    {
        assert!(report.contains(what), "{report}");
    }
}

#[test]
fn parts_of_one_recording_have_the_same_nodes() {
    let places = "0 nem:1 location gps 57.7,11.9\n0 nem:2 location gps 57.71,11.9\nbad\n";
    let files: [(&str, &[u8]); 2] =
        [("location.eel", places.as_bytes()), ("pathloss.eel", b"3 nem:2 pathloss nem:1,90\n")];
    let recording = open(folder(&files).path()).unwrap();
    assert_eq!(names(&recording), ["nem-1", "nem-2"]);
    assert_eq!((recording.events.len(), recording.measurements()), (3, 1));
    let report = recording.report.to_string();
    assert!(report.contains("(line 3: location.eel)"), "{report}");
    let node =
        |number: u32| format!("$node_({number}) set X_ 1\n$node_({number}) set Y_ {number}\n");
    let (one, two) = (node(0), node(1) + "$ns_ at 9 \"$node_(0) setdest 10 10 1\"\n");
    let files: [(&str, &[u8]); 2] = [("a.tcl", one.as_bytes()), ("b.tcl", two.as_bytes())];
    let recording = open(folder(&files).path()).unwrap();
    assert_eq!(names(&recording), ["node-0", "node-1"]);
    let bad: [(&str, &[u8]); 2] =
        [("a.gpx", one.as_bytes()), ("b.tcl", b"$ns_ at 1 \"$node_(0) setdest 1,5 2 3\"\n")];
    let message = open(folder(&bad).path()).unwrap_err().to_string();
    assert!(message.contains("line 1: b.tcl"), "{message}");
}

#[test]
fn plans_of_a_folder_are_one_plan() {
    let kml = |name: &str, lat: f64| {
        format!(
            "<kml><Document><Placemark><name>{name}</name><Point><coordinates>11.9,{lat}</coordinates></Point></Placemark></Document></kml>"
        )
    };
    let (one, two) = (kml("a", 57.7), kml("b", 57.8));
    let folder = folder(&[("a.kml", one.as_bytes()), ("b.kml", two.as_bytes())]);
    let plan = open(folder.path()).unwrap().plan.unwrap();
    let names: Vec<_> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn packed_documents_are_recognised_by_their_content() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(gpx("a", "2022-08-18T08:00").as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let cut = &packed[..packed.len() / 2];
    let plain = gpx("b", "2022-08-18T08:00");
    let folder = folder(&[("a.gpx", &packed), ("b.gpx.gz", plain.as_bytes()), ("c.gpx.gz", cut)]);
    for (file, name) in [("a.gpx", "a"), ("b.gpx.gz", "b")] {
        assert_eq!(names(&open(&folder.path().join(file)).unwrap()), [name]);
    }
    let error = Source::open(&folder.path().join("c.gpx.gz")).unwrap_err();
    assert!(error.contains("c.gpx.gz: found damaged gzip data"), "{error}");
}

#[test]
fn documents_in_other_encodings_are_read() {
    let text = gpx("Malmö", "2022-08-18T08:00").replace("><", ">\r\n<");
    let units = |mark: &str| -> Vec<u16> { format!("{mark}{text}").encode_utf16().collect() };
    let little = |mark: &str| -> Vec<u8> {
        units(mark).iter().flat_map(|unit| unit.to_le_bytes()).collect()
    };
    let big = |mark: &str| -> Vec<u8> {
        units(mark).iter().flat_map(|unit| unit.to_be_bytes()).collect()
    };
    let latin = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{text}");
    let latin: Vec<u8> = latin.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let utf_8 = format!("\u{feff}{text}").into_bytes();
    for bytes in [little("\u{feff}"), big("\u{feff}"), little(""), big(""), latin, utf_8] {
        let tracks = open(&folder(&[("a.gpx", &bytes)]).path().join("a.gpx")).unwrap();
        assert_eq!(names(&tracks), ["Malmö"]);
        assert!(matches!(tracks.events[..], [(_, Event::Fix(0, _)), (_, Event::Fix(0, _))]));
    }
}

#[test]
fn documents_of_which_all_was_dropped_give_errors() {
    for (name, text) in [
        ("a.gpx", "<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"2\"/></trkseg></trk></gpx>"),
        ("a.eel", "0 nem:1 location gps x\n"),
        ("a.tcl", "$node_(x) set X_ 1\n"),
    ] {
        let folder = folder(&[(name, text.as_bytes())]);
        let source = Source::open(&folder.path().join(name)).unwrap();
        let format = identify(&source).unwrap();
        let read = || format.read(&source, &ReadOptions::new(station())).unwrap();
        let message = read().into_plan(format, &station()).unwrap_err().to_string();
        assert!(message.contains("no node with a position (1 x"), "{name}: {message}");
        let message = read().script(format, &station()).unwrap_err().to_string();
        assert!(message.contains("(1 x"), "{name}: {message}");
        let message = read().motion_scenario(format, &station()).unwrap_err().to_string();
        assert!(message.contains("(1 x"), "{name}: {message}");
    }
}

#[test]
fn dated_snapshots_are_joined_in_the_order_of_their_times() {
    let map = |minute: u32, links: &str| {
        let time = format!("2024-05-01T10:{minute:02}:00Z");
        format!(
            "{{\"timestamp\":\"{time}\",\"nodes\":[{{\"node_id\":\"a\"}}],\"links\":[{links}]}}"
        )
    };
    let link = r#"{"source":"a","target":"b","source_tq":0.5,"target_tq":0.5}"#;
    // Names sort 10, 11, 9; the link is there at 10:00 and at 10:02.
    let folder = [map(1, ""), map(2, link), map(0, link)];
    let stream = folder.concat();
    let documents: Vec<&[u8]> = folder.iter().map(|text| text.as_bytes()).collect();
    for documents in [&documents[..], &[stream.as_bytes()]] {
        let recording = dataset(&meshviewer::FORMAT, documents).unwrap();
        assert_eq!(recording.begin_unix_s, Some(1_714_557_600.0));
        let script = recording.script(&meshviewer::FORMAT, &station()).unwrap();
        assert_eq!(script.last_tick, 3);
        let events = recording.events.iter().filter_map(|(at_s, event)| match event {
            Event::Observe(0, 1, values) => {
                Some((recording.elapsed_s(*at_s), values.delivery_prob))
            }
            _ => None,
        });
        let events: Vec<_> = events.collect();
        assert_eq!(events, [(0.0, None), (60.0, Some(0.0)), (120.0, None)]);
    }
}

#[test]
fn other_documents_of_a_folder_of_maps_are_counted_by_their_names() {
    let map = br#"{"nodes":[{"node_id":"a"},{"node_id":"b"}],
        "links":[{"source":"a","target":"b","source_tq":0.5,"target_tq":2.5}]}"#;
    let folder = folder(&[
        ("README.txt", b"About these maps\n"),
        ("c.json", map),
        ("d.json", b"{\"nodes\": [\n{]}"),
        ("e.json", b""),
        ("f.gpx", b"<gpx/>"),
        ("g.json", map),
    ]);
    let recording = open(folder.path()).unwrap();
    let first = |what: &str| {
        let note = recording.report.notes.iter().find(|note| note.what.contains(what)).unwrap();
        (note.count, note.first.to_string())
    };
    assert_eq!(first("not meshviewer"), (2, "line 1: README.txt".to_owned()));
    assert_eq!(first("invalid JSON"), (1, "line 2: d.json".to_owned()));
    assert_eq!(first("an empty document"), (1, "e.json".to_owned()));
    assert_eq!(first("beyond"), (2, "c.json".to_owned()));
    assert_eq!(count(&recording.report, "no position"), 2);
    // The others are not snapshots: the second map is one step after the first.
    assert_eq!(recording.events.last().map(|event| event.0), Some(60.0));
}

#[test]
fn folders_in_a_folder_are_read_in_the_order_of_their_paths() {
    let folder = folder(&[("z.gpx", gpx("last", "2022-08-18T08:00").as_bytes())]);
    for (name, track) in [("b", "second"), ("a/deep", "first"), (".git", "hidden")] {
        let inner = folder.path().join(name);
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("t.gpx"), gpx(track, "2022-08-18T08:00")).unwrap();
    }
    assert_eq!(names(&open(folder.path()).unwrap()), ["first", "second", "last"]);
    let source = Source::open(folder.path()).unwrap();
    assert_eq!(source.names, ["a/deep/t.gpx", "b/t.gpx", "z.gpx"]);
    let empty = tempfile::tempdir().unwrap();
    std::fs::create_dir(empty.path().join("inner")).unwrap();
    let error = Source::open(empty.path()).unwrap_err();
    assert!(error.contains("found a folder without files"), "{error}");
}

const NODES: &str = r#"{"timestamp":"2024-05-01T10:00:00Z","version":1,"nodes":{
    "n1":{"nodeinfo":{"node_id":"n1","hostname":"Turm","location":{"latitude":57.7,"longitude":11.9}}},
    "n2":{"nodeinfo":{"node_id":"n2","hostname":"Hafen","location":{"latitude":57.71,"longitude":11.9}}}}}"#;
const GRAPH: &str = r#"{"batadv":{"nodes":[{"node_id":"n1","id":"02:00:00:00:00:01"},{"node_id":"n2"}],
    "links":[{"source":0,"target":1,"tq":1.25,"bidirect":true}]}}"#;

#[test]
fn nodes_beside_a_graph_give_it_names_and_positions_in_any_order() {
    for (graph, nodes) in [("graph.json", "nodes.json"), ("b.json", "a.json")] {
        let recording =
            open(folder(&[(graph, GRAPH.as_bytes()), (nodes, NODES.as_bytes())]).path()).unwrap();
        assert_eq!(names(&recording), ["Turm", "Hafen"]);
        assert!(recording.nodes.iter().all(|node| node.position.is_some()));
        assert_eq!(recording.begin_unix_s, Some(1_714_557_600.0));
        assert_eq!(recording.measurements(), 2);
        assert!(recording.report.is_empty(), "{}", recording.report);
    }
}

#[test]
fn places_are_those_of_nodes_by_name_or_id() {
    let read = |text: &str| {
        let source = Source::of(text.into());
        let format = identify(&source).unwrap();
        (format.read(&source, &ReadOptions::new(station())).unwrap(), format)
    };
    let (mut graph, _) = read(GRAPH);
    assert_eq!(count(&graph.report, "no position given"), 2);
    let (places, format) = read(NODES);
    graph.place(places, format).unwrap();
    assert!(graph.nodes.iter().all(|node| node.position.is_some()));
    assert!(graph.report.is_empty(), "{}", graph.report);
    let (mut graph, _) = read(GRAPH);
    let (places, format) = read("name,lat,lon\nn1,57.7,11.9\nTurm,57.8,11.9\n");
    graph.place(places, format).unwrap();
    assert_eq!(count(&graph.report, "does not have"), 1);
    let (places, format) = read("name,lat,lon\nother,57.7,11.9\n");
    let error = graph.place(places, format).unwrap_err().to_string();
    assert!(error.contains("such as \"n1\", \"n2\""), "{error}");
}

#[test]
fn recording_in_a_folder_is_read_before_positions_beside_it() {
    let core = "<scenario><devices><device id=\"1\" name=\"n1\"><position lat=\"57.7\" lon=\"11.9\"/></device>\
                </devices></scenario>";
    let eel = "0 nem:1 location gps 57.7,11.9\n9 nem:1 location gps 57.701,11.9\n";
    let folder = folder(&[("a.xml", core.as_bytes()), ("b.eel", eel.as_bytes())]);
    let recording = open(folder.path()).unwrap();
    assert_eq!((names(&recording), recording.events.len()), (vec!["nem-1"], 2));
    assert_eq!(count(&recording.report, "not EMANE: not read"), 1);
}

#[test]
fn name_of_a_later_document_replaces_an_identifier() {
    let packet = |kind: &str, payload: &str| {
        format!(
            "{{\"from\":439041101,\"hops_away\":0,\"id\":1,\"payload\":{payload},\"sender\":\"!00000009\",\
             \"snr\":5,\"timestamp\":1760000000,\"to\":1,\"type\":\"{kind}\"}}\n"
        )
    };
    let info = packet("nodeinfo", "{\"longname\":\"Anna\"}");
    let place = packet("position", "{\"latitude_i\":577000000,\"longitude_i\":119000000}");
    for order in [[&place, &info], [&info, &place]] {
        let folder = folder(&[("a.mqtt", order[0].as_bytes()), ("b.mqtt", order[1].as_bytes())]);
        assert_eq!(names(&open(folder.path()).unwrap()), ["Anna", "!00000009"]);
    }
}
