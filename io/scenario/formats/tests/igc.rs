//! Flight logs: dates, midnight, and altitudes.

use groundwave_model::sample::station;

use super::super::{Dataset, Event, Height, ReadOptions, Source, identify, igc};
use super::count;

#[track_caller]
fn read(text: &str) -> Dataset {
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&igc::FORMAT), "{text}");
    igc::FORMAT.read(&source, &ReadOptions::new(station())).unwrap()
}

const FIXES: &str =
    "B2359555206343S00006198WA0058700558\r\nB0000055206259S00006295WV0059300556\r\n";

#[test]
fn flights_go_on_after_midnight() {
    for date in ["HFDTE290224", "HFDTEDATE:290224,01", "HFDTE:290224\r\nHFDTE290224"] {
        let text = format!("AXXXABC\r\n{date}\r\nHFPLTPILOTINCHARGE: Anna\r\n{FIXES}B12\r\n");
        let dataset = read(&text);
        assert_eq!(dataset.begin_unix_s, Some(1_709_251_195.0), "{date}");
        let course = &dataset.courses()[&0];
        assert_eq!(course.iter().map(|fix| fix.0).collect::<Vec<_>>(), [0.0, 10.0], "{date}");
        let at = course[0].1;
        assert!((at.lat_deg() + 52.105_716_7).abs() < 1e-6, "{at:?}");
        assert!((at.lon_deg() + 0.103_3).abs() < 1e-6, "{at:?}");
        assert_eq!(dataset.nodes[0].name, "Anna");
        assert_eq!(count(&dataset.report, "an invalid fix"), 1, "{}", dataset.report);
    }
    let undated = read(&format!("AXXXABC\n{FIXES}"));
    assert_eq!((undated.begin_unix_s, undated.courses()[&0][1].0), (None, 10.0));
}

#[test]
fn altitudes_of_flights_are_those_of_spatial_fixes() {
    let heights = |text: &str| {
        let height = |event: &(f64, Event)| match event.1 {
            Event::Height(_, height) => Some(height),
            _ => None,
        };
        read(text).events.iter().filter_map(height).collect::<Vec<_>>()
    };
    assert_eq!(heights(&format!("AXXXABC\n{FIXES}")), [Height::Ellipsoid(558.0)]);
    let text = format!("AXXXABC\nHFALGALTGPS:GEO\n{FIXES}");
    assert_eq!(heights(&text), [Height::Sea(558.0)]);
}
