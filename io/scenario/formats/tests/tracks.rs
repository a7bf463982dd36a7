//! Positions over time as scenarios of moving nodes.

use groundwave_model::sample::station;
use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::super::{Dataset, Event, Format, FormatError, ReadOptions, Report, Source, eel, gpx};
use super::{count, dataset};
use crate::{Scenario, parse_alone};

const EEL_FORMAT: &Format = &eel::FORMAT;
const GPX_FORMAT: &Format = &gpx::FORMAT;

const EEL: &str = "\
0.0 nem:1 location gps 40.031075,-74.523518,3.000000
0.0  nem:2 location gps 40.031165,-74.523412
0.0 nem:1 pathloss nem:2,69.2
# a remark
1.0 nem:1 location gps 40.031165,-74.523412,3.0
2.0 nem:1 location gps 40.031165,-74.523412,3.0
3.0 nem:1 location gps 40.031165,-74.523412,3.0
4.0 nem:2 location gps 140.0,-74.5,3.0
5.0 nem:2 location gps here
nonsense
";

const GPX: &str = r#"<?xml version="1.0"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><metadata><name>A "walk"</name></metadata>
<wpt lat="1" lon="2"/>
<trk><name>Anna</name><trkseg>
<trkpt lat="57.70" lon="11.90"><ele>12</ele><time>2022-08-18T08:48:00Z</time></trkpt>
<trkpt lat="57.71" lon="11.91"><time>2022-08-18T08:49:30.5Z</time></trkpt>
<trkpt lat="57.72" lon="11.92"/>
</trkseg></trk>
<trk><trkseg><trkpt lat="57.73" lon="11.90"><time>2022-08-18T10:48:10+02:00</time></trkpt></trkseg></trk>
</gpx>"#;

fn read(format: &Format, text: &str) -> Result<Dataset, FormatError> {
    dataset(format, &[text.as_bytes()])
}

/// Times of the positions of a node, s.
fn times(dataset: &Dataset, name: &str) -> Vec<f64> {
    let index = dataset.nodes.iter().position(|node| node.name == name).unwrap();
    let tracks = dataset.courses();
    tracks[&(index as u32)].iter().map(|fix| fix.0).collect()
}

/// The scenario of a recording, parsed, with the number of its nodes.
fn scenario(format: &Format, text: &str) -> (Scenario, usize, Report) {
    let (written, nodes, report) =
        read(format, text).unwrap().motion_scenario(format, &station()).unwrap();
    let scenario = parse_alone(&written, "made").unwrap_or_else(|err| panic!("{err}\n{written}"));
    (scenario, nodes, report)
}

#[test]
fn events_become_tracks_and_the_rest_is_counted() {
    let tracks = read(EEL_FORMAT, EEL).unwrap();
    assert_eq!(times(&tracks, "nem-1"), [0.0, 1.0, 3.0]);
    assert_eq!(times(&tracks, "nem-2").len(), 1);
    let (_, nodes, report) = scenario(EEL_FORMAT, EEL);
    assert_eq!(nodes, 2);
    for (what, times) in [
        ("measurement", 1),
        ("invalid latitude", 1),
        ("invalid location", 1),
        ("without time", 1),
        ("adds nothing", 1),
    ] {
        assert_eq!(count(&report, what), times, "{what}: {report}");
    }
    let none = read(EEL_FORMAT, "0 nem:1 pathloss\n").unwrap();
    let text = none.motion_scenario(EEL_FORMAT, &station()).unwrap_err().to_string();
    assert!(text.contains("no track"), "{text}");
}

#[test]
fn tracks_of_receivers_share_one_clock() {
    let tracks = read(GPX_FORMAT, GPX).unwrap();
    let both = (times(&tracks, "Anna"), times(&tracks, "track 2"));
    assert_eq!(both, (vec![0.0, 90.5], vec![10.0]));
    assert_eq!(count(&tracks.report, "without a time"), 1);
    assert_eq!(count(&tracks.report, "a way point beside tracks"), 1);
    let script = tracks.script(GPX_FORMAT, &station()).unwrap();
    assert_eq!((script.nodes, script.last_tick), (2, 92));
}

#[test]
fn what_is_written_is_a_scenario() {
    for (format, text) in [(EEL_FORMAT, EEL), (GPX_FORMAT, GPX)] {
        let (scenario, nodes, _) = scenario(format, text);
        let named = |name: &str| {
            let records = scenario.records.iter();
            records.filter(|record| record.name == name).count()
        };
        assert_eq!(named("node.add"), nodes);
        assert!(named("motion.follow") > 0);
    }
}

#[needs(shared("data/emane/scenario.eel"))]
#[test]
fn a_real_log_of_fifteen_minutes_is_read() {
    let path = shared("data/emane/scenario.eel");
    let text = std::fs::read_to_string(path).unwrap();
    let tracks = read(EEL_FORMAT, &text).unwrap();
    let last = tracks.courses().into_values().filter_map(|track| track.last().copied());
    assert_eq!(last.map(|fix| fix.0).fold(0.0, f64::max), 899.0);
    // 9000 events with the losses towards nine nodes each.
    let (_, nodes, report) = scenario(EEL_FORMAT, &text);
    let losses = count(&report, "measurement") + count(&report, "below 1 dB");
    assert_eq!((nodes, losses), (10, 9000 * 9));
}

#[test]
fn damaged_recordings_are_answered() {
    for (format, text) in [(EEL_FORMAT, EEL), (GPX_FORMAT, GPX)] {
        for cut in 0..text.len() {
            drop(read(format, &text[..cut]));
            let mut bent = text.as_bytes().to_vec();
            bent[cut] ^= 1 << (cut % 8);
            if let Ok(tracks) = dataset(format, &[&bent]) {
                drop(tracks.motion_scenario(format, &station()));
            }
        }
    }
    for text in ["<kml/>", "<gpx><!DOCTYPE a></gpx>", "not xml"] {
        let read = read(GPX_FORMAT, text)
            .and_then(|tracks| tracks.motion_scenario(GPX_FORMAT, &station()));
        assert!(read.is_err(), "{text}");
    }
}

/// A GPX track of two points, an hour after `hour`.
fn trk(name: &str, hour: u32, lat: f64) -> String {
    let point = |minute: u32| {
        let time = format!("2022-08-18T{hour:02}:{minute:02}:00Z");
        format!(
            "<trkpt lat=\"{}\" lon=\"11.9\"><time>{time}</time></trkpt>",
            lat + f64::from(minute) * 1e-4
        )
    };
    format!("<trk><name>{name}</name><trkseg>{}{}</trkseg></trk>", point(0), point(10))
}

#[test]
fn names_with_references_are_decoded() {
    let both = trk("Alice &amp; dog", 8, 57.7) + &trk("Bob &#38; <![CDATA[<dog>]]>", 8, 57.8);
    let tracks = read(GPX_FORMAT, &format!("<!DOCTYPE gpx><gpx>{both}</gpx>")).unwrap();
    let names: Vec<_> = tracks.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Alice & dog", "Bob & <dog>"]);
    assert_eq!(times(&tracks, "Alice & dog"), [0.0, 600.0]);
    let unknown = read(GPX_FORMAT, "<gpx><trk>\n<name>&who;</name></trk></gpx>").unwrap_err();
    let text = unknown.to_string();
    assert!(text.contains("line 2") && text.contains("entity \"who\""), "{text}");
}

#[test]
fn tracks_of_one_name_are_nodes_of_their_own() {
    let both = trk("ACTIVE LOG", 8, 57.7) + &trk("ACTIVE LOG", 8, 57.8);
    let tracks = read(GPX_FORMAT, &format!("<gpx>{both}</gpx>")).unwrap();
    assert_eq!(times(&tracks, "ACTIVE LOG"), [0.0, 600.0]);
    assert_eq!(times(&tracks, "ACTIVE LOG 2"), [0.0, 600.0]);
    assert_eq!(count(&tracks.report, "numbered"), 1);
}

#[test]
fn initial_state_comes_before_the_events_of_its_log() {
    let log = "-Inf nem:1 location gps 40.03,-74.52\n1 nem:1 location gps 40.0301,-74.52\n\
               2 nem:1 location gps 40.0302,-74.52\n";
    for is_dropped in [false, true] {
        let options = ReadOptions { drop_implausible: is_dropped, ..ReadOptions::new(station()) };
        let tracks = EEL_FORMAT.read(&Source::of(log.into()), &options).unwrap();
        assert_eq!(times(&tracks, "nem-1"), [0.0, 1.0, 2.0]);
        assert!(tracks.report.is_empty(), "{}", tracks.report);
    }
}

#[test]
fn initial_state_of_an_event_log_is_taken() {
    let log = "-Inf nem:1-3 location gps 40.03,-74.52,3.0,agl
-Inf nem:4 location gps 40.04,-74.52
-inf nem:1-2,4 allinformedpathloss 90
-Inf nem:3 pathloss nem:1-2,4-5,-Inf nem:1,2,4-6,80,81
1.5 nem:1 pathloss nem:2,Inf # gone
2 nem:4 orientation 1,2,3
2 nem:4 velocity 1,2,3
2 nem:4 antennaprofile 3,195,45
2 nem:9-1 location gps 1,2
3 nem:4 location
";
    let tracks = read(EEL_FORMAT, log).unwrap();
    let script = tracks.script(EEL_FORMAT, &station()).unwrap();
    // Of six nodes, 5 and 6 are in path losses alone.
    assert_eq!((script.nodes, script.unplaced), (6, 2));
    let losses = |from: &str, to: &str| -> Vec<(f64, Option<f64>, Option<f64>)> {
        let name = |node: u32| tracks.nodes[node as usize].name.as_str();
        let of = |event: &(f64, Event)| match event.1 {
            Event::Observe(a, b, values) if (name(a), name(b)) == (from, to) => {
                Some((event.0, values.path_loss_db, values.delivery_prob))
            }
            _ => None,
        };
        tracks.events.iter().filter_map(of).collect()
    };
    assert_eq!(losses("nem-4", "nem-1"), [(0.0, Some(90.0), None)]);
    assert_eq!(losses("nem-2", "nem-1"), [(0.0, Some(90.0), None), (1.5, None, Some(0.0))]);
    assert_eq!(losses("nem-5", "nem-3"), [(0.0, None, Some(0.0)), (0.0, Some(80.0), None)]);
    assert_eq!(losses("nem-3", "nem-6"), [(0.0, Some(81.0), None)]);
    for what in ["an orientation", "an antenna profile", "invalid NEMs", "without values"] {
        assert_eq!(count(&tracks.report, what), 1, "{what}: {}", tracks.report);
    }
    // Orientation, velocity and profile each point the antenna of node 4.
    let is_pointing = |event: &&(f64, Event)| matches!(event.1, Event::Point(..));
    assert_eq!(tracks.events.iter().filter(is_pointing).count(), 3);
}

#[test]
fn invalid_times_of_points_are_shown() {
    let point = |time: &str| format!("<trkpt lat=\"57.7\" lon=\"11.9\">{time}</trkpt>");
    let points = [
        "<time>2024-02-30T00:00:00Z</time>",
        "<time>1714557600</time>",
        "",
        "<time>2024-02-03T00:00:00Z</time>",
    ];
    let text = format!("<gpx><trk><trkseg>{}</trkseg></trk></gpx>", points.map(point).concat());
    let tracks = read(GPX_FORMAT, &text).unwrap();
    assert_eq!(count(&tracks.report, "an invalid time, such as \"2024-02-30T00:00:00Z\""), 2);
    assert_eq!((count(&tracks.report, "without a time"), tracks.events.len()), (1, 1));
}

#[test]
fn errors_of_recordings_have_neither_empty_brackets_nor_hundreds_of_digits() {
    let script = |text: &str| {
        let error = read(EEL_FORMAT, text).unwrap().script(EEL_FORMAT, &station()).unwrap_err();
        error.to_string()
    };
    let text = script("");
    assert!(text.contains("found no measurement and no movement, allowed at least one"), "{text}");
    let text = script("0 nem:1 location gps 57.7,11.9\n1e300 nem:1 location gps 57.7,11.9\n");
    assert!(text.contains("1e300 s") && text.len() < 200, "{text}");
}

#[test]
fn event_log_of_path_losses_alone_becomes_no_scenario_without_positions() {
    let log = "0 nem:1 pathloss nem:2,80 nem:3,90\n5 nem:2 pathloss nem:3,85,86\n";
    let losses = || read(EEL_FORMAT, log).unwrap();
    let error = losses().motion_scenario(EEL_FORMAT, &station()).unwrap_err().to_string();
    assert!(
        error.contains("found 4 measurements of links of 3 nodes without positions")
            && error.contains("--places")
            && error.contains(".gwlog"),
        "{error}"
    );
    // With their positions the nodes stand; the measurements are counted.
    let places = "0 nem:1 location gps 57.70,11.9\n0 nem:2 location gps 57.71,11.9\n";
    let mut placed = losses();
    placed.place(read(EEL_FORMAT, places).unwrap(), EEL_FORMAT).unwrap();
    let (text, nodes, report) = placed.motion_scenario(EEL_FORMAT, &station()).unwrap();
    assert_eq!((nodes, text.matches("[[node]]").count()), (2, 2), "{text}");
    assert_eq!(count(&report, "measurement: dropped"), 4, "{report}");
    assert_eq!(count(&report, "a node without a position: left out"), 1, "{report}");
    assert!(text.contains("duration_s = 5.0"), "{text}");
    parse_alone(&text, "made").unwrap_or_else(|err| panic!("{err}\n{text}"));
}
