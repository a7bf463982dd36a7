//! Recordings in which the clock of a row was not set.

use groundwave_model::sample::station;

use super::super::{Dataset, Format, FormatError, Script, csv, eel, sumo, wigle};
use super::{count, dataset};
use crate::formats::csv::levels;
use crate::formats::{ReadOptions, Source};

/// A table of levels with a time in each row, by a mapping with this unit of time.
fn table(unit: &str, times: &[&str]) -> Result<Dataset, FormatError> {
    let folder = tempfile::tempdir().unwrap();
    let mapping = format!(
        "step_s = 60\n[time]\ncolumn = \"t\"\nunit = \"{unit}\"\n\
         [link]\nfrom = \"a\"\nto = \"b\"\n[values]\nsnr_db = \"snr\"\n"
    );
    let path = folder.path().join("mapping.toml");
    std::fs::write(&path, mapping).unwrap();
    let mut options = ReadOptions::new(station());
    options.mapping = Some(levels::load(&path).unwrap());
    let rows = times.iter().map(|time| format!("{time},x,y,12\n"));
    let text = format!("t,a,b,snr\n{}", rows.collect::<String>());
    csv::FORMAT.read(&Source::of(text.into_bytes()), &options)
}

fn script(dataset: &Dataset) -> Result<Script, String> {
    let script = dataset.script(&csv::FORMAT, &station());
    script.map_err(|error| error.to_string())
}

const SET: [&str; 3] = ["1700000000", "1700000060", "1700000120"];

#[test]
fn rows_of_an_unset_clock_are_dropped_and_noted() {
    for unset in ["0", "12.5", "315964800", "-5"] {
        let times = [SET[0], unset, SET[1], SET[2]];
        let recording = table("unix_s", &times).unwrap();
        assert_eq!(recording.begin_unix_s, Some(1_700_000_000.0), "{unset}");
        let note = &recording.report.notes[0];
        assert!(note.what.contains("before 1990"), "{}", recording.report);
        assert_eq!((note.count, note.first.line), (1, 3), "{unset}");
        assert_eq!(script(&recording).unwrap().last_tick, 3, "{unset}");
    }
    // A clock that was never set has the time since it was started.
    let never = table("unix_s", &["10", "70", "130", SET[0]]).unwrap();
    assert_eq!(count(&never.report, "before 1990"), 0);
    let text = script(&never).unwrap_err();
    assert!(text.contains("line 5") && text.contains("2023-11-14"), "{text}");
    let never = table("unix_s", &["10", "70", "130"]).unwrap();
    assert_eq!(script(&never).unwrap().last_tick, 3);
}

#[test]
fn a_row_that_makes_a_recording_too_long_is_named() {
    for late in ["1e300", "9e18", "4294967295"] {
        let times = [SET[0], SET[1], late, SET[2]];
        let text = script(&table("unix_s", &times).unwrap()).unwrap_err();
        assert!(text.contains("line 4"), "{late}: {text}");
        assert!(text.contains("10000000 ticks of 60 s"), "{late}: {text}");
    }
    let text = script(&table("seconds", &["0", "60", "1e300"]).unwrap()).unwrap_err();
    assert!(text.contains("line 4"), "{text}");
}

#[test]
fn event_logs_with_the_time_of_day_begin_with_their_first_event() {
    let text = "1700000000 nem:1 location gps 57.7,11.9\n\
                1700000002 nem:2 pathloss nem:1,80\n3 nem:2 pathloss nem:1,80\n";
    let recording = dataset(&eel::FORMAT, &[text.as_bytes()]).unwrap();
    assert_eq!(recording.begin_unix_s, Some(1_700_000_000.0));
    assert_eq!(count(&recording.report, "before 1990"), 1);
    let script = recording.script(&eel::FORMAT, &station()).unwrap();
    assert_eq!(script.last_tick, 3);
}

#[test]
fn lines_of_rows_are_those_of_the_document_whatever_ends_them() {
    let text = "step_s = 1\n[time]\ncolumn = \"t\"\nunit = \"seconds\"\n[link]\nfrom = \"a\"\nto = \"b\"\n\
                [values]\nsnr_db = \"snr\"\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapping.toml");
    std::fs::write(&path, text).unwrap();
    let mapping = Some(levels::load(&path).unwrap());
    let levels_table = "t,a,b,snr\n0,x,y,1\n\n2,x,y,none\n";
    let drive = "WigleWifi-1.4,model=x\nMAC,FirstSeen\n\nx,soon\n";
    for (format, table) in [(&csv::FORMAT, levels_table), (&wigle::FORMAT, drive)] {
        for (end, mark) in [("\n", ""), ("\r\n", ""), ("\r\n", "\u{feff}")] {
            let text = format!("{mark}{}", table.replace('\n', end));
            let options = ReadOptions { mapping: mapping.clone(), ..ReadOptions::new(station()) };
            let recording = format.read(&Source::of(text.into_bytes()), &options).unwrap();
            assert_eq!(recording.report.notes[0].first.line, 4, "{end:?}: {}", recording.report);
        }
    }
}

#[test]
fn row_of_an_unset_clock_is_counted_once_and_not_taken() {
    let row = |mac: &str, time: &str| {
        format!("02:00:00:00:00:0{mac},x,[ESS],{time},1,-60,57.7,11.9,1,1,WIFI\n")
    };
    let head = "WigleWifi-1.4,model=x\nMAC,SSID,AuthMode,FirstSeen,Channel,RSSI,CurrentLatitude,\
                CurrentLongitude,AltitudeMeters,AccuracyMeters,Type\n";
    let rows = ["2024-05-01 10:00:00", "1970-01-01 00:00:09", "2024-05-01 10:00:20"];
    let rows = rows.map(|time| row("1", time)).concat();
    for is_dropped in [false, true] {
        let options = ReadOptions { drop_implausible: is_dropped, ..ReadOptions::new(station()) };
        let source = Source::of(format!("{head}{rows}").into_bytes());
        let recording = wigle::FORMAT.read(&source, &options).unwrap();
        let [zone, note] = &recording.report.notes[..] else { panic!("{}", recording.report) };
        assert_eq!((zone.what.as_str(), zone.count), ("a time without a zone: taken as UTC", 3));
        assert!(note.what.contains("before 1990"), "{}", note.what);
        assert_eq!((note.count, note.first.line), (1, 4));
        assert_eq!(recording.measurements(), 2);
    }
}

#[test]
fn span_beyond_nanoseconds_gives_an_error_with_both_spans() {
    // 2^64 ns are 585 years, which are fewer ticks of an hour than are allowed.
    let mut recording = table("seconds", &["0", "60", "1e12"]).unwrap();
    recording.step_s = Some(3_600.0);
    let text = script(&recording).unwrap_err();
    assert!(text.contains("line 4: found a recording of 1000000000000 s"), "{text}");
    assert!(text.contains("10000000 ticks of 3600 s (36000000000 s)"), "{text}");
}

#[test]
fn times_before_second_0_keep_their_intervals() {
    let step = |at_s: i32, x_m: i32| {
        format!("<timestep time=\"{at_s}\"><vehicle id=\"v\" x=\"{x_m}\" y=\"0\"/></timestep>")
    };
    let steps = step(-10, 0) + &step(0, 10) + &step(10, 20);
    let steps = format!("<fcd-export>{steps}</fcd-export>");
    let table = "time,node,lat,lon\n-10,v,57.70,11.9\n0,v,57.71,11.9\n10,v,57.72,11.9\n";
    let vehicles = "timestep_time;vehicle_id;vehicle_x;vehicle_y\n-10;v;0;0\n0;v;10;0\n10;v;20;0\n";
    let events = "-10 nem:1 location gps 57.70,11.9\n0 nem:1 location gps 57.71,11.9\n\
                  10 nem:1 location gps 57.72,11.9\n";
    let formats: [(&Format, &str); 4] = [
        (&sumo::FORMAT, &steps),
        (&csv::tracks::FORMAT, table),
        (&csv::tracks::FORMAT, vehicles),
        (&eel::FORMAT, events),
    ];
    for (format, text) in formats {
        let recording = dataset(format, &[text.as_bytes()]).unwrap();
        let times: Vec<f64> = recording.courses()[&0].iter().map(|fix| fix.0).collect();
        assert_eq!(times, [0.0, 10.0, 20.0], "{format}: {}", recording.report);
        assert_eq!(count(&recording.report, "from the first, -10 s"), 1, "{}", recording.report);
    }
}
