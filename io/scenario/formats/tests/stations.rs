//! Radios that documents state, and what several documents state of one node or link.

use groundwave_model::radio::Waveform;
use groundwave_model::sample::station;
use groundwave_simulation::measure::Measured;

use super::super::{Dataset, Event, ReadOptions, Source, identify};
use super::count;

/// Reads documents with the names of their files.
#[track_caller]
fn read(documents: &[(&str, &str)]) -> Dataset {
    let source = Source {
        documents: documents.iter().map(|(_, text)| text.as_bytes().to_vec()).collect(),
        names: documents.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ..Source::default()
    };
    let format = identify(&source).unwrap();
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

fn measured(dataset: &Dataset) -> Vec<(f64, &str, &str, Measured)> {
    let name = |index: u32| dataset.nodes[index as usize].name.as_str();
    let observed = dataset.events.iter().filter_map(|(at_s, event)| match *event {
        Event::Observe(from, to, values) => Some((*at_s, name(from), name(to), values)),
        _ => None,
    });
    observed.collect()
}

#[test]
fn radios_are_those_that_documents_state() {
    let aredn = r#"{"node":"AA1A","lat":"34","lon":"-118","meshrf":{"status":"on","freq":"3420","chanbw":"10",
        "height":"12","antenna":{"gain":9}},"link_info":{}}"#;
    let dataset = read(&[("a.json", aredn)]);
    let station_ = dataset.nodes[0].station.clone().unwrap();
    assert_eq!((station_.radio.frequency_mhz, station_.radio.bandwidth_hz), (3420.0, 10e6));
    assert_eq!((station_.antenna.gain_dbi, station_.height_agl_m), (9.0, 12.0));
    let info = r#"Owner: A (A)
My info: { "myNodeNum": 7 }
Nodes in mesh: {"!00000007":{"user":{"longName":"A"}},"!00000008":{"user":{"longName":"B"},"snr":5,"hopsAway":0},
"!00000009":{"user":{"longName":"C"},"snr":-3.5,"hopsAway":0,"viaMqtt":true}}
Preferences: { "lora": { "usePreset": true, "region": "EU_868", "modemPreset": "LONG_FAST", "txPower": 20 } }"#;
    let dataset = read(&[("info.txt", info)]);
    for node in &dataset.nodes {
        let radio = &node.station.as_ref().unwrap().radio;
        assert_eq!((radio.frequency_mhz, radio.bandwidth_hz), (869.525, 250e3), "{}", node.name);
        assert_eq!(radio.waveform, Waveform::Lora { spreading_factor: 11, coding_rate: 5 });
        assert_eq!(radio.tx_power_dbm == 20.0, node.name == "A");
    }
    // What came over the internet is not a radio link.
    assert_eq!(measured(&dataset).len(), 1);
    assert_eq!(count(&dataset.report, "over MQTT"), 1);
    let map = r#"[{"public_key":"aabbccdd00","adv_name":"Hill","type":2,"adv_lat":59.3,"adv_lon":18.1,
        "params":{"freq":869.618,"sf":8,"bw":62.5,"cr":8}}]"#;
    let radio = read(&[("map.json", map)]).nodes[0].station.clone().unwrap().radio;
    assert_eq!((radio.frequency_mhz, radio.bandwidth_hz), (869.618, 62_500.0));
    assert_eq!(radio.waveform, Waveform::Lora { spreading_factor: 8, coding_rate: 8 });
    let mut unstated =
        read(&[("b.json", r#"{"node":"BB2B","lat":"34","lon":"-118","link_info":{}}"#)]);
    unstated.note_stations();
    assert_eq!(count(&unstated.report, "no station given"), 1);
}

#[test]
fn channels_of_wigle_and_respondd_are_frequencies() {
    let table = "WigleWifi-1.6,appRelease=2\n\
        MAC,SSID,AuthMode,FirstSeen,Channel,Frequency,RSSI,CurrentLatitude,CurrentLongitude,Type\n\
        aa,x,,2024-05-01 10:00:00,36,5180,-70,57.7,11.9,WIFI\n\
        bb,x,,2024-05-01 10:00:01,6,,-71,57.7,11.9,WIFI\n";
    let dataset = read(&[("w.csv", table)]);
    let frequencies: Vec<_> = measured(&dataset).iter().map(|link| link.3.frequency_mhz).collect();
    assert_eq!(frequencies, [Some(5180.0), Some(2437.0)]);
    // Rows by network instead of by time.
    let (head, rows) = table.rsplit_once("bb,").unwrap();
    let (head, first) = head.rsplit_once("aa,").unwrap();
    let grouped = read(&[("w.csv", &format!("{head}bb,{rows}aa,{first}"))]);
    assert_eq!(count(&grouped.report, "a time before that of the fix before"), 0);
    let times: Vec<_> = measured(&grouped).iter().map(|link| link.1).collect();
    assert_eq!(times, ["aa", "bb"]);
}

#[test]
fn tq_and_signal_of_a_neighbour_are_one_measurement() {
    let (a, b) = ("02:00:00:00:00:0a", "02:00:00:00:00:0b");
    let document = format!(
        r#"{{"nodes":[{{"nodeinfo":{{"node_id":"aa","hostname":"aa"}},"neighbours":{{"node_id":"aa",
        "batadv":{{"{a}":{{"neighbours":{{"{b}":{{"tq":204}}}}}}}},
        "wifi":{{"{a}":{{"frequency":2437,"neighbours":{{"{b}":{{"signal":-70,"noise":-95}}}}}}}}}}}}]}}"#
    );
    let dataset = read(&[("yanic.json", &document)]);
    let expected = Measured {
        quality: Some(0.8),
        rx_power_dbm: Some(-70.0),
        snr_db: Some(25.0),
        frequency_mhz: Some(2437.0),
        ..Measured::default()
    };
    let all = measured(&dataset);
    assert_eq!(all.iter().map(|link| link.3).collect::<Vec<_>>(), [expected]);
}

#[test]
fn of_two_radio_links_of_a_pair_the_better_counts() {
    let table = "[B.A.T.M.A.N. adv 2024.0, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0 BATMAN_IV)]\n\
        \u{20}* 02:00:00:00:00:03    0.1s   (200) 02:00:00:00:00:03 [     wlan0]\n\
        \u{20}  02:00:00:00:00:03    0.1s   ( 90) 02:00:00:00:00:03 [     wlan1]\n";
    let dataset = read(&[("o.txt", table)]);
    let all = measured(&dataset);
    assert_eq!(all.iter().map(|link| link.3.quality).collect::<Vec<_>>(), [Some(200.0 / 255.0)]);
    assert_eq!(count(&dataset.report, "a second radio link"), 1);
}

#[test]
fn tables_of_folders_are_of_a_node_each() {
    let table = |neighbour: &str| {
        format!(r#"[{{"neigh_address":"{neighbour}","orig_address":"{neighbour}","tq":255}}]"#)
    };
    let (to_b, to_a) = (table("bb"), table("aa"));
    let dataset = read(&[("a/oj.json", &to_b), ("b/oj.json", &to_a)]);
    let ends: Vec<_> = measured(&dataset).iter().map(|link| (link.0, link.1, link.2)).collect();
    assert_eq!(ends, [(0.0, "a", "bb"), (0.0, "b", "aa")]);
    assert_eq!(count(&dataset.report, "named after its file"), 2);
    // Those that differ by a number are snapshots of one.
    let dataset = read(&[("oj-1.json", &to_b), ("oj-2.json", &to_b)]);
    assert!(measured(&dataset).iter().all(|link| link.1 == "self"));
    assert_eq!(count(&dataset.report, "a folder for each node"), 2);
}

#[test]
fn nodes_move_between_snapshots() {
    let map = |lat_deg: f64| {
        format!(
            r#"{{"nodes":[{{"node_id":"a","hostname":"a","location":{{"latitude":{lat_deg},"longitude":11.9}}}},
            {{"node_id":"b","hostname":"b","location":{{"latitude":57.8,"longitude":11.9}}}}],"links":[]}}"#
        )
    };
    let (first, second) = (map(57.70), map(57.75));
    let dataset = read(&[("1.json", &first), ("2.json", &second)]);
    let fixes: Vec<_> = dataset
        .events
        .iter()
        .filter_map(|(at_s, event)| match event {
            Event::Fix(node, position) => Some((*at_s, *node, position.lat_deg())),
            _ => None,
        })
        .collect();
    assert_eq!(fixes, [(0.0, 0, 57.70), (60.0, 0, 57.75)]);
}

#[test]
fn local_addresses_of_netjson_are_their_node() {
    let graph = r#"{"type":"NetworkGraph","nodes":[{"id":"10.0.0.1","label":"A","local_addresses":["10.0.1.1"]},
        {"id":"10.0.0.2","label":"B"}],"links":[{"source":"10.0.1.1","target":"10.0.0.2","cost":1.0}]}"#;
    let dataset = read(&[("n.json", graph)]);
    assert_eq!(dataset.nodes.len(), 2);
    assert_eq!((measured(&dataset)[0].1, measured(&dataset)[0].2), ("A", "B"));
}

#[test]
fn trackers_of_aredn_are_links() {
    let document = r#"{"node":"AA1A","lat":"34","lon":"-118","meshrf":{"freq":"5885"},"lqm":{"enabled":true,"info":
        {"trackers":{"00:00:00:00:00:01":{"type":"RF","hostname":"BB2B","signal":-70,"snr":25,"lat":34.1,
        "lon":-118.1,"quality":90},"00:00:00:00:00:02":{"type":"Tunnel","hostname":"CC3C"}}}}}"#;
    let dataset = read(&[("s.json", document)]);
    let all = measured(&dataset);
    assert_eq!((all[0].1, all[0].2, all[0].3.rx_power_dbm), ("BB2B", "AA1A", Some(-70.0)));
    assert_eq!(all[1].3.delivery_prob, Some(0.9));
    assert!(dataset.nodes.iter().all(|node| node.position.is_some()), "{:?}", dataset.nodes);
}

/// Frequency, MHz, bandwidth, Hz, waveform and power, dBm, of the first node of `--info` with settings of LoRa.
fn radio_of_info(lora: &str) -> (f64, f64, Waveform, f64, Dataset) {
    let info = format!(
        r#"My info: {{ "myNodeNum": 7 }}
Nodes in mesh: {{"!00000007":{{"user":{{"longName":"A"}}}}}}
Preferences: {{ "lora": {{ {lora} }} }}"#
    );
    let dataset = read(&[("info.txt", &info)]);
    let radio = dataset.nodes[0].station.clone().unwrap().radio;
    (radio.frequency_mhz, radio.bandwidth_hz, radio.waveform, radio.tx_power_dbm, dataset)
}

#[test]
fn regions_of_meshtastic_give_their_bands_and_power_limits() {
    let lora = |spreading_factor, coding_rate| Waveform::Lora { spreading_factor, coding_rate };
    for (settings, frequency_mhz, bandwidth_hz, waveform, power_dbm) in [
        (r#""region":"LORA_24","modemPreset":"LONG_FAST""#, 2441.75, 812.5e3, lora(11, 5), 10.0),
        (r#""region":"LORA_24","modemPreset":"SHORT_TURBO""#, 2441.75, 1625e3, lora(7, 5), 10.0),
        (r#""region":"BR_902""#, 904.75, 250e3, lora(11, 5), 22.0),
        (r#""region":"PH_868","modemPreset":"LONG_SLOW""#, 868.7, 125e3, lora(12, 8), 14.0),
        (r#""region":"EU_866","modemPreset":"LITE_FAST""#, 866.6, 125e3, lora(9, 5), 22.0),
        (r#""region":"KZ_863","txPower":17"#, 865.5, 250e3, lora(11, 5), 17.0),
        (r#""region":"EU868""#, 869.525, 250e3, lora(11, 5), 22.0),
    ] {
        let (own_mhz, own_hz, own, own_dbm, dataset) = radio_of_info(settings);
        assert!((own_mhz - frequency_mhz).abs() < 1e-9, "{settings}: {own_mhz}");
        assert_eq!((own_hz, own, own_dbm), (bandwidth_hz, waveform, power_dbm), "{settings}");
        assert_eq!(count(&dataset.report, "unknown region"), 0, "{settings}");
    }
}

#[test]
fn unknown_region_of_meshtastic_gives_a_note_and_the_modem_preset() {
    let (_, bandwidth_hz, waveform, _, dataset) =
        radio_of_info(r#""region":"ZZ_999","modemPreset":"SHORT_SLOW""#);
    let expected = Waveform::Lora { spreading_factor: 8, coding_rate: 5 };
    assert_eq!((bandwidth_hz, waveform), (250e3, expected));
    assert_eq!(count(&dataset.report, "unknown region \"ZZ_999\""), 1);
    let (frequency_mhz, .., dataset) =
        radio_of_info(r#""region":"ANZ_433","modemPreset":"HUGE","overrideFrequency":434.0"#);
    assert_eq!(frequency_mhz, 434.0);
    assert_eq!(count(&dataset.report, "called \"HUGE\""), 1);
}

#[test]
fn topics_of_meshtastic_give_the_radio_of_their_region() {
    let packet = r#"{"from":9,"sender":"!00000009","timestamp":1714557600,"type":"position",
        "payload":{"latitude_i":577000000,"longitude_i":119000000}}"#;
    let packet = packet.replace('\n', " ");
    for (topic, bandwidth_hz, unknown) in
        [("msh/LORA_24/2/json/LongMod/!9", 406_250.0, 0), ("msh/mars/2/json/LongMod/!9", 125e3, 1)]
    {
        let dataset = read(&[("packets.txt", &format!("{topic} {packet}\n"))]);
        let radio = &dataset.nodes[0].station.as_ref().unwrap().radio;
        assert_eq!(radio.bandwidth_hz, bandwidth_hz, "{topic}");
        assert!(matches!(radio.waveform, Waveform::Lora { spreading_factor: 11, .. }), "{topic}");
        assert_eq!(count(&dataset.report, "unknown region \"mars\""), unknown, "{topic}");
    }
}

#[test]
fn channels_of_aredn_have_units_and_numbers() {
    for (radio, frequency_mhz) in [
        (r#""freq":"5.860 GHz","channel":"172""#, 5860.0),
        (r#""freq":"2397 MHz","channel":"-2""#, 2397.0),
        (r#""freq":"unknown","channel":"180""#, 5900.0),
        (r#""freq":"5.420 GHz","channel":"3420""#, 3420.0),
        (r#""channel":165"#, 5825.0),
    ] {
        let document = format!(
            r#"{{"node":"AA1A","lat":"34","lon":"-118","meshrf":{{{radio},"chanbw":"10"}}}}"#
        );
        let dataset = read(&[("a.json", &document)]);
        let station_ = dataset.nodes[0].station.as_ref().unwrap();
        assert_eq!(station_.radio.frequency_mhz, frequency_mhz, "{radio}");
        assert_eq!(count(&dataset.report, "a channel without a frequency"), 0, "{radio}");
    }
    let unknown =
        r#"{"node":"AA1A","lat":"34","lon":"-118","meshrf":{"freq":"N/A","channel":"5"}}"#;
    assert_eq!(count(&read(&[("a.json", unknown)]).report, "a channel without a frequency"), 1);
}

#[test]
fn antennas_of_aredn_point() {
    let document = r#"{"node":"AA1A","lat":34,"lon":-118,"meshrf":{"freq":5900,"chanbw":10,"azimuth":120,"elevation":2,
        "antenna":{"gain":24.5,"beamwidth":7}},"lqm":{"info":{"trackers":{"02:00:00:00:00:01":{"type":"RF",
        "hostname":"BB2B","signal":-70,"snr":25,"rev_snr":21}}}}}"#;
    let dataset = read(&[("a.json", document)]);
    let station_ = dataset.nodes[0].station.as_ref().unwrap();
    let pointing = station_.pointing.unwrap();
    assert_eq!((pointing.azimuth_deg, pointing.elevation_deg), (120.0, 2.0));
    assert_eq!(station_.antenna.azimuth_beamwidth_deg, 7.0);
    assert!((10.0..20.0).contains(&station_.antenna.elevation_beamwidth_deg));
    // The neighbour reports the other direction.
    let snrs: Vec<_> = measured(&dataset).iter().map(|one| (one.1, one.3.snr_db)).collect();
    assert_eq!(snrs, [("BB2B", Some(25.0)), ("AA1A", Some(21.0))]);
}

#[test]
fn neighbours_of_aredn_have_the_channel_of_the_node() {
    let document = r#"{"node":"AA1A","lat":"34","lon":"-118","meshrf":{"freq":"5885","chanbw":"10","height":"12"},
        "lqm":{"info":{"trackers":{"02:00:00:00:00:01":{"type":"RF","hostname":"BB2B","signal":-70,"snr":25},
        "02:00:00:00:00:02":{"type":"Tunnel","hostname":"DD4D"}}}},
        "link_info":{"10.0.0.3":{"hostname":"CC3C","linkType":"RF","signal":-71,"noise":-95}}}"#;
    let channels = |dataset: &Dataset| {
        let one = |node: &super::super::dataset::Node| {
            let radio = node.station.as_ref().map(|station| &station.radio);
            (node.name.clone(), radio.map(|radio| (radio.frequency_mhz, radio.bandwidth_hz)))
        };
        let mut all: Vec<_> = dataset.nodes.iter().map(one).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let name = str::to_owned;
    let dataset = read(&[("a.json", document)]);
    let expected = ["AA1A", "BB2B", "CC3C"].map(|node| (name(node), Some((5885.0, 10e6))));
    assert_eq!(channels(&dataset), expected);
    let height_m = |index: usize| dataset.nodes[index].station.as_ref().unwrap().height_agl_m;
    assert_eq!([height_m(0), height_m(1)], [12.0, station().height_agl_m]);
    // Documents of the neighbours themselves count more, wherever they are.
    let own = r#"{"node":"BB2B","lat":"34.1","lon":"-118","meshrf":{"freq":"3420","chanbw":"5"},"link_info":{}}"#;
    for documents in
        [[("a.json", document), ("b.json", own)], [("b.json", own), ("c.json", document)]]
    {
        let dataset = read(&documents);
        assert_eq!(channels(&dataset)[1], (name("BB2B"), Some((3420.0, 5e6))));
    }
}

#[test]
fn contacts_of_meshcore_have_the_radio_of_the_export_without_its_power() {
    let export = r#"{"name":"Mine","public_key":"00aa00aa","radio_settings":{"frequency":869618,"bandwidth":62500,
        "spreading_factor":8,"coding_rate":8,"tx_power":10},"contacts":[
        {"type":2,"name":"Hill","public_key":"a1b2c3d4e5","latitude":"59.3","longitude":"18.1"},
        {"type":2,"name":"Other","public_key":"b1b2c3d4e5","radio_freq":910.525,"radio_bw":62.5,"radio_sf":7,"radio_cr":5}]}"#;
    let dataset = read(&[("export.json", export)]);
    let radio = |index: usize| {
        let radio = &dataset.nodes[index].station.as_ref().unwrap().radio;
        (radio.frequency_mhz, radio.bandwidth_hz, radio.waveform.clone(), radio.tx_power_dbm)
    };
    let lora = |spreading_factor, coding_rate| Waveform::Lora { spreading_factor, coding_rate };
    assert_eq!(radio(0), (869.618, 62_500.0, lora(8, 8), 10.0));
    assert_eq!(radio(1), (869.618, 62_500.0, lora(8, 8), 22.0));
    assert_eq!(radio(2), (910.525, 62_500.0, lora(7, 5), 22.0));
}
