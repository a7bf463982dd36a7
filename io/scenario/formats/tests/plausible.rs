//! Fixes that do not fit most of the others, left out wherever they are.

use groundwave_model::sample::station;

use super::super::csv::tracks;
use super::super::{Dataset, ReadOptions, Source};
use super::count;

/// Reads rows of a time and a latitude without those that are not believed.
fn plausible(rows: &[(String, f64)]) -> Dataset {
    let row = |(time, lat): &(String, f64)| match *lat {
        0.0 => format!("{time},a,0,0\n"),
        lat => format!("{time},a,{lat},11.9\n"),
    };
    let rows: String = rows.iter().map(row).collect();
    let options = ReadOptions { drop_implausible: true, ..ReadOptions::new(station()) };
    let source = Source::of(format!("time,node,lat,lon\n{rows}").into());
    tracks::FORMAT.read(&source, &options).unwrap()
}

/// Waypoints that are left, as seconds since the beginning.
fn times(dataset: &Dataset) -> Vec<f64> {
    dataset.courses()[&0].iter().map(|fix| fix.0).collect()
}

/// A minute after 10 o'clock, and a place that differs from that of any other.
fn minute(minute: u32) -> (String, f64) {
    (format!("2024-05-01T10:{minute:02}:00Z"), 57.7 + f64::from(minute) * 1e-4)
}

#[test]
fn one_wrong_position_at_the_beginning_is_left_out_of_any_number() {
    for good in [2, 4, 8] {
        let mut rows: Vec<_> = (1..=good + 1).map(minute).collect();
        rows[0].1 = 20.0;
        let dataset = plausible(&rows);
        assert_eq!(times(&dataset).len(), good as usize, "{}", dataset.report);
        assert_eq!(dataset.begin_unix_s, Some(1_714_557_720.0), "that of the second row");
        let note = &dataset.report.notes[0];
        assert!(note.what.contains("cannot have reached") && note.what.contains("left out"));
        assert_eq!((note.count, note.first.line), (1, 2), "{}", dataset.report);
    }
    // Of one each, the first counts.
    let dataset = plausible(&[minute(1), ("2024-05-01T10:02:00Z".to_owned(), 20.0)]);
    assert_eq!(dataset.report.notes[0].first.line, 3);
}

#[test]
fn fixes_at_0_n_0_e_are_left_out_however_many_they_are() {
    let mut rows: Vec<_> = (1..=5).map(minute).collect();
    rows[..3].iter_mut().for_each(|row| row.1 = 0.0);
    let dataset = plausible(&rows);
    assert_eq!(times(&dataset), [0.0, 60.0]);
    assert_eq!(count(&dataset.report, "0 N 0 E: left out (lines 2, 3, 4)"), 3);
}

#[test]
fn one_wrong_time_is_left_out_and_the_rows_around_it_stay() {
    let day = |time: &str| (format!("2024-05-01T{time}Z"), 57.7005);
    for (wrong, what) in [
        (day("12:00:00"), "after that of the fix behind it"),
        (day("08:00:00"), "before that of the fix before"),
        (("2019-04-07T10:03:00Z".to_owned(), 57.7005), "more than 116 days from the median"),
    ] {
        let mut rows: Vec<_> = (1..=7).map(minute).collect();
        rows[2] = wrong;
        let dataset = plausible(&rows);
        assert_eq!(times(&dataset), [0.0, 60.0, 180.0, 240.0, 300.0, 360.0], "{what}");
        assert_eq!(dataset.begin_unix_s, Some(1_714_557_660.0), "{what}");
        let note = &dataset.report.notes[0];
        assert!(note.what.contains(what), "{}", note.what);
        assert_eq!((note.count, note.first.line), (1, 4));
    }
    let mut rows: Vec<_> = (1..=7).map(minute).collect();
    rows[0].0 = "2019-04-07T10:01:00Z".to_owned();
    assert_eq!(times(&plausible(&rows)).len(), 6);
}

#[test]
fn rows_with_the_last_one_first_are_all_believed() {
    let rows: Vec<_> = (1..=7).rev().map(minute).collect();
    let dataset = plausible(&rows);
    assert_eq!(times(&dataset).len(), 7);
    assert!(dataset.report.is_empty(), "{}", dataset.report);
}
