//! Levels in documents of meshes, and the positions and times that they belong to.

use groundwave_model::sample::station;

use super::super::{Dataset, Event, ReadOptions, Source, identify};
use super::count;

/// Reads a document as the format of its content.
#[track_caller]
fn read(name: &str, text: &str) -> Dataset {
    read_with(name, text, &ReadOptions::new(station()))
}

#[track_caller]
fn read_with(name: &str, text: &str, options: &ReadOptions) -> Dataset {
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format.name, name);
    format.read(&source, options).unwrap()
}

/// Names of senders, with level and SNR.
fn levels(dataset: &Dataset) -> Vec<(&str, Option<f64>, Option<f64>)> {
    let name = |index: u32| dataset.nodes[index as usize].name.as_str();
    let measured = dataset.events.iter().filter_map(|(_, event)| match *event {
        Event::Observe(from, _, values) => Some((name(from), values.rx_power_dbm, values.snr_db)),
        _ => None,
    });
    measured.collect()
}

const NO_SIGNAL: &str = "a signal of 0 dBm or more";
const NO_NOISE: &str = "a noise of 0 dBm or more";

#[test]
fn levels_of_0_dbm_of_respondd_give_notes_in_place_of_values() {
    let text = r#"{"nodes":[{"nodeinfo":{"node_id":"aa","hostname":"aa"},"neighbours":{"node_id":"aa",
        "wifi":{"02:00:00:00:00:0a":{"frequency":2437,"neighbours":{
        "b":{"signal":-70,"noise":0},"c":{"signal":0,"noise":0},"d":{"signal":-71,"noise":-95},"e":{}}}}}}]}"#;
    let mesh = read("meshviewer", text);
    let expected = [("b", Some(-70.0), None), ("d", Some(-71.0), Some(24.0))];
    assert_eq!(levels(&mesh), expected);
    let counts =
        [NO_SIGNAL, NO_NOISE, "without TQ or signal"].map(|what| count(&mesh.report, what));
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn levels_of_0_dbm_of_a_device_give_notes_in_place_of_values() {
    let text = r#"{"type":"DeviceMonitoring","general":{"hostname":"roof"},"interfaces":[{"name":"wlan0",
        "wireless":{"noise":-95,"frequency":5180,"clients":[{"mac":"b","signal":0,"noise":-95},
        {"mac":"c","signal":-70,"noise":0},{"mac":"d"}]}},
        {"name":"wlan1","wireless":{"noise":0,"clients":[{"mac":"e","signal":-80}]}}]}"#;
    let mesh = read("netjson-device", text);
    let expected = [("c", Some(-70.0), Some(25.0)), ("e", Some(-80.0), None)];
    assert_eq!(levels(&mesh), expected);
    let counts = [NO_SIGNAL, NO_NOISE, "without a signal"].map(|what| count(&mesh.report, what));
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn altitudes_of_standing_nodes_give_a_note() {
    let map = r#"{"nodes":[{"node_id":"a","hostname":"a","location":{"latitude":57.7,"longitude":11.9,"altitude":40}},
        {"node_id":"b","hostname":"b","location":{"latitude":57.8,"longitude":11.9,"altitude":0}}],"links":[]}"#;
    assert_eq!(count(&read("meshviewer", map).report, "the altitude of a node"), 1);
    let gateways = r#"[{"netID":"000013","id":"a","location":{"latitude":43.8,"longitude":18.3,"altitude":500}},
        {"netID":"000013","id":"b","location":{"latitude":43.9,"longitude":18.3}}]"#;
    assert_eq!(count(&read("ttn", gateways).report, "the altitude of a node"), 1);
}

#[test]
fn rounded_positions_of_meshtastic_give_notes_and_are_left_out_on_request() {
    let list = r#"{"!00000007":{"user":{"longName":"A"},"position":{"latitude":57.7,"longitude":11.9,"precisionBits":13}},
        "!00000008":{"user":{"longName":"B"},"position":{"latitude":57.8,"longitude":11.9,"precisionBits":19}},
        "!00000009":{"user":{"longName":"C"},"position":{"latitude":57.9,"longitude":11.9,"precisionBits":32}}}"#;
    let packet = |bits: u8, at_s: u32| {
        format!(
            r#"{{"from":9,"sender":"!00000008","timestamp":{at_s},"type":"position","payload":{{"latitude_i":577000000,"longitude_i":119000000,"precision_bits":{bits}}}}}"#
        )
    };
    let packets = [packet(13, 1_714_557_600), packet(32, 1_714_557_660)].join("\n");
    for (name, text, positions) in
        [("meshtastic", list, [3, 2]), ("meshtastic-mqtt", &packets, [2, 1])]
    {
        for (drop_implausible, positions, note) in [
            (false, positions[0], "rounded to 5.8 km: taken"),
            (true, positions[1], "rounded to 5.8 km: left out"),
        ] {
            let options = ReadOptions { drop_implausible, ..ReadOptions::new(station()) };
            let mesh = read_with(name, text, &options);
            let fixes = mesh.events.iter().filter(|(_, event)| matches!(event, Event::Fix(..)));
            let places = mesh.nodes.iter().filter(|node| node.position.is_some()).count();
            assert_eq!(fixes.count().max(places), positions, "{name}");
            assert_eq!(count(&mesh.report, note), 1, "{name}: {}", mesh.report);
        }
    }
    assert_eq!(count(&read("meshtastic", list).report, "rounded to 91 m: taken"), 1);
}

#[test]
fn links_older_than_a_day_give_a_note() {
    let neighbours = r#"{"pubkey_prefix":"ffeeddcc","neighbours":[{"pubkey":"a1b2c3d4","secs_ago":4000000,"snr":-3.5},
        {"pubkey":"a1b2c3d5","secs_ago":86000,"snr":2},{"pubkey":"a1b2c3d6","snr":2}]}"#;
    let mesh = read("meshcore", neighbours);
    assert_eq!((levels(&mesh).len(), count(&mesh.report, "more than a day before")), (3, 1));
    let node = |id: u8, last: u64| {
        format!(
            r#""!0000000{id}":{{"user":{{"longName":"{id}"}},"snr":5,"hopsAway":0,"lastHeard":{last}}}"#
        )
    };
    let of = |last: [u64; 3]| {
        let nodes = [node(1, last[0]), node(2, last[1]), node(3, last[2])].join(",");
        let mesh = read("meshtastic", &format!("{{{nodes}}}"));
        (levels(&mesh).len(), count(&mesh.report, "more than a day before"))
    };
    assert_eq!(of([1_714_557_600, 1_714_500_000, 1_590_000_000]), (3, 1));
    assert_eq!(of([1_714_557_600, 1_714_500_000, 0]), (3, 0));
}

#[test]
fn lists_of_meshtastic_have_several_forms() {
    let a = r#"{"num":7,"user":{"id":"!00000007","longName":"A"},"position":{"latitudeI":577000000,"longitudeI":119000000}}"#;
    let b = r#"{"num":8,"user":{"id":"!00000008","longName":"B"},"position":{"latitudeI":578000000,"longitudeI":119000000},
        "snr":6.25,"hopsAway":0}"#;
    let table = "Connected to radio\n\
        ╒════╤══════╤═══════════╤══════╤══════════╤═══════════╤═════════╤═════════╤══════╕\n\
        │  N │ User │ ID        │ AKA  │ Latitude │ Longitude │ Altitude│ SNR     │ Hops │\n\
        ╞════╪══════╪═══════════╪══════╪══════════╪═══════════╪═════════╪═════════╪══════╡\n\
        │  1 │ A    │ !00000007 │ A    │ 57.7000° │ 11.9000°  │ 34m     │ N/A     │ 0    │\n\
        ├────┼──────┼───────────┼──────┼──────────┼───────────┼─────────┼─────────┼──────┤\n\
        │  2 │ B    │ !00000008 │ B    │ 57.8000° │ 11.9000°  │ N/A     │ 6.25 dB │ 0    │\n";
    for text in [
        format!("[{a},{b}]"),
        format!(r#"{{"7":{a},"8":{b}}}"#),
        format!(r#"{{"nodes":[{a},{b}]}}"#),
        table.to_owned(),
    ] {
        let mesh = read("meshtastic", &text);
        let place = |name: &str| {
            let node = mesh.nodes.iter().find(|node| node.name == name);
            node.and_then(|node| node.position).map(|place| (place.lat_deg() * 10.0).round())
        };
        assert_eq!([place("A"), place("B")], [Some(577.0), Some(578.0)], "{text}");
        assert_eq!(levels(&mesh), [("B", None, Some(6.25))], "{text}");
    }
}

#[test]
fn packets_of_meshtastic_may_be_in_an_array_or_on_several_lines() {
    let packet = |at_s: u32| {
        format!(
            "{{\n\"from\":9,\"sender\":\"!00000008\",\"timestamp\":{at_s},\"hops_away\":0,\"rssi\":-80,\"snr\":5,\n\
             \"type\":\"text\",\"payload\":{{}}}}"
        )
    };
    let (one, two) = (packet(1_714_557_600), packet(1_714_557_660));
    for text in [format!("[{one},{two}]"), format!("{one}\n{two}\n")] {
        let mesh = read("meshtastic-mqtt", &text);
        assert_eq!((levels(&mesh).len(), mesh.report.is_empty()), (2, true), "{}", mesh.report);
    }
    let broken = read("meshtastic-mqtt", &format!("{one}\n{{\n\"from\":9,"));
    assert_eq!((levels(&broken).len(), count(&broken.report, "not a packet")), (1, 1));
}

#[test]
fn maps_of_meshtastic_have_radios_and_neighbours_of_each_node() {
    let meshmap = r#"{"7":{"longName":"A","hwModel":"TBEAM","region":"EU_868","modemPreset":"LONG_FAST","latitude":577000000,
        "longitude":119000000,"altitude":34,"precision":32,"neighbors":{"8":{"snr":6.25,"updated":1714560000}}},
        "8":{"longName":"B","region":"US","modemPreset":"SHORT_FAST","latitude":578000000,"longitude":119000000}}"#;
    let api = r#"{"nodes":[{"id":"1","node_id":"7","long_name":"A","latitude":577000000,"longitude":119000000,
        "region_name":"EU_868","modem_preset_name":"LONG_FAST","neighbours":[{"node_id":"8","snr":6.25}]},
        {"id":"2","node_id":"8","long_name":"B","latitude":578000000,"longitude":119000000,"neighbours":null,
        "region_name":"US","modem_preset_name":"SHORT_FAST"}]}"#;
    for text in [meshmap, api] {
        let mesh = read("meshtastic", text);
        let names: Vec<&str> = mesh.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["A", "B"], "{text}");
        let mhz = |index: usize| {
            mesh.nodes[index].station.as_ref().map(|station| station.radio.frequency_mhz)
        };
        assert_eq!(mhz(0), Some(869.525), "{text}");
        assert_ne!(mhz(1), mhz(0), "{text}");
        assert!(mesh.nodes.iter().all(|node| node.position.is_some()), "{text}");
        assert_eq!(levels(&mesh), [("B", None, Some(6.25))], "{text}");
    }
}
