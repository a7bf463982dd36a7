//! Tables of WiGLE, of its app and of Kismet.

use groundwave_model::sample::station;

use super::super::{Dataset, ReadOptions, Source, wigle};
use super::count;
use super::recordings::observed;

const HEADS: &str = "MAC,SSID,AuthMode,FirstSeen,Channel,RSSI,CurrentLatitude,CurrentLongitude,AltitudeMeters,\
                     AccuracyMeters,Type\n";

fn read(device: &str, rows: &[String]) -> Dataset {
    let text = format!("WigleWifi-1.4,{device}\n{HEADS}{}", rows.concat());
    let source = Source::of(text.into_bytes());
    wigle::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

/// A row of a transmitter, its name, time and level, at a latitude.
fn row(mac: &str, ssid: &str, time: &str, rssi: &str, lat: &str) -> String {
    format!("{mac},{ssid},[ESS],2024-05-01 {time},6,{rssi},{lat},11.9,10,1,WIFI\n")
}

#[test]
fn times_of_first_sights_give_rows_a_second_apart() {
    let rows = ["57.700", "57.701", "57.702"].map(|lat| row("aa", "x", "10:00:00", "-60", lat));
    let other = row("bb", "x", "10:00:00", "-70", "57.703");
    let rows = [&rows[..], &[other]].concat();
    for device in ["model=Kismet", "model=Pixel"] {
        let drive = read(device, &rows);
        let times: Vec<f64> = observed(&drive).iter().map(|level| level.0).collect();
        let since: Vec<f64> = times.iter().map(|at_s| at_s - times[0]).collect();
        assert_eq!(since, [0.0, 1.0, 2.0, 3.0], "{device}");
        assert_eq!(drive.courses()[&0].len(), 4, "{device}");
        assert_eq!(count(&drive.report, "first received"), 4, "{device}");
    }
    // Two receptions of one scan are at one place.
    let scan =
        [row("aa", "x", "10:00:00", "-60", "57.7"), row("aa", "x", "10:00:09", "-61", "57.8")];
    assert_eq!(count(&read("model=Pixel", &scan).report, "first received"), 0);
}

#[test]
fn quote_in_a_name_ends_with_its_line() {
    let rows = [
        row("aa", "plain", "10:00:00", "-60", "57.700"),
        row("bb", "\"Free Wifi", "10:00:01", "-61", "57.701"),
        row("cc", "\"a, b\"", "10:00:02", "-62", "57.702"),
        row("dd", "plain", "10:00:03", "-63", "57.703"),
    ];
    let drive = read("model=x", &rows);
    let senders: Vec<&str> = observed(&drive).iter().map(|level| level.1).collect();
    assert_eq!(senders, ["aa", "bb", "cc", "dd"]);
}

#[test]
fn level_of_0_dbm_is_counted_and_not_used() {
    let rows =
        [row("aa", "x", "10:00:00", "0", "57.700"), row("bb", "x", "10:00:01", "-61", "57.701")];
    let drive = read("model=x", &rows);
    let levels: Vec<_> = observed(&drive).iter().map(|level| level.3.rx_power_dbm).collect();
    assert_eq!(levels, [Some(-61.0)]);
    assert_eq!(count(&drive.report, "0 dBm"), 1);
}
