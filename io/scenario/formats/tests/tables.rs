//! Tables of tracks and levels: forms of times, units, heights and columns.

use groundwave_model::sample::station;

use super::super::csv::{levels, tracks};
use super::super::{Dataset, Event, Height, ReadOptions, Source, identify};
use super::count;
use super::recordings::{mapping, observed, table};

#[track_caller]
fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&tracks::FORMAT), "{text}");
    tracks::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Waypoints of the first node, as seconds since the beginning.
fn times(dataset: &Dataset) -> Vec<f64> {
    dataset.courses()[&0].iter().map(|fix| fix.0).collect()
}

/// The mapping that a table suggests, and the table read by it.
fn guessed(text: &str) -> (String, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, text).unwrap();
    let guess = levels::guess(&Source::open(&path).unwrap()).unwrap();
    let levels = mapping(folder.path(), &guess).unwrap_or_else(|error| panic!("{error}\n{guess}"));
    let dataset = table(path, levels).unwrap_or_else(|error| panic!("{error}\n{guess}"));
    (guess, dataset)
}

/// 2024-02-29, s since the Unix epoch.
const DAY_S: f64 = 1_709_164_800.0;

#[test]
fn days_and_times_of_two_columns_are_joined() {
    for [before, after] in [
        ["2024-02-29,23:59:00", "2024-03-01,00:01:00"],
        ["29.02.2024,23:59", "01.03.2024,00:01"],
        ["2/29/2024,11:59 PM", "3/1/2024,12:01 AM"],
        ["2024-02-29,2024-02-29T23:59:00Z", "2024-03-01,2024-03-01T00:01:00Z"],
    ] {
        let text = format!(
            "id,date,time,latitude,longitude\na,{before},57.70,11.9\na,{after},57.701,11.9\n"
        );
        let dataset = read(&text);
        assert_eq!(dataset.begin_unix_s, Some(DAY_S + 86_340.0), "{before}");
        assert_eq!(times(&dataset), [0.0, 120.0], "{before}");
    }
    let rows = "Date,Time,tx,rx,rssi\n2024-02-29,23:59:00,a,b,-60\n2024-03-01,00:01:00,a,b,-61\n";
    let (guess, dataset) = guessed(rows);
    assert!(guess.contains("column = \"Time\"\ndate = \"Date\"\nunit = \"iso8601\""), "{guess}");
    assert_eq!(dataset.begin_unix_s, Some(DAY_S + 86_340.0));
    assert_eq!(observed(&dataset)[1].0 - observed(&dataset)[0].0, 120.0);
}

#[test]
fn hemispheres_of_their_own_columns_count_in_tracks() {
    let text =
        "node,time,lat,N/S,lon,E/W\na,0,33.8,S,70.5,W\na,60,33.9,S,70.5,W\nb,60,33.9,X,70.5,W\n";
    let dataset = read(text);
    let at = dataset.courses()[&0][0].1;
    assert_eq!((at.lat_deg(), at.lon_deg()), (-33.8, -70.5));
    assert_eq!(count(&dataset.report, "a row without a position"), 1);
}

#[test]
fn times_of_the_day_go_on_after_midnight() {
    let text = "device,time,lat,lon\nx,23:59:00,57.70,11.9\ny,23:59:00,57.60,11.9\nx,23:59:30,57.701,11.9\n\
                x,00:00:10,57.702,11.9\ny,00:00:20,57.602,11.9\n";
    let dataset = read(text);
    assert_eq!(times(&dataset), [0.0, 30.0, 70.0]);
    assert_eq!(dataset.courses()[&1].last().map(|fix| fix.0), Some(80.0));
    assert!(dataset.report.is_empty(), "{}", dataset.report);
}

#[test]
fn units_of_times_are_those_of_dates_or_of_the_name_of_the_column() {
    for (head, unit, zeros, begin_unix_s) in [
        ("timestamp", "unix_s", "", Some(DAY_S)),
        ("timestamp", "unix_ms", "000", Some(DAY_S)),
        ("timestamp", "unix_us", "000000", Some(DAY_S)),
        ("timestamp", "unix_ns", "000000000", Some(DAY_S)),
        ("time_ms", "ms", "000", None),
        ("Time (ms)", "ms", "000", None),
        ("t_us", "us", "000000", None),
        ("time_s", "seconds", "", None),
    ] {
        let base = begin_unix_s.map_or(0, |begin_s| begin_s as u64);
        let row = |after_s: u64| format!("{}{zeros}", base + after_s);
        let text = format!(
            "node,{head},lat,lon\nv,{},57.70,11.9\nv,{},57.701,11.9\nv,{},57.702,11.9\n",
            row(0),
            row(10),
            row(20)
        );
        let dataset = read(&text);
        assert_eq!(times(&dataset), [0.0, 10.0, 20.0], "{head} {unit}");
        assert_eq!(dataset.begin_unix_s, begin_unix_s, "{head} {unit}");
        let levels = format!("{head},tx,rx,rssi\n{},a,b,-60\n{},a,b,-61\n", row(0), row(10));
        let (guess, dataset) = guessed(&levels);
        assert!(guess.contains(&format!("unit = \"{unit}\"")), "{guess}");
        assert!(guess.contains("step_s = 10"), "{guess}");
        assert_eq!(dataset.begin_unix_s, begin_unix_s);
        assert_eq!(observed(&dataset)[1].0 - observed(&dataset)[0].0, 10.0);
    }
}

#[test]
fn frequency_of_a_table_is_in_megahertz_whatever_its_unit() {
    for (head, cell) in [
        ("freq", "868.1"),
        ("frequency", "868100000"),
        ("freq_mhz", "868.1"),
        ("channel frequency", "868100"),
    ] {
        let text = format!("time,tx,rx,rssi,{head},lat,lon\n0,gw,car,-49,{cell},57.7,11.9\n");
        let (guess, dataset) = guessed(&text);
        assert!(guess.contains(&format!("frequency_mhz = \"{head}\"")), "{guess}");
        assert_eq!(observed(&dataset)[0].3.frequency_mhz, Some(868.1), "{head}");
    }
}

#[test]
fn columns_of_times_have_many_names_and_a_comment_may_stand_above_them() {
    for (head, first, second) in [
        ("Timestamp (UTC)", "2024-02-29 10:00:00", "2024-02-29 10:00:10"),
        ("unix_time", "1709200800", "1709200810"),
        ("time", "2/29/2024 10:00:00 AM", "2/29/2024 10:00:10 AM"),
        ("date", "29.02.2024 10:00:00", "29.02.2024 10:00:10"),
    ] {
        for comment in ["", "# of the boat\n\n"] {
            let text = format!(
                "{comment}id,{head},lat,lon\na,{first},57.7,11.9\na,{second},57.701,11.9\na,soon,57.7,11.9\n"
            );
            let dataset = read(&text);
            assert_eq!(times(&dataset), [0.0, 10.0], "{head}");
            assert_eq!(dataset.begin_unix_s, Some(DAY_S + 36_000.0), "{head}");
            let note =
                dataset.report.notes.iter().find(|note| note.what.contains("without a time"));
            let line = 4 + comment.lines().count();
            assert_eq!(note.map(|note| note.first.line), Some(line as u64), "{head}");
        }
    }
    // A header may be a comment itself.
    let text = "#time,lat,lon\n0,57.7,11.9\n10,57.701,11.9\n";
    assert_eq!(times(&read(text)), [0.0, 10.0]);
}

#[test]
fn longitudes_beyond_180_degrees_lose_a_turn() {
    let dataset = read("id,time,lat,lon\na,0,10,181\na,10,10,359.5\na,20,10,400\n");
    let lons: Vec<f64> = dataset.courses()[&0].iter().map(|fix| fix.1.lon_deg()).collect();
    assert_eq!(lons, [-179.0, -0.5]);
    assert_eq!(count(&dataset.report, "a turn is taken off"), 2);
    assert_eq!(count(&dataset.report, "a row without a position"), 1);
}

/// Heights of a document.
fn heights(dataset: &Dataset) -> Vec<Height> {
    let height = |event: &(f64, Event)| match event.1 {
        Event::Height(_, height) => Some(height),
        _ => None,
    };
    dataset.events.iter().filter_map(height).collect()
}

#[test]
fn heights_of_tables_are_used_or_named() {
    for (head, expected) in [
        ("alt_m", Some(Height::Sea(1_000.0))),
        ("altitude_ft", Some(Height::Sea(304.8))),
        ("Altitude (ft)", Some(Height::Sea(304.8))),
        ("height_agl_ft", Some(Height::Ground(304.8))),
        ("height_m", None),
    ] {
        let text = format!("id,time,lat,lon,{head}\na,0,57.7,11.9,1000\na,10,57.701,11.9,1000\n");
        let dataset = read(&text);
        let expected: Vec<Height> = expected.into_iter().flat_map(|height| [height; 2]).collect();
        assert_eq!(heights(&dataset), expected, "{head}");
        let what = format!("the column \"{head}\"");
        assert_eq!(count(&dataset.report, &what), usize::from(expected.is_empty()), "{head}");
    }
}
