//! When nodes are there.

use groundwave_model::sample::station;
use groundwave_simulation::site::AddNode;

use super::super::{Dataset, Event, Format, ReadOptions, Source, gpx, identify};
use super::count;
use crate::parse_alone;

fn snapshots(documents: &[&str]) -> (&'static Format, Dataset) {
    let source = Source {
        documents: documents.iter().map(|text| text.as_bytes().to_vec()).collect(),
        ..Source::default()
    };
    let format = identify(&source).unwrap();
    (format, format.read(&source, &ReadOptions::new(station())).unwrap())
}

/// Names and ticks of the commands about nodes.
fn commands(format: &Format, recording: &Dataset) -> Vec<(u64, &'static str)> {
    let script = recording.script(format, &station()).unwrap();
    let of_nodes = script.commands.iter().filter(|command| command.1.starts_with("node."));
    of_nodes.map(|(tick, name, _)| (*tick, *name)).collect()
}

#[test]
fn nodes_of_maps_come_and_go_with_the_snapshots_that_list_them() {
    let node = |id: &str, more: &str| {
        format!(
            r#"{{"node_id":"{id}","hostname":"{id}","location":{{"latitude":57.7,"longitude":11.9}}{more}}}"#
        )
    };
    let link = r#"{"source":"a","target":"b","source_tq":0.5,"target_tq":0.5}"#;
    let map = |minute: u32, nodes: &[String], links: &str| {
        let nodes = nodes.join(",");
        format!(
            r#"{{"timestamp":"2024-05-01T10:{minute:02}:00Z","nodes":[{nodes}],"links":[{links}]}}"#
        )
    };
    let (a, b, c) = (node("a", ""), node("b", ""), node("c", ""));
    let offline = node("c", r#","is_online":false"#);
    let documents = [
        map(0, &[a.clone(), b.clone(), c.clone()], link),
        map(1, &[a.clone(), b.clone(), offline], link),
        map(2, &[a.clone(), c], ""),
    ];
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let (format, recording) = snapshots(&documents);
    let events = |name: &str| {
        let node = recording.nodes.iter().position(|node| node.name == name).unwrap() as u32;
        let begin_s = recording.begin_unix_s.unwrap();
        let event = |(at_s, event): &(f64, Event)| match event {
            Event::Fix(own, _) if *own == node => Some((*at_s - begin_s, "there")),
            Event::Leave(own) if *own == node => Some((*at_s - begin_s, "away")),
            _ => None,
        };
        recording.events.iter().filter_map(event).collect::<Vec<_>>()
    };
    assert_eq!(events("a"), []);
    assert_eq!(events("b"), [(0.0, "there"), (120.0, "away")]);
    assert_eq!(events("c"), [(0.0, "there"), (60.0, "away"), (120.0, "there")]);
    assert_eq!(count(&recording.report, "not all snapshots have"), 2);
    let commands = commands(format, &recording);
    let times = |name: &str| {
        commands
            .iter()
            .filter(|command| command.1 == name)
            .map(|command| command.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(times("node.add"), [1, 1, 1]);
    assert_eq!((times("node.fail").len(), times("node.restore").len()), (1, 1));
    assert_eq!(times("node.remove").len(), 1);
}

#[test]
fn tracks_are_there_while_they_were_recorded() {
    let track = |name: &str, minute: u32| {
        let point = |second: u32| {
            format!(
                "<trkpt lat=\"57.7{second:02}\" lon=\"11.9\"><time>2024-05-01T10:{minute:02}:{second:02}Z</time></trkpt>"
            )
        };
        format!("<trk><name>{name}</name><trkseg>{}{}</trkseg></trk>", point(0), point(30))
    };
    let text = format!("<gpx>{}{}</gpx>", track("a", 0), track("b", 2));
    let read = |is_bounded: bool| {
        let options = ReadOptions { is_bounded, ..ReadOptions::new(station()) };
        gpx::FORMAT.read(&Source::of(text.clone().into()), &options).unwrap()
    };
    let throughout = commands(&gpx::FORMAT, &read(false));
    assert_eq!(throughout, [(1, "node.add"), (1, "node.add")]);
    let bounded = commands(&gpx::FORMAT, &read(true));
    let expected = [(1, "node.add"), (31, "node.remove"), (121, "node.add"), (151, "node.remove")];
    assert_eq!(bounded, expected);
    let (scenario, ..) = read(true).motion_scenario(&gpx::FORMAT, &station()).unwrap();
    for part in ["until_s = 30", "at_s = 120", "until_s = 150"] {
        assert!(scenario.contains(part), "{part}: {scenario}");
    }
}

#[test]
fn measurement_at_the_last_fix_of_a_track_is_before_the_node_leaves() {
    let text = "time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr,distance,hop limit,payload\n\
        08:00:00,10,Base,57.7,11.9,57.701,11.9,5,6.25,111,3,x\n\
        08:00:30,10,Base,57.7,11.9,57.702,11.9,5,-2,222,3,x\n";
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format.name, "rangetest");
    let options = ReadOptions { is_bounded: true, ..ReadOptions::new(station()) };
    let script = format.read(&source, &options).unwrap().script(format, &station()).unwrap();
    let ticks = |name: &str| {
        let own = script.commands.iter().filter(|command| command.1 == name);
        own.map(|command| command.0).collect::<Vec<_>>()
    };
    assert_eq!(ticks("link.observe"), [1, 31]);
    assert_eq!(ticks("node.remove"), [32, 32]);
}

#[test]
fn node_is_its_key_whatever_its_name() {
    let map = |name: &str| {
        let node = |id: &str, name: &str| {
            format!(
                r#"{{"node_id":"{id}","hostname":"{name}","location":{{"latitude":57.7,"longitude":11.9}}}}"#
            )
        };
        format!(
            r#"{{"nodes":[{},{}],"links":[{{"source":"02aa","target":"02bb","source_tq":0.5,"target_tq":0.5}}]}}"#,
            node("02aa", name),
            node("02bb", "south")
        )
    };
    let ids = |name: &str| {
        let (format, recording) = snapshots(&[&map(name)]);
        let script = recording.script(format, &station()).unwrap();
        let adds = script.commands.iter().filter(|command| command.1 == "node.add");
        adds.map(|(.., body)| rmp_serde::from_slice::<AddNode>(body).unwrap().node)
            .collect::<Vec<_>>()
    };
    let before = ids("north");
    assert_eq!(before, ids("hill"), "a new name");
    assert_eq!(before, ids("south"), "the name of another node");
    assert_ne!(before[0], before[1]);
}

#[test]
fn track_of_one_point_is_there_for_a_step() {
    let text = "<gpx><trk><trkseg><trkpt lat=\"57.7\" lon=\"11.9\"><time>2024-05-01T10:00:00Z</time></trkpt>\
                </trkseg></trk></gpx>";
    let read = || {
        let options = ReadOptions { is_bounded: true, ..ReadOptions::new(station()) };
        gpx::FORMAT.read(&Source::of(text.into()), &options).unwrap()
    };
    assert_eq!(commands(&gpx::FORMAT, &read()), [(1, "node.add"), (2, "node.remove")]);
    let (scenario, ..) = read().motion_scenario(&gpx::FORMAT, &station()).unwrap();
    assert!(scenario.contains("until_s = 1"), "{scenario}");
    parse_alone(&scenario, "made").unwrap_or_else(|error| panic!("{error}\n{scenario}"));
}
