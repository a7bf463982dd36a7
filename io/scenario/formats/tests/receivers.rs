//! Nodes that move, and levels at receivers: traces of simulators, packets and tables of LoRa networks.

use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, geodesic};

use super::super::csv::levels;
use super::super::{Dataset, Event, Height, ReadOptions, Source, csv, identify};
use super::count;

const ORIGIN: [f64; 2] = [57.7, 11.9];

#[track_caller]
fn read(name: &str, path: &str, text: &str) -> Dataset {
    let mut source = Source::of(text.as_bytes().to_vec());
    source.path = path.into();
    let format = identify(&source).unwrap();
    assert_eq!(format.name, name);
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(ORIGIN[0], ORIGIN[1]).ok();
    options.step_s = 2.0;
    format.read(&source, &options).unwrap()
}

/// Time and distance east of the origin of the waypoints of a node, s and m.
fn east(dataset: &Dataset, node: u32) -> Vec<(f64, f64)> {
    let origin = GeoPoint::new(ORIGIN[0], ORIGIN[1]).unwrap();
    let course = &dataset.courses()[&node];
    let metres = |at| {
        let leg = geodesic::inverse(origin, at);
        (leg.distance_m * leg.azimuth_deg.to_radians().sin() * 1e3).round() / 1e3
    };
    course.iter().map(|(at_s, at)| (*at_s, metres(*at))).collect()
}

fn observed(dataset: &Dataset) -> Vec<(&str, &str, Option<f64>, Option<f64>)> {
    let name = |index: u32| dataset.nodes[index as usize].name.as_str();
    let events = dataset.events.iter().filter_map(|(_, event)| match *event {
        Event::Observe(from, to, values) => {
            Some((name(from), name(to), values.rx_power_dbm, values.snr_db))
        }
        _ => None,
    });
    events.collect()
}

#[test]
fn course_changes_of_ns3_go_straight_and_jump() {
    let ascii = "now=+0ns node=0 pos=0:0:0 vel=10:0:0\n\
        now=+1e+09ns node=0 pos=10:0:0 vel=0:0:0\n\
        now=+5000000000.0ns node=0 pos=10:0:0 vel=10:0:0\n\
        now=+6s node=0 pos=500:0:0 vel=0:0:0\n";
    let examples = "+0.0s, model=0x5580, POS: x=0, y=0, z=0; VEL:10, y=0, z=0\n\
        +1.0s, model=0x5580, POS: x=10, y=0, z=0; VEL:0, y=0, z=0\n\
        +5000.0ms, model=0x5580, POS: x=10, y=0, z=0; VEL:10, y=0, z=0\n\
        +6s, model=0x5580, POS: x=500, y=0, z=0; VEL:0, y=0, z=0\n";
    for text in [ascii, examples] {
        let dataset = read("ns3", "", text);
        let end_s = 6.0 - 1e-6;
        let expected = [(0.0, 0.0), (1.0, 10.0), (5.0, 10.0), (end_s, 20.0), (6.0, 500.0)];
        let course = east(&dataset, 0);
        assert_eq!(course.len(), expected.len(), "{course:?}");
        for ((at_s, east_m), (expected_s, expected_m)) in course.iter().zip(expected) {
            assert!(
                (at_s - expected_s).abs() < 1e-5 && (east_m - expected_m).abs() < 0.01,
                "{course:?}"
            );
        }
    }
    let old = "+2s POS: x=1, y=0, z=3; VEL:1, y=0, z=0\n";
    let dataset = read("ns3", "", old);
    assert_eq!(count(&dataset.report, "it stops there"), 1);
    assert!(dataset.events.iter().any(|event| event.1 == Event::Height(0, Height::Ground(3.0))));
}

#[test]
fn positions_of_mininet_wifi_are_steps_or_times() {
    let steps = read("mininet-wifi", "node1.dat", "0 0\n10 0\n20.5 0\n");
    assert_eq!(east(&steps, 0), [(0.0, 0.0), (2.0, 10.0), (4.0, 20.5)]);
    assert_eq!(steps.nodes[0].name, "node1");
    assert_eq!(count(&steps.report, "2 s apart"), 1);
    let times = read("mininet-wifi", "", "0 0 0\n0.5 10 0\n7 20 0\n");
    assert_eq!(east(&times, 0), [(0.0, 0.0), (0.5, 10.0), (7.0, 20.0)]);
    // Nodes of BonnMotion that stand are a line each.
    let standing = read("bonnmotion", "", "0 1 1\n0 2 2\n");
    assert_eq!(standing.nodes.len(), 2);
}

#[test]
fn channels_of_a_k7_trace_are_averaged() {
    let text = "{\"location\": \"grenoble\", \"tx_length\": 100, \"start_date\": \"2018-01-11 16:32:22\", \
        \"channels\": [11, 12]}\n\
        datetime,src,dst,channel,mean_rssi,pdr,tx_count\n\
        2018-01-11 16:32:22,a,b,11,-80,1.0,100\n\
        2018-01-11 16:32:22,a,b,12,-90,0.5,100\n\
        2018-01-11 16:33:22,b,a,11,,0.0,100\n";
    let dataset = read("k7", "", text);
    assert_eq!(dataset.title.as_deref(), Some("grenoble"));
    let values = dataset.events.iter().filter_map(|(at_s, event)| match event {
        Event::Observe(_, _, values) => Some((dataset.elapsed_s(*at_s), *values)),
        _ => None,
    });
    let values = values.collect::<Vec<_>>();
    assert_eq!(values[0].1.delivery_prob, Some(0.75));
    // 1e-8 mW with weight 1 and 1e-9 mW with weight 0.5.
    let expected_dbm = 10.0 * ((1e-8 + 0.5e-9) / 1.5_f64).log10();
    assert!((values[0].1.rx_power_dbm.unwrap() - expected_dbm).abs() < 1e-9);
    assert_eq!(
        (values[1].0, values[1].1.delivery_prob, values[1].1.rx_power_dbm),
        (60.0, Some(0.0), None)
    );
}

#[test]
fn packets_of_meshtastic_move_nodes_and_measure_direct_links() {
    let text = concat!(
        r#"msh/EU_868/2/json/LongFast/!00000009 {"channel":0,"from":439041101,"hop_start":3,"hops_away":0,"id":1,"#,
        r#""payload":{"altitude":20,"latitude_i":577000000,"longitude_i":119000000,"time":1760000000},"rssi":-91,"#,
        r#""sender":"!00000009","snr":6.25,"timestamp":1760000000,"to":4294967295,"type":"position"}"#,
        "\n",
        r#"{"channel":0,"from":439041101,"hops_away":0,"id":2,"payload":{"id":"!1a2b3c4d","longname":"Anna","#,
        r#""shortname":"A"},"rssi":-92,"sender":"!00000009","snr":5,"timestamp":1760000010,"to":1,"type":"nodeinfo"}"#,
        "\n",
        r#"{"from":7,"hops_away":1,"id":3,"payload":{},"rssi":-92,"sender":"!00000009","snr":5,"#,
        r#""timestamp":1760000020,"to":1,"type":"telemetry"}"#,
        "\n",
        r#"{"from":9,"id":4,"payload":{"neighbors":[{"node_id":439041101,"snr":-2.5}],"node_id":9},"#,
        r#""sender":"!00000009","timestamp":1760000030,"to":1,"type":"neighborinfo"}"#,
        "\noffline\n",
    );
    let dataset = read("meshtastic-mqtt", "", text);
    let gateway = "!00000009";
    assert_eq!(
        observed(&dataset),
        [
            ("Anna", gateway, Some(-91.0), Some(6.25)),
            ("Anna", gateway, Some(-92.0), Some(5.0)),
            ("Anna", gateway, None, Some(-2.5))
        ]
    );
    assert_eq!(count(&dataset.report, "others passed on"), 1);
    assert_eq!(count(&dataset.report, "not a packet"), 1);
    assert_eq!(dataset.begin_unix_s, Some(1_760_000_000.0));
    assert!(dataset.events.iter().any(|event| matches!(event.1, Event::Fix(..))));
}

#[test]
fn packets_that_no_radio_received_are_no_measurements() {
    let packet = |rssi: i32, snr: f64, timestamp: u64| {
        format!(
            r#"{{"from":439041101,"hops_away":0,"payload":{{}},"rssi":{rssi},"sender":"!00000009","snr":{snr},
            "timestamp":{timestamp},"type":"telemetry"}}"#
        )
        .replace('\n', "")
    };
    let lines = [
        packet(0, 0.0, 1_760_000_000),
        packet(-90, 0.0, 1_760_000_010),
        // Milliseconds.
        packet(-91, 5.5, 1_760_000_020_000),
    ];
    let dataset = read("meshtastic-mqtt", "", &lines.join("\n"));
    let levels: Vec<_> = observed(&dataset).iter().map(|link| (link.2, link.3)).collect();
    assert_eq!(levels, [(Some(-90.0), Some(0.0)), (Some(-91.0), Some(5.5))]);
    let times: Vec<f64> = dataset.events.iter().map(|event| dataset.elapsed_s(event.0)).collect();
    assert_eq!(times, [0.0, 10.0]);
}

#[test]
fn both_tables_of_ttn_mapper_are_read() {
    let old = "id,time,nodeaddr,appeui,gwaddr,modulation,datarate,snr,rssi,freq,lat,lon,alt,accuracy,hdop,sats\n\
        1,2018-08-09 08:00:55,60c5a8ff,app,60C5A8FFFE71D210,LORA,SF7BW125,9.00,-34.00,904.900,59.3671,17.0730,0.0,null,null,null\n\
        2,2018-08-09 08:01:55,60c5a8ff,app,60C5A8FFFE71D210,LORA,SF7BW125,8.00,-40.00,904.900,null,null,0.0,null,null,null\n";
    let new = "time,network_id,app_id,dev_id,gateway_id,rssi,snr,frequency,latitude,longitude\n\
        2022-08-09T08:00:55Z,ttn,app,walker,roof,-34,9,868100000,59.3671,17.0730\n";
    for (text, node, gateway, frequency_mhz) in
        [(old, "60c5a8ff", "60C5A8FFFE71D210", 904.9), (new, "walker", "roof", 868.1)]
    {
        let dataset = read("ttnmapper", "export.csv", text);
        assert_eq!(observed(&dataset), [(node, gateway, Some(-34.0), Some(9.0))]);
        let values = dataset.events.iter().find_map(|(_, event)| match event {
            Event::Observe(.., values) => Some(*values),
            _ => None,
        });
        assert_eq!(values.unwrap().frequency_mhz, Some(frequency_mhz));
        assert_eq!(dataset.courses().len(), 1);
    }
    let dataset = read("ttnmapper", "", old);
    assert_eq!(count(&dataset.report, "without a time or a position"), 1);
}

#[test]
fn refusal_names_parts_and_the_nearest_format() {
    let message =
        |text: &str| identify(&Source::of(text.as_bytes().to_vec())).unwrap_err().to_string();
    let json = message(r#"{"stations":[{"adv_name":"Hill","adv_lat":59.3,"adv_lon":18.1}]}"#);
    assert!(
        json.contains("with the keys \"stations\", ") || json.contains("keys \"stations\""),
        "{json}"
    );
    assert!(json.contains("nearest is meshcore, for adv_name, adv_lat, adv_lon"), "{json}");
    let text = message("# neighbours\naddress reach rxcost txcost\n");
    assert!(text.contains("beginning with \"address reach rxcost txcost\""), "{text}");
    assert!(text.contains("nearest is babel, for rxcost, txcost, reach"), "{text}");
    let other = message("hello\n");
    assert!(other.contains("beginning with \"hello\"") && !other.contains("nearest"), "{other}");
}

#[test]
fn table_with_a_position_in_each_row_moves_the_receiver() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("mapping.toml");
    let text = "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nfrom = \"tx\"\nto = \"rx\"\n\
        [values]\nrx_power_dbm = \"rssi\"\n[position]\nof = \"to\"\nlat_deg = \"la\"\nlon_deg = \"lo\"\n";
    std::fs::write(&mapping, text).unwrap();
    let rows = "t,tx,rx,rssi,la,lo\n0,roof,car,-60,57.7,11.9\n5,roof,car,-70,57.701,11.9\n9,roof,car,-75,,\n";
    let mut options = ReadOptions::new(station());
    options.mapping = Some(levels::load(&mapping).unwrap());
    let source = Source::of(rows.as_bytes().to_vec());
    let dataset = csv::FORMAT.read(&source, &options).unwrap();
    assert_eq!(observed(&dataset).len(), 3);
    assert_eq!(count(&dataset.report, "without the position of its node"), 1);
    let courses = dataset.courses();
    assert_eq!(courses.len(), 1);
    let course = courses.values().next().unwrap();
    assert_eq!(course[1], (5.0, GeoPoint::new(57.701, 11.9).unwrap()));
    let other = text.replace("\"to\"\nlat", "\"car\"\nlat");
    std::fs::write(&mapping, other).unwrap();
    let error = levels::load(&mapping).unwrap_err().to_string();
    assert!(error.contains("from") && error.contains("to"), "{error}");
}

#[test]
fn altitudes_of_receivers_and_packets_are_taken_or_noted() {
    let heights = |dataset: &Dataset| {
        let height = |event: &(f64, Event)| match event.1 {
            Event::Height(_, height) => Some(height),
            _ => None,
        };
        dataset.events.iter().filter_map(height).collect::<Vec<_>>()
    };
    let ttn = "time,nodeaddr,gwaddr,snr,rssi,freq,lat,lon,alt\n\
        2018-08-09 08:00:55,walker,roof,9,-34,904.9,59.3671,17.0730,120\n\
        2018-08-09 08:00:59,walker,roof,9,-34,904.9,59.3672,17.0730,0.0\n";
    let mqtt = r#"{"from":439041101,"hops_away":0,"payload":{"altitude":120,"latitude_i":577000000,
        "longitude_i":119000000},"sender":"!00000009","timestamp":1760000000,"type":"position"}"#;
    let wigle = "WigleWifi-1.4,model=x\nMAC,SSID,AuthMode,FirstSeen,Channel,RSSI,CurrentLatitude,CurrentLongitude,\
        AltitudeMeters,AccuracyMeters,Type\n02:00:00:00:00:01,x,[ESS],2024-05-01 10:00:00,1,-60,57.7,11.9,120,1,WIFI\n";
    let test = "time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr\n\
        10:00:00,9,roof,57.7,11.9,57.71,11.9,120,5\n";
    // The app of WiGLE has Android's heights, above the ellipsoid; Kismet those above sea level.
    for (name, text, height) in [
        ("ttnmapper", ttn, Height::Sea(120.0)),
        ("meshtastic-mqtt", &mqtt.replace('\n', ""), Height::Sea(120.0)),
        ("wigle", wigle, Height::Ellipsoid(120.0)),
        ("wigle", &wigle.replace("model=x", "model=Kismet"), Height::Sea(120.0)),
        ("rangetest", test, Height::Sea(120.0)),
    ] {
        assert_eq!(heights(&read(name, "", text)), [height], "{name}");
    }
    let info = r#"{"!1a2b3c4d":{"user":{"longName":"a"},"position":{"latitude":57.7,"longitude":11.9,"altitude":120}}}"#;
    assert_eq!(count(&read("meshtastic", "", info).report, "the altitude of a node"), 1);
    let core = "<scenario><devices><device id=\"1\" name=\"a\"><position lat=\"57.7\" lon=\"11.9\" alt=\"2.0\"/></device>\
                </devices></scenario>";
    assert_eq!(count(&read("core", "", core).report, "the altitude of a device"), 1);
}
