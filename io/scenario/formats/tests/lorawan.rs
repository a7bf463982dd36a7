//! Uplinks of LoRaWAN by several servers of networks.

use groundwave_model::radio::Waveform;
use groundwave_model::sample::station;

use super::super::{Dataset, Event, ReadOptions, Source, identify};
use super::count;

#[track_caller]
fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format.name, "lorawan", "{text}");
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Uplinks of one device at 10:00 and 10:01, by server.
fn uplinks(minute: u32) -> [String; 5] {
    let time = format!("2024-05-01T10:0{minute}:00.123456789Z");
    let at = format!(r#""latitude":57.7{minute},"longitude":11.9,"altitude":30"#);
    let place = r#""latitude":57.8,"longitude":11.9,"altitude":50"#;
    [
        format!(
            r#"{{"time":"{time}","deviceInfo":{{"deviceName":"walker","devEui":"0102"}},"object":{{"gps":{{"1":{{{at}}}}}}},
            "rxInfo":[{{"gatewayId":"hill","rssi":-98,"snr":7.5,"location":{{{place}}}}}],
            "txInfo":{{"frequency":868100000,"modulation":{{"lora":{{"bandwidth":125000,"spreadingFactor":10}}}}}}}}"#
        ),
        format!(
            r#"{{"devEUI":"0102","deviceName":"walker","object":{{{at}}},"txInfo":{{"frequency":868100000,
            "loRaModulationInfo":{{"bandwidth":125,"spreadingFactor":10}}}},
            "rxInfo":[{{"gatewayID":"hill","time":"{time}","rssi":-98,"loRaSNR":7.5,"location":{{{place}}}}}]}}"#
        ),
        format!(
            r#"{{"result":{{"end_device_ids":{{"device_id":"walker","dev_eui":"0102"}},"received_at":"{time}",
            "uplink_message":{{"decoded_payload":{{"gps_1":{{{at}}}}},"settings":{{"frequency":"868100000",
            "data_rate":{{"lora":{{"bandwidth":125000,"spreading_factor":10}}}}}},
            "rx_metadata":[{{"gateway_ids":{{"gateway_id":"hill"}},"rssi":-98,"snr":7.5,"location":{{{place}}}}}]}}}}}}"#
        ),
        format!(
            r#"{{"app_id":"a","dev_id":"walker","hardware_serial":"0102","payload_fields":{{{at}}},"metadata":{{"time":"{time}",
            "frequency":868.1,"data_rate":"SF10BW125","gateways":[{{"gtw_id":"hill","rssi":-98,"snr":7.5,{place}}}]}}}}"#
        ),
        format!(
            r#"{{"name":"walker","dev_eui":"0102","reported_at":{}000,"decoded":{{"payload":{{{at}}}}},
            "hotspots":[{{"id":"h1","name":"hill","lat":57.8,"long":11.9,"rssi":-98,"snr":7.5,"frequency":868.1}}]}}"#,
            1_714_557_600 + 60 * minute
        ),
    ]
}

#[test]
fn uplinks_of_several_servers_are_read_alike() {
    for (one, two) in uplinks(0).into_iter().zip(uplinks(1)) {
        let (one, two) = (one.replace('\n', " "), two.replace('\n', " "));
        for text in [
            format!("{one}\n{two}\n"),
            format!("[{one},\n{two}]"),
            format!("application/1/device/0102/event/up {one}\nx {two}\n"),
        ] {
            let dataset = read(&text);
            let names: Vec<&str> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
            assert_eq!(names, ["walker", "hill"], "{text}");
            let course: Vec<f64> = dataset.courses()[&0].iter().map(|fix| fix.0).collect();
            assert_eq!(course, [0.0, 60.0], "{text}");
            assert_eq!(dataset.nodes[1].position.map(|at| at.lat_deg()), Some(57.8), "{text}");
            let level = |(_, event): &(f64, Event)| match *event {
                Event::Observe(from, to, own) => {
                    Some((from, to, own.rx_power_dbm, own.snr_db, own.frequency_mhz))
                }
                _ => None,
            };
            let levels: Vec<_> = dataset.events.iter().filter_map(level).collect();
            assert_eq!(levels, [(0, 1, Some(-98.0), Some(7.5), Some(868.1)); 2], "{text}");
            let radio = &dataset.nodes[0].station.as_ref().unwrap().radio;
            assert_eq!(radio.frequency_mhz, 868.1, "{text}");
            assert!(matches!(radio.waveform, Waveform::Lora { .. }), "{text}");
        }
    }
}

#[test]
fn uplinks_without_a_time_and_levels_of_zero_are_counted() {
    let [_, version_3, ..] = uplinks(0).map(|uplink| uplink.replace('\n', " "));
    let untimed = version_3.replace("2024-05-01T10:00:00.123456789Z", "");
    let silent = version_3.replace("-98", "0");
    let dataset = read(&format!("{version_3}\n{untimed}\n{silent}\nnoise\n"));
    for what in ["an uplink without a time", "a signal of 0 dBm or more", "not an uplink"] {
        assert_eq!(count(&dataset.report, what), 1, "{what}: {}", dataset.report);
    }
}
