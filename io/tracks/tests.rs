use groundwave_needs::needs;
use groundwave_systems::testing::shared;

use super::*;
use crate::scenario::parse_alone;

fn dropped(tracks: &Tracks, what: &str) -> usize {
    let found = tracks
        .dropped
        .iter()
        .find(|found| found.what.contains(what));
    found.map_or(0, |found| found.count)
}

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

#[test]
fn events_become_tracks_and_the_rest_is_counted() {
    let tracks = read(Kind::Eel, EEL.as_bytes()).unwrap();
    let times: Vec<f64> = tracks.nodes["nem-1"].iter().map(|fix| fix.at_s).collect();
    assert_eq!(times, [0.0, 1.0, 3.0]);
    assert_eq!(tracks.nodes["nem-2"].len(), 1);
    for (what, count) in [
        ("pathloss", 1),
        ("altitude", 5),
        ("no such latitude", 1),
        ("cannot be read", 1),
        ("without time", 1),
        ("adds nothing", 1),
    ] {
        assert_eq!(
            dropped(&tracks, what),
            count,
            "{what}: {:?}",
            tracks.dropped
        );
    }
    assert!(matches!(
        read(Kind::Eel, b"0 nem:1 pathloss\n"),
        Err(TracksError::Empty { .. })
    ));
}

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

#[test]
fn tracks_of_receivers_share_one_clock() {
    let tracks = read(Kind::Gpx, GPX.as_bytes()).unwrap();
    let times =
        |name: &str| -> Vec<f64> { tracks.nodes[name].iter().map(|fix| fix.at_s).collect() };
    assert_eq!(
        (times("Anna"), times("track 2")),
        (vec![0.0, 90.5], vec![10.0])
    );
    assert_eq!(dropped(&tracks, "without a time"), 1);
    assert_eq!(dropped(&tracks, "way or route point"), 1);
}

#[test]
fn what_is_written_is_a_scenario() {
    for (kind, text) in [(Kind::Eel, EEL), (Kind::Gpx, GPX)] {
        let tracks = read(kind, text.as_bytes()).unwrap();
        let written = scenario(&tracks);
        let scenario =
            parse_alone(&written, "made").unwrap_or_else(|err| panic!("{err}\n{written}"));
        let added = scenario
            .records
            .iter()
            .filter(|record| record.name == "node.add")
            .count();
        assert_eq!(added, tracks.nodes.len());
        assert!(
            scenario
                .records
                .iter()
                .any(|record| record.name == "motion.follow")
        );
    }
}

#[needs(shared("data/emane/scenario.eel"))]
#[test]
fn a_real_log_of_fifteen_minutes_is_read() {
    let path = shared("data/emane/scenario.eel");
    let tracks = read(Kind::Eel, &std::fs::read(path).unwrap()).unwrap();
    assert_eq!(tracks.nodes.len(), 10);
    assert_eq!(dropped(&tracks, "pathloss"), 9000);
    let last = tracks.nodes.values().filter_map(|fixes| fixes.last());
    assert_eq!(last.map(|fix| fix.at_s).fold(0.0, f64::max), 899.0);
    parse_alone(&scenario(&tracks), "made").unwrap();
}

#[test]
fn damaged_recordings_are_answered() {
    for (kind, text) in [(Kind::Eel, EEL), (Kind::Gpx, GPX)] {
        for cut in 0..text.len() {
            drop(read(kind, &text.as_bytes()[..cut]));
            let mut bent = text.as_bytes().to_vec();
            bent[cut] ^= 1 << (cut % 8);
            if let Ok(tracks) = read(kind, &bent) {
                drop(scenario(&tracks));
            }
        }
    }
    for text in ["<kml/>", "<gpx><!DOCTYPE a></gpx>", "not xml"] {
        assert!(read(Kind::Gpx, text.as_bytes()).is_err(), "{text}");
    }
}
