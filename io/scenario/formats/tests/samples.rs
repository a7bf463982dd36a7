//! Recordings that other programs wrote, with what is read of each.

use std::path::Path;

use groundwave_model::sample::station;

use super::super::{Event, ReadOptions, Source, identify};

/// File, format, nodes, measurements, and events of motion.
const SAMPLES: [(&str, &str, usize, usize, usize); 12] = [
    ("sample1.xml", "core", 13, 10, 15),
    ("sample1.scen", "ns2", 4, 0, 15),
    ("demo6_scenario.eel", "eel", 4, 6, 4),
    ("netdiff-batman.txt", "txtinfo", 5, 4, 0),
    ("netdiff-bmx6.json", "bmx", 7, 12, 0),
    ("netdiff-olsr-2-links.txt", "txtinfo", 4, 6, 0),
    ("netdiff-olsr-2-links.json", "olsrd", 3, 4, 0),
    ("netdiff-netjson-2-links.json", "netjson", 3, 2, 0),
    ("batctl_oj_iv.json", "batctl", 2, 1, 0),
    ("batctl_nj_v.json", "batctl", 2, 1, 0),
    ("drone.kml", "kmltrack", 1, 0, 3),
    ("cars.xml", "sumo", 2, 0, 4),
];

#[test]
fn samples_are_recognised_and_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut readings = Vec::new();
    for (name, ..) in SAMPLES {
        let source = Source::open(&folder.join(name)).unwrap();
        let format = identify(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let recording = format.read(&source, &ReadOptions::new(station())).unwrap();
        let motion = recording.events.iter().filter(|(_, event)| {
            matches!(event, Event::Fix(..) | Event::Move(..) | Event::GoTo(..))
        });
        let motion = motion.count();
        readings.push((name, format.name, recording.nodes.len(), recording.measurements(), motion));
        recording.script(format, &station()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert_eq!(readings, SAMPLES);
    for (name, format, fixes) in [("boat.nmea", "nmea", 3), ("walk.movements", "bonnmotion", 5)] {
        let source = Source::open(&folder.join(name)).unwrap();
        assert_eq!(identify(&source).unwrap().name, format);
        let recording =
            identify(&source).unwrap().read(&source, &ReadOptions::new(station())).unwrap();
        let fix = |event: &&(f64, Event)| matches!(event.1, Event::Fix(..));
        assert_eq!(recording.events.iter().filter(fix).count(), fixes, "{name}");
    }
}
