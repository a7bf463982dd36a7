//! Scenarios of CORE with their links, networks and scripts; attitudes of EMANE.

use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, geodesic};

use super::super::{Content, Dataset, Event, ReadOptions, Source, core_imn, core_xml, eel};
use super::count;

const XML: &str = r#"<scenario name="x">
<networks><network id="10" name="wlan" type="WIRELESS_LAN"/><network id="11" name="emane" type="EMANE"/></networks>
<devices>
<device id="1" name="a"><position x="0" y="0" lat="57.70" lon="11.90"/></device>
<device id="2" name="b"><position x="100" y="0" lat="57.70" lon="11.91"/></device>
<device id="3" name="c"><position x="200" y="0" lat="57.70" lon="11.92"/></device>
</devices>
<links>
<link node1="1" node2="2"><options delay="20000" bandwidth="54000000" loss="25.0" unidirectional="0"/></link>
<link node1="2" node2="3"><options bandwidth="0" loss="10" unidirectional="1"/></link>
<link node1="10" node2="1"/><link node1="3" node2="11"/>
</links>
<emane_configurations><emane_configuration node="11" model="emane_rfpipe">
<mac><configuration name="datarate" value="1000000"/></mac>
<phy><configuration name="frequency" value="2.347G"/><configuration name="bandwidth" value="20M"/>
<configuration name="txpower" value="17.5"/></phy></emane_configuration></emane_configurations>
<mobility_configurations>
<mobility_configuration node="10" model="basic_range"><configuration name="range" value="240"/>
<configuration name="error" value="0"/></mobility_configuration>
<mobility_configuration node="10" model="ns2script"><configuration name="file" value="/home/core/walk.scen"/>
<configuration name="autostart" value="5"/><configuration name="loop" value="1"/></mobility_configuration>
<mobility_configuration node="10" model="gravity"/>
</mobility_configurations>
<session_origin lat="57.70" lon="11.90" x="0" y="0" scale="150.0"/></scenario>"#;

fn read(folder: Option<&std::path::Path>) -> Dataset {
    let source = Source { folder: folder.map(Into::into), ..Source::of(XML.into()) };
    core_xml::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Sender, receiver, delivery and rate of what is measured.
fn links(recording: &Dataset) -> Vec<(&str, &str, Option<f64>, Option<f64>)> {
    let name = |node: u32| recording.nodes[node as usize].name.as_str();
    let link = |(_, event): &(f64, Event)| match event {
        Event::Observe(from, to, values) => {
            Some((name(*from), name(*to), values.delivery_prob, values.rate_bps))
        }
        _ => None,
    };
    recording.events.iter().filter_map(link).collect()
}

#[test]
fn links_radios_and_ranges_of_core_are_read_and_the_rest_is_named() {
    let recording = read(None);
    let expected = [
        ("a", "b", Some(0.75), Some(54e6)),
        ("b", "a", Some(0.75), Some(54e6)),
        ("b", "c", Some(0.9), None),
    ];
    assert_eq!(links(&recording), expected);
    // 240 pixels of 1.5 m.
    assert_eq!((recording.links, recording.range_m), (4, Some(360.0)));
    let radio = &recording.nodes[2].station.as_ref().unwrap().radio;
    assert_eq!((radio.frequency_mhz, radio.bandwidth_hz, radio.tx_power_dbm), (2347.0, 20e6, 17.5));
    assert!(recording.nodes[0].station.is_none());
    for what in [
        "delay of a link: not used, loss and bandwidth are",
        "error of a WLAN: not used",
        "the MAC and propagation model of \"emane_rfpipe\"",
        "settings of \"gravity\": not used",
        "the mobility script \"walk.scen\": not read",
    ] {
        assert_eq!(count(&recording.report, what), 1, "{what}: {}", recording.report);
    }
    assert!(core_xml::FORMAT.holds(Content::Measurements) && !recording.has_motion());
    let script = recording.script(&core_xml::FORMAT, &station()).unwrap();
    assert!(script.commands.iter().any(|command| command.1 == "link.observe"), "into a log");
}

#[test]
fn mobility_script_of_core_moves_its_nodes_over_the_canvas() {
    let folder = tempfile::tempdir().unwrap();
    let walk = "$node_(2) set X_ 100.0\n$node_(2) set Y_ 0.0\n$ns_ at 2.0 \"$node_(2) setdest 100.0 200.0 10.0\"\n";
    std::fs::write(folder.path().join("walk.scen"), walk).unwrap();
    let recording = read(Some(folder.path()));
    assert!(recording.has_motion());
    let report = &recording.report;
    assert_eq!(count(report, "played once"), 1, "{report}");
    assert_eq!(count(report, "its motion is read"), 1, "{report}");
    let course = &recording.courses()[&1];
    let origin = GeoPoint::new(57.70, 11.90).unwrap();
    let leg = geodesic::inverse(origin, course.last().unwrap().1);
    let azimuth = leg.azimuth_deg.to_radians();
    // 150 m to the east and 300 m to the south: y counts downwards.
    let metres = [azimuth.sin(), azimuth.cos()].map(|share| (share * leg.distance_m).round());
    assert_eq!(metres, [150.0, -300.0]);
    // It begins 5 + 2 s after the start and covers 200 pixels at 10 a second.
    assert!((course.last().unwrap().0 - 27.0).abs() < 1e-3, "{course:?}");
    // Those that stand are in the scenario as well.
    let (text, nodes, _) = recording.motion_scenario(&core_xml::FORMAT, &station()).unwrap();
    assert_eq!(nodes, 3, "{text}");
    assert!(text.contains("link_range_max_m = 360"), "{text}");
}

#[test]
fn mobility_script_of_core_moves_the_nodes_of_its_map_from_the_start_on() {
    let folder = tempfile::tempdir().unwrap();
    let walk = "$node_(0) set X_ 100.0\n$node_(0) set Y_ 0.0\n$ns_ at 2.0 \"$node_(0) setdest 100.0 200.0 10.0\"\n";
    std::fs::write(folder.path().join("walk.scen"), walk).unwrap();
    let mapped = XML.replace(
        r#"<configuration name="loop" value="1"/>"#,
        r#"<configuration name="map" value="0:3, x"/>"#,
    );
    let source = Source { folder: Some(folder.path().into()), ..Source::of(mapped.into()) };
    let recording = core_xml::FORMAT.read(&source, &ReadOptions::new(station())).unwrap();
    assert_eq!(count(&recording.report, "allowed FROM:TO"), 1, "{}", recording.report);
    let courses = recording.courses();
    assert_eq!(courses.keys().copied().collect::<Vec<_>>(), [2]);
    // It stands at its start before the script begins.
    let times: Vec<f64> = courses[&2].iter().map(|fix| fix.0).collect();
    assert_eq!(times[..2], [0.0, 7.0], "{times:?}");
    assert_eq!(recording.nodes.len(), 3);
}

#[test]
fn impairments_of_core_that_a_recording_has_no_place_for_are_counted() {
    let text = XML
        .replace(
            r#"loss="25.0" unidirectional="0""#,
            r#"loss="125" jitter="5" dup="1" unidirectional="0""#,
        )
        .replace(
            r#"<link node1="10" node2="1"/>"#,
            r#"<link node1="10" node2="1"><options loss="5"/></link>"#,
        );
    let recording =
        core_xml::FORMAT.read(&Source::of(text.into()), &ReadOptions::new(station())).unwrap();
    let report = &recording.report;
    assert_eq!(count(report, "delay, dup, jitter of a link"), 1, "{report}");
    assert_eq!(count(report, "a loss beyond 0 to 100 percent"), 2, "{report}");
    assert_eq!(count(report, "impairments of a link to a network"), 1, "{report}");
    assert_eq!(links(&recording)[0], ("a", "b", None, Some(54e6)));
}

#[test]
fn links_of_imn_are_read_in_both_directions() {
    let node = |number: u32| {
        format!(
            "node n{number} {{\n    type router\n    network-config {{\n\thostname h{number}\n    }}\n    iconcoords {{{number}00.0 50.0}}\n}}\n\n"
        )
    };
    let text = node(1)
        + &node(2)
        + "link l1 {\n    nodes {n1 n2}\n    bandwidth {54000000 11000000}\n    ber {5 50}\n    delay 5000\n}\n";
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(57.7, 11.9).ok();
    let recording = core_imn::FORMAT.read(&Source::of(text.into()), &options).unwrap();
    let links = links(&recording);
    assert_eq!(links.len(), 2);
    assert_eq!((links[0].2, links[0].3), (Some(0.95), Some(54e6)));
    assert_eq!((links[1].2, links[1].3), (Some(0.5), Some(11e6)));
    assert_eq!(count(&recording.report, "delay of a link"), 1);
}

#[test]
fn antennas_of_emane_turn_with_their_platforms() {
    let text = "0 nem:1 location gps 57.7,11.9\n0 nem:1 velocity 20.0,0.0,10.0\n\
                30 nem:1 orientation 5.0,0.0,10.0\n30 nem:1 antennaprofile 1,60.0,-2.0\n\
                60 nem:1 antennaprofile 1,300.0,0.0\n90 nem:1 velocity 20.0,0.0,0.0\n\
                95 nem:1 orientation 0.0,9.0,10.0\n99 nem:1 orientation 1,2\n";
    let recording =
        eel::FORMAT.read(&Source::of(text.into()), &ReadOptions::new(station())).unwrap();
    let pointing = |(at_s, event): &(f64, Event)| match event {
        Event::Point(_, to) => Some((*at_s, to.azimuth_deg, to.elevation_deg)),
        _ => None,
    };
    let directions: Vec<_> = recording.events.iter().filter_map(pointing).collect();
    let expected = [
        (30.0, 30.0, 5.0),
        (30.0, 90.0, 3.0),
        (60.0, 330.0, 5.0),
        (90.0, 310.0, 5.0),
        (95.0, 310.0, 0.0),
    ];
    assert_eq!(directions, expected);
    let report = &recording.report;
    for (what, times) in
        [("the roll of", 1), ("an antenna profile", 2), ("an invalid orientation", 1)]
    {
        assert_eq!(count(report, what), times, "{what}: {report}");
    }
    let script = recording.script(&eel::FORMAT, &station()).unwrap();
    assert_eq!(script.commands.iter().filter(|command| command.1 == "node.update").count(), 5);
    let (scenario, ..) = recording.motion_scenario(&eel::FORMAT, &station()).unwrap();
    assert!(
        scenario.contains("pointing = { azimuth_deg = 310.0, elevation_deg = 0.0 }"),
        "{scenario}"
    );
}
